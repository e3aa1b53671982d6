package collectives

import "github.com/gohalo/halo/hlo"

// domains numbers the parts into which domain instructions divide a computation: what is connected by operands without one of them in between is one part. What
// no domain instruction is next to has number 0, whatever it is connected with.
type domains map[hlo.InstrID]int

// findDomains is nil for a computation without domain instructions.
func findDomains(c hlo.Computation) domains {
	var parts domains
	var todo []hlo.InstrID
	n := 0
	enter := func(in hlo.Instruction) {
		if in.Opcode() != hlo.OpDomain && parts[in.ID()] == 0 {
			parts[in.ID()] = n
			todo = append(todo, in.ID())
		}
	}
	expand := func(from hlo.Instruction) {
		n++
		enter(from)
		for len(todo) > 0 {
			in := c.MustAt(todo[len(todo)-1])
			todo = todo[:len(todo)-1]
			for o := range in.Operands() {
				enter(o)
			}
			for u := range in.Users() {
				enter(u)
			}
		}
	}
	for in := range c.Instructions() {
		if in.Opcode() != hlo.OpDomain {
			continue
		}
		if parts == nil {
			parts = domains{}
		}
		for o := range in.Operands() {
			expand(o)
		}
		for u := range in.Users() {
			expand(u)
		}
	}
	return parts
}
