package shadow

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
)

// nudges is how many versions of the reference with other roundings are run. The greatest difference among them, times slack, is allowed.
const nudges = 8

// spread is how far roundings alone move the results of the reference: by leaf, the greatest difference to it among versions of which every
// computed float is one unit in the last place off, either way or not at all.
//
// A rewrite of class Rounding may round any value once more, or once less, than the program does, which moves that value by at most one unit in the
// last place of its type. How far the result then moves is a matter of the path to it: the number of roundings on it, what cancels,
// where it is multiplied, whether it becomes an integer. No tolerance on the result that is fixed beforehand is right for all of these: ones
// that are generous enough for a difference of nearly equal bf16 numbers pass wrong sums. So the path is asked (Monte Carlo arithmetic, after
// Parker). A leaf at whose place some version has an infinity or a NaN that another does not have is Inf: it is on the edge of overflow.
func (r *Reference) spread(ctx context.Context, n int) []float64 {
	in := &r.rounds[n]
	if in.spread != nil {
		return in.spread
	}
	want := in.want.Leaves()
	in.spread = make([]float64, len(want))
	for k := range nudges {
		got, err := eval.Module(ctx, nudged(r.m, rand.New(rand.NewPCG(uint64(k), uint64(n)))), in.args, r.limits)
		if err != nil {
			continue // a loop that no longer ends, an index that is no longer there
		}
		for i, g := range got.Leaves() {
			if !g.Shape().IsArray() || !g.Shape().Compatible(want[i].Shape()) {
				continue
			}
			d := arrays.Compare(g, want[i], 0, math.MaxFloat64)
			if d.Bad > 0 {
				in.spread[i] = math.Inf(1)
			}
			in.spread[i] = max(in.spread[i], d.MaxAbs)
		}
	}
	return in.spread
}

// nudged is m with each float that an instruction computes, rather than moves, times 1, the number after it, or the one before. What orders elements
// or is understood as one op by devices stays as it is.
func nudged(m hlo.Module, r *rand.Rand) hlo.Module {
	kept := map[hlo.CompID]bool{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpSort || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) {
				for id := range in.Callees() {
					kept[id] = true
				}
			}
		}
	}
	e := m.Edit()
	for c := range m.Computations() {
		if kept[c.ID()] {
			continue
		}
		ce := e.Computation(c.ID())
		ce.ClearSchedule()
		for in := range c.Instructions() {
			by, maker := nudge(in.Shape(), r), in
			if in.Opcode() == hlo.OpGetTupleElement {
				maker = in.OperandInstr(0)
			}
			if by == nil || !rounds(maker.Opcode()) {
				continue
			}
			factor := ce.AddSpec(hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: in.Shape(), Attrs: &hlo.ConstantAttrs{Literal: by}})
			product := ce.Add(hlo.OpMultiply, in.Shape(), in.ID(), factor.ID())
			ce.ReplaceAllUses(in.ID(), product.ID())
		}
	}
	return e.Freeze()
}

// rounds reports whether an op computes what it returns, rather than moving it or having it computed elsewhere.
func rounds(op hlo.Opcode) bool {
	const exact = hlo.TraitMovesData | hlo.TraitForwards | hlo.TraitNullaryValue | hlo.TraitControl | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	return hlo.Info(op).Traits&exact == 0 && !hlo.IsAsync(op) && op != hlo.OpParameter && op != hlo.OpGetTupleElement
}

// nudge is an array of ones and of their neighbours; nil for types without hostile values, and sizes that are not known.
func nudge(s hlo.Shape, r *rand.Rand) *hlo.Literal {
	const one = 2 // among the values of a type
	if !s.IsArray() || !s.IsStatic() || hostileFloats[s.Type()] == nil || s.ByteSize() > 1<<20 {
		return nil
	}
	width := s.Type().ByteSize()
	data := make([]byte, int(s.NumElements())*width)
	for i := range int(s.NumElements()) {
		v := hostileFloats[s.Type()][one] + uint64(r.IntN(3)) - 1
		for b := range width {
			data[i*width+b] = byte(v >> (8 * b))
		}
	}
	l, err := hlo.NewLiteral(s, data)
	if err != nil {
		return nil
	}
	return l
}
