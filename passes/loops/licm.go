// Package loops holds the passes about while loops.
package loops

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/directive"
)

const licmDoc = `compute loop-invariant values once, before the loop

A part of the loop's state that the body hands on untouched does not change, and neither does what is computed from such parts and
constants alone. It is computed before the loop and handed in as a further part of the state. Values that are larger than what they
are made from (broadcasts, iotas) stay: recomputing them is cheaper than carrying them.`

var licmParams = []pass.Param{
	{Name: "hoist-constants", Doc: "true: carry constants, too; false: stay out of loops of whose state every part changes, as XLA does; neither, but look at every loop"},
	{Name: "hoist-reshapes", Doc: "carry what lies in memory as its operand does, too; false"},
	{Name: "hoist-other", Doc: "carry everything else; true"},
	{Name: "hoist-size-inflation-ratio", Doc: "leave what is that many times as large as its operands, and all made of it; no limit"},
}

// NewInvariantCodeMotion makes the pass while-loop-invariant-code-motion.
func NewInvariantCodeMotion(o pass.Options) (*pass.Pass, error) {
	h := &hoister{other: true}
	if err := o.Known(licmParams[0].Name, licmParams[1].Name, licmParams[2].Name, licmParams[3].Name); err != nil {
		return nil, err
	}
	for key, to := range map[string]*bool{"hoist-constants": &h.constants, "hoist-reshapes": &h.reshapes, "hoist-other": &h.other} {
		var err error
		if *to, err = o.BoolOr(key, *to); err != nil {
			return nil, err
		}
	}
	h.needsInvariant = o.Text("hoist-constants", "") != "" && !h.constants
	var err error
	if h.ratio, err = o.Float("hoist-size-inflation-ratio", h.ratio); err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "while-loop-invariant-code-motion", About: []hlo.Opcode{hlo.OpWhile}, Doc: licmDoc, Options: o, Params: licmParams, Lent: true, Run: h.run}, nil
}

const expensiveDoc = `compute expensive loop-invariant values once, before the loop

The ops that worth-hoisting-individually names are moved out with all that they are made from, unless the result is larger than the values it is made from.`

// NewExpensiveInvariantCodeMotion makes the pass while-loop-expensive-invariant-code-motion.
func NewExpensiveInvariantCodeMotion(o pass.Options) (*pass.Pass, error) {
	const key = "worth-hoisting-individually"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	//halo:allow opswitch the default of XLA's option
	h := &hoister{expensive: []hlo.Opcode{hlo.OpDot, hlo.OpConvolution, hlo.OpReduce, hlo.OpSort, hlo.OpReduceWindow, hlo.OpFft}}
	if names, ok := o.List(key); ok && !slices.Equal(names, pass.List{"true"}) {
		h.expensive = []hlo.Opcode{}
		for _, name := range names {
			op, ok := hlo.OpcodeByName(name)
			if !ok && name != "false" {
				return nil, fmt.Errorf("%s: no opcode %q", key, name)
			}
			if ok {
				h.expensive = append(h.expensive, op)
			}
		}
	}
	return &pass.Pass{Name: "while-loop-expensive-invariant-code-motion", About: []hlo.Opcode{hlo.OpWhile}, Doc: expensiveDoc, Options: o,
		Params: []pass.Param{{Name: key, Doc: "the opcodes to move; dot, convolution, reduce, reduce-window, sort, fft"}}, Lent: true, Run: h.run}, nil
}

// hoister says what is moved.
type hoister struct {
	constants, reshapes, other bool
	needsInvariant             bool // in the state
	ratio                      float64
	expensive                  []hlo.Opcode // these alone, if not nil
}

