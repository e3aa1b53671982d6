package verifier

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Chains as messages show them: everything that an asynchronous value passes on its way from the start to its dones, since what is wrong
// with one step can only be understood from the others.

// How much is shown, and how far is looked: findings are many in a module that is wrong all over.
const (
	maxLinks = 24
	maxLooks = 512
)

// part is a part of the value of an instruction: the asynchronous value itself, or a tuple that has it at path.
type part struct {
	in   hlo.Instruction
	path pathID
}

// chainOf lists the chain that in belongs to, in program order within each computation; nil when in is no step of one, or alone.
func (r *run) chainOf(in hlo.Instruction) []Link {
	first := in
	switch op, pair := in.Opcode(), hlo.Info(in.Opcode()).Pair; {
	case hlo.IsAsync(op):
		first = r.head(in)
	case pair.Ends(op) && in.NumOperands() > 0:
		if first = in.OperandInstr(0); first.Opcode() != pair.Start {
			if p, ok := r.producer(first); ok {
				first = p
			}
		}
	case !pair.Begins(op) && !pair.Ends(op):
		return nil
	}
	if links, ok := r.shown[placeOf(first)]; ok {
		return links
	}
	links := r.follow(first)
	if r.shown == nil {
		r.shown = make(map[place][]Link)
	}
	r.shown[placeOf(first)] = links
	return links
}

// follow collects what the value of first passes.
func (r *run) follow(first hlo.Instruction) []Link {
	parts := []part{{first, 0}}
	seen := map[part]bool{parts[0]: true}
	looks := 0
	add := func(in hlo.Instruction, path pathID) {
		if p := (part{in, path}); !seen[p] {
			seen[p] = true
			parts = append(parts, p)
		}
	}
	// Where the first step continues something that is no start, that belongs to the story.
	if (hlo.IsAsync(first.Opcode()) && first.Opcode() != hlo.OpAsyncStart || endsPair(first)) && first.NumOperands() > 0 {
		parts = append([]part{{first.OperandInstr(0), 0}}, parts...)
	}
	for k := 0; k < len(parts) && looks < maxLooks && len(parts) <= maxLinks; k++ {
		p := parts[k]
		if p.in.Opcode() == hlo.OpAsyncDone || endsPair(p.in) || k == 0 && p.in != first {
			continue
		}
		for u := range p.in.Users() {
			if looks++; looks > maxLooks {
				break
			}
			r.pass(p, u, add)
		}
		if p.in.IsRoot() {
			for comp, instr := range r.m.Callers(p.in.Computation().ID()) {
				looks++
				caller := r.m.MustComputation(comp).MustAt(instr)
				if op := caller.Opcode(); op == hlo.OpWhile || op == hlo.OpCall || op == hlo.OpConditional {
					add(caller, p.path)
				}
			}
		}
	}
	more := looks > maxLooks || len(parts) > maxLinks
	parts = parts[:min(len(parts), maxLinks)]
	comps := make(map[hlo.CompID]int) // in the order of their first parts
	for _, p := range parts {
		if id := p.in.Computation().ID(); comps[id] == 0 {
			comps[id] = len(comps) + 1
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { // what goes around loops is met in any order
		c := a.in.Computation()
		switch other := b.in.Computation(); {
		case c.ID() != other.ID():
			return cmp.Compare(comps[c.ID()], comps[other.ID()])
		case c.Less(a.in.ID(), b.in.ID()):
			return -1
		case c.Less(b.in.ID(), a.in.ID()):
			return 1
		}
		return 0
	})
	var links []Link
	for i, p := range parts {
		if i > 0 && p.in == parts[i-1].in {
			continue
		}
		links = append(links, Link{p.in.Opcode(), p.in.Computation().Name(), p.in.Name(), p.in.Position()})
	}
	if more {
		links = append(links, Link{})
	}
	if len(links) == 1 {
		return nil
	}
	return links
}

// pass adds where user takes the part p.
func (r *run) pass(p part, user hlo.Instruction, add func(hlo.Instruction, pathID)) {
	switch op := user.Opcode(); {
	case op == hlo.OpTuple:
		for i := range min(user.NumOperands(), maxLooks) {
			if user.Operand(i) == p.in.ID() {
				add(user, r.push(p.path, int64(i)))
			}
		}
	case op == hlo.OpGetTupleElement:
		if p.path == 0 { // out of the asynchronous value itself
			add(user, 0)
		} else if k := r.pathKeys[p.path-1]; k.index == hlo.AttrsOf[hlo.TupleElementAttrs](user).Index {
			add(user, k.rest)
		}
	case op == hlo.OpWhile:
		add(user, p.path)
		if user.NumCallees() > 0 {
			if body := r.m.MustComputation(user.Callee(0)); body.NumParameters() == 1 {
				add(body.Parameter(0), p.path)
			}
		}
	case op == hlo.OpAsyncUpdate:
		add(user, 0)
	default: // a done, what hands it on, or what must not have it
		add(user, p.path)
	}
}

// endsPair reports whether in waits for what another opcode began.
func endsPair(in hlo.Instruction) bool { return hlo.Info(in.Opcode()).Pair.Ends(in.Opcode()) }
