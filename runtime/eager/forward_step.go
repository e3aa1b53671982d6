package eager

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// constantOp makes the op that has a literal for its result.
func (rt *Runtime) constantOp(attrs Attrs) (*Op, error) {
	a, ok := attrs.HLO.(*hlo.ConstantAttrs)
	if !ok || a.Literal == nil || a.Literal.IsElided() {
		return nil, async.Errorf(async.InvalidArgument, "it has no value").At("constant", async.Location{})
	}
	p := &plan{op: "constant"}
	s := &constantStep{}
	for _, leaf := range a.Literal.Leaves() {
		h := Of(leaf)
		p.out = append(p.out, h.shape)
		s.values = append(s.values, h)
	}
	p.step = s
	return &Op{rt: rt, name: p.op, prepare: func(args []hlo.Shape) (*plan, error) {
		if len(args) > 0 {
			return nil, async.Errorf(async.InvalidArgument, "takes no operands, got %d", len(args))
		}
		return p, nil
	}}, nil
}

// constantStep gives tensors that are there.
type constantStep struct{ values []TensorHandle }

func (s *constantStep) execute(_ *Runtime, _ *plan, inv *Invocation) error {
	for _, h := range s.values {
		inv.Results = append(inv.Results, h.CopyRef())
	}
	return nil
}

// forwardStep gives operands as results: leaves from..from+len(out) of them. The others are waited for.
type forwardStep struct{ from int }

// forwarding is for the ops that only regroup.
func (d *description) forwarding(operands []hlo.Shape) (step, error) {
	if d.opcode != hlo.OpGetTupleElement {
		return forwardStep{}, nil
	}
	from, index := 0, 0
	if a, ok := d.attrs.HLO.(*hlo.TupleElementAttrs); ok {
		index = int(a.Index)
	}
	for i := range index {
		from += operands[0].Elem(i).NumLeaves()
	}
	return forwardStep{from}, nil
}

func (s forwardStep) execute(rt *Runtime, p *plan, inv *Invocation) error {
	args := inv.Args[s.from:][:len(p.out)]
	if inv.Chain == nil && (p.op != "add-dependency" || inv.Args[1].value.IsAvailable()) {
		if _, failed := inv.state(); failed != nil && p.op == "add-dependency" {
			inv.fail(p, failed)
			return nil
		}
		for _, h := range args {
			inv.Results = append(inv.Results, h.CopyRef())
		}
		inv.consume()
		return nil
	}
	g := newGathered(rt, p.op, inv, p.out)
	g.run = func(tensors []Tensor) ([]Tensor, error) {
		tensors = tensors[s.from:][:len(p.out)]
		for _, t := range tensors {
			t.AddRef()
		}
		return tensors, nil
	}
	g.start()
	return nil
}

// An asynchronous value is what async-start gives: the leaves of the operands, those of the result, and a context. Its computation runs from
// the start on if all its parameters are bound, else from the update on that binds the last. The handles of the leaves know it.

// asyncCall is a computation that has been started, or is to be.
type asyncCall struct {
	op       *Op
	bound    []TensorHandle // leaves of the parameters so far, with a reference each
	promised []*async.Indirect
}

type asyncStartStep struct {
	callee  *Op
	context []hlo.Shape
}

type asyncUpdateStep struct{ before, late, outputs int }

type asyncDoneStep struct{ operands int }

// asyncStep prepares the three ops.
func (d *description) asyncStep(operands []hlo.Shape, result hlo.Shape) (step, error) {
	value := result
	if d.opcode != hlo.OpAsyncStart {
		if len(operands) == 0 {
			return nil, async.Errorf(async.InvalidArgument, "it has no asynchronous value")
		}
		value = operands[0]
	}
	bound, output, ok := hlo.AsyncValue(value, true)
	if !ok {
		return nil, async.Errorf(async.InvalidArgument, "%v is no asynchronous value: state Attrs.Operands", value)
	}
	operandLeaves, outputLeaves := len(leavesOf(bound...)), len(leavesOf(output))
	switch d.opcode {
	case hlo.OpAsyncUpdate:
		return asyncUpdateStep{before: operandLeaves, late: len(leavesOf(operands[1:]...)), outputs: outputLeaves}, nil
	case hlo.OpAsyncDone:
		return asyncDoneStep{operandLeaves}, nil
	}
	callee, err := d.rt.MakeComposite(d.attrs.Callees[0])
	if err != nil {
		return nil, err
	}
	return &asyncStartStep{callee, leavesOf(value)[operandLeaves+outputLeaves:]}, nil
}

