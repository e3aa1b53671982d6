package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const reshapeMoverDoc = `compute on arrays as they are, and reshape or transpose the results

	add(reshape(x), reshape(y))            → reshape(add(x, y))
	multiply(transpose(x), broadcast(2))   → transpose(multiply(x, broadcast(2)))

An elementwise instruction moves in front of the reshapes or transposes that it reads if they are all the same, and if what else it reads is a
constant, a broadcast scalar, or a broadcast along axes that the transposes leave in place. Something else than those has to be rearranged. A scalar moves only if what becomes of it is reshaped to an array. A rearrangement that anybody else reads has to be made anyway: then its readers stay behind it.`

// NewReshapeMover makes the pass reshape-mover, which sinks rearrangements.
func NewReshapeMover(o pass.Options) (*pass.Pass, error) {
	const rows = "reshape-of-1d-broadcast-is-cheap"
	if err := o.Known(rows); err != nil {
		return nil, err
	}
	cheap, err := o.Bool(rows)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "reshape-mover", Doc: reshapeMoverDoc, Options: o,
		Params: []pass.Param{{Name: rows, Doc: "an instruction moves in front of reshapes although it reads broadcasts of one dimension, or along axes that the reshapes keep, which are reshaped then; false"}},
		Lent:   true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			effects := pass.Fact(ctx, m, analysis.FindSideEffects)
			if pass.Fact(ctx, m, analysis.FindClosed).Has(c.ID()) {
				return nil
			}
			candidates, moving := movable(c.View(), effects, cheap)
			for in := range pass.Still(c, candidates) {
				if !ctx.Spend("move") {
					continue
				}
				if err := moveBefore(c, emit.Again(in), in.ID(), c.At(moving[in.ID()])); err != nil {
					return err
				}
				ctx.Count("instructions", 1)
			}
			return nil
		}}, nil
}

// movable lists the instructions that may move in front of what they read, in program order, and has, by id, the first rearrangement that each reads.
func movable(c hlo.Computation, effects *analysis.SideEffects, cheap bool) (candidates []hlo.InstrID, moving []hlo.InstrID) {
	moving = make([]hlo.InstrID, c.IDLimit())
	for i := range moving {
		moving[i] = hlo.NoInstr
	}
	scalars := false
	for in := range c.Instructions() {
		if r, ok := rearranged(in, effects, cheap); ok {
			moving[in.ID()] = r.ID()
			scalars = scalars || in.Shape().IsScalar()
			if n := len(candidates); n == cap(candidates) {
				candidates = slices.Grow(candidates, max(n, 8)) // twice as many: a long list moves seldom
			}
			candidates = append(candidates, in.ID())
		}
	}
	if scalars {
		becomes := becomesArray{}
		for in := range c.PostOrder() {
			if moving[in.ID()] != hlo.NoInstr && in.Shape().IsScalar() && !becomes.ask(in, 0) {
				moving[in.ID()] = hlo.NoInstr
			}
		}
	}
	// A rearrangement that somebody else reads is made anyway, so its readers stay; then so do the readers of what else these read.
	made := make([]bool, c.IDLimit())
	var work []hlo.Instruction
	stay := func(o hlo.Instruction) {
		if !made[o.ID()] {
			made[o.ID()] = true
			work = append(work, o)
		}
	}
	for _, id := range candidates {
		for o := range c.MustAt(id).Operands() {
			if isRearrangement(o) && !made[o.ID()] && (o.IsRoot() || o.NumControlSuccessors() > 0 || !allMove(o, moving)) {
				stay(o)
			}
		}
	}
	for len(work) > 0 {
		o := work[len(work)-1]
		work = work[:len(work)-1]
		for user := range o.Users() {
			if moving[user.ID()] == hlo.NoInstr {
				continue
			}
			moving[user.ID()] = hlo.NoInstr
			for other := range user.Operands() {
				if isRearrangement(other) {
					stay(other)
				}
			}
		}
	}
	return slices.DeleteFunc(candidates, func(id hlo.InstrID) bool { return moving[id] == hlo.NoInstr }), moving
}

