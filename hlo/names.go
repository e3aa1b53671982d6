package hlo

import (
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// nameTable makes names unique as XLA does (hlo-text section 10.2). Names that are removed stay taken, as in XLA.
//
// Tables are versioned like everything else: a session writes into a layer of its own over the layers of the versions before, so that
// two sessions from one module hand out the same names whatever the other does. Layers are merged when the upper is no longer small
// against the lower, which keeps the number of layers logarithmic.
type nameTable struct {
	epoch uint64
	under *nameTable
	roots map[string]*nameRoot
	spare []nameRoot  // what is left of a slab
	whole *freshNames // names of the lowest table that are in no roots; it alone adds to them, while it is written
	size  int         // names taken in this layer's roots
}

// nameRoot is what a layer knows of names with one root: the numbers taken, and where to look for the next free one. Most roots have
// one name, or a few with small numbers, and need nothing but this struct.
type nameRoot struct {
	under *nameRoot
	next  int64
	low   uint64 // bit set of the numbers 0 to 63
	one   int64  // another number, if not 0
	more  *numberSet
}

// numberSet holds any numbers from 64, and negative ones.
type numberSet struct {
	dense  []uint64 // bit set of numbers from 64
	sparse map[int64]struct{}
	size   int64
}

// layer returns a table over t that a session may write.
func (t *nameTable) layer(epoch uint64) *nameTable {
	if t == nil {
		return &nameTable{epoch: epoch, roots: make(map[string]*nameRoot), whole: &freshNames{epoch: epoch}}
	}
	for t.under != nil && t.size*2 >= t.under.size {
		t = mergeNames(t, t.under)
	}
	return &nameTable{epoch: epoch, under: t, roots: make(map[string]*nameRoot), whole: t.whole}
}

func mergeNames(upper, lower *nameTable) *nameTable {
	m := &nameTable{under: lower.under, roots: maps.Clone(lower.roots), whole: upper.whole, size: upper.size + lower.size}
	for root, u := range upper.roots {
		l := m.roots[root]
		if l == nil {
			m.roots[root] = u
			continue
		}
		// u.under is l: nothing between the two layers knows the root.
		r := &nameRoot{under: l.under, next: u.next, low: l.low | u.low, one: l.one, more: l.more.clone()}
		if u.one != 0 {
			r.take(u.one)
		}
		u.more.each(r.take)
		m.roots[root] = r
	}
	return m
}

func (r *nameRoot) taken(n int64) bool {
	for ; r != nil; r = r.under {
		switch {
		case n >= 0 && n < 64:
			if r.low>>n&1 != 0 {
				return true
			}
		case r.one == n || r.more.has(n):
			return true
		}
	}
	return false
}

func (r *nameRoot) take(n int64) {
	switch {
	case n >= 0 && n < 64:
		r.low |= 1 << n
	case r.one == 0 || r.one == n:
		r.one = n
	default:
		if r.more == nil {
			r.more = new(numberSet)
		}
		r.more.add(n)
	}
}

func (s *numberSet) has(n int64) bool {
	if s == nil {
		return false
	}
	if w := n>>6 - 1; w >= 0 && w < int64(len(s.dense)) && s.dense[w]>>(n&63)&1 != 0 {
		return true
	}
	_, ok := s.sparse[n]
	return ok
}

// add puts n into the bit set as long as that stays small against what it holds, else into the map: a huge number costs one entry.
func (s *numberSet) add(n int64) {
	s.size++
	w := n>>6 - 1
	if w < 0 || w > 2*int64(len(s.dense))+s.size {
		if s.sparse == nil {
			s.sparse = make(map[int64]struct{})
		}
		s.sparse[n] = struct{}{}
		return
	}
	for w >= int64(len(s.dense)) {
		s.dense = append(s.dense, 0)
	}
	s.dense[w] |= 1 << (n & 63)
}

func (s *numberSet) each(f func(int64)) {
	if s == nil {
		return
	}
	for i, word := range s.dense {
		for ; word != 0; word &= word - 1 {
			f(int64(i+1)<<6 + int64(bits.TrailingZeros64(word)))
		}
	}
	for n := range s.sparse {
		f(n)
	}
}

func (s *numberSet) clone() *numberSet {
	if s == nil {
		return nil
	}
	return &numberSet{slices.Clone(s.dense), maps.Clone(s.sparse), s.size}
}

func (t *nameTable) find(root string) *nameRoot {
	for ; t != nil; t = t.under {
		if r := t.roots[root]; r != nil {
			return r
		}
	}
	return nil
}

// unique takes name, or the first free name derived from it, and returns what it took.
func (t *nameTable) unique(name string) string {
	if t.addsWhole() {
		return t.uniqueHashed(name, freshHash(name, 0))
	}
	return t.uniqueRoot(name)
}

// uniqueHashed is unique of a name whose freshHash is known.
func (t *nameTable) uniqueHashed(name string, hash uint64) string {
	if t.addsWhole() && !t.inRoots(name) && t.whole.take(name, hash) {
		return name
	}
	return t.uniqueRoot(name)
}

// addsWhole reports whether the table may add to its whole names.
func (t *nameTable) addsWhole() bool {
	return t.under == nil && t.whole != nil && t.whole.epoch == t.epoch
}

// inRoots reports whether a name is taken in the roots of a table that has none under it.
func (t *nameTable) inRoots(name string) bool {
	if len(t.roots) == 0 {
		return false
	}
	root, n, _ := splitName(name)
	return t.roots[root].taken(n)
}

// taken reports whether a name of root r is taken, by its number.
func (t *nameTable) taken(r *nameRoot, root string, n int64) bool {
	return r.taken(n) || t.whole.has(root, n)
}

// uniqueRoot is unique by roots and numbers.
func (t *nameTable) uniqueRoot(name string) string {
	root, n, suffixed := splitName(name)
	r := t.roots[root]
	if r == nil {
		under := t.under.find(root)
		if len(t.spare) == 0 {
			t.spare = make([]nameRoot, min(len(t.roots)+1, 64))
		}
		r, t.spare = &t.spare[0], t.spare[1:]
		r.under = under
		if under != nil {
			r.next = under.next
		}
		t.roots[root] = r
	}
	t.size++
	free := !t.taken(r, root, n)
	if !free {
		if r.next == 0 {
			r.next = t.whole.firstFree(root)
		}
		for t.taken(r, root, r.next) {
			r.next++
		}
		n = r.next
		r.next++
	}
	r.take(n)
	switch {
	case n != 0:
		if free && suffixed && isCanonical(name[len(root)+1:], n) {
			return name
		}
		var buf [64]byte
		return string(strconv.AppendInt(append(append(buf[:0], root...), '.'), n, 10))
	case suffixed:
		return root + ".0"
	}
	return root
}

// splitName splits name at its last '.', when what follows is a number of 64 bits.
func splitName(name string) (root string, n int64, suffixed bool) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return name, 0, false
	}
	if c := name[len(name)-1]; c < '0' || c > '9' {
		return name, 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 64)
	if err != nil {
		return name, 0, false
	}
	return name[:i], n, true
}

// isCanonical reports whether digits is how n is written: no '+', no leading zero. It saves building the same string again.
func isCanonical(digits string, n int64) bool {
	return n > 0 && digits[0] != '+' && digits[0] != '0'
}