func (s *asyncStartStep) execute(rt *Runtime, p *plan, inv *Invocation) error {
	c := &asyncCall{op: s.callee}
	first := len(inv.Results)
	for _, h := range inv.keepArgs() {
		c.bound = append(c.bound, h)
		inv.Results = append(inv.Results, h.CopyRef())
	}
	outputs := p.out[len(inv.Args) : len(p.out)-len(s.context)]
	for _, shape := range outputs {
		in := async.MakeIndirect()
		in.AddRef()
		c.promised = append(c.promised, in)
		inv.Results = append(inv.Results, TensorHandle{shape: shape, value: &in.Value})
	}
	for _, shape := range s.context {
		t := Tensor{shape, runtime.NewExternalBuffer(runtime.AlignedBytes(shape.ByteSize()), nil)}
		inv.Results = append(inv.Results, TensorHandle{shape: shape, value: async.MakeAvailable(t).Value()})
	}
	for i := range inv.Results[first:] {
		inv.Results[first+i].call = c
	}
	return c.startIfBound(inv)
}

// startIfBound executes the computation if it has all its operands.
func (c *asyncCall) startIfBound(inv *Invocation) error {
	shapes := make([]hlo.Shape, len(c.bound))
	for i, h := range c.bound {
		shapes[i] = h.shape
	}
	if _, err := c.op.prepare(shapes); err != nil {
		return nil // more are to come; the shape rule has checked those that are there
	}
	call := Invocation{Request: inv.Request, Location: inv.Location, Args: c.bound, Consume: true, Chain: inv.Chain}
	c.bound = nil
	if err := c.op.Execute(&call); err != nil {
		return err
	}
	for i, in := range c.promised {
		in.ForwardTo(call.Results[i].value)
		in.DropRef()
	}
	c.promised = nil
	return nil
}

func (s asyncUpdateStep) execute(_ *Runtime, p *plan, inv *Invocation) error {
	leaves := inv.Args[:len(inv.Args)-s.late]
	late := inv.Args[len(leaves):]
	c := callOf(leaves)
	if c == nil || s.late > 0 && c.promised == nil {
		inv.consume()
		return async.Errorf(async.FailedPrecondition, "its operand is no asynchronous value that takes operands").At(p.op, inv.Location)
	}
	for _, part := range [][]TensorHandle{leaves[:s.before], late, leaves[s.before:]} {
		for _, h := range part {
			h = h.CopyRef()
			h.call = c
			inv.Results = append(inv.Results, h)
		}
	}
	for _, h := range late {
		c.bound = append(c.bound, h.CopyRef())
	}
	inv.consume()
	if s.late == 0 {
		return nil
	}
	return c.startIfBound(inv)
}

func (s asyncDoneStep) execute(_ *Runtime, p *plan, inv *Invocation) error {
	c := callOf(inv.Args)
	if c == nil || c.promised != nil {
		inv.consume()
		return async.Errorf(async.FailedPrecondition, "its computation was not started, or has not got all its operands").At(p.op, inv.Location)
	}
	for i := range p.out {
		h := inv.Args[s.operands+i].CopyRef()
		h.call = nil
		inv.Results = append(inv.Results, h)
	}
	inv.consume()
	return nil
}

// callOf finds the asynchronous call that handles are the leaves of.
func callOf(leaves []TensorHandle) *asyncCall {
	for _, h := range leaves {
		if h.call != nil {
			return h.call
		}
	}
	return nil
}
