package loops

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/directive"
)

const unrollDoc = `write the rounds of counting loops one after the other

A loop that counts to a constant is replaced by a copy of its body for each round, in which the counter is a constant; with factor=N it stays a loop
whose body does N rounds at once, and the rounds that are left over follow it. Tuple simplification and folding then have the rest to do.

Loops stay whose rounds have effects, send or receive, are random or begin asynchronous work, those with control dependencies or a configuration of
somebody else, and those too large: of more than max-trip rounds, a body of more than max-body instructions, or max-growth instructions in all. Each copy of a
collective on a channel gets a channel of its own.`

var unrollParams = []pass.Param{
	{Name: "factor", Doc: "rounds to do at once; -1, all of them"},
	{Name: "max-trip", Doc: "the most rounds of a loop to write out wholly; 64"},
	{Name: "trip-count-threshold", Doc: "the same, by XLA's name"},
	{Name: "max-body", Doc: "the largest body, in instructions; 800"},
	{Name: "max-growth", Doc: "the most instructions that a loop may become; 10000"},
	{Name: "elementwise", Doc: "only loops over arrays that compute element by element, whose rounds one loop over the elements may become; false"},
}

// unrolledKey marks loops that do several rounds at once: once is enough.
const unrolledKey = "_halo_unrolled"

// unroller is the pass with its options.
type unroller struct {
	factor, maxTrip, maxBody, maxGrowth int
	elementwise                         bool
}

// NewUnroller makes the pass while-loop-unroller.
func NewUnroller(o pass.Options) (*pass.Pass, error) {
	u := &unroller{}
	if err := o.Known("factor", "max-trip", "trip-count-threshold", "max-body", "max-growth", "elementwise"); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		key string
		to  *int
		def int
	}{{"factor", &u.factor, -1}, {"max-trip", &u.maxTrip, 64}, {"max-body", &u.maxBody, 800}, {"max-growth", &u.maxGrowth, 10000}} {
		v, err := o.Int(n.key, n.def)
		if n.key == "max-trip" && err == nil {
			v, err = o.Int("trip-count-threshold", v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: want a number", n.key)
		}
		*n.to = v
	}
	elementwise, err := o.BoolOr("elementwise", false)
	if err != nil {
		return nil, err
	}
	u.elementwise = elementwise
	if u.factor < 2 && u.factor != -1 {
		return nil, fmt.Errorf("factor=%d: want -1 for all rounds, or at least 2", u.factor)
	}
	return &pass.Pass{Name: "while-loop-unroller", About: []hlo.Opcode{hlo.OpWhile}, Doc: unrollDoc, Options: o, Params: unrollParams, Lent: true, Run: u.run}, nil
}

func (u *unroller) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	effects, repeats := pass.Fact(ctx, m, analysis.FindSideEffects), pass.Fact(ctx, m, findCopyable)
	e := ctx.Edit(m)
	now := analysis.Now(e)
	var fresh *channels            // found before the first edit
	for c := range m.PostOrder() { // inner loops first: a body is copied as it is then
		ce := e.Computation(c.ID())
		for in := range pass.EachOf(ce, hlo.OpWhile) {
			l, ok := analysis.FindLoop(now, in)
			if !ok {
				ctx.Missed(in, "not unrolled: its trip count is unknown")
				continue
			}
			size := body(now, in).NumInstructions()
			rounds := int(min(l.Trip, 1<<30))
			if u.factor > 0 {
				rounds = u.factor
			}
			if why := u.refuses(m, now, in, l, size, rounds, effects, repeats); why != "" {
				ctx.Missed(in, "not unrolled: %s", why)
				continue
			}
			if !ctx.SpendOn("unroll", pass.Cost{Instructions: size * rounds}) {
				continue
			}
			if fresh == nil {
				fresh = findChannels(m)
			}
			unroll := fully
			if u.factor > 0 {
				unroll = u.partly
			}
			ctx.Passed(in, "unrolled: %d rounds at once", rounds)
			if err := unroll(now, ce, in, l); err != nil {
				return m, err
			}
			ctx.Count("loops", 1)
			ctx.Count("rounds", int64(rounds))
		}
	}
	if fresh != nil {
		fresh.give(e)
	}
	return e.Freeze(), nil
}