// becomesArray knows of scalars whether all that is computed from them is reshaped to arrays in the end: then none of it need be a scalar. Others stay
// what loops over scalars compute best.
type becomesArray map[hlo.InstrID]bool

// maxScalars is how many scalars after each other are followed.
const maxScalars = 100

func (b becomesArray) ask(in hlo.Instruction, depth int) bool {
	if known, asked := b[in.ID()]; asked {
		return known
	}
	yes := !in.IsRoot() && depth < maxScalars
	for user := range in.Users() {
		if !yes {
			break
		}
		yes = user.Opcode() == hlo.OpReshape || hlo.Info(user.Opcode()).Traits.Has(hlo.TraitElementwise) && user.Shape().IsScalar() &&
			otherwiseConstant(user, in) && b.ask(user, depth+1)
	}
	b[in.ID()] = yes
	return yes
}

// otherwiseConstant reports whether all operands but one are constants.
func otherwiseConstant(in, but hlo.Instruction) bool {
	for o := range in.Operands() {
		if o.ID() != but.ID() && o.Opcode() != hlo.OpConstant {
			return false
		}
	}
	return true
}

// allMove reports whether every reader of a rearrangement is a candidate.
func allMove(o hlo.Instruction, moving []hlo.InstrID) bool {
	for user := range o.Users() {
		if moving[user.ID()] == hlo.NoInstr {
			return false
		}
	}
	return true
}

// rearranged returns the first of the rearrangements that in reads if in is elementwise and what it reads allows it to move; cheap allows more broadcasts.
func rearranged(in hlo.Instruction, effects *analysis.SideEffects, cheap bool) (first hlo.Instruction, ok bool) {
	traits := hlo.Info(in.Opcode()).Traits
	if !in.IsElementwise() || traits.Has(hlo.TraitRandom) || effects.Of(in) || in.NumCallees() > 0 || !isPlain(in) ||
		in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || in.Common() != nil && in.Common().Sharding != nil {
		return in, false
	}
	for o := range in.Operands() {
		if isRearrangement(o) && !rearrangedForFree(o.OperandInstr(0), o, cheap) {
			first = o
			break
		}
	}
	if first.IsZero() {
		return in, false
	}
	for o := range in.Operands() {
		switch {
		case isRearrangement(o):
			if !sameRearrangement(first, o) || !analysis.SameDimensions(o.Shape(), in.Shape()) {
				return in, false
			}
		case o.Shape().IsScalar() && !in.Shape().IsScalar(): // of select and clamp
		case !rearrangedForFree(o, first, cheap):
			return in, false
		}
	}
	return first, true
}

// rearrangedForFree reports whether x, rearranged as r is or back, is as cheap as x: it can be made in other dimensions.
func rearrangedForFree(x, r hlo.Instruction, cheap bool) bool {
	//halo:allow opswitch what makes arrays of any dimensions is not in the table
	switch x.Opcode() {
	case hlo.OpConstant:
		return true
	case hlo.OpRng:
		return x.UserCount() == 1 // others read the same numbers
	case hlo.OpBroadcast:
		from, axes := x.OperandInstr(0).Shape(), hlo.AttrsOf[hlo.BroadcastAttrs](x).Dimensions
		switch {
		case from.IsScalar():
			return true
		case !isPlain(x) || !slices.IsSorted(axes):
			return false
		case r.Opcode() == hlo.OpTranspose:
			perm := hlo.AttrsOf[hlo.DimensionsAttrs](r).Dimensions
			return !slices.ContainsFunc(axes, func(d int64) bool { return perm[d] != d })
		}
		long := 0
		for _, d := range from.Dimensions() {
			if d != 1 {
				long++
			}
		}
		return cheap && (long <= 1 || keepsAxes(r, axes))
	}
	return false
}

