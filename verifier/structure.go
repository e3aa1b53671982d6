package verifier

import "github.com/gohalo/halo/hlo"

// Structure: what every other check relies on. Names, parents and operands of the same computation hold by construction of the IR: names
// are made unique, operands are ids (rules STR-01 to STR-07, NAME-01).

// module checks the module as a whole.
func (r *run) module() {
	if r.m.Name() == "" {
		r.reportModule("MOD-01", "module name must not be empty")
	}
	entry := r.m.Entry()
	if entry.IsZero() {
		r.reportModule("MOD-02", "module has no entry computation")
		return
	}
	if r.isFused(entry.ID()) {
		r.reportComputation(entry, "MOD-02", "entry computation cannot be a fusion computation")
	}
}

// structure reports whether the module can be walked: every computation has a root and no cycle, nothing calls itself.
func (r *run) structure() bool {
	ok := !r.m.Entry().IsZero()
	for c := range r.m.Computations() {
		if c.Root().IsZero() {
			r.reportComputation(c, "STR-03", "root instruction is a null pointer: the computation has none")
			ok = false
			continue
		}
		if in := r.findCycle(c); !in.IsZero() {
			r.report(in, "STR-08", "A cycle is detected while visiting instruction %%%s", in.Name())
			ok = false
		}
	}
	return r.recursion() && ok
}

// findCycle is an instruction on a cycle of operands and control edges. A program order in which nothing comes before what it needs has
// none, which is the common case and needs no search.
func (r *run) findCycle(c hlo.Computation) hlo.Instruction {
	if n := int(c.IDLimit()); n > len(r.seen) {
		r.seen = make([]uint32, n*2)
	}
	r.seenIn++
	seen, now := r.seen, r.seenIn
	ordered := true
	for in := range c.Instructions() {
		for i := range in.NumOperands() {
			ordered = ordered && seen[in.Operand(i)] == now
		}
		if in.NumControlPredecessors() > 0 {
			for id := range in.ControlPredecessors() {
				ordered = ordered && seen[id] == now
			}
		}
		seen[in.ID()] = now
	}
	if ordered {
		return hlo.Instruction{}
	}
	// Depth first with an explicit stack: 0 new, 1 on the stack, 2 done.
	state := make([]uint8, c.IDLimit())
	type frame struct {
		in   hlo.Instruction
		next []hlo.InstrID
	}
	var stack []frame
	push := func(in hlo.Instruction) {
		state[in.ID()] = 1
		f := frame{in: in}
		for id := range in.OperandIDs() {
			f.next = append(f.next, id)
		}
		for id := range in.ControlPredecessors() {
			f.next = append(f.next, id)
		}
		stack = append(stack, f)
	}
	for in := range c.Instructions() {
		if state[in.ID()] != 0 {
			continue
		}
		push(in)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if len(f.next) == 0 {
				state[f.in.ID()] = 2
				stack = stack[:len(stack)-1]
				continue
			}
			id := f.next[0]
			f.next = f.next[1:]
			switch state[id] {
			case 0:
				push(c.MustAt(id))
			case 1:
				return c.MustAt(id)
			}
		}
	}
	return hlo.Instruction{}
}

// recursion reports computations that call themselves, directly or not. A module order in which callees come before their callers has
// none.
func (r *run) recursion() bool {
	ok := true
	at := make([]int32, r.m.CompIDLimit())
	n := int32(0)
	for c := range r.m.Computations() {
		n++
		at[c.ID()] = n
	}
	ordered := true
	for _, in := range r.callers {
		for i := range in.NumCallees() {
			ordered = ordered && at[in.Callee(i)] < at[in.Computation().ID()]
		}
	}
	if ordered {
		return true
	}
	state := make([]uint8, r.m.CompIDLimit())
	type frame struct {
		id   hlo.CompID
		next []hlo.Instruction
		k    int
	}
	var stack []frame
	push := func(c hlo.Computation) {
		state[c.ID()] = 1
		f := frame{id: c.ID()}
		for in := range calls(c) {
			f.next = append(f.next, in)
		}
		stack = append(stack, f)
	}
	for c := range r.m.Computations() {
		if state[c.ID()] != 0 {
			continue
		}
		push(c)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			switch {
			case len(f.next) == 0:
				state[f.id] = 2
				stack = stack[:len(stack)-1]
			case f.k == f.next[0].NumCallees():
				f.next, f.k = f.next[1:], 0
			default:
				in := f.next[0]
				id := in.Callee(f.k)
				f.k++
				switch state[id] {
				case 0:
					push(r.m.MustComputation(id))
				case 1:
					r.report(in, "HALO-RECURSION", "computation %%%s calls itself through %%%s", r.m.MustComputation(id).Name(), in.Name())
					ok = false
				}
			}
		}
	}
	return ok
}
