package collectives

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

const pipelinerDoc = `exchange the results of a loop's round during the next round

A counting loop whose rounds write the result of a collective into a part of the state gets one whose rounds write the value as it is, and first exchange what
the round before has written: the exchange then waits for nothing of its own round. The first round stands before the loop, and the last exchange behind it. forward-sink collects
what the rounds exchange, and exchanges it at once behind the loop with all that is made of it, if each round writes one row of the state, and the rounds write every row once. Where the exchange is not the last step before the state is updated, all that is made of its result waits
for the next round, and the state gets what that reads.
backward begins in one round what the next one needs, where that depends on the counter and on what no round changes alone: the last round stands behind the loop.`

var pipelinerParams = []pass.Param{
	{Name: "should-process", Doc: "the opcodes to move; all-reduce, all-gather and collective-permute, backward all-gather"},
	{Name: "pipelining-direction", Doc: "forward, backward or forward-sink; forward"},
	{Name: "max-pipelining-per-loop", Doc: "the most collectives of one loop; all"},
	{Name: "last-run", Doc: "false marks what is behind the loop with a custom call, InsertedByPreviousStep, as XLA does between runs; true"},
	{Name: "acceptable-formatting", Doc: "the opcodes that may stand between collective and update, of those that move elements; all"},
	{Name: "level-to-operate-on", Doc: "read, and without effect: every loop is looked at once"},
	{Name: "pipeline-use-tree", Doc: "read, and without effect: several uses are always followed"},
	{Name: "process-different-sized-ops", Doc: "read, and without effect: sizes stay the same"},
	{Name: "reuse-pipelined-op-buffer", Doc: "keep values that wait for their exchange where the results go, if possible; true"},
	{Name: "should-allow-loop-variant-parameter-in-chain", Doc: "read, and without effect"},
	{Name: "should-allow-control-dependencies", Doc: "read, and without effect: they are left alone"},
	{Name: "should-add-loop-invariant-op-in-chain", Doc: "read, and without effect"},
	{Name: "collective-size-threshold-to-delay-sinking", Doc: "read, and without effect"},
	{Name: "delay-sinking-large-collectives", Doc: "read, and without effect"},
	{Name: "unique-channel-id", Doc: "read, and without effect: channels stay"},
}

// pipeliner is the pass with its options.
type pipeliner struct {
	kinds          []hlo.Opcode
	sink, backward bool
	formats        func(hlo.Opcode) bool // what may stand between collective and update; nil is anything
	marks, reuse   bool
	limit          int
}

// NewPipeliner makes the pass collective-pipeliner.
func NewPipeliner(o pass.Options) (*pass.Pass, error) {
	p := &pipeliner{kinds: []hlo.Opcode{hlo.OpAllReduce, hlo.OpAllGather, hlo.OpCollectivePermute}}
	var known []string
	for _, param := range pipelinerParams {
		known = append(known, param.Name)
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	if names, ok := o.List("should-process"); ok && !slices.Equal(names, pass.List{"true"}) {
		p.kinds = nil
		for _, name := range names {
			op, ok := hlo.OpcodeByName(name)
			if !ok {
				return nil, fmt.Errorf("should-process: no opcode %q", name)
			}
			p.kinds = append(p.kinds, op)
		}
	}
	switch d := o.Text("pipelining-direction", "forward"); d {
	case "forward":
	case "forward-sink":
		p.sink = true
	case "backward":
		p.backward = true
		if _, ok := o.List("should-process"); !ok {
			p.kinds = []hlo.Opcode{hlo.OpAllGather}
		}
	default:
		return nil, fmt.Errorf("pipelining-direction: got %q, want forward, backward or forward-sink", d)
	}
	p.formats = formatting(o)
	last, err := o.BoolOr("last-run", true)
	if err != nil {
		return nil, err
	}
	p.marks = !last
	if p.reuse, err = o.BoolOr("reuse-pipelined-op-buffer", true); err != nil {
		p.reuse, err = true, nil // a list of opcodes: those that may
	}
	if p.limit, err = o.Int("max-pipelining-per-loop", 1<<30); err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "collective-pipeliner", Doc: pipelinerDoc, Options: o, Params: pipelinerParams, Run: p.run}, nil
}

