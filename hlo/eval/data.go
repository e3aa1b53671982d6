package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Ops that create, move and regroup data.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpConstant:         constantValue,
		hlo.OpIota:             iota_,
		hlo.OpBroadcast:        broadcast,
		hlo.OpReshape:          reshape,
		hlo.OpDynamicReshape:   dynamicReshape,
		hlo.OpBitcast:          bitcast,
		hlo.OpTranspose:        transpose,
		hlo.OpReverse:          reverse,
		hlo.OpConcatenate:      concatenate,
		hlo.OpSlice:            slice,
		hlo.OpPad:              pad,
		hlo.OpGetDimensionSize: getDimensionSize,
		hlo.OpSetDimensionSize: setDimensionSize,
	})
}

func constantValue(c *Call) (*hlo.Literal, error) {
	l := c.In.Literal()
	if l == nil || l.IsElided() {
		return nil, errElided
	}
	return l, nil
}

// iota_ counts along one axis.
func iota_(c *Call) (*hlo.Literal, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	axis := int(hlo.AttrsOf[hlo.IotaAttrs](c.In).Dimension)
	dims := dimsOf(s)
	if axis < 0 || axis >= len(dims) {
		return nil, fmt.Errorf("iota_dimension %d of %v", axis, s)
	}
	if s.NumElements() == 0 {
		return hlo.NewLiteral(s, nil) // the axis itself may be of any size
	}
	line := encodedCount(dims[axis], s.Type())
	strides := make([]int, len(dims))
	strides[axis] = 1
	w := s.Type().ByteSize()
	out := make([]byte, s.ByteSize())
	moveBlock(place{out, 0, rowMajor(dims)}, place{line, 0, strides}, dims, w)
	return hlo.NewLiteral(s, out)
}

// encodedCount is the elements 0, 1, … n-1 of type t.
func encodedCount(n int, t hlo.PrimitiveType) []byte {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i)
	}
	b := make([]byte, n*t.ByteSize())
	switch classOf(t) {
	case integers:
		wrapInts(v, t)
		encodeInts(b, t, v)
	case floats:
		f := make([]float64, n)
		intsToFloats(f, v, hlo.S64, t)
		encodeFloats(b, t, f)
	default:
		z := make([]complex128, n)
		for i := range z {
			z[i] = complex(float64(i), 0)
		}
		encodeComplex(b, t, z)
	}
	return b
}

func broadcast(c *Call) (*hlo.Literal, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	return broadcastTo(s, c.Args[0], ints(hlo.AttrsOf[hlo.BroadcastAttrs](c.In).Dimensions))
}

// broadcastTo repeats l in shape s; axis i of l is axis axes[i] of s.
func broadcastTo(s hlo.Shape, l *hlo.Literal, axes []int) (*hlo.Literal, error) {
	dims, from := dimsOf(s), dimsOf(l.Shape())
	if len(axes) != len(from) || l.Shape().Type() != s.Type() {
		return nil, fmt.Errorf("broadcast of %v along %v to %v", l.Shape(), axes, s)
	}
	own := rowMajor(from)
	strides := make([]int, len(dims))
	for i, a := range axes {
		if a < 0 || a >= len(dims) || from[i] != dims[a] && from[i] != 1 {
			return nil, fmt.Errorf("broadcast of %v along %v to %v", l.Shape(), axes, s)
		}
		if from[i] == dims[a] {
			strides[a] = own[i]
		}
	}
	out := make([]byte, s.ByteSize())
	moveBlock(place{out, 0, rowMajor(dims)}, place{bytesOf(l), 0, strides}, dims, s.Type().ByteSize())
	return hlo.NewLiteral(s, out)
}

func reshape(c *Call) (*hlo.Literal, error) {
	s, l := c.In.Shape(), c.Args[0]
	if !s.IsStatic() || l.Shape().NumElements() != s.NumElements() {
		var err error
		if s, err = c.sizedReshape(l.Shape(), s); err != nil {
			return nil, err
		}
	}
	return l.WithShape(s)
}

func dynamicReshape(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	dims := make([]int64, len(c.Args)-1)
	for i := range dims {
		n, ok := c.Args[i+1].ScalarInt()
		if !ok || n < 0 || i >= s.Rank() || n > s.Dim(i) && !s.IsUnboundedDimension(i) {
			return nil, fmt.Errorf("size %d of dimension %d of %v", n, i, s)
		}
		dims[i] = n
	}
	want := hlo.MakeShape(s.Type(), dims...)
	have := c.Args[0]
	if n := want.NumElements(); n < have.Shape().NumElements() {
		// The operand is padded to its bound: the elements in front count.
		return hlo.NewLiteral(want, have.Bytes()[:want.ByteSize()])
	}
	return have.WithShape(want)
}