// keepsAxes reports whether some axes of a reshape's result are axes of its operand, too: as long, with as many elements in front.
func keepsAxes(r hlo.Instruction, axes []int64) bool {
	to, from := r.Shape().Dimensions(), r.OperandInstr(0).Shape().Dimensions()
	for _, axis := range axes {
		before, i, n := elements(to[:axis]), 0, int64(1)
		for i < len(from) && (n < before || from[i] == 1 && to[axis] != 1) {
			n *= from[i]
			i++
		}
		if i == len(from) || n != before || from[i] != to[axis] {
			return false
		}
	}
	return true
}

func elements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// isRearrangement reports a reshape or transpose of an array of fixed size to one that is no scalar.
func isRearrangement(in hlo.Instruction) bool {
	return (in.Opcode() == hlo.OpReshape || in.Opcode() == hlo.OpTranspose) && isPlain(in) &&
		in.NumControlPredecessors() == 0 && (in.Common() == nil || in.Common().Sharding == nil)
}

func sameRearrangement(a, b hlo.Instruction) bool {
	if a.Opcode() != b.Opcode() || !analysis.SameDimensions(a.OperandInstr(0).Shape(), b.OperandInstr(0).Shape()) {
		return false
	}
	return a.Opcode() == hlo.OpReshape || slices.Equal(hlo.AttrsOf[hlo.DimensionsAttrs](a).Dimensions, hlo.AttrsOf[hlo.DimensionsAttrs](b).Dimensions)
}

// moveBefore computes in on what is rearranged as r is, and rearranges the result.
func moveBefore(c hlo.CompEdit, in hlo.InstrSpec, id hlo.InstrID, r hlo.Instruction) error {
	source, back, result := r.OperandInstr(0).Shape(), inverse(r), emit.Again(r)
	var operands []hlo.InstrID
	for _, old := range in.Operands {
		o := c.At(old)
		switch {
		case isRearrangement(o):
			operands = append(operands, o.Operand(0))
		case o.Shape().IsScalar() && !in.Shape.IsScalar():
			operands = append(operands, o.ID())
		case o.Opcode() == hlo.OpBroadcast && o.OperandInstr(0).Shape().IsScalar():
			operands = append(operands, c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: hlo.OpBroadcast, Shape: source.WithType(o.Shape().Type()),
				Operands: []hlo.InstrID{o.Operand(0)}, Attrs: o.Attrs(), Common: o.Common(), Position: o.Position()}).ID())
		default:
			operands = append(operands, c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: result.Opcode, Shape: source.WithType(o.Shape().Type()),
				Operands: []hlo.InstrID{old}, Attrs: back, Position: o.Position()}).ID())
		}
	}
	moved := c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: in.Opcode, Name: in.Name, Shape: source.WithType(in.Shape.Type()), Operands: operands,
		Attrs: in.Attrs, Common: in.Common, Position: in.Position}).ID()
	if err := c.ReplaceInstruction(id, c.InsertSpecBefore(id, hlo.InstrSpec{Opcode: result.Opcode, Name: result.Name, Shape: in.Shape, Operands: []hlo.InstrID{moved},
		Attrs: result.Attrs, Common: result.Common, Position: result.Position}).ID()); err != nil {
		return err
	}
	for _, o := range in.Operands {
		pass.Release(c, o, nil)
	}
	return nil
}

// inverse undoes a rearrangement: the attributes of an instruction of its opcode.
func inverse(r hlo.Instruction) hlo.OpAttrs {
	if r.Opcode() == hlo.OpReshape {
		return r.Attrs()
	}
	there := hlo.AttrsOf[hlo.DimensionsAttrs](r).Dimensions
	back := make([]int64, len(there))
	for i, a := range there {
		back[a] = int64(i)
	}
	return &hlo.DimensionsAttrs{Dimensions: back}
}