func (h *hoister) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	effects, repeats := pass.Fact(ctx, m, analysis.FindSideEffects), pass.Fact(ctx, m, findRepeatable)
	e := ctx.Edit(m)
	for c := range m.PostOrder() { // bodies before the loops that call them, so that work moves out of several loops at once
		ce := e.Computation(c.ID())
		for in := range pass.EachOf(ce, hlo.OpWhile) {
			if !ownsCallees(m, in) {
				continue
			}
			if directive.Set(in, directive.NoHoisting) {
				ctx.Missed(in, "nothing is moved out: its frontend attribute %s says so", directive.NoHoisting)
				continue
			}
			l := &loop{hoister: h, m: m, e: e, c: ce, while: in.ID(), body: e.Computation(in.Callee(0)), cond: e.Computation(in.Callee(1)), effects: effects, repeats: repeats}
			if err := l.hoist(ctx); err != nil {
				return m, err
			}
		}
	}
	return e.Freeze(), nil
}

// ownsCallees reports whether nothing else calls the body and the condition of a loop.
func ownsCallees(m hlo.Module, while hlo.Instruction) bool {
	for id := range while.Callees() {
		n := 0
		for range m.Callers(id) {
			n++
		}
		if n != 1 {
			return false
		}
	}
	return while.Callee(0) != while.Callee(1)
}

// loop is one while in a session.
type loop struct {
	*hoister
	e          *hlo.Editor
	c          hlo.CompEdit // where the loop is
	while      hlo.InstrID
	body, cond hlo.CompEdit
	effects    *analysis.SideEffects
	repeats    repeatable

	m       hlo.Module
	windows *analysis.Windows // of the body
	costs   *analysis.Costs   // if it has chains

	invariant map[hlo.InstrID]bool // instructions of the body
	moved     map[hlo.InstrID]hlo.InstrID
}

func (l *loop) hoist(ctx *pass.Context) error {
	param := l.body.View().Parameter(0)
	root := l.body.View().Root()
	if !param.Shape().IsTuple() || root.Opcode() != hlo.OpTuple || l.isSharded(param, root) {
		ctx.Missed(l.c.At(l.while), "nothing is moved out: the state is no tuple that may get further parts")
		return nil
	}
	if fixed := l.findInvariant(param, root); !fixed && l.needsInvariant {
		return nil
	}
	l.windows = analysis.FindWindows(l.body.View())
	if l.windows != nil {
		l.costs = analysis.FindCosts(l.e.ViewModule())
	}
	var frontier []hlo.InstrID
	for in := range l.body.View().Instructions() {
		switch {
		case !l.invariant[in.ID()] || in.NumOperands() == 0 && !(l.constants && in.Opcode() == hlo.OpConstant) || in.Opcode() == hlo.OpGetTupleElement || !l.leaves(in):
		case l.hides(in):
			ctx.Missed(in, "does not change, but hides a chain of each round that takes longer")
		case l.worthMoving(in):
			frontier = append(frontier, in.ID())
		default:
			ctx.Missed(in, "does not change, but is no more work to make than to carry: %d bytes", in.Shape().ByteSize())
		}
	}
	if len(frontier) == 0 || !ctx.Spend("hoist") {
		return nil
	}
	ctx.Count("values", int64(len(frontier)))
	if ctx.Remarks() {
		for _, id := range frontier {
			ctx.Passed(l.body.At(id), "is computed once, before the loop")
		}
	}
	return l.widen(param.ID(), root.ID(), frontier)
}

// isSharded reports whether a sharding says something about each part of the state: there is none to give to further parts.
func (l *loop) isSharded(param, root hlo.Instruction) bool {
	for _, in := range []hlo.Instruction{param, root, l.c.At(l.while), l.cond.View().Parameter(0)} {
		if c := in.Common(); c != nil && c.Sharding != nil {
			return true
		}
	}
	return false
}

