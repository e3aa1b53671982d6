package deadlock

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime/devices"
)

// follower goes through a program as one device does, and notes its events.
type follower struct {
	m       hlo.Module
	grid    devices.Grid
	device  int
	threads []*thread
	quiet   map[hlo.CompID]bool // computations without events, as far as they are known
	events  int
}

// Limits of what is followed: programs can be exponentially longer than their text.
const (
	maxEvents  = 1 << 18
	maxRounds  = 1 << 12
	smallValue = 16 // elements of values that are followed
)

func (f *follower) thread(name string) *thread {
	t := &thread{device: f.device, name: name}
	f.threads = append(f.threads, t)
	return t
}

func (f *follower) add(t *thread, e event) error {
	if f.events++; f.events > maxEvents {
		return fmt.Errorf("the program has more than %d communications of one device, and is not followed to its end", maxEvents)
	}
	t.events = append(t.events, e)
	return nil
}

// computation follows a computation and returns the leaves of its result, nil where they are not known.
func (f *follower) computation(t *thread, c hlo.Computation, params [][]*hlo.Literal) ([]*hlo.Literal, error) {
	values := make(map[hlo.InstrID][]*hlo.Literal)
	chains := make(map[hlo.InstrID]*thread)
	order := c.PostOrder()
	if c.IsScheduled() {
		order = c.Instructions()
	}
	for in := range order {
		if n, ok := in.ParameterNumber(); ok {
			values[in.ID()] = params[n]
			continue
		}
		v, err := f.instruction(t, in, values, chains)
		if err != nil {
			return nil, err
		}
		values[in.ID()] = v
	}
	return values[c.Root().ID()], nil
}

func (f *follower) instruction(t *thread, in hlo.Instruction, values map[hlo.InstrID][]*hlo.Literal, chains map[hlo.InstrID]*thread) ([]*hlo.Literal, error) {
	traits := hlo.Info(in.Opcode()).Traits
	operand := func(i int) []*hlo.Literal { return values[in.Operand(i)] }
	//halo:allow opswitch each of these is followed in a way of its own
	switch in.Opcode() {
	case hlo.OpTuple:
		var all []*hlo.Literal
		for i := range in.NumOperands() {
			all = append(all, leavesOf(operand(i), in.OperandInstr(i).Shape())...)
		}
		return all, nil
	case hlo.OpGetTupleElement:
		index, s := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index), in.OperandInstr(0).Shape()
		at := 0
		for i := range index {
			at += s.Elem(i).NumLeaves()
		}
		return leavesOf(operand(0), s)[at:][:s.Elem(index).NumLeaves()], nil
	case hlo.OpCall:
		return f.call(t, in, 0, in.NumOperands(), 0, values)
	case hlo.OpConditional:
		branch := 0
		if sel := operand(0); len(sel) == 1 && sel[0] != nil {
			branch = selected(sel[0], in.NumCallees())
		}
		return f.call(t, in, branch+1, branch+2, branch, values)
	case hlo.OpWhile:
		return f.loop(t, in, leavesOf(operand(0), in.Shape()))
	case hlo.OpAsyncStart:
		begun := f.thread(in.Name())
		chains[in.ID()] = begun
		if err := f.add(t, event{kind: begins, in: in, thread: begun}); err != nil {
			return nil, err
		}
		_, err := f.call(begun, in, 0, in.NumOperands(), 0, values)
		return nil, err
	case hlo.OpAsyncUpdate:
		chains[in.ID()] = chains[in.Operand(0)]
		return nil, nil
	case hlo.OpAsyncDone:
		if begun := chains[in.Operand(0)]; begun != nil {
			return nil, f.add(t, event{kind: joins, in: in, thread: begun})
		}
		return nil, nil
	case hlo.OpSend, hlo.OpRecvDone:
		return nil, f.transfer(t, in)
	}
	if traits.Has(hlo.TraitCollective) && !traits.Has(hlo.TraitAsyncDone) {
		group, err := f.grid.Members(in, f.grid.Device(f.device))
		if err != nil || len(group) <= 1 {
			return nil, nil // a device in no group is the verifier's concern
		}
		e := event{kind: meets, in: in}
		for _, d := range group {
			e.group = append(e.group, f.grid.Number(d))
		}
		return nil, f.add(t, e)
	}
	return f.evaluate(in, values), nil
}

// leavesOf is a value of a shape whose leaves may not be known at all.
func leavesOf(v []*hlo.Literal, s hlo.Shape) []*hlo.Literal {
	if v != nil {
		return v
	}
	return make([]*hlo.Literal, s.NumLeaves())
}

// selected is the branch that a selector takes.
func selected(sel *hlo.Literal, branches int) int {
	n, ok := sel.ScalarInt()
	if sel.Shape().Type() == hlo.PRED {
		if len(sel.Bytes()) == 1 && sel.Bytes()[0] != 0 {
			return 0
		}
		return 1
	}
	if !ok || n < 0 || int(n) >= branches {
		return branches - 1
	}
	return int(n)
}