// bitcast writes the operand's elements in the order of its layout, and reads them in the order of the result's.
func bitcast(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	if s.IsTuple() || !c.Args[0].Shape().IsArray() {
		return c.Args[0], nil
	}
	from := c.In.OperandInstr(0).Shape()
	s, err := c.sizedBitcast(from, s)
	if err != nil {
		return nil, err
	}
	data := bytesOf(c.Args[0])
	data = permuted(data, dimsOf(c.Args[0].Shape()), majorToMinor(from), from.Type().ByteSize())
	if bf, bt := storageBits(from.Type()), storageBits(s.Type()); bf != bt && (bf < 8 || bt < 8) {
		data = repack(data, bf, bt, int(s.NumElements()), s.Type())
	}
	order := majorToMinor(c.In.Shape())
	dims := dimsOf(s)
	back := make([]int, len(order))
	for i, a := range order {
		back[a] = i
	}
	if int64(len(data)) != s.ByteSize() {
		return nil, fmt.Errorf("%v has not as many bytes as %v", from, s)
	}
	return hlo.NewLiteral(s, permuted(data, picked(dims, order), back, s.Type().ByteSize()))
}

// majorToMinor is the axes of an array in the order of its layout, slowest first.
func majorToMinor(s hlo.Shape) []int {
	order := make([]int, s.Rank())
	for i := range order {
		order[i] = i
	}
	if l, ok := s.Layout(); ok && len(l.MinorToMajor) == len(order) {
		order = ints(l.MinorToMajor)
		slices.Reverse(order)
	}
	return order
}

func transpose(c *Call) (*hlo.Literal, error) {
	if err := c.keepsType(); err != nil {
		return nil, err
	}
	from := c.Args[0].Shape()
	dims := dimsOf(from)
	perm, err := axes(hlo.AttrsOf[hlo.DimensionsAttrs](c.In).Dimensions, len(dims))
	if err != nil || len(perm) != len(dims) {
		return nil, fmt.Errorf("permutation %v of %v", hlo.AttrsOf[hlo.DimensionsAttrs](c.In).Dimensions, from)
	}
	s := c.In.Shape()
	if !s.IsStatic() {
		var sizes []int64
		for _, a := range perm {
			sizes = append(sizes, from.Dim(a))
		}
		s = hlo.MakeShape(s.Type(), sizes...)
	}
	return hlo.NewLiteral(s, permuted(bytesOf(c.Args[0]), dims, perm, from.Type().ByteSize()))
}

func reverse(c *Call) (*hlo.Literal, error) {
	if err := c.keepsType(); err != nil {
		return nil, err
	}
	l := c.Args[0]
	dims := dimsOf(l.Shape())
	strides := rowMajor(dims)
	turned, err := axes(hlo.AttrsOf[hlo.DimensionsAttrs](c.In).Dimensions, len(dims))
	if err != nil || product(dims) == 0 {
		return l, err
	}
	src := place{bytesOf(l), 0, slices.Clone(strides)}
	for _, a := range turned {
		src.at += (dims[a] - 1) * strides[a]
		src.strides[a] = -strides[a]
	}
	out := make([]byte, len(src.data))
	moveBlock(place{out, 0, strides}, src, dims, l.Shape().Type().ByteSize())
	return hlo.NewLiteral(l.Shape(), out)
}

func concatenate(c *Call) (*hlo.Literal, error) {
	along, err := axis(hlo.AttrsOf[hlo.AxisAttrs](c.In).Dimensions, c.In.Shape().Rank())
	if err != nil {
		return nil, err
	}
	if err := c.agree(c.axesInCommon(c.In.Shape().Rank(), along)); err != nil {
		return nil, err
	}
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	parts := make([]*hlo.Literal, len(c.Args))
	for i, a := range c.Args {
		if a.Shape().Type() != s.Type() {
			if a, err = converted(a, s.Type()); err != nil {
				return nil, err
			}
		}
		parts[i] = a
	}
	return concatenated(s, along, parts)
}

// concatenated lays arrays one after the other along an axis, filling shape s.
func concatenated(s hlo.Shape, axis int, parts []*hlo.Literal) (*hlo.Literal, error) {
	out := make([]byte, s.ByteSize())
	strides := rowMajor(dimsOf(s))
	at, w := 0, s.Type().ByteSize()
	for _, l := range parts {
		d := dimsOf(l.Shape())
		if axis < 0 || axis >= len(d) || len(d) != s.Rank() || at+d[axis] > int(s.Dim(axis)) {
			return nil, fmt.Errorf("operand of shape %v in %v", l.Shape(), s)
		}
		moveBlock(place{out, at * strides[axis], strides}, place{bytesOf(l), 0, rowMajor(d)}, d, w)
		at += d[axis]
	}
	return hlo.NewLiteral(s, out)
}