// refuses says why a loop stays as it is; "" if it does not.
func (u *unroller) refuses(m hlo.Module, now analysis.Computations, in hlo.Instruction, l analysis.Loop, size, rounds int, effects *analysis.SideEffects, repeats copyable) string {
	b, c := body(now, in), condition(now, in)
	done := false
	if common := in.Common(); common != nil {
		_, done = common.FrontendAttributes.Get(unrolledKey)
		if common.BackendConfig != "" && !strings.Contains(common.BackendConfig, `"known_trip_count"`) {
			return "it has a configuration that says something else"
		}
	}
	switch {
	case done:
		return "it does several rounds at once already"
	case l.Trip == 1 && directive.Set(in, directive.KeepOneRound):
		return "its frontend attribute " + directive.KeepOneRound + " says so"
	case u.factor < 0 && l.Trip > int64(u.maxTrip):
		return fmt.Sprintf("it runs %d rounds, more than %d", l.Trip, u.maxTrip)
	case u.factor > 0 && l.Trip < int64(2*u.factor):
		return fmt.Sprintf("%d rounds are not enough for a loop of %d at once", l.Trip, u.factor)
	case u.factor > 0 && !ownsCallees(m, in):
		return "another loop has the same body"
	case size > u.maxBody:
		return fmt.Sprintf("its body has %d instructions, more than %d", size, u.maxBody)
	case size*rounds > u.maxGrowth:
		return fmt.Sprintf("it would become %d instructions, more than %d", size*rounds, u.maxGrowth)
	case u.elementwise && !isElementwise(b):
		return "its body does not compute arrays element by element"
	case in.NumControlPredecessors()+in.NumControlSuccessors() > 0:
		return "control dependencies say when it runs"
	case effects.OfComputation(b.ID()) || effects.OfComputation(c.ID()) || communicates(now, in):
		return "its rounds have effects in an order"
	case !repeats[b.ID()]:
		return "it is random"
	case b.Root().UserCount() > 0 || isDecorated(b.Root()) || isDecorated(in):
		return "its state says something of each of its parts"
	}
	return ""
}

// isElementwise reports whether a body computes arrays of one size, element by element, and besides only scalars. It may read parts of its state that are smaller by broadcasts, as
// a loop over the elements can: the keys of random numbers, where each of a batch has its own.
func isElementwise(b hlo.Computation) bool {
	var dims []int64
	for in := range b.Instructions() {
		s := in.Shape()
		switch {
		case in.NumCallees() > 0:
			return false
		case !s.IsArray() || in.Opcode() == hlo.OpGetTupleElement || s.NumElements() == 1:
			continue // the state, and scalars
		case in.Opcode() == hlo.OpReshape && in.OperandInstr(0).Opcode() == hlo.OpGetTupleElement && onlyBroadcast(in):
			continue
		case in.Opcode() == hlo.OpBroadcast && isSmall(in.OperandInstr(0)):
		case !in.IsElementwise():
			return false
		}
		if dims == nil {
			dims = s.Dimensions()
		}
		if !slices.Equal(dims, s.Dimensions()) {
			return false
		}
	}
	return dims != nil
}

// isSmall reports whether a broadcast reads a scalar, or a part of the state.
func isSmall(in hlo.Instruction) bool {
	if in.Opcode() == hlo.OpReshape {
		in = in.OperandInstr(0)
	}
	return in.Shape().NumElements() == 1 || in.Opcode() == hlo.OpGetTupleElement
}

// onlyBroadcast reports whether nothing but broadcasts uses in.
func onlyBroadcast(in hlo.Instruction) bool {
	for u := range in.Users() {
		if u.Opcode() != hlo.OpBroadcast {
			return false
		}
	}
	return true
}

// repeatable is the set of computations that may stand in a program several times.
type repeatable map[hlo.CompID]bool

// copyable is the set of those whose rounds may, each as often as before.
type copyable map[hlo.CompID]bool

// findRepeatable leaves out what gives something else each time, or takes all devices.
func findRepeatable(m hlo.Module) repeatable {
	return without(m, hlo.OpcodesWith(hlo.TraitRandom|hlo.TraitCollective))
}

// findCopyable leaves out what gives something else each time. All devices run the same number of rounds of a counting loop, in it or one after the other.
func findCopyable(m hlo.Module) copyable {
	return copyable(without(m, hlo.OpcodesWith(hlo.TraitRandom)))
}

// without finds the computations that run nothing of some opcodes, and whose result waits for nothing: each is asked once, callees first.
func without(m hlo.Module, onlyOnce hlo.OpcodeSet) repeatable {
	set := repeatable{}
	for c := range m.PostOrder() {
		root := c.Root()
		ok := !c.Opcodes().Meets(onlyOnce) && (root.IsZero() || root.NumControlPredecessors() == 0)
		for callee := range c.Callees() {
			ok = ok && set[callee]
		}
		set[c.ID()] = ok
	}
	return set
}