// call follows callee i on some operands.
func (f *follower) call(t *thread, in hlo.Instruction, from, to, i int, values map[hlo.InstrID][]*hlo.Literal) ([]*hlo.Literal, error) {
	callee := f.m.MustComputation(in.Callee(i))
	if f.isQuiet(callee) {
		return nil, nil
	}
	params := make([][]*hlo.Literal, callee.NumParameters())
	for k := from; k < to && k-from < len(params); k++ {
		params[k-from] = leavesOf(values[in.Operand(k)], in.OperandInstr(k).Shape())
	}
	return f.computation(t, callee, params)
}

// loop follows the rounds of a loop.
func (f *follower) loop(t *thread, in hlo.Instruction, state []*hlo.Literal) ([]*hlo.Literal, error) {
	body, cond := f.m.MustComputation(in.Callee(0)), f.m.MustComputation(in.Callee(1))
	if f.isQuiet(body) && f.isQuiet(cond) {
		return nil, nil
	}
	for round := 0; round < maxRounds; round++ {
		again, err := f.computation(t, cond, [][]*hlo.Literal{state})
		if err != nil {
			return nil, err
		}
		known := len(again) == 1 && again[0] != nil && len(again[0].Bytes()) == 1
		if known && again[0].Bytes()[0] == 0 || !known && round > 0 {
			break
		}
		if state, err = f.computation(t, body, [][]*hlo.Literal{state}); err != nil {
			return nil, err
		}
		state = leavesOf(state, in.Shape())
		if !known {
			state = nil
		}
	}
	return state, nil
}

// isQuiet reports whether nothing in a computation, or in what it calls, communicates or runs asynchronously.
func (f *follower) isQuiet(c hlo.Computation) bool {
	quiet, known := f.quiet[c.ID()]
	if known {
		return quiet
	}
	quiet = true
	for in := range c.Instructions() {
		if hlo.Info(in.Opcode()).Traits&(hlo.TraitCollective|hlo.TraitTokens) != 0 {
			quiet = false
		}
		for id := range in.Callees() {
			quiet = quiet && f.isQuiet(f.m.MustComputation(id))
		}
		if !quiet {
			break
		}
	}
	f.quiet[c.ID()] = quiet
	return quiet
}

// evaluate computes a small value of known ones.
func (f *follower) evaluate(in hlo.Instruction, values map[hlo.InstrID][]*hlo.Literal) []*hlo.Literal {
	if !in.Shape().IsArray() || !in.Shape().IsStatic() || in.Shape().NumElements() > smallValue || in.NumCallees() > 0 ||
		hlo.Info(in.Opcode()).Traits&(hlo.TraitRandom|hlo.TraitSideEffect) != 0 || in.Opcode() == hlo.OpCustomCall {
		return nil
	}
	var operands []*hlo.Literal
	for i := range in.NumOperands() {
		v := values[in.Operand(i)]
		if len(v) != 1 || v[0] == nil {
			return nil
		}
		operands = append(operands, v[0])
	}
	on := eval.On{Device: f.grid.Device(f.device)}
	l, err := eval.Prepare(f.m, in).Eval(context.Background(), on, operands)
	if err != nil || !l.Shape().IsArray() {
		return nil
	}
	return []*hlo.Literal{l}
}

var pairText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\d+),\s*(\d+)\}`) })

// transfer notes what a send sends, or what a recv-done waits for. Which devices talk to each other is in a frontend attribute.
func (f *follower) transfer(t *thread, in hlo.Instruction) error {
	of := in
	if in.Opcode() == hlo.OpRecvDone {
		of = in.OperandInstr(0)
	}
	a := hlo.AttrsOf[hlo.SendRecvAttrs](of)
	if a.IsHostTransfer || of.Common() == nil {
		return nil
	}
	text, _ := of.Common().FrontendAttributes.Get("_xla_send_recv_source_target_pairs")
	e := event{kind: sends, in: in}
	if in.Opcode() == hlo.OpRecvDone {
		e.kind = receives
	}
	channel, here := a.ChannelID.Value, f.grid.Device(f.device)
	number := func(id int) int { // ids are those of partitions for a positive channel, else of replicas
		if channel > 0 && f.grid.Partitions > 1 {
			return f.grid.Number(devices.Device{Replica: here.Replica, Partition: id})
		}
		return f.grid.Number(devices.Device{Replica: id, Partition: here.Partition})
	}
	for _, p := range pairText().FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(p[1])
		to, _ := strconv.Atoi(p[2])
		from, to = number(from), number(to)
		if e.kind == sends && from == f.device || e.kind == receives && to == f.device {
			e.letters = append(e.letters, letter{channel, from, to})
		}
	}
	if len(e.letters) == 0 {
		return nil
	}
	return f.add(t, e)
}