// formatting reads acceptable-formatting: opcodes, or notoppred and those that are not acceptable.
func formatting(o pass.Options) func(hlo.Opcode) bool {
	names, ok := o.List("acceptable-formatting")
	if !ok || slices.Equal(names, pass.List{"true"}) {
		return nil
	}
	var all []string
	for _, name := range names {
		all = append(all, strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("[], ", r) })...)
	}
	not := len(all) > 0 && all[0] == "notoppred"
	return func(op hlo.Opcode) bool { return slices.Contains(all, op.String()) != not }
}

func (p *pipeliner) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			if in.Opcode() != hlo.OpWhile || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
				continue
			}
			loop, ok := analysis.FindLoop(m, in)
			body := m.MustComputation(in.Callee(0))
			if !ok || loop.Trip < 1 || in.Callee(0) == in.Callee(1) || !runOnce(m, in.Callee(0)) || !runOnce(m, in.Callee(1)) || effects.OfComputation(in.Callee(1)) ||
				body.NumParameters() != 1 || body.Root().Opcode() != hlo.OpTuple || body.Root().UserCount() > 0 || e.View(body.ID()) != body {
				continue
			}
			if last := loop.First + (loop.Trip-1)*loop.Step; !p.sink && !p.backward && loop.First < 0 && last > 0 {
				continue // XLA follows indices that may wrap around no further
			}
			w := &pipelined{pipeliner: p, e: e, c: e.Computation(c.ID()), while: in.ID(), body: e.Computation(body.ID()), cond: e.Computation(in.Callee(1)), loop: loop, effects: effects}
			if p.sink {
				if err := w.behind(ctx, m, in, body); err != nil {
					return m, err
				}
				continue
			}
			if p.backward {
				if err := w.early(ctx, body); err != nil {
					return m, err
				}
				continue
			}
			for i := range body.Root().NumOperands() {
				if !p.reuse {
					break
				}
				if mv, ok := w.find(m, in, body, i); ok && len(w.moves) < p.limit && ctx.Spend("pipeline") {
					ctx.Passed(in, "part %d of its state, %d bytes, is exchanged a round later", i, body.Root().OperandInstr(i).Shape().ByteSize())
					w.moves = append(w.moves, mv)
				}
			}
			if len(w.moves) == 0 {
				if _, err := w.delay(ctx, m, in, body); err != nil {
					return m, err
				}
				continue
			}
			if err := w.apply(); err != nil {
				return m, err
			}
			ctx.Count("collectives", int64(len(w.moves)))
		}
	}
	return e.Freeze(), nil
}

// runOnce reports whether one instruction runs a computation.
func runOnce(m hlo.Module, id hlo.CompID) bool {
	n := 0
	for range m.Callers(id) {
		n++
	}
	return n == 1
}

// pipelined is the work on one loop.
type pipelined struct {
	*pipeliner
	e          *hlo.Editor
	c          hlo.CompEdit
	while      hlo.InstrID
	body, cond hlo.CompEdit
	moves      []exchange
	loop       analysis.Loop
	effects    *analysis.SideEffects
}

// exchange is a collective whose result a round writes into a part of the state.
type exchange struct {
	part       int
	collective hlo.InstrSpec
	id, user   hlo.InstrID // the collective, and what uses it
	update     hlo.InstrID // the dynamic-update-slice
	state      hlo.InstrID // the element that it updates
	block      hlo.Shape   // what it writes
	varying    []int       // the indices that are no constants
}

