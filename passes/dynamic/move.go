package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// Ops that move elements as wholes of a dimension.

func getSize(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	return b.becomes(whole(in.Shape(), b.size(v, int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]))))
}

// setSize keeps the array. What a size that grows brings back is zero.
func setSize(b *body, in hlo.Instruction) bool {
	v, n, d := b.operand(0), b.operand(1).data, int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
	x := v.data
	if old := v.sizes[d]; old != hlo.NoInstr && old != n {
		x = b.mask(v, b.at.Constant(emit.Zero(in.Shape().Type())), d)
	}
	to := array(in.Shape(), x, v.sizes)
	to.sizes[d] = n // of a static shape, too
	if l := b.c.At(n).Literal(); l != nil && !in.Shape().IsDynamicDimension(d) {
		if known, ok := l.ScalarInt(); ok && known == in.Shape().Dim(d) {
			to.sizes[d] = hlo.NoInstr
		}
	}
	return b.becomes(to)
}

func broadcast(b *body, in hlo.Instruction) bool {
	v, sizes := b.operand(0), noSizes(in.Shape().Rank())
	for i, d := range hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions {
		sizes[d] = v.sizes[i]
	}
	for i, n := range sizes {
		if in.Shape().IsDynamicDimension(i) && n == hlo.NoInstr {
			return false // its size is known from nowhere
		}
	}
	return b.kept(sizes, v.data)
}

func transpose(b *body, in hlo.Instruction) bool {
	v, sizes := b.operand(0), noSizes(in.Shape().Rank())
	for i, d := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		sizes[i] = v.sizes[d]
	}
	return b.kept(sizes, v.data)
}

// reverse turns the filling to the front, and takes what is behind it.
func reverse(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	b.kept(v.sizes, v.data)
	data := in.ID()
	for _, d := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		if v.sizes[d] == hlo.NoInstr {
			continue
		}
		at, dims := b.end(), filled(in.Shape()).Dimensions()
		longer := at.Pad(data, at.Constant(emit.Zero(in.Shape().Type())), int(d), 0, dims[d])
		first := slices.Repeat([]hlo.InstrID{at.Int(hlo.S32, 0)}, len(dims))
		first[d] = at.Binary(hlo.OpSubtract, at.Int(hlo.S32, dims[d]), v.sizes[d])
		data = at.DynamicSlice(longer, first, dims...)
	}
	return b.becomes(array(in.Shape(), data, v.sizes))
}

// concatenate puts each array where the one before it ends, over its filling.
func concatenate(b *body, in hlo.Instruction) bool {
	axis, s := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]), in.Shape()
	var parts []*value
	apart := false
	for i, o := range slices.Collect(in.Operands()) {
		if o.Shape().Type() != s.Type() {
			return false
		}
		parts = append(parts, b.operand(i))
		apart = apart || parts[i].sizes[axis] != hlo.NoInstr && i < in.NumOperands()-1
	}
	sizes, offset := noSizes(s.Rank()), hlo.NoInstr
	var operands []hlo.InstrID
	for i, p := range parts {
		operands = append(operands, p.data)
		for d, n := range p.sizes {
			if d != axis && sizes[d] == hlo.NoInstr {
				sizes[d] = n
			}
		}
		if i == 0 {
			offset = b.size(p, axis)
		} else {
			offset = b.at.Binary(hlo.OpAdd, offset, b.size(p, axis))
		}
	}
	sizes[axis] = offset
	if !apart {
		return b.kept(sizes, operands...)
	}
	dims := s.Dimensions()
	x := b.at.Pad(parts[0].data, b.at.Constant(emit.Zero(s.Type())), axis, 0, dims[axis]-parts[0].shape.Dim(axis))
	offset = b.size(parts[0], axis)
	for i, p := range parts[1:] {
		first := slices.Repeat([]hlo.InstrID{b.number(0)}, len(dims))
		first[axis] = offset
		x = b.at.DynamicUpdateSlice(x, p.data, first...)
		if i < len(parts)-2 {
			offset = b.at.Binary(hlo.OpAdd, offset, b.size(p, axis))
		}
	}
	return b.becomes(array(s, x, sizes))
}

// pad writes the padding over the filling, too.
func pad(b *body, in hlo.Instruction) bool {
	v, with := b.operand(0), b.operand(1).data
	sizes := noSizes(in.Shape().Rank())
	var dims []int
	for d, p := range hlo.AttrsOf[hlo.PadAttrs](in).Padding {
		if v.sizes[d] == hlo.NoInstr {
			continue
		}
		sizes[d] = v.sizes[d]
		if p != (hlo.PaddingDim{}) {
			dims = append(dims, d)
			sizes[d] = b.plus(b.spread(sizes[d], p.Interior), p.Low+p.High)
			if p.Low+p.High < 0 {
				sizes[d] = b.atLeast(sizes[d], 0)
			}
		}
	}
	return b.kept(sizes, b.mask(v, with, dims...), with)
}

func slice(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	sizes := noSizes(in.Shape().Rank())
	for d, r := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		n := v.sizes[d]
		if n == hlo.NoInstr {
			continue
		}
		if r.Limit < v.shape.Dim(d) {
			n = b.atMost(n, r.Limit)
		}
		if r.Start > 0 {
			n = b.atLeast(b.plus(n, -r.Start), 0)
		}
		sizes[d] = b.over(b.plus(n, r.Stride-1), r.Stride)
	}
	return b.kept(sizes, v.data)
}
