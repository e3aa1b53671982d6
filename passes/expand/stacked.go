package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// StackedReduce computes with arrays that were stacked only to be reduced.
var StackedReduce = &pass.Pass{
	Name: "stacked-reduce-expander",
	Doc: `reduce along the axis of a stack of few arrays → the computation, written out between the arrays

	reduce(concatenate(x, y), init), dimensions={0} → op(op(init, x), y)

That is how jnp.select finds the first condition that holds, and logsumexp of jnp.stack adds few terms. Elementwise ops and repetition between the stack and the reduction are
done for each of the arrays; numbers along the axis become constants.`,
	About: []hlo.Opcode{hlo.OpReduce},
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		was := m.MustComputation(c.ID())
		if !someInstruction(was, func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpReduce }) {
			return nil
		}
		for _, in := range backward(was) {
			s, ok := findStack(m, in)
			if !ok || !c.Has(in.ID()) || !ctx.Spend("expand") {
				continue
			}
			s.at = emit.Before(c, in)
			if err := emit.Replace(c, in.ID(), s.write()); err != nil {
				return err
			}
			ctx.Count("expanded", 1)
		}
		return nil
	},
}

// Limits of a stack: its arrays where one is reduced, and where several are, as of loops that have such reductions written out; the ops between it and the reduction, and the ops that are
// written.
const (
	mostStacked         = 8
	mostStackedTogether = 16
	deepestStack        = 8
	mostWritten         = 256
)

// stack is a reduction of arrays of which each is made of n pieces along the axis that is reduced.
type stack struct {
	at     emit.At
	in     hlo.Instruction
	by     hlo.Computation
	axis   int
	n      int64
	dims   []int64 // of the result
	pieces map[pieceOf]hlo.InstrID
}

type pieceOf struct {
	id hlo.InstrID
	i  int64
}

func findStack(m hlo.Module, in hlo.Instruction) (*stack, bool) {
	if in.Opcode() != hlo.OpReduce || !in.Shape().IsStatic() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return nil, false
	}
	axes, k := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions, in.NumOperands()/2
	by, ok := m.Computation(in.Callee(0))
	if len(axes) != 1 || !ok {
		return nil, false
	}
	s := &stack{in: in, by: by, axis: int(axes[0]), pieces: make(map[pieceOf]hlo.InstrID)}
	first := in.OperandInstr(0).Shape()
	s.n, s.dims = first.Dim(s.axis), slices.Delete(slices.Clone(first.Dimensions()), s.axis, s.axis+1)
	most := int64(mostStackedTogether)
	if k == 1 {
		most = mostStacked
	}
	if s.n < 2 || s.n > most || s.n*int64(by.NumInstructions()) > mostWritten || !s.isPlain() {
		return nil, false
	}
	stacks := 0
	for i := range k {
		x := in.OperandInstr(i)
		if t := x.Shape().Type(); !x.Shape().IsStatic() || t.IsComplex() || k == 1 && t.IsFloat() && t.Bits() < 32 || in.OperandInstr(k+i).Shape().Type() != t {
			return nil, false // narrow floats of one array are added up in f32
		}
		found, ok := s.isStacked(x, deepestStack)
		if !ok {
			return nil, false
		}
		stacks += found
	}
	return s, stacks > 0
}

// isPlain reports whether the computation is nothing but ops on elements, with as many results as it folds.
func (s *stack) isPlain() bool {
	k := s.in.NumOperands() / 2
	root := s.by.Root()
	if s.in.Shape().NumLeaves() != k || s.in.Shape().IsTuple() && (root.Opcode() != hlo.OpTuple || root.NumOperands() != k) {
		return false
	}
	for x := range s.by.Instructions() {
		switch {
		case x.Opcode() == hlo.OpParameter || x == root && x.Opcode() == hlo.OpTuple:
		case x.Opcode() == hlo.OpConstant && x.Shape().IsScalar():
		case !x.IsElementwise() || x.NumOperands() == 0 || x.NumCallees() > 0 || !x.Shape().IsScalar():
			return false
		}
	}
	return true
}

