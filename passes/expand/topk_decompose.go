package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// TopKDecomposer sorts for topk and for calls of TopK.
var TopKDecomposer = &pass.Pass{
	Name: "topk-decomposer",
	Doc: `write topk, and custom calls of TopK, as a sort and slices

Elements of bf16 in rows of at most 65536 are sorted as one number with their places in its low bits: that orders equal ones, so the sort need not be stable.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for _, in := range backward(c) {
				t, ok := asTopK(m, in)
				if !ok || !ctx.Spend("topk") {
					continue
				}
				ce := e.Computation(c.ID())
				at := emit.Before(ce, ce.At(in.ID()))
				parts := t.sorted(e, at)
				if err := emit.Replace(ce, in.ID(), at.Tuple(parts[0], parts[1])); err != nil {
					return m, err
				}
				ctx.Count("expanded", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// topKOf is what a topk asks for.
type topKOf struct {
	x       hlo.InstrID
	shape   hlo.Shape
	k       int64
	d       hlo.Direction
	stable  bool
	compare hlo.CompID // its own comparator of four parameters, or NoComp
}

func asTopK(m hlo.Module, in hlo.Instruction) (t topKOf, ok bool) {
	if in.Opcode() != hlo.OpTopk && in.Opcode() != hlo.OpCustomCall || in.NumOperands() != 1 {
		return t, false
	}
	t = topKOf{x: in.Operand(0), shape: in.OperandInstr(0).Shape(), d: hlo.GT, stable: true, compare: hlo.NoComp}
	if !t.shape.IsArray() || !t.shape.IsStatic() || t.shape.Rank() == 0 || !in.Shape().IsTuple() || in.Shape().NumElems() != 2 || in.Shape().Elem(1).Type() != hlo.S32 {
		return t, false
	}
	t.k = in.Shape().Elem(0).Dim(t.shape.Rank() - 1)
	if a, ok := in.Attrs().(*hlo.TopKAttrs); ok {
		t.stable = a.IsStable
		if !a.Largest {
			t.d = hlo.LT
		}
		return t, true
	}
	if hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != topKTarget || in.NumCallees() != 1 {
		return t, false
	}
	if c := in.Common(); c != nil && c.BackendConfig == "{is_stable = false}" {
		t.stable = false
	}
	if f := m.MustComputation(in.Callee(0)); f.NumParameters() == 4 {
		t.compare = f.ID()
	} else if !descends(f) {
		return t, false
	}
	return t, true
}

// sorted is the first k values, and where they were.
func (t topKOf) sorted(e *hlo.Editor, at emit.At) [2]hlo.InstrID {
	dims, axis := t.shape.Dimensions(), int64(t.shape.Rank()-1)
	if t.shape.Type() == hlo.BF16 && dims[axis] <= 1<<16 && t.compare == hlo.NoComp {
		return t.packed(e, at)
	}
	f := t.compare
	if f == hlo.NoComp {
		f = comparator(e, t.shape.Type(), hlo.S32, t.d)
	}
	count := at.Iota(hlo.S32, axis, dims...)
	s := at.Spec(hlo.InstrSpec{Opcode: hlo.OpSort, Shape: hlo.MakeTuple(t.shape, at.Shape(count)), Operands: []hlo.InstrID{t.x, count}, Callees: []hlo.CompID{f},
		Attrs: &hlo.SortAttrs{Dimensions: []int64{axis}, IsStable: t.stable}})
	return [2]hlo.InstrID{t.first(at, at.Element(s, 0)), t.first(at, at.Element(s, 1))}
}

func (t topKOf) first(at emit.At, v hlo.InstrID) hlo.InstrID {
	return at.SliceAxis(v, t.shape.Rank()-1, 0, t.k)
}

// packed sorts numbers of 32 bits: above the value, ordered as integers are, below its place, or the places from the end where large ones come first.
func (t topKOf) packed(e *hlo.Editor, at emit.At) [2]hlo.InstrID {
	dims, axis := slices.Clone(t.shape.Dimensions()), int64(t.shape.Rank()-1)
	fill := func(v int64) hlo.InstrID { return at.Fill(at.Int(hlo.S32, v), dims...) }
	turn := func(v hlo.InstrID) hlo.InstrID {
		return at.Select(at.Compare(hlo.LT, v, fill(0)), at.Binary(hlo.OpXor, v, fill(0x7fff0000)), v)
	}
	bits := at.OpOf(hlo.OpBitcastConvert, hlo.MakeShape(hlo.U16, dims...), nil, t.x)
	high := turn(at.Binary(hlo.OpShiftLeft, at.Convert(bits, hlo.S32), fill(16)))
	place := at.Iota(hlo.S32, axis, dims...)
	if t.d == hlo.GT {
		place = at.Binary(hlo.OpXor, place, fill(0xffff))
	}
	keys := at.Binary(hlo.OpOr, high, place)
	s := at.Spec(hlo.InstrSpec{Opcode: hlo.OpSort, Shape: at.Shape(keys), Operands: []hlo.InstrID{keys}, Callees: []hlo.CompID{comparator(e, hlo.S32, hlo.InvalidType, t.d)},
		Attrs: &hlo.SortAttrs{Dimensions: []int64{axis}}})
	s, dims[axis] = t.first(at, s), t.k
	place = at.Binary(hlo.OpAnd, s, fill(0xffff))
	if t.d == hlo.GT {
		place = at.Binary(hlo.OpXor, place, fill(0xffff))
	}
	high = at.Convert(at.Binary(hlo.OpShiftRightLogical, turn(at.Binary(hlo.OpAnd, s, fill(-1<<16))), fill(16)), hlo.U16)
	return [2]hlo.InstrID{at.OpOf(hlo.OpBitcastConvert, hlo.MakeShape(hlo.BF16, dims...), nil, high), place}
}
