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

func asyncStart(ctx context.Context, f *function, in hlo.Instruction) error {
	// What it returns can be read, but not waited for: a done is never traced to a start in another chain.
	callee, err := f.l.function(ctx, in.Callee(0), plainCall, f.l.m.MustComputation(in.Callee(0)).Root().Shape(), f.forms.operands(in, 0)...)
	if err != nil {
		return err
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
	f.addEvent(in, o, o.args)
	return nil
}

// isLocal reports whether the chain that begins with a start stays in its computation, each step but the last being used by the next one
// only, and by what reads its operands.
func isLocal(in hlo.Instruction) bool {
	for in.Opcode() != hlo.OpAsyncDone {
		if in.IsRoot() {
			return false
		}
		var next hlo.Instruction
		for user := range in.Users() {
			switch {
			case user.Opcode() == hlo.OpGetTupleElement:
			case !next.IsZero() || !hlo.IsAsync(user.Opcode()) || user.Operand(0) != in.ID():
				return false
			default:
				next = user
			}
		}
		if next.IsZero() {
			return false
		}
		in = next
	}
	return true
}

// addEvent appends an op whose result is the event that stands for in. With states the operands that are bound go with it.
func (f *function) addEvent(in hlo.Instruction, o op, bound []valueID) {
	event := f.add(o, eventShape)
	if f.l.states {
		event = append(event, bound...)
	}
	f.leaves.Set(in.ID(), event)
}

// eventOf is the leaves of the asynchronous value that an update or done goes on from, its event first, and its chain if that is in this function.
func (f *function) eventOf(in hlo.Instruction) ([]valueID, *asyncChain, error) {
	if in.NumOperands() > 0 && f.isAsync(in.OperandInstr(0)) {
		if previous := in.OperandInstr(0); isState(f.form(previous), previous.Shape()) {
			return f.leaves.Get(previous.ID()), f.chains[previous.ID()], nil
		}
	}
	return nil, nil, f.errorf(in, "it goes on from a value that is not being computed; run pass async-to-sync first")
}

func asyncUpdate(_ context.Context, f *function, in hlo.Instruction) error {
	state, chain, err := f.eventOf(in)
	if err != nil {
		return err
	}
	late := f.operandLeaves(in, 1, in.NumOperands())
	if chain != nil {
		chain.bound = append(chain.bound, late...)
		f.chains[in.ID()] = chain
	}
	f.addEvent(in, op{kernel: "hlo.async-update", in: in, loc: f.location(in), args: append([]valueID{state[0]}, late...)},
		append(state[1:len(state):len(state)], late...))
	return nil
}

func asyncDone(_ context.Context, f *function, in hlo.Instruction) error {
	state, chain, err := f.eventOf(in)
	if err != nil {
		return err
	}
	o := op{kernel: "hlo.async-done", loc: f.location(in), args: state[:1]}
	done := len(f.ops)
	f.leaves.Set(in.ID(), f.add(o, in.Shape()))
	if chain != nil {
		chain.done, chain.outputs = done, f.leaves.Get(in.ID())
		f.ops[done].started = &chain.start
	}
	return nil
}