// isStacked reports whether pieces of x along the axis are there or easily made, and counts the stacks that it is made of.
func (s *stack) isStacked(x hlo.Instruction, depth int) (stacks int, ok bool) {
	if x.NumControlPredecessors()+x.NumControlSuccessors() > 0 || depth == 0 {
		return 0, false
	}
	//halo:allow opswitch what a piece of each is
	switch x.Opcode() {
	case hlo.OpConcatenate:
		return 1, hlo.AttrsOf[hlo.AxisAttrs](x).Dimensions[0] == int64(s.axis) && int64(x.NumOperands()) == s.n &&
			!slices.ContainsFunc(slices.Collect(x.Operands()), func(o hlo.Instruction) bool { return o.Shape().Dim(s.axis) != 1 })
	case hlo.OpIota:
		return 0, true
	case hlo.OpBroadcast:
		return 0, !slices.Contains(hlo.AttrsOf[hlo.BroadcastAttrs](x).Dimensions, int64(s.axis))
	}
	if !x.IsElementwise() || x.NumOperands() == 0 || x.NumCallees() > 0 || x.UserCount() > 1 || x.IsRoot() {
		return 0, false
	}
	for o := range x.Operands() {
		if o.Shape().Rank() != x.Shape().Rank() {
			return 0, false
		}
		n, ok := s.isStacked(o, depth-1)
		if !ok {
			return 0, false
		}
		stacks += n
	}
	return stacks, true
}

// piece is element i of x along the axis, without the axis.
func (s *stack) piece(x hlo.Instruction, i int64) hlo.InstrID {
	if made, ok := s.pieces[pieceOf{x.ID(), i}]; ok {
		return made
	}
	var id hlo.InstrID
	switch x.Opcode() {
	case hlo.OpConcatenate:
		id = s.at.Reshape(x.Operand(int(i)), s.dims...)
	case hlo.OpIota:
		switch axis := int(hlo.AttrsOf[hlo.IotaAttrs](x).Dimension); {
		case axis == s.axis:
			id = s.at.Fill(s.at.Int(x.Shape().Type(), i), s.dims...)
		case axis > s.axis:
			id = s.at.Iota(x.Shape().Type(), int64(axis-1), s.dims...)
		default:
			id = s.at.Iota(x.Shape().Type(), int64(axis), s.dims...)
		}
	case hlo.OpBroadcast:
		axes := slices.Clone(hlo.AttrsOf[hlo.BroadcastAttrs](x).Dimensions)
		for k := range axes {
			if axes[k] > int64(s.axis) {
				axes[k]--
			}
		}
		if id = x.Operand(0); len(s.dims) > 0 {
			id = s.at.Broadcast(id, axes, s.dims...)
		}
	default:
		spec := emit.Again(x)
		spec.Name, spec.Control, spec.Operands = "", nil, slices.Clone(spec.Operands)
		for k := range spec.Operands {
			spec.Operands[k] = s.piece(x.OperandInstr(k), i)
		}
		spec.Shape = hlo.MakeShape(x.Shape().Type(), s.dims...)
		id = s.at.Spec(spec)
	}
	s.pieces[pieceOf{x.ID(), i}] = id
	return id
}

// write writes the computation out, from the first element to the last.
func (s *stack) write() hlo.InstrID {
	k := s.in.NumOperands() / 2
	state := make([]hlo.InstrID, k)
	for i := range k {
		state[i] = s.at.Fill(s.in.Operand(k+i), s.dims...)
	}
	for n := range s.n {
		values := make(map[hlo.InstrID]hlo.InstrID)
		for i := range k {
			values[s.by.Parameters()[i]] = state[i]
			values[s.by.Parameters()[k+i]] = s.piece(s.in.OperandInstr(i), n)
		}
		for x := range s.by.OperandsFirst() {
			switch x.Opcode() {
			case hlo.OpParameter, hlo.OpTuple:
				continue
			case hlo.OpConstant:
				values[x.ID()] = s.at.Fill(s.at.Constant(x.Literal()), s.dims...)
				continue
			}
			spec := emit.Again(x)
			spec.Name, spec.Control, spec.Operands = "", nil, slices.Clone(spec.Operands)
			for i, o := range spec.Operands {
				spec.Operands[i] = values[o]
			}
			spec.Shape = hlo.MakeShape(x.Shape().Type(), s.dims...)
			values[x.ID()] = s.at.Spec(spec)
		}
		root := s.by.Root()
		if root.Opcode() != hlo.OpTuple {
			state = []hlo.InstrID{values[root.ID()]}
			continue
		}
		next := make([]hlo.InstrID, k)
		for i := range k {
			next[i] = values[root.Operand(i)]
		}
		state = next
	}
	if s.in.Shape().IsTuple() {
		return s.at.Tuple(state...)
	}
	return state[0]
}
