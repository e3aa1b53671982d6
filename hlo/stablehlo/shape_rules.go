package stablehlo

import "slices"

// The rules of [sizeOps] that take more than a line.

// dimension is the size of one dimension.
func (s *sizes) dimension() [][]int64 {
	dims := s.dims(0)
	return single(dims[s.index(1, len(dims))])
}

// extent is one element of a shape.
func (s *sizes) extent() [][]int64 {
	list := s.list(0)
	return single(list[s.index(1, len(list))])
}

// maxSizes bounds products.
const maxSizes = 1 << 40

func (s *sizes) numElements() [][]int64 {
	n := int64(1)
	list := s.list(0)
	if slices.Contains(list, 0) {
		return single(0)
	}
	for _, d := range list {
		if d < 0 || n > maxSizes/d {
			s.b.fail(s.op, "'%s' of the shape %s", s.op.Name, sizeList(list))
		}
		n *= d
	}
	return single(n)
}

// splitAt cuts a shape in two; a negative place counts from the end.
func (s *sizes) splitAt() [][]int64 {
	list, at := s.list(0), s.number(1)
	if at < 0 {
		at += int64(len(list))
	}
	if at < 0 || at > int64(len(list)) {
		s.b.fail(s.op, "'%s' of the shape %s at %d", s.op.Name, sizeList(list), s.number(1))
	}
	return [][]int64{list[:at], list[at:]}
}

// scalars is the list of all operands.
func (s *sizes) scalars() [][]int64 {
	list := make([]int64, len(s.op.Operands))
	for i := range list {
		list[i] = s.number(i)
	}
	return one(list)
}

// extract is one element of a tensor.
func (s *sizes) extract() [][]int64 {
	list, dims := s.list(0), s.dims(0)
	if len(dims) != len(s.op.Operands)-1 {
		s.b.fail(s.op, "'%s' of %v with %d indices", s.op.Name, s.op.Operands[0].Type, len(s.op.Operands)-1)
	}
	at := int64(0)
	for i, d := range dims {
		at = at*d + s.index(i+1, int(d))
	}
	return single(list[at])
}

// join broadcasts shapes to one another.
func join(lists [][]int64) (out []int64, ok bool) {
	for _, l := range lists {
		if len(l) > len(out) {
			out = append(slices.Repeat([]int64{1}, len(l)-len(out)), out...)
		}
		for i, d := range l {
			switch at := &out[len(out)-len(l)+i]; {
			case *at == 1:
				*at = d
			case d != 1 && d != *at:
				return nil, false
			}
		}
	}
	return out, true
}

func (s *sizes) broadcast() [][]int64 {
	out, ok := join(s.all())
	if !ok {
		s.b.fail(s.op, "the shapes %s cannot be broadcast to one another", s.texts())
	}
	return one(out)
}

func (s *sizes) broadcastable() bool {
	_, ok := join(s.all())
	return ok
}

func (s *sizes) mustBroadcast() [][]int64 {
	return s.holds(s.broadcastable(), "the shapes are "+s.texts())
}

// reshaped is a shape in which one size may be -1: that which a number of elements leaves.
func (s *sizes) reshaped() (shape []int64, ok bool) {
	n, shape := s.number(0), slices.Clone(s.list(1))
	open, product := -1, int64(1)
	for i, d := range shape {
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0 || d > 0 && product > maxSizes/d:
			return nil, false
		default:
			product *= d
		}
	}
	if open < 0 {
		return shape, product == n
	}
	if product == 0 || n%product != 0 {
		return nil, false
	}
	shape[open] = n / product
	return shape, true
}

func (s *sizes) reshapeShape() [][]int64 {
	shape, ok := s.reshaped()
	if !ok {
		s.b.fail(s.op, "%d elements have no shape %s", s.number(0), sizeList(s.list(1)))
	}
	return one(shape)
}
