package async

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// pair is a start and a done of opcodes of their own, or a chain of the general form without updates.
type pair struct {
	start, done hlo.Instruction
	op          hlo.Opcode // what they compute
}

// pairOfDone finds the pair that a done ends; false if its start is elsewhere or used by anything else.
func pairOfDone(m hlo.Module, done hlo.Instruction) (pair, bool) {
	if !analysis.IsDone(done) || done.NumOperands() != 1 {
		return pair{}, false
	}
	p := pair{start: done.OperandInstr(0), done: done}
	if p.start.UserCount() != 1 || p.start.IsRoot() {
		return pair{}, false
	}
	if p.start.Opcode() == hlo.OpAsyncStart {
		p.op = m.MustComputation(p.start.Callee(0)).Root().Opcode()
		return p, true
	}
	if of := hlo.Info(p.start.Opcode()).Pair; of.Done == done.Opcode() && hlo.Info(of.Plain).Name != "" && of.Plain != hlo.OpInvalid {
		p.op = of.Plain
		return p, true
	}
	return pair{}, false
}

// unpair computes what a pair computes in the place of the done.
func unpair(ce hlo.CompEdit, m hlo.Module, p pair) error {
	done, ok := pairOfDone(m, ce.At(p.done.ID()))
	if !ok {
		return nil
	}
	p = done
	if p.start.Opcode() == hlo.OpAsyncStart {
		chain, ok := chainOf(p.done)
		if !ok {
			return nil
		}
		return unmake(ce, m, chain)
	}
	start, end := p.start.ID(), p.done.ID()
	name, common := p.done.Name(), p.start.Common()
	attrs := p.start.Attrs()
	if p.op == hlo.OpCopy {
		attrs = nil
	}
	var control []hlo.InstrID
	for id := range p.start.ControlPredecessors() {
		control = append(control, id)
	}
	plain := ce.InsertSpecBefore(end, hlo.InstrSpec{Opcode: p.op, Name: p.done.Name(), Shape: p.done.Shape(), Operands: slices.Collect(p.start.OperandIDs()),
		Attrs: attrs, Callees: slices.Collect(p.start.Callees()), Common: common, Control: control, Position: p.start.Position()}).ID()
	if err := ce.ReplaceInstruction(end, plain); err != nil {
		return err
	}
	for _, s := range slices.Collect(ce.ControlSuccessors(start)) {
		ce.Instr(s).RemoveControlPredecessor(start)
		ce.Instr(s).AddControlPredecessor(plain)
	}
	for _, id := range control {
		ce.Instr(start).RemoveControlPredecessor(id)
	}
	if err := ce.Remove(start); err != nil {
		return err
	}
	ce.Instr(plain).SetName(name)
	return nil
}

// dropOrders removes custom-calls that say only what comes after a done, as what is computed in one step needs none.
func dropOrders(ce hlo.CompEdit, done hlo.InstrID) error {
	for _, id := range slices.Collect(ce.Users(done)) {
		in := ce.At(id)
		if in.Opcode() != hlo.OpCustomCall || hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != "control_dep" || in.IsRoot() || in.UserCount() > 0 {
			continue
		}
		if err := ce.Remove(id); err != nil {
			return err
		}
	}
	return nil
}

// unpairAll makes the pairs synchronous for which want says why, and leaves those for which it says why not; if it says nothing, nothing was to be decided.
func unpairAll(ctx *pass.Context, m hlo.Module, want func(hlo.Computation, pair) (why string, yes bool)) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		for in := range c.Instructions() {
			p, ok := pairOfDone(m, in)
			if !ok {
				continue
			}
			why, yes := want(c, p)
			if !yes && why != "" {
				ctx.Missed(p.start, "stays asynchronous: %s", why)
			}
			if !yes || !ctx.Spend("unpair") {
				continue
			}
			ctx.Passed(p.start, "is computed where it is waited for: %s", why)
			if err := dropOrders(e.Computation(c.ID()), p.done.ID()); err != nil {
				return m, err
			}
			if err := unpair(e.Computation(c.ID()), m, p); err != nil {
				return m, err
			}
			ctx.Count(p.op.String(), 1)
		}
	}
	return e.Freeze(), nil
}

const replacerDoc = `make asynchronous collectives synchronous, kind by kind

convert-all-reduce=true and its like choose; without any, all kinds are made synchronous. The op stands where its result was waited for.`

// replaceable are the kinds that async-collective-replacer has options for.
//
//halo:allow opswitch XLA's pass has options for these and no others
var replaceable = []hlo.Opcode{hlo.OpAllReduce, hlo.OpAllGather, hlo.OpAllToAll, hlo.OpCollectiveBroadcast, hlo.OpCollectivePermute,
	hlo.OpReduceScatter, hlo.OpRaggedAllToAll}

