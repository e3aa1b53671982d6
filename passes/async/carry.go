package async

import (
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const carryDoc = `begin asynchronous work for the next round of a loop at the end of a round

A part of a loop's state that the same op computes before the loop and in each round, for the next one, is computed asynchronously: the loop carries the
chain instead of the value, waits for it where the next round needs it, and what is begun last is waited for after the loop. So the op runs
beside all of the next round that does not need it, where it ran beside the rest of its own round only. That must hide min-us
microseconds more than before, by the estimate of times. The software pipelining of collectives (collective-pipeliner, backward)
leaves loops of this kind.

Loops stay that have a schedule, or control dependencies in their bodies, and ops with side effects or random numbers.`

// NewLoopCarrier makes the pass loop-async-carrier.
func NewLoopCarrier(o pass.Options) (*pass.Pass, error) {
	w := &carrier{seconds: 20e-6, thread: hlo.MainThread}
	if err := o.Known("min-us", "thread"); err != nil {
		return nil, err
	}
	for _, opt := range o {
		switch opt.Key {
		case "min-us":
			us, err := strconv.ParseFloat(opt.Value, 64)
			if err != nil || us < 0 {
				return nil, err
			}
			w.seconds = us * 1e-6
		case "thread":
			w.thread = opt.Value
		}
	}
	return &pass.Pass{Name: "loop-async-carrier", Doc: carryDoc, Options: o, Run: w.run, Makes: []pass.Phase{pass.Async}, Params: []pass.Param{
		{Name: "min-us", Doc: "the microseconds that must be hidden beyond what a round hides by itself; 20"},
		{Name: "thread", Doc: "the execution thread of the chains; main, which is any worker"},
	}}, nil
}

type carrier struct {
	seconds float64
	thread  string
}

func (w *carrier) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	costs := pass.Fact(ctx, m, analysis.FindCosts)
	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
	callers := pass.Fact(ctx, m, callersOf)
	e := ctx.Edit(m)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		if c.ExecutionThread() != hlo.MainThread || c.IsScheduled() {
			continue
		}
		for in := range c.PostOrder() {
			if in.Opcode() != hlo.OpWhile || callers[in.Callee(0)] != 1 || callers[in.Callee(1)] != 1 {
				continue
			}
			l, ok := loopToCarry(m, in)
			if !ok {
				continue
			}
			for k := range l.init.NumOperands() {
				why := l.cannotCarry(k, effects)
				if why != "" || !w.pays(ctx, l, k, costs) {
					continue
				}
				if !ctx.Spend("carry") {
					return e.Freeze(), nil
				}
				l.carry(e, k, w.thread)
				ctx.Count("carried", 1)
			}
		}
	}
	return e.Freeze(), nil
}

// callersOf counts the call sites of each computation.
func callersOf(m hlo.Module) map[hlo.CompID]int {
	n := make(map[hlo.CompID]int)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			for id := range in.Callees() {
				n[id]++
			}
		}
	}
	return n
}

// carriedLoop is a loop whose state is a tuple that is taken apart wherever it is used.
type carriedLoop struct {
	while      hlo.Instruction
	init       hlo.Instruction // the tuple before the loop
	body, cond hlo.Computation
	// What takes each part out of the state: after the loop, in a round, and in the condition.
	after, round, test [][]hlo.Instruction
	needs              func() *analysis.Dependencies // of the body; few loops have a part that is worth it
}