// fully replaces a loop by its rounds.
func fully(now analysis.Computations, ce hlo.CompEdit, while hlo.Instruction, l analysis.Loop) error {
	state, round := while.Operand(0), body(now, while)
	for k := range l.Trip {
		state = control.InlineBefore(ce, while.ID(), round, []hlo.InstrID{state})
		setCounter(ce, state, l, l.First+(k+1)*l.Step)
	}
	return ce.ReplaceInstruction(while.ID(), state)
}

// setCounter writes the value of the counter after a round into the state, and removes what computed it.
func setCounter(ce hlo.CompEdit, state hlo.InstrID, l analysis.Loop, v int64) {
	was := ce.At(state).Operand(l.Induction)
	k := ce.InsertSpecBefore(state, number(ce.At(was).Shape(), v)).ID()
	ce.Instr(state).SetOperand(l.Induction, k)
	pass.Release(ce, was, nil)
}

// number is an integer constant.
func number(s hlo.Shape, v int64) hlo.InstrSpec {
	lit, err := hlo.NewLiteral(s, binary.LittleEndian.AppendUint64(nil, uint64(v))[:s.Type().ByteSize()])
	if err != nil {
		panic("loops: " + err.Error()) // the shape is that of a counter
	}
	return hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: s, Attrs: &hlo.ConstantAttrs{Literal: lit}}
}

// partly makes the body of a loop do several rounds, and puts those that are left over behind it.
//
//  1. The body gets further copies of itself, each of which takes the state that the one before it returns.
//  2. The condition ends the loop after the last full turn.
//  3. The rest follows the loop.
func (u *unroller) partly(now analysis.Computations, ce hlo.CompEdit, while hlo.Instruction, l analysis.Loop) error {
	e := ce.Editor()
	eb, ec, spec := e.Computation(body(now, while).ID()), e.Computation(condition(now, while).ID()), specOf(while)
	var once []hlo.InstrID // what a round consists of
	for in := range eb.View().OperandsFirst() {
		if in.Opcode() != hlo.OpParameter {
			once = append(once, in.ID())
		}
	}
	param, last := eb.View().Parameters()[0], eb.Root()
	round := func(state hlo.InstrID, add func(hlo.InstrSpec) hlo.InstrEdit) hlo.InstrID {
		copied := map[hlo.InstrID]hlo.InstrID{param: state}
		for _, id := range once {
			copied[id] = add(control.Copy(e, eb.At(id), copied)).ID()
		}
		return copied[last]
	}
	for range u.factor - 1 {
		eb.SetRoot(round(eb.Root(), eb.AddSpec))
	}
	rest, turns := l.Trip%int64(u.factor), l.Trip/int64(u.factor)
	endAfter(ec, l, l.First+(l.Trip-rest)*l.Step)

	spec.Common = unrolledCommon(spec.Common, u.factor, turns, l)
	state := ce.InsertSpecBefore(while.ID(), spec).ID()
	for range rest {
		state = round(state, func(s hlo.InstrSpec) hlo.InstrEdit { return ce.InsertSpecBefore(while.ID(), s) })
	}
	return ce.ReplaceInstruction(while.ID(), state)
}

// endAfter makes a condition true as long as the counter is below limit.
func endAfter(c hlo.CompEdit, l analysis.Loop, limit int64) {
	p, old := c.View().Parameters()[0], c.Root()
	counter := c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: c.At(p).Shape().Elem(l.Induction), Operands: []hlo.InstrID{p},
		Attrs: &hlo.TupleElementAttrs{Index: int64(l.Induction)}}).ID()
	end := c.AddSpec(number(c.At(counter).Shape(), limit)).ID()
	c.SetRoot(c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpCompare, Shape: c.At(old).Shape(), Operands: []hlo.InstrID{counter, end},
		Attrs: &hlo.CompareAttrs{Direction: hlo.LT}}).ID())
	pass.Release(c, old, nil)
}

// unrolledCommon marks a loop, and says how many turns it takes now if it said so before.
func unrolledCommon(was *hlo.Common, factor int, turns int64, l analysis.Loop) *hlo.Common {
	now := hlo.Common{}
	if was != nil {
		now = *was
	}
	if now.BackendConfig != "" {
		now.BackendConfig = tripConfig(analysis.Loop{Induction: l.Induction, First: l.First, Step: l.Step * int64(factor), Trip: turns})
	}
	marks := &hlo.FrontendAttributes{}
	if now.FrontendAttributes != nil {
		marks.Entries = slices.Clone(now.FrontendAttributes.Entries)
	}
	marks.Entries = append(marks.Entries, hlo.FrontendAttribute{Key: unrolledKey, Value: strconv.Itoa(factor)})
	now.FrontendAttributes = marks
	return &now
}