// findInvariant marks what is the same in every iteration, and reports whether a part of the state is.
func (l *loop) findInvariant(param, root hlo.Instruction) (fixed bool) {
	l.invariant = make(map[hlo.InstrID]bool)
	for in := range l.body.View().Instructions() {
		switch {
		case in.Opcode() == hlo.OpConstant:
			l.invariant[in.ID()] = true
		case in.Opcode() == hlo.OpGetTupleElement && in.Operand(0) == param.ID():
			i := hlo.AttrsOf[hlo.TupleElementAttrs](in).Index
			back := root.OperandInstr(int(i))
			l.invariant[in.ID()] = back.Opcode() == hlo.OpGetTupleElement && back.Operand(0) == param.ID() &&
				hlo.AttrsOf[hlo.TupleElementAttrs](back).Index == i
			fixed = fixed || l.invariant[in.ID()]
		case l.movable(in) && !l.inflates(in) && !directive.Set(in, directive.NoHoisting):
			all := true
			for id := range in.OperandIDs() {
				all = all && l.invariant[id]
			}
			l.invariant[in.ID()] = all
		}
	}
	return fixed
}

// movable reports whether an instruction may run before the loop, once.
func (l *loop) movable(in hlo.Instruction) bool {
	traits := hlo.Info(in.Opcode()).Traits
	if in.Opcode() == hlo.OpCall {
		id := in.Callee(0)
		return in.Shape().IsArray() && in.Shape().IsStatic() && l.repeats[id] && !l.effects.Of(in) && in.NumControlPredecessors() == 0
	}
	return in.Shape().IsArray() && in.Shape().IsStatic() && in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpCustomCall &&
		in.Opcode() != hlo.OpOptBarrier &&
		traits&(hlo.TraitRandom|hlo.TraitCollective|hlo.TraitAsyncStart|hlo.TraitAsyncDone|hlo.TraitTokens|hlo.TraitControl) == 0 &&
		!hlo.IsAsync(in.Opcode()) && !l.effects.Of(in) && in.NumControlPredecessors() == 0
}

// hides reports whether an instruction costs nothing where it is, since a chain that takes longer is under way beside it: before the loop it would be
// waited for.
func (l *loop) hides(in hlo.Instruction) bool {
	body := in.Computation()
	for _, id := range l.windows.Beside(in.ID()) {
		if l.costs.Of(in).Seconds(analysis.OneCore) <= l.costs.Of(body.MustAt(id)).Seconds(analysis.OneCore) {
			return true
		}
	}
	return false
}

// inflates reports whether a value is larger than the ratio allows.
func (l *loop) inflates(in hlo.Instruction) bool {
	if l.ratio == 0 {
		return false
	}
	var bytes int64
	for o := range in.Operands() {
		bytes += o.Shape().ByteSize()
	}
	return float64(in.Shape().ByteSize()) > l.ratio*float64(bytes)
}

// worthMoving refuses what costs nothing and what is larger than what it is made from.
func (l *loop) worthMoving(in hlo.Instruction) bool {
	switch {
	case l.expensive != nil:
		return slices.Contains(l.expensive, in.Opcode()) && in.Shape().ByteSize() <= l.madeFrom(in, map[hlo.InstrID]bool{})
	case in.Opcode() == hlo.OpConstant:
		return l.constants
	case in.NumOperands() == 0 || in.Opcode() == hlo.OpGetTupleElement || in.Opcode() == hlo.OpBroadcast:
		return false
	case analysis.SameBytes(in):
		return l.reshapes
	}
	bytes := int64(64)
	for o := range in.Operands() {
		bytes = max(bytes, o.Shape().ByteSize())
	}
	return l.other && in.Shape().ByteSize() <= bytes
}

// madeFrom is the size of the parts of the state that a value is made from.
func (l *loop) madeFrom(in hlo.Instruction, seen map[hlo.InstrID]bool) (bytes int64) {
	if seen[in.ID()] {
		return 0
	}
	seen[in.ID()] = true
	if in.Opcode() == hlo.OpGetTupleElement {
		return in.Shape().ByteSize()
	}
	for o := range in.Operands() {
		bytes += l.madeFrom(o, seen)
	}
	return bytes
}

// leaves reports whether something that stays in the loop uses in.
func (l *loop) leaves(in hlo.Instruction) bool {
	if in.IsRoot() {
		return false
	}
	for user := range l.body.Users(in.ID()) {
		if u := l.body.At(user); !l.invariant[user] || !l.worthMoving(u) {
			return true
		}
	}
	return false
}