func slice(c *Call) (*hlo.Literal, error) {
	if err := c.keepsType(); err != nil {
		return nil, err
	}
	s := c.In.Shape()
	limits := hlo.AttrsOf[hlo.SliceAttrs](c.In).Slice
	l := c.Args[0]
	dims := make([]int, len(limits))
	strides := rowMajor(dimsOf(l.Shape()))
	src := place{bytesOf(l), 0, make([]int, len(limits))}
	if len(limits) != l.Shape().Rank() {
		return nil, fmt.Errorf("%d ranges for %v", len(limits), l.Shape())
	}
	for i, r := range limits {
		limit := r.Limit
		if !s.IsStatic() {
			limit = min(limit, l.Shape().Dim(i))
		}
		if r.Start < 0 || r.Stride < 1 || limit > l.Shape().Dim(i) {
			return nil, fmt.Errorf("range [%d:%d:%d] of dimension %d of %v", r.Start, r.Limit, r.Stride, i, l.Shape())
		}
		if limit > r.Start {
			dims[i] = int(1 + (limit-r.Start-1)/r.Stride) // no sum overflows
		}
		src.at += int(r.Start) * strides[i]
		src.strides[i] = strides[i] * int(r.Stride)
	}
	return cutOut(s, dims, src)
}

// cutOut copies a block of the given sizes. The result has shape s if that is static.
func cutOut(s hlo.Shape, dims []int, src place) (*hlo.Literal, error) {
	if !s.IsStatic() {
		sizes := make([]int64, len(dims))
		for i, d := range dims {
			sizes[i] = int64(d)
		}
		s = hlo.MakeShape(s.Type(), sizes...)
	}
	w := s.Type().ByteSize()
	out := make([]byte, product(dims)*w)
	moveBlock(place{out, 0, rowMajor(dims)}, src, dims, w)
	return hlo.NewLiteral(s, out)
}

// pad puts element k of an axis at low + k*(interior+1); what falls outside is dropped.
func pad(c *Call) (*hlo.Literal, error) {
	if err := c.keepsType(); err != nil {
		return nil, err
	}
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	filled, err := broadcastTo(s, c.Args[1], nil)
	if err != nil {
		return nil, err
	}
	out := filled.Bytes() // fresh memory of our own
	from, to := dimsOf(c.Args[0].Shape()), dimsOf(s)
	dst := place{out, 0, rowMajor(to)}
	src := place{bytesOf(c.Args[0]), 0, rowMajor(from)}
	dims := make([]int, len(from))
	padding := hlo.AttrsOf[hlo.PadAttrs](c.In).Padding
	if len(padding) != len(from) || len(from) != len(to) {
		return nil, fmt.Errorf("padding of %d dimensions for %v", len(padding), c.Args[0].Shape())
	}
	for i, p := range padding {
		low, step := int(p.Low), int(p.Interior)+1
		first := 0
		if low < 0 {
			first = (-low + step - 1) / step
		}
		last := -1 // the last element inside
		if at := to[i] - 1 - low; at >= 0 {
			last = min(from[i]-1, at/step)
		}
		dims[i] = max(0, last-first+1)
		src.at += first * src.strides[i]
		dst.at += (low + first*step) * dst.strides[i]
		dst.strides[i] *= step
	}
	moveBlock(dst, src, dims, s.Type().ByteSize())
	return hlo.NewLiteral(s, out)
}

func getDimensionSize(c *Call) (*hlo.Literal, error) {
	of := c.Args[0].Shape()
	k, err := axis(hlo.AttrsOf[hlo.AxisAttrs](c.In).Dimensions, of.Rank())
	if err != nil {
		return nil, err
	}
	return packInts(c.In.Shape(), []int64{of.Dim(k)})
}

// setDimensionSize cuts a dimension to its actual size, or brings it back with zeros.
func setDimensionSize(c *Call) (*hlo.Literal, error) {
	l := c.Args[0]
	k, err := axis(hlo.AttrsOf[hlo.AxisAttrs](c.In).Dimensions, min(l.Shape().Rank(), c.In.Shape().Rank()))
	if err != nil {
		return nil, err
	}
	n, ok := c.Args[1].ScalarInt()
	if !ok || n < 0 || n > c.In.Shape().Dim(k) {
		return nil, fmt.Errorf("size %d of dimension %d of %v", n, k, c.In.Shape())
	}
	sizes := l.Shape().Dimensions()
	dims := dimsOf(l.Shape())
	dims[k] = min(dims[k], int(n))
	sizes[k] = n
	s := hlo.MakeShape(l.Shape().Type(), sizes...)
	out := make([]byte, s.ByteSize())
	moveBlock(place{out, 0, rowMajor(dimsOf(s))}, place{bytesOf(l), 0, rowMajor(dimsOf(l.Shape()))}, dims, s.Type().ByteSize())
	return hlo.NewLiteral(s, out)
}

// converted is l with its elements converted to type t.
func converted(l *hlo.Literal, t hlo.PrimitiveType) (*hlo.Literal, error) {
	from := l.Shape().Type()
	if from == t {
		return l, nil
	}
	op, err := convertLanes(from, t)
	if err != nil {
		return nil, err
	}
	n := int(l.Shape().NumElements())
	a, d := makeLanes(from, n), makeLanes(t, n)
	a.load(from, bytesOf(l))
	op(&d, &a, nil, nil)
	out := make([]byte, n*t.ByteSize())
	d.store(t, out)
	return hlo.NewLiteral(l.Shape().WithType(t).WithLayout(nil), out)
}
