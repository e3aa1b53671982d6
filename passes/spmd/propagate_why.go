package spmd

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// origin is how an array got its tiling: through an op, from another array of it.
type origin struct {
	through hlo.Instruction
	what    string // the other array: operand, result
	round   int
}

// describe says where a node has its tiling from.
func (p *propagator) describe(n *node) string {
	s := n.by
	switch {
	case s.what == "":
		return "given"
	case n.from == nil:
		return "computed from " + s.what
	}
	return fmt.Sprintf("through %v %%%s from its %s%s, round %d", s.through.Opcode(), s.through.Name(), s.what, p.named(s.through, n.from.find()), s.round)
}

// named is the operand of an instruction that a node stands for; nothing if it is not an operand.
func (p *propagator) named(in hlo.Instruction, n *node) string {
	for o := range in.Operands() {
		for i := range o.Shape().NumLeaves() {
			if p.node(o, i) == n {
				return " %" + o.Name()
			}
		}
	}
	return ""
}

// Bounds of an explanation: a chain has as many steps as the longest way through the program.
const (
	explainedSteps  = 12
	explainedArrays = 8
)

// explain says where an instruction's shardings come from, by chains back to what was given, or why it has none.
func (p *propagator) explain(in hlo.Instruction, tilings []*Tiling) {
	if !p.ctx.Remarks() {
		return
	}
	i, known := 0, false
	for _, leaf := range in.Shape().Leaves {
		n, t := p.node(in, i), tilings[i]
		i++
		if !leaf.IsArray() || t == nil || i > explainedArrays {
			continue
		}
		known = true
		prefix := ""
		if in.Shape().IsTuple() {
			prefix = fmt.Sprintf("element %d: ", i-1)
		}
		p.ctx.Passed(in, "%s%v: %s", prefix, t, p.story(n, t))
	}
	if known {
		return
	}
	if lost := p.lost(in); lost != "" {
		p.ctx.Missed(in, "no sharding: %s", lost)
	}
}

// story is the chain of steps to the tiling t of a node, which a caller may see as another one.
func (p *propagator) story(n *node, t *Tiling) string {
	if n.t == nil || !n.t.equal(t) {
		if n.t == nil || n.by.what == "" && n.from == nil {
			return "the program does not allow another one at its boundary"
		}
		return fmt.Sprintf("inside %v, of which the program allows no more at its boundary; that: %s", n.t, p.story(n, n.t))
	}
	var text strings.Builder
	text.WriteString(p.describe(n))
	k := n.from
	for range explainedSteps {
		if k == nil {
			break
		}
		k = k.find()
		fmt.Fprintf(&text, "; %%%s %v: %s", k.of.Name(), k.t, p.describe(k))
		k = k.from
	}
	if k != nil {
		text.WriteString("; and so on")
	}
	return text.String()
}

// lost says which tilings of operands and users an instruction does not get; empty if there are none, or if there is nothing to split.
func (p *propagator) lost(in hlo.Instruction) string {
	splits := false
	leaves(in.Shape(), func(s hlo.Shape) { splits = splits || s.IsArray() && s.Rank() > 0 })
	if !splits {
		return ""
	}
	var all []string
	look := func(what string, other hlo.Instruction) {
		for i := range other.Shape().NumLeaves() {
			if t := p.node(other, i).t; t != nil && (t.isTiled() || len(t.Manual) > 0) && len(all) < explainedArrays {
				all = append(all, fmt.Sprintf("%s %%%s %v", what, other.Name(), t))
				return
			}
		}
	}
	for o := range in.Operands() {
		look("operand", o)
	}
	for u := range in.Users() {
		look("user", u)
	}
	if len(all) == 0 {
		return ""
	}
	return "it gets none from " + strings.Join(all, ", ")
}
