package scalar

// line is an instruction on virtual registers, a label, or copies that happen at once.
type line struct {
	op    op
	d     int32
	args  [maxArgs]int32
	m     int32 // also the label of a branch
	place Place
	moves []move // of lineCopies
	loop  *span
}

var noRegisters = [maxArgs]int32{-1, -1, -1, -1, -1}

// Lines that are not instructions.
const (
	lineLabel = numOps + iota // number m
	lineCopies
)

// move is a copy of one virtual register to another.
type move struct{ d, s int32 }

// span is where the lines of a loop are.
type span struct {
	outer *span
	// Positions of the lines: the copies of the initial values, the first of the body, the copies of the next values, the branch back.
	before, body, again, back int
	vars                      []int32 // virtual registers
}

// layout writes a graph as lines. Virtual registers are the graph's values, and behind them those of second copies.
type layout struct {
	b      *Builder
	live   *liveness
	lines  []line
	widths []uint8 // of virtual registers
	rename map[Value]int32
	loop   *span
	spans  []*span
	labels int32

	// By value:
	late    []bool   // to be computed at the end of a body
	choices []chosen // in the region that is laid out
	done    []bool   // see [orderer]
	regs    []int    // see [orderer.need], 0 if it is not known
	operand []bool   // used by one of the choices
}

func newLayout(b *Builder) *layout {
	n := len(b.nodes)
	l := &layout{b: b, live: findLive(b), late: make([]bool, n), choices: make([]chosen, n), done: make([]bool, n), regs: make([]int, n), operand: make([]bool, n)}
	for i := range b.nodes {
		l.widths = append(l.widths, b.nodes[i].width)
	}
	l.region(b.rootRegion())
	l.emit(line{op: opEnd, d: -1})
	return l
}

func (l *layout) emit(x line) {
	x.loop = l.loop
	if x.op >= lineLabel || x.op == opEnd || x.op == opJump {
		x.args = noRegisters
	}
	l.lines = append(l.lines, x)
}

func (l *layout) label() int32 { l.labels++; return l.labels - 1 }

func (l *layout) mark(label int32) { l.emit(line{op: lineLabel, d: -1, m: label}) }

func (l *layout) vreg(v Value) int32 {
	if r, ok := l.rename[v]; ok {
		return r
	}
	return int32(v)
}

func (l *layout) region(r *region) {
	// The use of an instruction depends on its user, so users come first.
	for _, v := range r.nodes {
		l.choices[v].some = false
	}
	for i := len(r.nodes) - 1; i >= 0; i-- {
		v := r.nodes[i]
		if l.b.nodes[v].op == opBranch {
			l.fuseTest(l.b.nodes[v].branch.test, r)
		}
		if n := &l.b.nodes[v]; l.needs(v, n) && !l.live.within[v] && n.op != opLoop && n.op != opBranch && n.op != opConst {
			o, args, m := l.live.fuse(v)
			l.choices[v] = chosen{true, o, args, m}
		}
	}
	compute := func(v Value) {
		n, c := &l.b.nodes[v], &l.choices[v]
		x := line{op: c.op, d: -1, m: c.m, place: n.place}
		if n.width != 0 {
			x.d = l.vreg(v)
		}
		for k, a := range c.args {
			x.args[k] = -1
			if a != None {
				x.args[k] = l.vreg(a)
			}
		}
		l.emit(x)
	}
	for _, v := range l.ordered(r) {
		switch n := &l.b.nodes[v]; n.op {
		case opLoop:
			l.while(n.loop)
		case opBranch:
			l.choose(n.branch)
		default:
			compute(v)
		}
	}
}

func (l *layout) needs(v Value, n *node) bool { return l.live.uses[v] > 0 || n.width == 0 }

// while is laid out with the condition at both ends: once in front of the loop, and at its end, where it jumps back.
func (l *layout) while(w *loopNode) {
	var first, next []move
	s := &span{outer: l.loop, before: len(l.lines)}
	for i, v := range w.vars {
		if l.live.uses[v] == 0 {
			continue
		}
		s.vars = append(s.vars, l.vreg(v))
		first = append(first, move{l.vreg(v), l.vreg(w.init[i])})
		next = append(next, move{l.vreg(v), l.vreg(w.next[i])})
		l.postpone(v, w.next[i])
	}
	body, exit := l.label(), l.label()
	l.emit(line{op: lineCopies, d: -1, moves: first})
	l.loop = s
	l.spans = append(l.spans, s)
	l.test(&w.cond, w.test, exit, false)
	s.body = len(l.lines)
	l.mark(body)
	l.region(&w.body)
	s.again = len(l.lines)
	l.emit(line{op: lineCopies, d: -1, moves: next})
	l.test(&w.cond, w.test, body, true)
	s.back = len(l.lines) - 1
	l.loop = s.outer
	l.mark(exit)
}

// postpone puts a counter's step at the end of the body, next to the condition.
func (l *layout) postpone(v, next Value) {
	n := &l.b.nodes[next]
	if n.op == opAdd && l.live.uses[next] == 1 && (n.args[0] == v || n.args[1] == v) &&
		(l.b.nodes[n.args[0]].op == opConst || l.b.nodes[n.args[1]].op == opConst) {
		l.late[next] = true
	}
}

// test computes a condition, with registers of its own, and jumps to label if it is as wanted.
func (l *layout) test(r *region, test Value, label int32, want bool) {
	l.rename = make(map[Value]int32, len(r.nodes))
	for _, v := range r.nodes {
		if l.b.nodes[v].width != 0 && l.b.nodes[v].op != opConst {
			l.rename[v] = int32(len(l.widths))
			l.widths = append(l.widths, l.b.nodes[v].width)
		}
	}
	l.fuseTest(test, r)
	l.region(r)
	l.branch(test, label, want)
	for _, v := range r.nodes { // the other end of the loop begins anew
		l.live.within[v] = false
	}
	l.rename = nil
}

// fuseTest leaves a comparison to the branch that uses it, if nothing else does.
func (l *layout) fuseTest(v Value, r *region) {
	if infos[l.b.nodes[v].op].branch != 0 && l.live.only(v, r, l.b.nodes[v].op) {
		l.live.within[v] = true
	}
}

func (l *layout) branch(test Value, label int32, want bool) {
	x := line{op: opIf, d: -1, args: [maxArgs]int32{l.vreg(test), -1, -1, -1, -1}, m: label}
	if !want {
		x.op = opIfNot
	}
	if l.live.within[test] {
		n := &l.b.nodes[test]
		o, a, b := n.op, l.vreg(n.args[0]), l.vreg(n.args[1])
		if !want {
			if infos[o].swaps {
				a, b = b, a
			}
			o = infos[o].negated
		}
		x.op, x.args = infos[o].branch, [maxArgs]int32{a, b, -1, -1, -1}
	}
	l.emit(x)
}

// choose lays out one side after the other.
func (l *layout) choose(br *branchNode) {
	otherwise, end := l.label(), l.label()
	l.branch(br.test, otherwise, false)
	for side := range br.sides {
		l.region(&br.sides[side])
		var moves []move
		for i, v := range br.results {
			if l.live.uses[v] > 0 {
				moves = append(moves, move{l.vreg(v), l.vreg(br.gives[side][i])})
			}
		}
		if len(moves) > 0 {
			l.emit(line{op: lineCopies, d: -1, moves: moves})
		}
		if side == 0 {
			l.emit(line{op: opJump, d: -1, m: end})
			l.mark(otherwise)
		}
	}
	l.mark(end)
}
