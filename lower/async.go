package lower

import (
	"context"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// asyncChain is one asynchronous computation whose steps, a start, updates and a done, all lie in one function: the plan knows how long its
// operands and outputs are in use, so it works in the function's own memory. Chains that are carried elsewhere have detached starts,
// which work in memory of their own.
type asyncChain struct {
	start   hlo.Instruction
	done    int       // op index of the done, -1 until seen
	bound   []valueID // operands bound so far; they stay alive until the done
	outputs []valueID
}

// eventShape is the shape of the register that carries a chain's event: it has no bytes.
var eventShape = hlo.MakeToken()

func asyncStart(ctx context.Context, f *function, in hlo.Instruction) error {
	callee, err := f.l.function(ctx, in.Callee(0), plainCall, f.operandForms(in, 0)...)
	if err != nil {
		return err
	}
	if root := callee.comp.Root(); callee.isAsync(root) {
		return f.errorf(in, "it returns %s, which is still being computed", root.Name())
	}
	thread := hlo.AttrsOf[hlo.AsyncStartAttrs](in).ExecutionThread
	if thread == "main" {
		thread = ""
	}
	o := op{kernel: "hlo.async-start", loc: f.location(in), args: f.operandLeaves(in, 0, in.NumOperands()),
		callees: []*function{callee}, control: &runtime.Control{Thread: thread}}
	if isLocal(in) {
		o.chain = &asyncChain{start: in, done: -1, bound: o.args}
		f.chains[in.ID()] = o.chain
	} else {
		o.control.Detached = true
	}
	f.addEvent(in, o)
	return nil
}

// isLocal reports whether the chain that begins with a start stays in its computation, each step but the last being used by the next one
// only.
func isLocal(in hlo.Instruction) bool {
	for in.Opcode() != hlo.OpAsyncDone {
		if in.UserCount() != 1 || in.IsRoot() {
			return false
		}
		for user := range in.Users() {
			if !hlo.IsAsync(user.Opcode()) || user.Operand(0) != in.ID() {
				return false
			}
			in = user
		}
	}
	return true
}

// addEvent appends an op whose result is the event that stands for in.
func (f *function) addEvent(in hlo.Instruction, o op) {
	f.leaves[in.ID()] = f.add(o, eventShape)
	f.forms[in.ID()] = eventShape
}

// eventOf is the event that an update or done goes on from, and its chain if that is in this function.
func (f *function) eventOf(in hlo.Instruction) (valueID, *asyncChain, error) {
	if in.NumOperands() > 0 && f.isAsync(in.OperandInstr(0)) {
		if previous := in.OperandInstr(0); f.form(previous).IsToken() {
			return f.leaves[previous.ID()][0], f.chains[previous.ID()], nil
		}
	}
	return 0, nil, f.errorf(in, "it goes on from a value that is not being computed; run pass async-to-sync first")
}

func asyncUpdate(_ context.Context, f *function, in hlo.Instruction) error {
	event, chain, err := f.eventOf(in)
	if err != nil {
		return err
	}
	late := f.operandLeaves(in, 1, in.NumOperands())
	if chain != nil {
		chain.bound = append(chain.bound, late...)
		f.chains[in.ID()] = chain
	}
	f.addEvent(in, op{kernel: "hlo.async-update", in: in, loc: f.location(in), args: append([]valueID{event}, late...)})
	return nil
}

func asyncDone(_ context.Context, f *function, in hlo.Instruction) error {
	event, chain, err := f.eventOf(in)
	if err != nil {
		return err
	}
	o := op{kernel: "hlo.async-done", loc: f.location(in), args: []valueID{event}}
	done := len(f.ops)
	f.leaves[in.ID()] = f.add(o, in.Shape())
	if chain != nil {
		chain.done, chain.outputs = done, f.leaves[in.ID()]
		f.ops[done].started = &chain.start
	}
	return nil
}
