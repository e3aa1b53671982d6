package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// iotaSyntax is a compressed device list.
type iotaSyntax struct {
	Dims      []integer `parser:"'[' @Int (',' @Int)* ']'"`
	Transpose []integer `parser:"('T' '(' @Int (',' @Int)* ')')?"`
}

// iota makes the canonical form of a compressed list and returns how many devices it has.
func (r valueReader) iota(s *iotaSyntax) (*hlo.IotaTile, int64) {
	dims := ints(s.Dims)
	n := r.product(dims, "iota tile size")
	perm := make([]int, len(dims))
	for i := range perm {
		perm[i] = i
	}
	switch {
	case len(dims) > 1 && len(s.Transpose) == 0:
		r.bad("expected 'T(' to start the transpose of %d dimensions", len(dims))
	case len(s.Transpose) > 0 && len(s.Transpose) != len(dims):
		r.bad("iota has %d dimensions, its transpose %d", len(dims), len(s.Transpose))
	case len(dims) == 1 && len(s.Transpose) > 0:
		r.bad("an iota of one dimension has no transpose")
	}
	seen := make([]bool, len(dims))
	for i, t := range s.Transpose {
		if t < 0 || int(t) >= len(dims) {
			r.bad("Out of range iota minor_to_major value, %d", t)
		}
		if seen[t] {
			r.bad("the transpose of an iota must be a permutation")
		}
		seen[t] = true
		perm[i] = int(t)
	}
	return canonicalIota(dims, perm), n
}

// canonicalIota drops dimensions of size 1 and merges dimensions that the transpose leaves side by side (hlo-text section 6.2.2).
func canonicalIota(dims []int64, perm []int) *hlo.IotaTile {
	dims, perm = slices.Clone(dims), slices.Clone(perm)
	drop := func(at int) {
		dims = slices.Delete(dims, at, at+1)
		perm = slices.DeleteFunc(perm, func(p int) bool { return p == at })
		for i := range perm {
			if perm[i] > at {
				perm[i]--
			}
		}
	}
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] == 1 {
			drop(i)
		}
	}
	for i := 0; i+1 < len(perm); {
		if a := perm[i]; perm[i+1] == a+1 {
			dims[a] *= dims[a+1]
			drop(a + 1)
			continue
		}
		i++
	}
	if len(dims) == 0 {
		return &hlo.IotaTile{Reshape: []int64{1}}
	}
	t := &hlo.IotaTile{Reshape: dims}
	if len(dims) > 1 {
		t.Transpose = perm
	}
	return t
}

// expandIota lists the devices of a compressed list.
func expandIota(t *hlo.IotaTile) []int64 {
	perm := t.Transpose
	if len(perm) == 0 {
		perm = []int{0}
	}
	n := int64(1)
	stride := make([]int64, len(t.Reshape))
	for i := len(t.Reshape) - 1; i >= 0; i-- {
		stride[i] = n
		n *= t.Reshape[i]
	}
	out := make([]int64, 0, n)
	index := make([]int64, len(perm))
	for range n {
		v := int64(0)
		for i, p := range perm {
			v += index[i] * stride[p]
		}
		out = append(out, v)
		for i := len(perm) - 1; i >= 0; i-- {
			if index[i]++; index[i] < t.Reshape[perm[i]] {
				break
			}
			index[i] = 0
		}
	}
	return out
}
