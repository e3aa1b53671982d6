package scalar

import "slices"

// Registers are assigned in three steps:
//
//  1. the ranges of lines over which each virtual register holds a value that somebody reads; a loop's variable has two, with a hole
//     between its last use in the body and the copy of its next value;
//  2. source and destination of a copy share a register where their ranges do not meet, innermost loops first, and the copy is gone;
//  3. the rest, in the order in which ranges begin, takes the first register that is free. Floats and integers have registers apart, since
//     the processor has.
//
// Constants have registers of their own, filled before the program runs.

type assigner struct {
	l      *layout
	ranges [][]reach // of virtual registers
	home   []*span   // loop in which it is written
	class  []int32   // union-find over virtual registers
	reg    []int32   // of virtual registers, -1 if it has none
	count  int32     // registers in use
	// constants holds the bits of the first registers.
	constants []uint64
}

func assign(l *layout) *assigner {
	a := &assigner{l: l, ranges: make([][]reach, len(l.widths)), home: make([]*span, len(l.widths)),
		class: make([]int32, len(l.widths)), reg: make([]int32, len(l.widths))}
	for i := range a.reg {
		a.class[i], a.reg[i] = int32(i), -1
	}
	for i := range l.b.nodes {
		if n := &l.b.nodes[i]; n.op == opConst && l.live.uses[i] > 0 {
			a.reg[i] = a.count
			a.count++
			a.constants = append(a.constants, n.bits)
		}
	}
	a.writes()
	a.reads()
	a.coalesce()
	a.color()
	return a
}

// writes begins the ranges.
func (a *assigner) writes() {
	for i := range a.l.lines {
		x := &a.l.lines[i]
		if x.d >= 0 {
			a.ranges[x.d], a.home[x.d] = append(a.ranges[x.d], reach{2*i + 1, 2*i + 1}), x.loop
		}
		for _, m := range x.moves {
			a.ranges[m.d] = append(a.ranges[m.d], reach{2*i + 1, 2*i + 1})
			a.home[m.d] = x.loop
		}
	}
}

// reads extends the ranges to the last use.
func (a *assigner) reads() {
	variables := make([]*span, len(a.ranges))
	for _, s := range a.l.spans {
		for _, v := range s.vars {
			variables[v] = s
			a.extend(v, 0, 2*s.body) // if there is no round, the value goes past the body
		}
	}
	for i := range a.l.lines {
		x := &a.l.lines[i]
		read := func(v int32) {
			if v < 0 || a.reg[v] >= 0 {
				return
			}
			if s := variables[v]; s != nil {
				a.readVariable(v, i, s)
				return
			}
			a.extend(v, len(a.ranges[v])-1, a.until(i, a.home[v]))
		}
		for _, v := range x.args {
			read(v)
		}
		for _, m := range x.moves {
			read(m.s)
		}
		if x.op == opJump { // the value of a branch's first side lives until here
			for _, m := range a.l.lines[i-1].moves {
				a.extend(m.d, 0, 2*i)
			}
		}
	}
}

// readVariable extends the ranges of variable v of loop s to line i.
func (a *assigner) readVariable(v int32, i int, s *span) {
	switch {
	case i > s.back:
		a.extend(v, 1, a.until(i, s.outer))
	case i > s.again:
		a.extend(v, 1, 2*i)
	default:
		a.extend(v, 0, a.until(i, s))
		if i >= s.body {
			a.extend(v, 1, 2*s.back+1) // and in the next round
		}
	}
}

// until is the last position at which a value written in loop home and read at line i is needed: the end of the loops between.
func (a *assigner) until(i int, home *span) int {
	to := 2 * i
	for s := a.l.lines[i].loop; s != nil && s != home; s = s.outer {
		to = max(to, 2*s.back+1)
	}
	return to
}

func (a *assigner) extend(v int32, k, to int) {
	if r := a.ranges[v]; k < len(r) {
		r[k].to = max(r[k].to, to)
	}
}

func (a *assigner) find(v int32) int32 {
	for a.class[v] != v {
		a.class[v] = a.class[a.class[v]]
		v = a.class[v]
	}
	return v
}

func (s *span) depth() int {
	d := 0
	for ; s != nil; s = s.outer {
		d++
	}
	return d
}

func (a *assigner) coalesce() {
	for v := range a.ranges {
		a.ranges[v] = inSequence(a.ranges[v])
	}
	type candidate struct {
		move
		depth int
	}
	var all []candidate
	for i := range a.l.lines {
		for _, m := range a.l.lines[i].moves {
			all = append(all, candidate{m, a.l.lines[i].loop.depth()})
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return y.depth - x.depth })
	for _, c := range all {
		d, s := a.find(c.d), a.find(c.s)
		if d == s || a.reg[c.s] >= 0 || meet(a.ranges[d], a.ranges[s]) {
			continue
		}
		a.class[s] = d
		a.ranges[d] = merge(a.ranges[d], a.ranges[s])
	}
}

func (a *assigner) color() {
	var order []int32
	for v := range a.ranges {
		if a.find(int32(v)) == int32(v) && len(a.ranges[v]) > 0 && a.reg[v] < 0 {
			order = append(order, int32(v))
		}
	}
	slices.SortStableFunc(order, func(x, y int32) int { return a.ranges[x][0].from - a.ranges[y][0].from })
	float := a.floats()
	positions := 2*len(a.l.lines) + 2
	banks := [...]*bank{newBank(positions), newBank(positions)} // integers, floats
	for _, v := range order {
		b := banks[0]
		if float[v] {
			b = banks[1]
		}
		r, ok := b.take(a.ranges[v])
		if !ok {
			r = b.add(a.count, a.ranges[v])
			a.count++
		}
		a.reg[v] = r
	}
	for v := range a.reg {
		if a.reg[v] < 0 {
			a.reg[v] = a.reg[a.find(int32(v))]
		}
	}
}

// floats says of each class of virtual registers whether more instructions use it as a float than as an integer.
func (a *assigner) floats() []bool {
	balance := make([]int, len(a.class))
	for i := range a.l.lines {
		x := &a.l.lines[i]
		if x.op >= numOps {
			continue
		}
		r, weight := rolesOf[x.op], 1
		for range min(x.loop.depth(), 5) {
			weight *= 10
		}
		count := func(v int32, r role) {
			switch {
			case v < 0:
			case r == roleFloat:
				balance[a.find(v)] += weight
			case r == roleInt:
				balance[a.find(v)] -= weight
			}
		}
		count(x.d, r.d)
		for k, r := range [maxArgs]role{r.a, r.b, r.c, r.e, r.m} {
			count(x.args[k], r)
		}
	}
	float := make([]bool, len(balance))
	for v, b := range balance {
		float[v] = b > 0
	}
	return float
}
