// Package idmap holds maps and sets of ids that were handed out one after the other. A hash map of a million ids costs two lines of memory that no cache has for
// each question; these keep what belongs to neighbours together, and passes ask for neighbours after each other.
package idmap

import (
	"iter"
	"math/bits"
)

// Map is a map from ids. It takes memory in proportion to its entries as long as they are near each other, and half a byte for every id below the greatest.
// The zero Map is empty. Copies share what they hold.
type Map[K ~uint32, V any] struct {
	pages []page[V]
	n     int
}

const (
	pageBits = 6
	pageSize = 1 << pageBits // the bits of a word
	pageMask = pageSize - 1
)

// page holds the values of pageSize ids, up to the greatest that it has been given.
type page[V any] struct {
	has    uint64
	values []V
}

// Len is the number of entries.
func (m *Map[K, V]) Len() int { return m.n }

// Get is the value of k, the zero value if there is none.
func (m *Map[K, V]) Get(k K) (v V) {
	if p := int(k >> pageBits); p < len(m.pages) {
		if g := &m.pages[p]; int(k&pageMask) < len(g.values) {
			v = g.values[k&pageMask]
		}
	}
	return v
}

// Lookup is Get, and reports whether there is a value.
func (m *Map[K, V]) Lookup(k K) (v V, ok bool) {
	if p := int(k >> pageBits); p < len(m.pages) {
		if g := &m.pages[p]; g.has>>(k&pageMask)&1 != 0 {
			return g.values[k&pageMask], true
		}
	}
	return v, false
}

// Has reports whether there is a value for k.
func (m *Map[K, V]) Has(k K) bool {
	p := int(k >> pageBits)
	return p < len(m.pages) && m.pages[p].has>>(k&pageMask)&1 != 0
}

// At is where the value of k is, which becomes the zero value if there was none. It holds until the next call of a method that writes.
func (m *Map[K, V]) At(k K) *V {
	p := int(k >> pageBits)
	if p >= len(m.pages) {
		m.pages = append(m.pages, make([]page[V], p+1-len(m.pages))...)
	}
	g := &m.pages[p]
	i := int(k & pageMask)
	if i >= len(g.values) {
		g.grow(i)
	}
	if g.has>>i&1 == 0 {
		g.has |= 1 << i
		m.n++
	}
	return &g.values[i]
}

// grow makes room for value i: the first page of a small map is small, and one that has been added to is whole.
func (g *page[V]) grow(i int) {
	size := pageSize
	if g.values == nil {
		size = max(4, 1<<bits.Len(uint(i)))
	}
	values := make([]V, size)
	copy(values, g.values)
	g.values = values
}

// Set gives k a value.
func (m *Map[K, V]) Set(k K, v V) { *m.At(k) = v }

// Delete takes the value of k away.
func (m *Map[K, V]) Delete(k K) {
	if m.Has(k) {
		g := &m.pages[k>>pageBits]
		var none V
		g.has &^= 1 << (k & pageMask)
		g.values[k&pageMask] = none
		m.n--
	}
}

// Clear takes all values away, and keeps no memory.
func (m *Map[K, V]) Clear() { *m = Map[K, V]{} }

// All yields ids and their values, ascending.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for p := range m.pages {
			for has := m.pages[p].has; has != 0; has &= has - 1 {
				i := bits.TrailingZeros64(has)
				if !yield(K(p<<pageBits+i), m.pages[p].values[i]) {
					return
				}
			}
		}
	}
}

// Set is a set of ids. The zero Set is empty.
type Set[K ~uint32] struct {
	words []uint64
	n     int
}

// Len is the number of ids.
func (s *Set[K]) Len() int { return s.n }

// Has reports whether k is in the set.
func (s *Set[K]) Has(k K) bool {
	w := int(k >> 6)
	return w < len(s.words) && s.words[w]>>(k&63)&1 != 0
}

// Add puts k into the set, and reports whether it was new.
func (s *Set[K]) Add(k K) bool {
	w := int(k >> 6)
	if w >= len(s.words) {
		s.words = append(s.words, make([]uint64, w+1-len(s.words))...)
	}
	isNew := s.words[w]>>(k&63)&1 == 0
	if isNew {
		s.words[w] |= 1 << (k & 63)
		s.n++
	}
	return isNew
}

// Remove takes k out of the set, and reports whether it was there.
func (s *Set[K]) Remove(k K) bool {
	was := s.Has(k)
	if was {
		s.words[k>>6] &^= 1 << (k & 63)
		s.n--
	}
	return was
}

// All yields the ids in the set, ascending.
func (s *Set[K]) All() iter.Seq[K] {
	return func(yield func(K) bool) {
		for w, word := range s.words {
			for ; word != 0; word &= word - 1 {
				if !yield(K(w<<6 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
