package lower

import (
	"context"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// asyncChain is one asynchronous computation in a function: a start, updates, a done.
type asyncChain struct {
	start   int       // op index of the start
	done    int       // op index of the done, -1 until seen
	event   valueID   // the register that stands for the chain after its latest step
	bound   []valueID // operands bound so far; they stay alive until the done
	outputs []valueID
}

// eventShape is the shape of the register that carries a chain's event: it has no bytes.
var eventShape = hlo.MakeToken()

func asyncStart(ctx context.Context, f *function, in hlo.Instruction) error {
	callee, err := f.l.function(ctx, in.Callee(0), plainCall)
	if err != nil {
		return err
	}
	thread := hlo.AttrsOf[hlo.AsyncStartAttrs](in).ExecutionThread
	if thread == "main" {
		thread = ""
	}
	c := &asyncChain{start: len(f.ops), done: -1, bound: f.operandLeaves(in, 0, in.NumOperands())}
	c.event = f.add(op{kernel: "hlo.async-start", loc: f.location(in), args: c.bound, callees: []*function{callee},
		control: &runtime.Control{Thread: thread}, chain: c}, eventShape)[0]
	f.chains[in.ID()] = c
	return nil
}

// chainOf is the chain that the first operand of an update or done belongs to.
func (f *function) chainOf(in hlo.Instruction) (*asyncChain, error) {
	if in.NumOperands() > 0 {
		if c := f.chains[in.Operand(0)]; c != nil {
			return c, nil
		}
	}
	return nil, f.errorf(in, "its async-start is not in this computation; run pass async-to-sync first")
}

func asyncUpdate(_ context.Context, f *function, in hlo.Instruction) error {
	c, err := f.chainOf(in)
	if err != nil {
		return err
	}
	late := f.operandLeaves(in, 1, in.NumOperands())
	c.bound = append(c.bound, late...)
	args := append([]valueID{c.event}, late...)
	c.event = f.add(op{kernel: "hlo.async-update", loc: f.location(in), args: args}, eventShape)[0]
	f.chains[in.ID()] = c
	return nil
}

func asyncDone(_ context.Context, f *function, in hlo.Instruction) error {
	c, err := f.chainOf(in)
	if err != nil {
		return err
	}
	c.done = len(f.ops)
	c.outputs = f.add(op{kernel: "hlo.async-done", loc: f.location(in), args: []valueID{c.event}}, in.Shape())
	f.leaves[in.ID()] = c.outputs
	return nil
}
