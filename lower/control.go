package lower

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
)

// call lowers a call that inlining left.
func call(ctx context.Context, f *function, in hlo.Instruction) error {
	callee, err := f.l.function(ctx, in.Callee(0), plainCall, f.form(in), f.forms.operands(in, 0)...)
	if err != nil {
		return err
	}
	o := op{kernel: "hlo.call", loc: f.location(in), args: f.operandLeaves(in, 0, in.NumOperands()),
		callees: []*function{callee}, control: &runtime.Control{}}
	f.leaves.Set(in.ID(), f.add(o, f.form(in)))
	return nil
}

// conditional passes each branch its operand's leaves.
func conditional(ctx context.Context, f *function, in hlo.Instruction) error {
	o := op{kernel: "hlo.conditional", loc: f.location(in), args: f.operandLeaves(in, 0, in.NumOperands()), control: &runtime.Control{}}
	forms := f.forms.operands(in, 1)
	for i := range in.NumCallees() {
		callee, err := f.l.function(ctx, in.Callee(i), plainCall, f.form(in), forms[i])
		if err != nil {
			return err
		}
		o.callees = append(o.callees, callee)
		o.control.Counts = append(o.control.Counts, f.form(in.OperandInstr(i+1)).NumLeaves())
	}
	f.leaves.Set(in.ID(), f.add(o, f.form(in)))
	return nil
}

// while puts a copy before the loop for every part of the state that the body writes; the plan drops the copies of values that
// has no other use. Parts that the body only hands on need none.
func while(ctx context.Context, f *function, in hlo.Instruction) error {
	init := in.OperandInstr(0).Shape()
	if comp := f.l.m.MustComputation(in.Callee(0)); !comp.Root().Shape().Compatible(init) || !in.Shape().Compatible(init) {
		return f.errorf(in, "the state is %v at first, and %v after the body", init, comp.Root().Shape())
	}
	form, initial := f.form(in), in.OperandInstr(0)
	body, err := f.l.function(ctx, in.Callee(0), loopBody, form, form)
	if err != nil {
		return err
	}
	cond, err := f.l.function(ctx, in.Callee(1), plainCall, hlo.Shape{}, form)
	if err != nil {
		return err
	}
	given, err := f.as(f.leaves.Get(initial.ID()), f.form(initial), form, initial.Shape(), in)
	if err != nil {
		return err
	}
	state := slices.Clone(given)
	for i, v := range state {
		if body.passesArg[i] || f.values[v].shape.IsToken() {
			continue
		}
		state[i] = f.copy(v, in)
	}
	o := op{kernel: "hlo.while", loc: f.location(in), args: state, callees: []*function{cond, body}, loop: true,
		control: &runtime.Control{TripCount: f.l.tripCount(in)}}
	f.leaves.Set(in.ID(), f.add(o, form))
	return nil
}

const kernelCopy = "hlo.copy"

// copy appends an op that moves v to storage of its own.
func (f *function) copy(v valueID, in hlo.Instruction) valueID {
	shape := f.values[v].shape.WithoutLayout()
	return f.add(op{kernel: kernelCopy, loc: f.location(in), args: []valueID{v}, share: []sharing{{0, 0, elide}}}, shape)[0]
}

// tripCount is the number of rounds of a loop, if it is known: then the condition need not be evaluated, unless it does more than that.
// What the loop itself says counts first. XLA's passes may have written it into the backend configuration, as {"known_trip_count":{"n":"17"}}.
func (l *lowering) tripCount(in hlo.Instruction) int64 {
	if loop, ok := analysis.FindLoop(l.m, in); ok && !l.hasEffects(in.Callee(1)) {
		return loop.Trip
	}
	var config struct {
		Known struct {
			N string `json:"n"`
		} `json:"known_trip_count"`
	}
	if c := in.Common(); c != nil && c.BackendConfig != "" && json.Unmarshal([]byte(c.BackendConfig), &config) == nil {
		if n, err := strconv.ParseInt(config.Known.N, 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return runtime.UnknownTripCount
}

// hasEffects reports whether executing a computation does something besides computing its result.
func (l *lowering) hasEffects(id hlo.CompID) bool {
	if l.effects == nil {
		l.effects = analysis.FindSideEffects(l.m)
	}
	return l.effects.OfComputation(id)
}