// find looks whether part i of the state collects what a collective returns.
func (w *pipelined) find(m hlo.Module, while hlo.Instruction, body hlo.Computation, i int) (x exchange, ok bool) {
	update := body.Root().OperandInstr(i)
	if u, ok := soleUser(update); !ok || u.ID() != body.Root().ID() || update.Opcode() != hlo.OpDynamicUpdateSlice || update.NumControlPredecessors() > 0 {
		return x, false
	}
	state := update.OperandInstr(0)
	if state.Opcode() != hlo.OpGetTupleElement || state.OperandInstr(0).Opcode() != hlo.OpParameter || hlo.AttrsOf[hlo.TupleElementAttrs](state).Index != int64(i) || state.UserCount() != 1 {
		return x, false
	}
	for u := range body.Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement || u.ID() != state.ID() && hlo.AttrsOf[hlo.TupleElementAttrs](u).Index == int64(i) {
			return x, false
		}
	}
	for u := range m.MustComputation(while.Callee(1)).Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](u).Index == int64(i) {
			return x, false
		}
	}
	v, user := update.OperandInstr(1), update
	for v.Opcode() == hlo.OpReshape || v.Opcode() == hlo.OpCopy || v.Opcode() == hlo.OpBitcast && v.Shape().Type() == v.OperandInstr(0).Shape().Type() {
		if u, ok := soleUser(v); !ok || u.ID() != user.ID() || v.NumControlPredecessors() > 0 {
			return x, false
		}
		v, user = v.OperandInstr(0), v
	}
	if u, ok := soleUser(v); !ok || u.ID() != user.ID() || v.NumControlPredecessors() > 0 || !slices.Contains(w.kinds, v.Opcode()) ||
		v.Opcode() != hlo.OpAllReduce && v.Opcode() != hlo.OpCollectivePermute || v.NumOperands() != 1 || !v.Shape().IsArray() || !v.Shape().IsStatic() {
		return x, false
	}
	if staysInRound(v) {
		return x, false
	}
	x = exchange{part: i, collective: emit.Again(v), id: v.ID(), user: user.ID(), update: update.ID(), state: state.ID(), block: update.OperandInstr(1).Shape()}
	for k := 2; k < update.NumOperands(); k++ {
		if update.OperandInstr(k).Opcode() != hlo.OpConstant {
			x.varying = append(x.varying, k-2)
		}
	}
	return x, true
}

// apply changes the loop.
//
//  1. The body writes values as they are.
//  2. Forward: the first round is copied before the loop. The state gets the indices of what has been written last; the body first exchanges that.
//  3. Behind the loop the last block is exchanged.
func (w *pipelined) apply() error {
	for _, x := range w.moves {
		useInstead(w.body, x.user, x.id, x.collective.Operands[0])
		if err := w.body.Remove(x.id); err != nil {
			return err
		}
	}
	spec := emit.Again(w.c.At(w.while))
	narrow := spec.Shape
	n := narrow.NumElems()
	at := emit.Before(w.c, w.c.At(w.while))
	first, indices, err := w.firstRound(spec.Operands[0])
	if err != nil {
		return err
	}
	parts := first
	shapes := narrow.Elems()
	for _, id := range indices {
		parts, shapes = append(parts, id), append(shapes, w.c.At(id).Shape())
	}
	state := hlo.MakeTuple(shapes...)
	w.exchangeFirst(state, n)
	spec.Common = emit.WiderOrigin(spec.Common, make([]*hlo.Origin, len(shapes)-narrow.NumElems()))
	spec.Operands, spec.Shape = []hlo.InstrID{at.OpOf(hlo.OpTuple, state, nil, parts...)}, state
	loop := at.Spec(spec)
	var last []hlo.InstrID
	for k := range indices {
		last = append(last, at.Element(loop, n+k))
	}
	return w.finish(at, loop, narrow, last)
}

// firstRound copies the body before the loop, and gives the parts of the state that it makes, and the indices at which it writes, of all exchanges.
func (w *pipelined) firstRound(init hlo.InstrID) (parts, indices []hlo.InstrID, err error) {
	v := w.body.View()
	copied := map[hlo.InstrID]hlo.InstrID{v.Parameters()[0]: init}
	for in := range v.PostOrder() {
		if in.Opcode() != hlo.OpParameter && !in.IsRoot() {
			copied[in.ID()] = w.c.InsertSpecBefore(w.while, control.Copy(w.e, in, copied)).ID()
		}
	}
	for _, x := range w.moves {
		for _, d := range x.varying {
			indices = append(indices, copied[v.MustAt(x.update).Operand(2+d)])
		}
	}
	for o := range v.Root().OperandIDs() {
		parts = append(parts, copied[o])
	}
	return parts, indices, nil
}

