package hlo

import (
	"math"
	"slices"
)

// Map returns s with f applied to every array in it. A part that f leaves alone is shared.
func (s Shape) Map(f func(Shape) Shape) Shape {
	switch {
	case s.d == nil:
		return s
	case s.IsArray():
		return f(s)
	case len(s.d.elems) == 0:
		return s
	}
	var elems []Shape
	var dynamic, unbounded bool
	for i, e := range s.d.elems {
		m := e.Map(f)
		if m.d != e.d && elems == nil {
			elems = slices.Clone(s.d.elems)
		}
		if elems != nil {
			elems[i] = m
		}
		dynamic = dynamic || !m.IsStatic()
		unbounded = unbounded || m.HasUnbounded()
	}
	if elems == nil {
		return s
	}
	d := s.d.copy()
	d.elems, d.dynamic, d.unbounded = elems, dynamic, unbounded
	return Shape{d}
}

// ShapeIndex is a path into nested tuples: {1,0} is element 0 of element 1; {} the whole.
type ShapeIndex []int64

// Sub returns the part of s at index, if there is one.
func (s Shape) Sub(index ShapeIndex) (Shape, bool) {
	for _, i := range index {
		if !s.IsTuple() || i < 0 || i >= int64(len(s.d.elems)) {
			return Shape{}, false
		}
		s = s.d.elems[i]
	}
	return s, s.d != nil
}

// Leaves yields every part of s that is not a tuple, in depth-first order, with its index, which changes from one leaf to the next:
// a caller that keeps it clones it.
func (s Shape) Leaves(yield func(index ShapeIndex, leaf Shape) bool) { s.leaves(nil, yield) }

func (s Shape) leaves(at ShapeIndex, f func(ShapeIndex, Shape) bool) bool {
	if !s.IsTuple() {
		return f(at, s)
	}
	at = append(at, 0)
	for i, e := range s.d.elems {
		at[len(at)-1] = int64(i)
		if !e.leaves(at, f) {
			return false
		}
	}
	return true
}

// Leaf is the part of s at index if that is a leaf, with its number among the leaves.
func (s Shape) Leaf(index ShapeIndex) (n int, leaf Shape, ok bool) {
	for _, i := range index {
		if !s.IsTuple() || i < 0 || int(i) >= s.NumElems() {
			return 0, s, false
		}
		if len(s.d.elems) == s.d.leaves && len(s.d.elems) == s.d.parts { // none is a tuple
			n += int(i)
		} else {
			for _, e := range s.d.elems[:i] {
				n += e.NumLeaves()
			}
		}
		s = s.d.elems[i]
	}
	return n, s, !s.IsTuple()
}

// NumLeaves is the number of leaves of s: 1 for an array, the sum over elements for a tuple.
func (s Shape) NumLeaves() int {
	if !s.IsTuple() {
		return 1
	}
	return s.d.leaves
}

// NumParts is the number of shapes inside of a tuple, at any depth; 0 for others. It may be much larger than the memory that the shape
// takes, since a tuple can contain another one many times.
func (s Shape) NumParts() int {
	if !s.IsTuple() {
		return 0
	}
	return s.d.parts
}

func saturate(n int) int {
	if n < 0 {
		return math.MaxInt
	}
	return n
}
