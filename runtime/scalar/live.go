package scalar

// liveness says what of a graph is needed, and how often.
type liveness struct {
	b    *Builder
	uses []int32 // of each needed value; structural nodes are needed always
	work []Value
	// within marks values that are computed by the instruction that uses them.
	within []bool
}

// findLive marks what stores and the structure need, and with it all that those need. A loop whose variables are not read is still a loop.
func findLive(b *Builder) *liveness {
	l := &liveness{b: b, uses: make([]int32, len(b.nodes)), within: make([]bool, len(b.nodes))}
	l.root(b.rootRegion())
	for len(l.work) > 0 {
		v := l.work[len(l.work)-1]
		l.work = l.work[:len(l.work)-1]
		n := &b.nodes[v]
		for _, a := range n.args {
			l.use(a)
		}
		if n.op != opVar {
			continue
		}
		if n.loop != nil {
			l.use(n.loop.init[n.m])
			l.use(n.loop.next[n.m])
			continue
		}
		l.use(n.branch.gives[0][n.m])
		l.use(n.branch.gives[1][n.m])
	}
	return l
}

func (b *Builder) rootRegion() *region {
	r := b.region
	for r.outer != nil {
		r = r.outer
	}
	return r
}

func (l *liveness) root(r *region) {
	for _, v := range r.nodes {
		switch n := &l.b.nodes[v]; n.op {
		case opStore1, opStore2, opStore4, opStore8:
			for _, a := range n.args {
				l.use(a)
			}
		case opLoop:
			l.root(&n.loop.cond)
			l.root(&n.loop.body)
			l.use(n.loop.test)
		case opBranch:
			l.root(&n.branch.sides[0])
			l.root(&n.branch.sides[1])
			l.use(n.branch.test)
		}
	}
}

func (l *liveness) use(v Value) {
	if v == None {
		return
	}
	if l.uses[v]++; l.uses[v] == 1 {
		l.work = append(l.work, v)
	}
}

// only reports whether v has op o and is used once, in region r, where it is computed too: then its user may compute it.
func (l *liveness) only(v Value, r *region, ops ...op) bool {
	if v == None || l.uses[v] != 1 || l.b.nodes[v].region != r || l.within[v] {
		return false
	}
	for _, o := range ops {
		if l.b.nodes[v].op == o {
			return true
		}
	}
	return false
}

// compares reports whether a choice can do the comparison that it depends on.
func (l *liveness) compares(n *node) (choice op, ok bool) {
	test := l.b.nodes[n.args[0]].op
	return infos[test].choice, infos[test].choice != 0 && l.only(n.args[0], n.region, test)
}

// maxArgs is the number of operands of an instruction; the fifth is in m.
const maxArgs = 5

// fuse finds pairs of ops that one instruction does. It returns the instruction for v and its operands.
func (l *liveness) fuse(v Value) (o op, args [maxArgs]Value, m int32) {
	n := &l.b.nodes[v]
	o, m = n.op, n.m
	args = [maxArgs]Value{n.args[0], n.args[1], n.args[2], None, None}
	inner := func(k int) [3]Value {
		l.within[n.args[k]] = true
		return l.b.nodes[n.args[k]].args
	}
	switch n.op {
	case opAdd:
		for k := range 2 {
			if l.only(n.args[k], n.region, opAdd) {
				x := inner(k)
				return opAdd3, [maxArgs]Value{x[0], x[1], n.args[1-k], None, None}, 0
			}
		}
	case opAddF32, opAddF64:
		mul, both := opMulF32, opMulAddF32
		if n.op == opAddF64 {
			mul, both = opMulF64, opMulAddF64
		}
		for k := range 2 {
			if l.only(n.args[k], n.region, mul) {
				x := inner(k)
				return both, [maxArgs]Value{x[0], x[1], n.args[1-k], None, None}, 0
			}
		}
	case opSelect4:
		if choice, ok := l.compares(n); ok {
			x := inner(0)
			return choice, [maxArgs]Value{x[0], x[1], n.args[1], n.args[2], None}, 0
		}
		if l.only(n.args[2], n.region, opSelect4) {
			if _, ok := l.compares(&l.b.nodes[n.args[2]]); ok {
				break
			}
			x := inner(2)
			return opSelectTwice4, [maxArgs]Value{n.args[0], n.args[1], x[0], x[1], x[2]}, 0
		}
	case opMask:
		first, compares := opMaskEqF32, opEqF32
		if n.m == 8 {
			first, compares = opMaskEqF64, opEqF64
		}
		if l.only(n.args[0], n.region, compares, compares+1, compares+2, compares+3) {
			x := inner(0)
			return l.b.nodes[n.args[0]].op - compares + first, [maxArgs]Value{x[0], x[1], None, None, None}, 0
		}
		m = 0
	case opLoad4, opLoad8:
		if m == 0 && l.only(n.args[1], n.region, opIndexS32, opIndexS64) {
			o = opLoadAt4S32
			if n.op == opLoad8 {
				o = opLoadAt8S32
			}
			index := &l.b.nodes[n.args[1]]
			if index.op == opIndexS64 {
				o++
			}
			x := inner(1)
			return o, [maxArgs]Value{None, x[0], x[2], None, None}, index.m
		}
	}
	return o, args, m
}
