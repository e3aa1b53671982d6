package lower

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// withChains makes a chain around the plain op of each native pair (copy-start and so on) that passes have left, so that it runs beside what lies
// between the two. A start that something else than its done uses stays, and is refused.
func withChains(m hlo.Module) hlo.Module {
	var e *hlo.Editor
	for c := range m.Computations() {
		for done := range c.Instructions() {
			pair := hlo.Info(done.Opcode()).Pair
			if pair.Plain == hlo.OpInvalid || !pair.Ends(done.Opcode()) || done.NumOperands() != 1 {
				continue
			}
			if start := done.OperandInstr(0); pair.Begins(start.Opcode()) && start.UserCount() == 1 && !start.IsRoot() {
				if e == nil {
					e = m.Edit()
				}
				chainOf(e.Computation(c.ID()), pair, start.ID(), done.ID())
			}
		}
	}
	if e == nil {
		return m
	}
	return e.Freeze()
}

// chainOf makes a start of a chain of a native one, and a done of its done. They keep their names and places.
func chainOf(c hlo.CompEdit, pair hlo.Pair, start, done hlo.InstrID) {
	in := c.At(start)
	result, attrs := in.Shape(), in.Attrs()
	if pair.Result != hlo.WholeResult {
		result = result.Elem(pair.Result)
	}
	if hlo.Info(pair.Plain).NewAttrs == nil {
		attrs = nil
	}
	body := c.Editor().NewComputation("async_computation")
	var shapes []hlo.Shape
	var params []hlo.InstrID
	for i := range in.NumOperands() {
		s := in.OperandInstr(i).Shape()
		shapes = append(shapes, s)
		params = append(params, body.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param", Shape: s, Attrs: &hlo.ParameterAttrs{Number: int64(i)}}))
	}
	state := hlo.MakeTuple(hlo.MakeTuple(shapes...), result, hlo.MakeArray(hlo.U32, nil, nil, hlo.DefaultLayout(0)))
	root := body.Append(hlo.InstrSpec{Opcode: pair.Plain, Shape: result, Operands: params, Attrs: attrs, Common: in.Common(),
		Callees: slices.Collect(in.Callees()), Position: in.Position()})
	body.SetScheduled(c.View().IsScheduled())
	callee := body.Finish(root)
	c.Instr(start).SetOpcode(hlo.OpAsyncStart).SetShape(state).SetAttrs(&hlo.AsyncStartAttrs{}).SetCallees(callee)
	c.Instr(done).SetOpcode(hlo.OpAsyncDone).SetAttrs(&hlo.AsyncDoneAttrs{})
}
