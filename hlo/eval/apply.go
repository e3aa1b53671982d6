package eval

import "github.com/gohalo/halo/hlo"

// applied is a computation prepared to be applied to many elements: the reducer of a reduce, the comparator of a sort.
type applied struct {
	comp hlo.Computation
	// op is the binary op that the computation is, with its parameters in order, or OpInvalid when it is something else.
	op hlo.Opcode
}

// apply prepares callee i.
func (c *Call) apply(i int) *applied {
	id := c.In.Callee(i)
	if a := c.e.applied[id]; a != nil {
		return a
	}
	a := &applied{comp: c.e.m.MustComputation(id)}
	root := a.comp.Root()
	if root.NumOperands() == 2 && a.comp.NumParameters() == 2 && root.Shape().IsScalar() &&
		root.Operand(0) == a.comp.Parameter(0).ID() && root.Operand(1) == a.comp.Parameter(1).ID() {
		a.op = root.Opcode()
	}
	c.e.applied[id] = a
	return a
}
