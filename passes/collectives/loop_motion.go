package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const loopMotionDoc = `reduce once after a loop rather than in every round

	state + all-reduce(x), in every round                     → state' + x, and one all-reduce of state' behind the loop
	state, of which each round writes one row of reduced values → the rows as they are, and one all-reduce of all rows, or of the block of each that is reduced

Conversions, scalings by values that are the same on all devices, and selections between the value and 0 may stand between. Floating-point sums are added in another
order: policy xla or fast. enable-reduce-scatter does it for reduce-scatters, too; the state is as large as their operand then. run-setup-passes first runs
reorder-reduce-transpose and reorder-convert-reduce-add.`

var loopMotionParams = []pass.Param{
	{Name: "enable-reduce-scatter", Doc: "also for reduce-scatters; false"},
	{Name: "run-setup-passes", Doc: "bring the reductions next to the additions first; false"},
	{Name: "require-flat-control-flow", Doc: "leave loops alone whose body something else runs, too; false"},
}

// NewLoopMotion makes the pass while-loop-all-reduce-code-motion.
func NewLoopMotion(o pass.Options) (*pass.Pass, error) {
	var known []string
	flags := make([]bool, len(loopMotionParams))
	for i, p := range loopMotionParams {
		known = append(known, p.Name)
		var err error
		if flags[i], err = o.Bool(p.Name); err != nil {
			return nil, err
		}
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	scatter, setup, flat := flags[0], flags[1], flags[2]
	return &pass.Pass{Name: "while-loop-all-reduce-code-motion", Doc: loopMotionDoc, Options: o, Params: loopMotionParams,
		Run: func(ctx *pass.Context, m hlo.Module) (after hlo.Module, err error) {
			after = m
			if setup {
				if after, err = ReorderReduceTranspose.Run(ctx, after); err != nil {
					return m, err
				}
				if after, err = reorderConverts(ctx, after, scatter); err != nil {
					return m, err
				}
			}
			e := ctx.Edit(after)
			for c := range after.PostOrder() { // bodies first: what leaves an inner loop may leave the outer one as well
				l := loopMotion{ctx: ctx, m: after, e: e, body: c.ID(), scatter: scatter}
				if l.sites(flat) {
					if err := l.move(); err != nil {
						return m, err
					}
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// loopMotion is the work on the body of loops.
type loopMotion struct {
	ctx     *pass.Context
	m       hlo.Module
	e       *hlo.Editor
	body    hlo.CompID
	scatter bool
	loops   []loopSite
}

type loopSite struct {
	comp hlo.CompID
	id   hlo.InstrID
}

// sites finds the loops that run the body; false if something else does.
func (l *loopMotion) sites(flat bool) bool {
	for comp, id := range l.m.Callers(l.body) {
		in := l.m.MustComputation(comp).MustAt(id)
		if in.Opcode() != hlo.OpWhile || in.Callee(0) != l.body || in.Callee(1) == l.body || in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 {
			return false
		}
		l.loops = append(l.loops, loopSite{comp, id})
	}
	return len(l.loops) > 0 && (!flat || len(l.loops) == 1)
}

// moving is one reduction that leaves: the part of the state that it is added to, or written into.
type moving struct {
	part   int
	reduce hlo.InstrID
	path   []hlo.InstrID // from the addition down to the reduction
	add    hlo.InstrID
	rows   bool // each round writes a row of the state
	block  *block
}

// block is the part of each row that is reduced, where the rest of the row is the device's own.
type block struct{ start, limit []int64 }

func (l *loopMotion) move() error {
	b := l.e.View(l.body)
	root := b.Root()
	if b.NumParameters() != 1 || root.Opcode() != hlo.OpTuple || root.UserCount() > 0 {
		return nil
	}
	parts, ok := l.partsOf(b)
	if !ok {
		return nil
	}
	var all []moving
	moved := map[hlo.InstrID]bool{}
	for i, p := range parts {
		mv, ok := l.find(b, i, p)
		if ok && !moved[mv.reduce] && l.ctx.Spend("reduction") {
			all, moved[mv.reduce] = append(all, mv), true
		}
	}
	if len(all) == 0 {
		return nil
	}
	specs := map[hlo.InstrID]hlo.InstrSpec{}
	operand := map[hlo.InstrID]hlo.Shape{}
	for _, mv := range all {
		in := b.MustAt(mv.reduce)
		specs[mv.reduce], operand[mv.reduce] = emit.Again(in), in.OperandInstr(0).Shape()
	}
	for _, mv := range all {
		if err := l.take(mv, specs[mv.reduce], operand[mv.reduce]); err != nil {
			return err
		}
	}
	l.ctx.Count("reductions", int64(len(all)))
	for _, s := range l.loops {
		if err := l.behind(s, all, specs); err != nil {
			return err
		}
	}
	return nil
}

// statePart is what the loops know of a part of the state.
type statePart struct {
	element hlo.Instruction // that the body takes out
	taken   int             // how often it does
	decides bool            // a condition reads it
	again   bool            // what it becomes is that of an earlier part, too
}

// partsOf looks at the state of a body once for all its parts: false if the parts cannot be told apart.
func (l *loopMotion) partsOf(b hlo.Computation) ([]statePart, bool) {
	parts := make([]statePart, b.Root().NumOperands())
	for u := range b.Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement {
			return nil, false
		}
		p := &parts[hlo.AttrsOf[hlo.TupleElementAttrs](u).Index]
		p.element, p.taken = u, p.taken+1
	}
	for _, s := range l.loops {
		c := l.e.View(l.e.View(s.comp).MustAt(s.id).Callee(1))
		for u := range c.Parameter(0).Users() {
			if u.Opcode() != hlo.OpGetTupleElement {
				return nil, false
			}
			parts[hlo.AttrsOf[hlo.TupleElementAttrs](u).Index].decides = true
		}
	}
	seen := map[hlo.InstrID]bool{}
	for i, p := range parts {
		id := b.Root().Operand(i)
		p.again, seen[id] = seen[id], true
		parts[i] = p
	}
	return parts, true
}

// find looks whether part i of the state collects reductions.
func (l *loopMotion) find(b hlo.Computation, i int, p statePart) (mv moving, ok bool) {
	root, state := b.Root(), p.element
	v := root.OperandInstr(i)
	if u, ok := soleUser(v); !ok || u.ID() != root.ID() || p.again || p.taken != 1 || p.decides || state.IsRoot() {
		return mv, false
	}
	mv.part = i
	if v.Opcode() == hlo.OpDynamicUpdateSlice && v.Operand(0) == state.ID() {
		if state.UserCount() == 1 {
			mv.rows = true
			mv.add = v.ID()
			row := v.OperandInstr(1)
			inner, isBlock := blockOf(v, row)
			if isBlock {
				mv.block = &inner
				if mv.reduce, mv.path, ok = l.trace(b, row.OperandInstr(1), row, false); ok {
					mv.path = append([]hlo.InstrID{row.ID()}, mv.path...)
				}
			} else {
				mv.reduce, mv.path, ok = l.trace(b, row, v, false)
			}
			return mv, ok && l.writesEveryRow(b, v) && b.MustAt(mv.reduce).Opcode() == hlo.OpAllReduce
		}
		return l.findBlock(b, mv, v, state)
	}
	if v.Opcode() != hlo.OpAdd || state.UserCount() != 1 || v.Operand(0) == v.Operand(1) {
		return mv, false
	}
	for k := range 2 {
		if v.Operand(1-k) != state.ID() {
			continue
		}
		mv.add = v.ID()
		mv.reduce, mv.path, ok = l.trace(b, v.OperandInstr(k), v, true)
		return mv, ok
	}
	return mv, false
}

// blockOf recognises a row of which a block at a constant place is written before the row is, and says where in the state that block is of all rows.
func blockOf(write, row hlo.Instruction) (in block, ok bool) {
	if u, only := soleUser(row); row.Opcode() != hlo.OpDynamicUpdateSlice || !only || u.ID() != write.ID() || row.NumControlPredecessors() > 0 || row.Operand(0) == row.Operand(1) {
		return in, false
	}
	whole, update := write.Shape(), row.OperandInstr(1).Shape()
	in.start, in.limit = make([]int64, whole.Rank()), whole.Dimensions()
	for d := range whole.Rank() {
		if row.Shape().Dim(d) != whole.Dim(d) { // the dimension of the rows
			if update.Dim(d) != row.Shape().Dim(d) {
				return in, false
			}
			continue
		}
		at, constant := match.SplatValue(row.OperandInstr(2 + d))
		if !constant {
			return in, false
		}
		first, known := at.ScalarInt()
		if !known {
			return in, false
		}
		in.start[d] = max(0, min(first, whole.Dim(d)-update.Dim(d)))
		in.limit[d] = in.start[d] + update.Dim(d)
	}
	return in, true
}

// findBlock recognises a state of which every round adds to one block, the same on all devices that reduce together.
func (l *loopMotion) findBlock(b hlo.Computation, mv moving, write, state hlo.Instruction) (moving, bool) {
	add := write.OperandInstr(1)
	if u, ok := soleUser(add); !ok || u.ID() != write.ID() || add.Opcode() != hlo.OpAdd || state.UserCount() != 2 {
		return mv, false
	}
	for k := range 2 {
		read := add.OperandInstr(1 - k)
		if read.Opcode() != hlo.OpDynamicSlice || read.Operand(0) != state.ID() || read.UserCount() != 1 ||
			!slices.Equal(slices.Collect(read.OperandIDs())[1:], slices.Collect(write.OperandIDs())[2:]) {
			continue
		}
		var ok bool
		mv.add = add.ID()
		if mv.reduce, mv.path, ok = l.trace(b, add.OperandInstr(k), add, true); !ok || b.MustAt(mv.reduce).Opcode() != hlo.OpAllReduce {
			return mv, false
		}
		d := devicesOf(l.m)
		_, members, ok := d.places(factsOf(l.m, b.MustAt(mv.reduce)))
		if !ok {
			return mv, false
		}
		for j := 1; j < read.NumOperands(); j++ {
			at, ok := d.onEach(read.OperandInstr(j))
			if !ok {
				return mv, false
			}
			for device, group := range members {
				if at[device] != at[group[0]] {
					return mv, false
				}
			}
		}
		return mv, true
	}
	return mv, false
}