func loopToCarry(m hlo.Module, in hlo.Instruction) (l carriedLoop, ok bool) {
	l = carriedLoop{while: in, init: in.OperandInstr(0), body: m.MustComputation(in.Callee(0)), cond: m.MustComputation(in.Callee(1))}
	l.needs = sync.OnceValue(func() *analysis.Dependencies { return analysis.FindDependencies(l.body) })
	root := l.body.Root()
	if l.init.Opcode() != hlo.OpTuple || l.init.UserCount() != 1 || root.Opcode() != hlo.OpTuple || root.UserCount() > 0 || in.IsRoot() || l.body.IsScheduled() {
		return l, false
	}
	for _, state := range []struct {
		value  hlo.Instruction
		takers *[][]hlo.Instruction
	}{{in, &l.after}, {l.body.Parameter(0), &l.round}, {l.cond.Parameter(0), &l.test}} {
		if state.value.IsRoot() {
			return l, false
		}
		*state.takers = make([][]hlo.Instruction, l.init.NumOperands())
		for u := range state.value.Users() {
			if u.Opcode() != hlo.OpGetTupleElement {
				return l, false
			}
			k := hlo.AttrsOf[hlo.TupleElementAttrs](u).Index
			(*state.takers)[k] = append((*state.takers)[k], u)
		}
	}
	for step := range l.body.Instructions() {
		if step.NumControlPredecessors() > 0 {
			return l, false
		}
	}
	return l, true
}

// cannotCarry says why part k of the state has to stay a value, "" if it need not.
func (l carriedLoop) cannotCarry(k int, effects *analysis.SideEffects) string {
	first, next := l.init.OperandInstr(k), l.body.Root().OperandInstr(k)
	switch {
	case first.Opcode() != next.Opcode() || !reflect.DeepEqual(first.Attrs(), next.Attrs()) || !first.Shape().Equal(next.Shape()) || first.NumOperands() == 0:
		return "it is not computed the same way before the loop and in it"
	case first.UserCount() != 1 || next.UserCount() != 1 || l.usedTwice(k):
		return "the value is used where it is computed"
	case first.NumControlPredecessors()+first.NumControlSuccessors()+next.NumControlSuccessors() > 0:
		return "it has control dependencies"
	case !first.Shape().IsArray() || cannot(first) != "" || cannot(next) != "":
		return "it cannot be wrapped"
	case hlo.Info(first.Opcode()).Traits&(hlo.TraitCollective|hlo.TraitRandom|hlo.TraitForwards|hlo.TraitAsyncDone) != 0 || effects.Of(first) || effects.Of(next):
		return "its order matters"
	case first.NumCallees() > 0:
		return "it calls computations"
	case len(l.test[k]) > 0 || len(l.round[k]) == 0:
		return "the condition needs it, or no round does"
	}
	for i := range first.NumOperands() {
		if !first.OperandInstr(i).Shape().Equal(next.OperandInstr(i).Shape()) {
			return "its operands are of other shapes"
		}
	}
	return ""
}

// usedTwice reports whether part k is another part of the state, too.
func (l carriedLoop) usedTwice(k int) bool {
	count := func(t hlo.Instruction) (n int) {
		for id := range t.OperandIDs() {
			if id == t.Operand(k) {
				n++
			}
		}
		return n
	}
	return count(l.init) > 1 || count(l.body.Root()) > 1
}

// pays estimates what carrying hides that the round does not hide by itself.
func (w *carrier) pays(ctx *pass.Context, l carriedLoop, k int, costs *analysis.Costs) bool {
	next := l.body.Root().OperandInstr(k)
	takes := costs.Of(next).Seconds(analysis.OneCore)
	if takes < w.seconds {
		ctx.Missed(next, "not carried to the next round: it takes %.1f µs, and %.1f must be gained", takes*1e6, w.seconds*1e6)
		return false
	}
	d := l.needs()
	own := d.Related(next.ID())
	needs := make([]bool, len(d.Order)) // the value of the round before
	for _, t := range l.round[k] {
		needs[d.Position(t.ID())] = true
	}
	beside, after := 0.0, 0.0
	for i, in := range d.Order {
		for _, o := range d.Before(i) {
			needs[i] = needs[i] || needs[o]
		}
		k := costs.Of(in)
		if k.IsZero() {
			continue
		}
		if s := k.Seconds(analysis.OneCore); !own[i] {
			beside += s
		} else if !needs[i] && in.ID() != next.ID() {
			after += s
		}
	}
	for i, in := range d.Order { // of the next round, all that need not wait; what this round has hidden already counts once
		if !own[i] && !needs[i] && !costs.Of(in).IsZero() {
			after += costs.Of(in).Seconds(analysis.OneCore)
		}
	}
	before, now := min(takes, beside), min(takes, beside+after)
	if now-before < w.seconds {
		ctx.Missed(next, "not carried to the next round: of its %.1f µs its own round hides %.1f, and with the next %.1f", takes*1e6, before*1e6, now*1e6)
		return false
	}
	ctx.Passed(next, "carried to the next round: of its %.1f µs that hides %.1f, where its own round hides %.1f", takes*1e6, now*1e6, before*1e6)
	return true
}

