package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ScatterSliceSimplifier scatters into what is left of the array.
var ScatterSliceSimplifier = &pass.Pass{
	Name: "scatter-slice-simplifier",
	Doc: `scatter into the part of an array that is sliced from it

All uses of the scatter end in slices from 0 to the same limits, perhaps through elementwise ops. The windows are of size 1 where something is cut off, so that none of them lies half
within the part.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).PostOrder() {
			if in.Opcode() != hlo.OpScatter || !c.Has(in.ID()) {
				continue
			}
			s := sliced{c: c, scatter: in, now: map[hlo.InstrID]hlo.InstrID{}}
			if !s.find() || !ctx.Spend("slice") {
				continue
			}
			if err := s.rewrite(); err != nil {
				return err
			}
			ctx.Count("narrowed", 1)
		}
		return nil
	},
}

// sliced is a scatter of which parts are used, the slices that take them, and what is computed in between.
type sliced struct {
	c       hlo.CompEdit
	scatter hlo.Instruction
	limits  []int64
	slices  []hlo.Instruction
	between map[hlo.InstrID]bool        // the scatter, and what is computed from it on the way to the slices
	now     map[hlo.InstrID]hlo.InstrID // the narrow one of each value
}

func (s *sliced) find() bool {
	in := s.scatter
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	if !staticArrays(in) || len(a.InputBatchingDims) > 0 || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return false
	}
	seen, work := map[hlo.InstrID]bool{in.ID(): true}, []hlo.Instruction{in}
	for len(work) > 0 {
		x := work[0]
		work = work[1:]
		if !s.c.Has(x.ID()) || x.IsRoot() || x.NumControlPredecessors()+x.NumControlSuccessors() > 0 {
			return false
		}
		for u := range x.Users() {
			switch info := hlo.Info(u.Opcode()); {
			case seen[u.ID()]:
			case u.Opcode() == hlo.OpSlice:
				if !s.take(u) {
					return false
				}
			case u.Opcode() == hlo.OpGetTupleElement || info.Traits.Has(hlo.TraitElementwise) && !info.Traits.Has(hlo.TraitRandom) && u.NumCallees() == 0 && s.alike(u):
				seen[u.ID()] = true
				work = append(work, u)
			default:
				return false
			}
		}
	}
	s.between = seen
	if len(s.slices) == 0 {
		return false
	}
	array := in.OperandInstr(0).Shape()
	sizes := windowSizes(&a, array, in.OperandInstr(in.NumOperands()/2+1).Shape())
	cut := false
	for d, limit := range s.limits {
		if limit < array.Dim(d) {
			cut = true
			if sizes[d] != 1 || limit == 0 {
				return false
			}
		}
	}
	return cut
}

// alike reports whether all operands of an elementwise op have the dimensions of the array.
func (s *sliced) alike(u hlo.Instruction) bool {
	array := s.scatter.OperandInstr(0).Shape()
	for o := range u.Operands() {
		if !o.Shape().IsArray() || !slices.Equal(o.Shape().Dimensions(), array.Dimensions()) || !o.Shape().IsStatic() {
			return false
		}
	}
	return true
}

// take notes a slice, and reports false if it takes another part than those before.
func (s *sliced) take(u hlo.Instruction) bool {
	var limits []int64
	for _, r := range hlo.AttrsOf[hlo.SliceAttrs](u).Slice {
		if r.Start != 0 || r.Stride != 1 {
			return false
		}
		limits = append(limits, r.Limit)
	}
	if s.limits != nil && !slices.Equal(s.limits, limits) {
		return false
	}
	s.limits = limits
	s.slices = append(s.slices, u)
	return true
}

func (s *sliced) rewrite() error {
	for _, u := range s.slices {
		if err := emit.Replace(s.c, u.ID(), s.narrow(u.OperandInstr(0), emit.Before(s.c, u))); err != nil {
			return err
		}
	}
	emit.Reorder(s.c)
	return nil
}

// narrow is the part of a value that depends on the scatter.
func (s *sliced) narrow(in hlo.Instruction, at emit.At) hlo.InstrID {
	if id, ok := s.now[in.ID()]; ok {
		return id
	}
	spec := emit.Again(in)
	switch {
	case in.ID() == s.scatter.ID():
		n := in.NumOperands() / 2
		var shapes []hlo.Shape
		for i := range n {
			spec.Operands[i] = s.cut(in.OperandInstr(i), at)
			shapes = append(shapes, hlo.MakeShape(in.OperandInstr(i).Shape().Type(), s.limits...))
		}
		spec.Shape = shapes[0]
		if in.Shape().IsTuple() {
			spec.Shape = hlo.MakeTuple(shapes...)
		}
	case s.between[in.ID()]:
		for i := range spec.Operands {
			spec.Operands[i] = s.narrow(in.OperandInstr(i), at)
		}
		spec.Shape = hlo.MakeShape(in.Shape().Type(), s.limits...)
	default:
		return s.cut(in, at)
	}
	if l, ok := in.Shape().Layout(); ok && in.Shape().IsArray() {
		spec.Shape = spec.Shape.WithLayout(l)
	}
	spec.Name = ""
	id := at.Spec(spec)
	s.now[in.ID()] = id
	return id
}

func (s *sliced) cut(in hlo.Instruction, at emit.At) hlo.InstrID {
	if id, ok := s.now[in.ID()]; ok {
		return id
	}
	id := at.Slice(in.ID(), make([]int64, len(s.limits)), s.limits)
	s.now[in.ID()] = id
	return id
}
