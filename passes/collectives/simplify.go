package collectives

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllReduceSimplifier removes reductions of what is known.
var AllReduceSimplifier = &pass.Pass{
	Name: "all-reduce-simplifier",
	Doc: `remove collectives between single devices, and reductions of values that are the same on all

	collective of groups of one device            → operand
	all-reduce of a value that is the same on all → x · devices for sums, x for minimum, maximum, and, or

A value is the same on all devices if it is computed from replicated parameters, constants, and results of collectives between all. x · n rounds otherwise than
n additions do: policy xla or fast for floating-point sums.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			var same map[hlo.InstrID]bool
			for in := range c.PostOrder() {
				ce := e.Computation(c.ID())
				if x, ok := trivial(m, ce.At(in.ID())); ok {
					if ctx.Spend("trivial") {
						if err := forwardAcross(ce, in.ID(), x); err != nil {
							return m, err
						}
						ctx.Count("trivial", 1)
					}
					continue
				}
				if in.Opcode() != hlo.OpAllReduce || in.NumOperands() != 1 || !in.Shape().IsArray() || in.NumControlPredecessors() > 0 {
					continue
				}
				if same == nil {
					same = replicated(m, c)
				}
				f := factsOf(m, in)
				n, ok := groupSize(m, f)
				if !same[in.Operand(0)] || !ok || f.channel.Set || !f.reducer.ok || !foldsEqual(ctx, f.reducer.op, in.Shape().Type()) || !ctx.Spend("replicated") {
					continue
				}
				x := ce.At(in.ID()).Operand(0)
				if f.reducer.op == hlo.OpAdd {
					at := emit.Before(ce, in)
					times := at.Convert(at.Int(hlo.S32, n), in.Shape().Type())
					x = at.Binary(hlo.OpMultiply, x, at.Fill(times, in.Shape().Dimensions()...))
					if err := emit.Replace(ce, in.ID(), x); err != nil {
						return m, err
					}
				} else if err := emit.Forward(ce, in.ID(), x); err != nil {
					return m, err
				}
				ctx.Count("replicated", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// forwardAcross makes x stand for a collective, and removes the start of it, if in is the end of an asynchronous one.
func forwardAcross(c hlo.CompEdit, id, x hlo.InstrID) error {
	start := c.At(id).Operand(0)
	if err := emit.Forward(c, id, x); err != nil {
		return err
	}
	if start != x && c.Has(start) && c.UserCount(start) == 0 {
		return c.Remove(start)
	}
	return nil
}

// trivial finds the operand that a collective returns as it is: between groups of one device.
func trivial(m hlo.Module, in hlo.Instruction) (hlo.InstrID, bool) {
	start := in
	wrapped := in
	if in.Opcode() == hlo.OpAsyncDone {
		start = in.OperandInstr(0)
		body, ok := hlo.AsyncCallee(m, in)
		if !ok || start.Opcode() != hlo.OpAsyncStart || start.UserCount() != 1 || start.NumOperands() != 1 || body.NumInstructions() != 2 {
			return 0, false
		}
		wrapped = body.Root()
	}
	switch wrapped.Opcode() {
	case hlo.OpAllReduce, hlo.OpAllGather, hlo.OpReduceScatter:
	default:
		return 0, false
	}
	if wrapped.NumOperands() != 1 || start.NumControlPredecessors() > 0 || in.NumControlPredecessors() > 0 || !wrapped.Shape().Equal(wrapped.OperandInstr(0).Shape()) {
		return 0, false
	}
	f := factsOf(m, wrapped)
	lists, ok := f.lists()
	if !ok || f.channel.Set && !f.global && devicesOf(m).partitions > 1 {
		return 0, false
	}
	for _, g := range lists {
		if len(g) != 1 {
			return 0, false
		}
	}
	return start.Operand(0), true
}

// groupSize is the number of replicas that reduce together, if it is the same for all.
func groupSize(m hlo.Module, f facts) (int64, bool) {
	lists, ok := f.lists()
	if !ok {
		return devicesOf(m).replicas, true
	}
	n := len(lists[0])
	for _, g := range lists {
		if len(g) != n {
			return 0, false
		}
	}
	return int64(n), true
}

// foldsEqual reports whether folding equal values is known: for sums, whether the policy allows a product.
func foldsEqual(ctx *pass.Context, op hlo.Opcode, t hlo.PrimitiveType) bool {
	switch op {
	case hlo.OpMinimum, hlo.OpMaximum, hlo.OpAnd, hlo.OpOr:
		return true
	case hlo.OpAdd:
		return t != hlo.PRED && (t.IsInteger() || ctx.FP() >= pass.Rounding) && !t.IsComplex()
	}
	return false
}
