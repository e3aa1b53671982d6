package scalar

import "slices"

// The instructions of a region may come in any order that computes operands first and leaves stores, loops and branches where they are.
// Values are computed as late as their users allow, since each one occupies a register from there to its last use: a program that reads all
// of its arrays before it computes anything would keep most of what it has read in memory. Of two operands the one that needs more registers
// on the way comes first.

// orderer orders one region.
type orderer struct {
	*layout
	r     *region
	order []Value
}

// chosen is the instruction that computes a value, and perhaps others that only it uses.
type chosen struct {
	some bool // there is one
	op   op
	args [maxArgs]Value
	m    int32
}

// ordered lists what is to be computed in r, and its loops and branches.
func (l *layout) ordered(r *region) []Value {
	o := &orderer{layout: l, r: r, order: make([]Value, 0, len(r.nodes))}
	for _, v := range r.nodes {
		l.done[v], l.regs[v], l.operand[v] = false, 0, false
	}
	read := 0 // loads in front of here are done
	for i, v := range r.nodes {
		n := &l.b.nodes[v]
		if n.width != 0 {
			continue
		}
		o.loopUses(n.loop)
		o.branchUses(n.branch)
		if c := &l.choices[v]; c.some {
			o.demandAll(c.args[:])
		}
		for _, before := range r.nodes[read:i] { // reads what this may overwrite
			if l.b.nodes[before].op.loads() {
				o.demand(before)
			}
		}
		read = i
		o.done[v] = true
		o.order = append(o.order, v)
	}
	for _, v := range r.nodes {
		if c := &l.choices[v]; c.some {
			for _, a := range c.args {
				if a != None {
					l.operand[a] = true
				}
			}
		}
	}
	for _, late := range []bool{false, true} {
		for _, v := range r.nodes { // what only others use, next rounds for one
			if !l.operand[v] && l.late[v] == late {
				o.demand(v)
			}
		}
	}
	return o.order
}

// demand computes a value of this region, after its operands.
func (o *orderer) demand(v Value) {
	if v == None || !o.choices[v].some || o.done[v] || o.b.nodes[v].region != o.r {
		return
	}
	o.done[v] = true
	o.demandAll(o.choices[v].args[:])
	o.order = append(o.order, v)
}

// demandAll computes what needs most registers first.
func (o *orderer) demandAll(args []Value) {
	if len(args) > maxArgs {
		args = slices.Clone(args)
		slices.SortStableFunc(args, func(x, y Value) int { return o.need(y) - o.need(x) })
		for _, a := range args {
			o.demand(a)
		}
		return
	}
	for {
		next, most := None, 0
		for _, a := range args {
			if a != None && !o.done[a] && o.b.nodes[a].region == o.r {
				if n := o.need(a); n > most {
					next, most = a, n
				}
			}
		}
		if next == None {
			return
		}
		o.demand(next)
	}
}

// need is about how many registers it takes to compute v, or 0 for what is there.
func (o *orderer) need(v Value) int {
	if v == None || !o.choices[v].some || o.b.nodes[v].region != o.r {
		return 0
	}
	if n := o.regs[v]; n != 0 {
		return n
	}
	first, second := 0, 0
	for _, a := range o.choices[v].args {
		if n := o.need(a); n > first {
			first, second = n, first
		} else {
			second = max(second, n)
		}
	}
	n := max(1, first)
	if first == second {
		n = first + 1
	}
	o.regs[v] = n
	return n
}

// uses computes what a region within uses of this one.
func (o *orderer) uses(r *region) {
	for _, v := range r.nodes {
		n := &o.b.nodes[v]
		o.demandAll(n.args[:])
		o.loopUses(n.loop)
		o.branchUses(n.branch)
	}
}

func (o *orderer) loopUses(w *loopNode) {
	if w == nil {
		return
	}
	for i, v := range w.vars {
		if o.live.uses[v] > 0 {
			o.demandAll([]Value{w.init[i], w.next[i]})
		}
	}
	o.demandAll([]Value{w.test})
	o.uses(&w.cond)
	o.uses(&w.body)
}

func (o *orderer) branchUses(br *branchNode) {
	if br == nil {
		return
	}
	o.demandAll([]Value{br.test})
	if o.live.within[br.test] {
		o.demandAll(o.b.nodes[br.test].args[:])
	}
	for side := range br.sides {
		o.demandAll(br.gives[side])
		o.uses(&br.sides[side])
	}
}