// exchangeFirst makes the body take and hand on the indices, and exchange what was written last before anything else is written.
func (w *pipelined) exchangeFirst(state hlo.Shape, n int) {
	b := w.body
	param, root := b.View().Parameters()[0], b.Root()
	results := slices.Collect(b.At(root).OperandIDs())
	for _, x := range w.moves {
		for _, d := range x.varying {
			results = append(results, b.At(x.update).Operand(2+d))
		}
	}
	emit.Widen(b.Instr(param), state)
	emit.Widen(w.cond.Instr(w.cond.View().Parameters()[0]), state)
	emit.Widen(b.Instr(root).SetOperands(results...), state)
	next := n
	for _, x := range w.moves {
		at := emit.Before(b, b.At(x.update))
		var last []hlo.InstrID
		for range x.varying {
			last = append(last, at.Element(param, next))
			next++
		}
		b.Instr(x.update).SetOperand(0, w.exchanged(at, b, x, x.state, b, last))
	}
	emit.Reorder(b)
}

// exchanged is a part of the state with the block at the given indices exchanged.
func (w *pipelined) exchanged(at emit.At, c hlo.CompEdit, x exchange, state hlo.InstrID, body hlo.CompEdit, varying []hlo.InstrID) hlo.InstrID {
	indices := make([]hlo.InstrID, c.At(state).Shape().Rank())
	k := 0
	for d := range indices {
		if slices.Contains(x.varying, d) {
			indices[d] = varying[k]
			k++
			continue
		}
		constant := emit.Again(body.At(body.At(x.update).Operand(2 + d)))
		constant.Name = ""
		indices[d] = at.Spec(constant)
	}
	block := at.DynamicSlice(state, indices, x.block.Dimensions()...)
	spec := emit.With(x.collective, block)
	spec.Shape = x.block
	moved := at.Spec(spec)
	if w.marks && c.ID() == w.c.ID() {
		moved = at.OpOf(hlo.OpCustomCall, x.block, &hlo.CustomCallAttrs{Target: "InsertedByPreviousStep", FeatureGroupCount: 1, BatchGroupCount: 1}, moved, at.Int(hlo.S32, 0))
	}
	return at.DynamicUpdateSlice(state, moved, indices...)
}

// finish puts the last exchanges behind the loop, and what they make in the place of its results.
func (w *pipelined) finish(at emit.At, loop hlo.InstrID, narrow hlo.Shape, last []hlo.InstrID) error {
	results := make([]hlo.InstrID, narrow.NumElems())
	for i := range results {
		results[i] = at.Element(loop, i)
	}
	for _, x := range w.moves {
		results[x.part] = w.exchanged(at, w.c, x, results[x.part], w.body, last[:len(x.varying)])
		last = last[len(x.varying):]
	}
	return w.replaceLoop(at, narrow, results)
}

// replaceLoop puts results in the place of the elements of the loop that goes, or a tuple of them in the place of the loop.
func (w *pipelined) replaceLoop(at emit.At, narrow hlo.Shape, results []hlo.InstrID) error {
	for _, u := range slices.Collect(w.c.Users(w.while)) {
		if in := w.c.At(u); in.Opcode() == hlo.OpGetTupleElement {
			if err := w.c.ReplaceInstruction(u, results[hlo.AttrsOf[hlo.TupleElementAttrs](in).Index]); err != nil {
				return err
			}
		}
	}
	if w.c.UserCount(w.while) > 0 || w.c.Root() == w.while {
		if err := w.c.ReplaceInstruction(w.while, at.OpOf(hlo.OpTuple, narrow, nil, results...)); err != nil {
			return err
		}
	} else if err := w.c.Remove(w.while); err != nil {
		return err
	}
	for _, r := range results {
		pass.Release(w.c, r, nil)
	}
	emit.Reorder(w.c)
	return nil
}