// NewCollectiveReplacer makes the pass async-collective-replacer.
func NewCollectiveReplacer(o pass.Options) (*pass.Pass, error) {
	var params []pass.Param
	var keys []string
	var chosen []hlo.Opcode
	for _, op := range replaceable {
		key := "convert-" + op.String()
		keys = append(keys, key)
		params = append(params, pass.Param{Name: key, Doc: "make " + op.String() + " synchronous"})
		on, err := o.Bool(key)
		if err != nil {
			return nil, err
		}
		if on {
			chosen = append(chosen, op)
		}
	}
	if err := o.Known(keys...); err != nil {
		return nil, err
	}
	if len(o) == 0 {
		chosen = replaceable
	}
	return &pass.Pass{Name: "async-collective-replacer", Doc: replacerDoc, Options: o, Params: params, Breaks: []pass.Phase{pass.Async},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return unpairAll(ctx, m, func(_ hlo.Computation, p pair) (string, bool) {
				if !slices.Contains(chosen, p.op) {
					return fmt.Sprintf("%v is not among the %d kinds that are asked for", p.op, len(chosen)), false
				}
				return fmt.Sprintf("%v is asked for", p.op), true
			})
		}}, nil
}

const toSyncDoc = `make asynchronous collectives synchronous if the schedule has no computation between start and done

Native pairs and chains of the general form alike. is-nop=[bitcast] names the opcodes that count as nothing; without it, parameters,
constants and what only regroups values. Starts and dones of other collectives count as nothing in any case. Modules without a schedule stay.`

// NewConvertToSync makes the pass convert-async-collectives-to-sync.
func NewConvertToSync(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("is-nop"); err != nil {
		return nil, err
	}
	var nops []hlo.Opcode
	if list, ok := o.List("is-nop"); ok {
		for _, name := range list {
			if op, ok := hlo.OpcodeByName(name); ok {
				nops = append(nops, op)
			}
		}
	} else {
		nops = []hlo.Opcode{hlo.OpParameter, hlo.OpConstant, hlo.OpBitcast, hlo.OpGetTupleElement, hlo.OpTuple}
	}
	return &pass.Pass{Name: "convert-async-collectives-to-sync", Doc: toSyncDoc, Options: o,
		Params: []pass.Param{{Name: "is-nop", Doc: "the opcodes that count as nothing: is-nop=[bitcast,parameter]"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return unpairAll(ctx, m, func(c hlo.Computation, p pair) (string, bool) {
				if !c.IsScheduled() || !isCollective(p.op) {
					return "", false
				}
				n, first := between(c, p, nops)
				if n > 0 {
					return fmt.Sprintf("%d instructions run beside it, %%%s the first", n, first), false
				}
				return "0 instructions run beside it", true
			})
		}}, nil
}

// between counts the instructions between the steps of a pair that are neither nothing nor steps of other collectives, and names the first.
func between(c hlo.Computation, p pair, nops []hlo.Opcode) (n int, first string) {
	for in := range c.Instructions() {
		if c.Less(p.start.ID(), in.ID()) && c.Less(in.ID(), p.done.ID()) && !slices.Contains(nops, in.Opcode()) && !analysis.IsStart(in) && !analysis.IsDone(in) {
			if n++; n == 1 {
				first = in.Name()
			}
		}
	}
	return n, first
}

// Pair is a start and a done of opcodes of their own, or a chain of the general form without updates, in one computation.
type Pair struct {
	Start, Done hlo.Instruction
	Op          hlo.Opcode // what they compute
}

// PairOf finds the pair that a done ends; false if its start is elsewhere or used by anything else.
func PairOf(m hlo.Module, done hlo.Instruction) (Pair, bool) {
	p, ok := pairOfDone(m, done)
	if !ok || p.start.Opcode() == hlo.OpAsyncUpdate {
		return Pair{}, false
	}
	return Pair{p.start, p.done, p.op}, true
}

// Plain computes what the pair computes in the place of its done, and returns the instruction that does.
func (p Pair) Plain(ce hlo.CompEdit, m hlo.Module) (hlo.InstrID, error) {
	done := p.Done.ID()
	user, operand := done, -1
	for u := range ce.Users(done) {
		user, operand = u, slices.Index(slices.Collect(ce.At(u).OperandIDs()), done)
		break
	}
	if err := unpair(ce, m, pair{p.Start, p.Done, p.Op}); err != nil {
		return 0, err
	}
	if operand < 0 {
		return ce.Root(), nil
	}
	return ce.At(user).Operand(operand), nil
}

// Like begins an instruction as the pair was begun: by opcodes of its own, or as a chain on the same thread.
func (p Pair) Like(ce hlo.CompEdit, id hlo.InstrID) error {
	if p.Start.Opcode() != hlo.OpAsyncStart {
		return makePair(ce, id, hlo.Info(p.Op).Pair)
	}
	_, err := begin(ce, id, hlo.AttrsOf[hlo.AsyncStartAttrs](p.Start).ExecutionThread)
	return err
}