// carry makes the loop carry a chain instead of part k.
func (l carriedLoop) carry(e *hlo.Editor, k int, thread string) {
	outer, body := e.Computation(l.while.Computation().ID()), e.Computation(l.body.ID())
	root := l.body.Root().ID()
	first := outer.At(outer.At(l.init.ID()).Operand(k))
	name := first.Name()

	wrapped := e.NewComputation("async_computation")
	spec := specOnThread(e, first, thread)
	var bound []hlo.Shape
	for i := range first.NumOperands() {
		s := first.OperandInstr(i).Shape()
		bound = append(bound, s)
		spec.Operands[i] = wrapped.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param", Shape: s, Attrs: &hlo.ParameterAttrs{Number: int64(i)}})
	}
	result := first.Shape()
	at := wrapped.Append(spec)
	wrapped.SetExecutionThread(thread)
	callee := wrapped.Finish(at)
	state := hlo.MakeTuple(hlo.MakeTuple(bound...), result, hlo.MakeArray(hlo.U32, nil, nil, hlo.DefaultLayout(0)))

	begin := func(c hlo.CompEdit, tuple hlo.InstrID) {
		in := c.At(c.At(tuple).Operand(k))
		_, common := handedOn(in.Common())
		start := c.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpAsyncStart, Name: in.Name() + "-start", Shape: state, Operands: slices.Collect(in.OperandIDs()),
			Attrs: &hlo.AsyncStartAttrs{ExecutionThread: thread}, Callees: []hlo.CompID{callee}, Common: common, Position: in.Position()}).ID()
		old := in.ID()
		c.Instr(tuple).SetOperand(k, start).SetShape(withElem(c.At(tuple).Shape(), k, state))
		c.Remove(old) // only the tuple used it
	}
	begin(outer, l.init.ID())
	begin(body, root)

	wider := withElem(outer.At(l.while.ID()).Shape(), k, state)
	outer.Instr(l.while.ID()).SetShape(wider)
	param, condition := l.body.Parameter(0).ID(), e.Computation(l.cond.ID())
	body.Instr(param).SetShape(wider)
	condition.Instr(l.cond.Parameter(0).ID()).SetShape(wider)
	end := func(c hlo.CompEdit, of hlo.InstrID, known []hlo.Instruction) {
		if len(known) == 0 { // what was begun last ends after the loop, though nothing needs it
			chain := c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: state, Operands: []hlo.InstrID{of}, Attrs: &hlo.TupleElementAttrs{Index: int64(k)}}).ID()
			c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpAsyncDone, Name: name + "-done", Shape: result, Operands: []hlo.InstrID{chain}, Attrs: &hlo.AsyncDoneAttrs{}})
			return
		}
		chain := c.InsertSpecBefore(known[0].ID(), hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: state, Operands: []hlo.InstrID{of}, Attrs: &hlo.TupleElementAttrs{Index: int64(k)}}).ID()
		done := c.InsertSpecBefore(known[0].ID(), hlo.InstrSpec{Opcode: hlo.OpAsyncDone, Name: name + "-done", Shape: result, Operands: []hlo.InstrID{chain}, Attrs: &hlo.AsyncDoneAttrs{}}).ID()
		for _, t := range known {
			if err := c.ReplaceInstruction(t.ID(), done); err != nil {
				c.ReplaceAllUses(t.ID(), done)
			}
		}
	}
	end(body, param, l.round[k])
	end(outer, l.while.ID(), l.after[k])
}

// withElem is a tuple shape with another element k.
func withElem(s hlo.Shape, k int, elem hlo.Shape) hlo.Shape {
	elems := s.Elems()
	elems[k] = elem
	return hlo.MakeTuple(elems...)
}
