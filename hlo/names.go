package hlo

import (
	"maps"
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
	size  int // names taken in this layer
}

// nameRoot is what a layer knows of names with one root: the numbers taken, and where to look for the next free one.
type nameRoot struct {
	under  *nameRoot
	next   int64
	dense  []uint64 // bit set of numbers from 0
	sparse map[int64]struct{}
}

// layer returns a table over t that a session may write.
func (t *nameTable) layer(epoch uint64) *nameTable {
	for t != nil && t.under != nil && t.size*2 >= t.under.size {
		t = mergeNames(t, t.under)
	}
	return &nameTable{epoch: epoch, under: t, roots: make(map[string]*nameRoot)}
}

func mergeNames(upper, lower *nameTable) *nameTable {
	m := &nameTable{under: lower.under, roots: maps.Clone(lower.roots), size: upper.size + lower.size}
	for root, u := range upper.roots {
		l := m.roots[root]
		if l == nil {
			m.roots[root] = u
			continue
		}
		// u.under is l: nothing between the two layers knows the root.
		r := &nameRoot{under: l.under, next: u.next, dense: append([]uint64(nil), l.dense...), sparse: maps.Clone(l.sparse)}
		for i, w := range u.dense {
			if i >= len(r.dense) {
				r.dense = append(r.dense, u.dense[i:]...)
				break
			}
			r.dense[i] |= w
		}
		for n := range u.sparse {
			r.take(n)
		}
		m.roots[root] = r
	}
	return m
}

func (r *nameRoot) taken(n int64) bool {
	for ; r != nil; r = r.under {
		if n >= 0 && n>>6 < int64(len(r.dense)) && r.dense[n>>6]>>(n&63)&1 != 0 {
			return true
		}
		if _, ok := r.sparse[n]; ok {
			return true
		}
	}
	return false
}

// take marks n. Numbers not far beyond those seen so far go to the bit set, the others to the map, so a huge suffix costs one entry.
func (r *nameRoot) take(n int64) {
	if n < 0 || n>>6 > int64(2*len(r.dense)+8) {
		if r.sparse == nil {
			r.sparse = make(map[int64]struct{})
		}
		r.sparse[n] = struct{}{}
		return
	}
	for n>>6 >= int64(len(r.dense)) {
		r.dense = append(r.dense, 0)
	}
	r.dense[n>>6] |= 1 << (n & 63)
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
	root, n, suffixed := splitName(name)
	r := t.roots[root]
	if r == nil {
		under := t.under.find(root)
		r = &nameRoot{under: under}
		if under != nil {
			r.next = under.next
		}
		t.roots[root] = r
	}
	t.size++
	free := !r.taken(n)
	if !free {
		for r.taken(r.next) {
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
		return root + "." + strconv.FormatInt(n, 10)
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
