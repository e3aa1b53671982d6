package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// BitcastDtypes writes casts between types of different sizes with shifts.
var BitcastDtypes = expander("bitcast-dtypes-expander", "write bitcast-convert between types of different sizes with shifts and masks", resizes, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	from, to, x := in.OperandInstr(0).Shape().Type(), in.Shape().Type(), in.Operand(0)
	if size(from) > size(to) {
		return narrowCast(at, x, from, to, in.Shape().Dimensions())
	}
	return wideCast(at, x, from, to, in.Shape().Dimensions())
})

func resizes(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpBitcastConvert || !in.Shape().IsStatic() || in.Shape().NumElements() == 0 {
		return false
	}
	from, to := in.OperandInstr(0).Shape().Type(), in.Shape().Type()
	return size(from) != size(to) && !from.IsComplex() && !to.IsComplex() && unsigned(from) != hlo.InvalidType && unsigned(to) != hlo.InvalidType
}

// narrowCast repeats each element along a new last axis and shifts out the bits of its place.
func narrowCast(at emit.At, x hlo.InstrID, from, to hlo.PrimitiveType, dims []int64) hlo.InstrID {
	axes := make([]int64, len(dims)-1)
	for i := range axes {
		axes[i] = int64(i)
	}
	u := unsigned(from)
	v := cast(at, at.Broadcast(x, axes, dims...), u)
	width := at.Fill(at.Int(u, size(to)), dims...)
	v = at.Binary(hlo.OpShiftRightLogical, v, at.Binary(hlo.OpMultiply, width, at.Iota(u, int64(len(dims)-1), dims...)))
	v = at.Binary(hlo.OpAnd, v, at.Fill(at.Int(u, 1<<size(to)-1), dims...))
	return cast(at, at.Convert(v, unsigned(to)), to)
}

// wideCast puts the elements of the last axis together.
func wideCast(at emit.At, x hlo.InstrID, from, to hlo.PrimitiveType, dims []int64) hlo.InstrID {
	n, total := size(to)/size(from), int64(1)
	for _, d := range at.Shape(x).Dimensions() {
		total *= d
	}
	flat, u := at.Reshape(x, total), unsigned(to)
	var all hlo.InstrID
	for i := range n {
		part := at.Op(hlo.OpSlice, &hlo.SliceAttrs{Slice: []hlo.SliceDim{{Start: i, Limit: total - n + i + 1, Stride: n}}}, flat)
		part = at.Convert(cast(at, part, unsigned(from)), u)
		if i == 0 {
			all = part
			continue
		}
		bits := at.Fill(at.Int(u, i*size(from)), total/n)
		all = at.Binary(hlo.OpOr, all, at.Binary(hlo.OpShiftLeft, part, bits))
	}
	return at.Reshape(cast(at, all, to), slices.Clone(dims)...)
}

// cast takes the bits of x as a type of the same size. A predicate is a byte that is 0 or not.
func cast(at emit.At, x hlo.InstrID, t hlo.PrimitiveType) hlo.InstrID {
	s := at.Shape(x)
	switch {
	case s.Type() == t:
		return x
	case s.Type().IsPred() || t.IsPred():
		return at.Convert(x, t)
	}
	return at.OpOf(hlo.OpBitcastConvert, hlo.MakeShape(t, s.Dimensions()...), nil, x)
}

// size is the bits that an element takes in a cast: a predicate is a byte.
func size(t hlo.PrimitiveType) int64 {
	if t.IsPred() {
		return 8
	}
	return int64(t.Bits())
}

// unsigned is the unsigned type with the size of t.
func unsigned(t hlo.PrimitiveType) hlo.PrimitiveType {
	u, _ := hlo.UnsignedOf(int(size(t)))
	return u
}
