package scalar

// loopNode is a loop: while the condition holds, the body computes the next values of the variables.
type loopNode struct {
	vars, init, next []Value
	cond, body       region
	test             Value // computed by cond
}

// branchNode is a choice between two regions, each of which gives values to the same results.
type branchNode struct {
	test    Value
	results []Value
	sides   [2]region // true, false
	gives   [2][]Value
}

// While is a loop over variables that begin with init and that body changes from round to round; it returns their last values.
func (b *Builder) While(init []Value, cond func(vars []Value) Value, body func(vars []Value) []Value) []Value {
	l := &loopNode{init: append([]Value(nil), init...)}
	l.cond.loop, l.body.loop = l, l
	for i, x := range init {
		l.vars = append(l.vars, b.variable(node{op: opVar, width: b.nodes[x].width, args: noArgs, m: int32(i), region: &l.body, loop: l}))
	}
	b.epoch++
	b.within(&l.cond, l, func() { l.test = cond(l.vars) })
	for _, v := range l.cond.nodes { // it is laid out twice
		n := &b.nodes[v]
		b.failed = b.failed || n.op == opLoop || n.op == opBranch || n.width == 0
	}
	b.within(&l.body, l, func() { l.next = append(l.next, body(l.vars)...) })
	b.epoch++
	b.appendTo(b.region, node{op: opLoop, args: noArgs, loop: l}) // after what went in front of it
	b.failed = b.failed || len(l.next) != len(l.vars)
	return l.vars
}

// If chooses: then or otherwise is executed, and gives values to the results, as many as there are widths.
func (b *Builder) If(test Value, widths []int, then, otherwise func() []Value) []Value {
	br := &branchNode{test: test}
	for i, f := range []func() []Value{then, otherwise} {
		b.within(&br.sides[i], nil, func() { br.gives[i] = f() })
		if len(br.gives[i]) != len(widths) {
			b.failed = true
		}
	}
	b.epoch++
	b.appendTo(b.region, node{op: opBranch, args: noArgs, branch: br})
	for i, w := range widths {
		br.results = append(br.results, b.variable(node{op: opVar, width: uint8(w), args: noArgs, m: int32(i), region: b.region, branch: br}))
	}
	return br.results
}

// InCondition reports whether what is built next belongs to the condition of a loop, which may not branch.
func (b *Builder) InCondition() bool {
	for r := b.region; r != nil; r = r.outer {
		if r.loop != nil && r == &r.loop.cond {
			return true
		}
	}
	return false
}

// variable appends a value that copies write.
func (b *Builder) variable(n node) Value {
	b.nodes = append(b.nodes, n)
	return Value(len(b.nodes) - 1)
}

// within builds a region. Facts learnt in it hold in it only, but for those about values in front of it.
func (b *Builder) within(r *region, l *loopNode, build func()) {
	r.outer, r.loop = b.region, l
	before := len(b.learnt)
	b.region = r
	build()
	b.region = r.outer
	kept := b.learnt[:before]
	for _, k := range b.learnt[before:] {
		if b.nodes[b.known[k]].region == r || k.epoch != 0 {
			delete(b.known, k)
			continue
		}
		kept = append(kept, k)
	}
	b.learnt = kept
}
