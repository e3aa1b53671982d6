package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// value is what became of the value of an instruction. One of id, parts and data is there from the beginning; the others are made when they are asked for.
type value struct {
	shape hlo.Shape     // as the program had it
	id    hlo.InstrID   // the value itself
	parts []*value      // of a tuple that was taken apart
	tuple hlo.InstrID   // the tuple instruction that made it, if one did
	data  hlo.InstrID   // of an array: filled up to its bounds
	sizes []hlo.InstrID // of its dimensions; NoInstr: as the shape states
}

func whole(s hlo.Shape, id hlo.InstrID) *value {
	return &value{shape: s, id: id, tuple: hlo.NoInstr, data: hlo.NoInstr}
}

func apart(s hlo.Shape, parts []*value) *value {
	return &value{shape: s, id: hlo.NoInstr, parts: parts, tuple: hlo.NoInstr, data: hlo.NoInstr}
}

// array is a filled array with sizes. Of dimensions that are not dynamic in its shape, none is kept.
func array(s hlo.Shape, data hlo.InstrID, sizes []hlo.InstrID) *value {
	v := &value{shape: s, id: hlo.NoInstr, tuple: hlo.NoInstr, data: data, sizes: noSizes(s.Rank())}
	for i := range sizes {
		if s.IsDynamicDimension(i) {
			v.sizes[i] = sizes[i]
		}
	}
	return v
}

func noSizes(rank int) []hlo.InstrID { return slices.Repeat([]hlo.InstrID{hlo.NoInstr}, rank) }

// isSized reports whether some dimension has a size of its own.
func (v *value) isSized() bool {
	return slices.ContainsFunc(v.sizes, func(n hlo.InstrID) bool { return n != hlo.NoInstr })
}

// value is what became of an operand.
func (b *body) value(in hlo.Instruction) *value {
	if v, ok := b.of[in.ID()]; ok {
		return v
	}
	v := whole(in.Shape(), in.ID())
	b.of[in.ID()] = v
	return v
}

// operand is what became of an operand of the instruction that is written, an array, filled.
func (b *body) operand(i int) *value { return b.fill(b.value(b.in.OperandInstr(i))) }

// fill makes sure that there is a filled array.
func (b *body) fill(v *value) *value {
	if v.data != hlo.NoInstr {
		return v
	}
	v.sizes = noSizes(v.shape.Rank())
	if v.shape.IsStatic() {
		v.data = b.cut(v)
		return v
	}
	v.take(b.at, padToStatic(b.at, v.shape, b.cut(v)))
	return v
}

// padToStatic fills an array up to its bounds: a tuple with the sizes of all its dimensions.
func padToStatic(at emit.At, s hlo.Shape, id hlo.InstrID) hlo.InstrID {
	parts := []hlo.Shape{filled(s)}
	for range s.Rank() {
		parts = append(parts, hlo.MakeShape(hlo.S32))
	}
	return at.OpOf(hlo.OpCustomCall, hlo.MakeTuple(parts...), callOf("PadToStatic"), id)
}

// take takes the filled array out of a tuple.
func (v *value) take(at emit.At, padded hlo.InstrID) {
	v.data, v.sizes = at.Element(padded, 0), noSizes(v.shape.Rank())
	for i := range v.sizes {
		if v.shape.IsDynamicDimension(i) {
			v.sizes[i] = at.Element(padded, i+1)
		}
	}
}

// cut makes sure that there is the value itself, its arrays of their dynamic sizes.
func (b *body) cut(v *value) hlo.InstrID {
	switch {
	case v.id != hlo.NoInstr:
	case v.parts != nil || v.shape.IsTuple():
		var parts []hlo.InstrID
		for _, p := range v.parts {
			parts = append(parts, b.cut(p))
		}
		if v.tuple != hlo.NoInstr {
			b.c.Instr(v.tuple).SetOperands(parts...)
			v.id = v.tuple
		} else {
			v.id = b.at.OpOf(hlo.OpTuple, v.shape, nil, parts...)
		}
	case v.shape.IsStatic():
		v.id = v.data
	default:
		operands := []hlo.InstrID{v.data}
		for i := range v.sizes {
			operands = append(operands, b.size(v, i))
		}
		v.id = b.at.OpOf(hlo.OpCustomCall, v.shape, callOf("SliceToDynamic"), operands...)
	}
	return v.id
}

// form makes the value of the shape of a packed one: arrays that are split are filled, the others are themselves.
func (b *body) form(v *value, split []bool) hlo.InstrID {
	if !slices.Contains(split, true) {
		return b.cut(v)
	}
	if !v.shape.IsTuple() {
		return b.fill(v).data
	}
	var parts []hlo.InstrID
	skip := 0
	for _, p := range b.taken(v) {
		n := p.shape.NumLeaves()
		parts = append(parts, b.form(p, split[skip:skip+n]))
		skip += n
	}
	return b.at.Tuple(parts...)
}

// taken is the parts of a tuple.
func (b *body) taken(v *value) []*value {
	if v.parts == nil {
		for i := range v.shape.NumElems() {
			v.parts = append(v.parts, whole(v.shape.Elem(i), b.at.Element(v.id, i)))
		}
	}
	return v.parts
}

// size is the size of a dimension of a filled array, known or computed.
func (b *body) size(v *value, i int) hlo.InstrID {
	if n := v.sizes[i]; n != hlo.NoInstr {
		return n
	}
	return b.number(v.shape.Dim(i))
}

// sizesOf lists the sizes of the arrays of a value that are split.
func (b *body) sizesOf(v *value, split []bool) (sizes []hlo.InstrID) {
	switch {
	case !slices.Contains(split, true):
	case v.shape.IsTuple():
		skip := 0
		for _, p := range b.taken(v) {
			n := p.shape.NumLeaves()
			sizes = append(sizes, b.sizesOf(p, split[skip:skip+n])...)
			skip += n
		}
	default:
		for i := range b.fill(v).sizes {
			if v.shape.IsDynamicDimension(i) {
				sizes = append(sizes, b.size(v, i))
			}
		}
	}
	return sizes
}

// number is a size that is known.
func (b *body) number(n int64) hlo.InstrID { return b.at.Int(hlo.S32, n) }

// callOf is the attributes of a custom call.
func callOf(target string) *hlo.CustomCallAttrs {
	a := hlo.Info(hlo.OpCustomCall).NewAttrs().(*hlo.CustomCallAttrs)
	a.Target = target
	return a
}
