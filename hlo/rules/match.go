package rules

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// pattern is a term of the left side.
type pattern struct {
	kind   patternKind
	slot   int // of the value, -1 if it has no name
	number float64

	ops      []hlo.Opcode
	opSlot   int // of the op, -1 if it has no name
	sameOp   bool
	args     []*pattern
	attrOf   attrKind
	attr     attrUse
	attrSlot int
	axes     []int64
	// directions are the stated ones of a compare, as bits; ordered operands are not exchanged.
	directions uint16
	ordered    bool
}

type patternKind uint8

const (
	anyPattern patternKind = iota
	numberPattern
	constPattern
	opPattern
)

// attrUse is what a pattern wants of an attribute.
type attrUse uint8

const (
	anyAttr attrUse = iota
	statedAttr
	namedAttr
)

// bindings are what the names of a rule stand for while it is matched.
type bindings struct {
	values     [maxValues]hlo.Instruction
	ops        [maxOther]hlo.Opcode
	axes       [maxOther][]int64
	directions [maxOther]hlo.Direction
	bound      uint16 // values
	boundAttrs [2]uint8
}

// rewriteBy is the rewrite of one form of the left side.
func (r *Rule) rewriteBy(form *pattern) func(hlo.Instruction) (pass.Expr, bool) {
	twins := form.twins()
	return func(in hlo.Instruction) (pass.Expr, bool) {
		for _, t := range twins {
			if in.NumOperands() <= t[1] || in.Operand(t[0]) != in.Operand(t[1]) {
				return pass.Expr{}, false
			}
		}
		b := room.Get().(*bindings)
		defer room.Put(b)
		b.bound, b.boundAttrs = 0, [2]uint8{}
		if !form.match(in, b) {
			return pass.Expr{}, false
		}
		for _, k := range r.conds {
			if k.holds(b) == k.not {
				return pass.Expr{}, false
			}
		}
		return r.right.whole(in, b)
	}
}

// twins lists the pairs of operands that must be one value: most instructions fail there, and it costs nothing to see.
func (p *pattern) twins() (pairs [][2]int) {
	for i, a := range p.args {
		for k := range i {
			if b := p.args[k]; a.slot >= 0 && a.slot == b.slot {
				pairs = append(pairs, [2]int{k, i})
			}
		}
	}
	return pairs
}

// room is where bindings are kept while a rule is matched: rules are matched often, and on several computations at once.
var room = sync.Pool{New: func() any { return new(bindings) }}

// match matches in program order: what a name is bound to first, it must be again.
func (p *pattern) match(in hlo.Instruction, b *bindings) bool {
	switch p.kind {
	case numberPattern:
		l, ok := match.SplatValue(in)
		if !ok || !scalar.Is(l, p.number) {
			return false
		}
	case constPattern:
		if _, ok := match.SplatValue(in); !ok {
			return false
		}
	case opPattern:
		if !p.matchOp(in, b) {
			return false
		}
	}
	if p.slot < 0 {
		return true
	}
	if b.bound&(1<<p.slot) != 0 {
		return b.values[p.slot].ID() == in.ID()
	}
	b.bound |= 1 << p.slot
	b.values[p.slot] = in
	return true
}

func (p *pattern) matchOp(in hlo.Instruction, b *bindings) bool {
	op := in.Opcode()
	if p.sameOp {
		if b.ops[p.opSlot] != op {
			return false
		}
	} else if len(p.ops) == 1 && p.ops[0] != op || len(p.ops) > 1 && !slices.Contains(p.ops, op) {
		return false
	} else if p.opSlot >= 0 {
		b.ops[p.opSlot] = op
	}
	if in.NumOperands() != len(p.args) || p.attrOf != noAttr && !p.matchAttr(in, b) || op == hlo.OpCompare && !plainCompare(in) {
		return false
	}
	var first hlo.Instruction
	for i, a := range p.args {
		x := in.OperandInstr(i)
		if i == 0 {
			first = x
		}
		if !a.match(x, b) || i > 0 && !a.isConstant() && !p.args[0].isConstant() && widthsDiffer(first, x) {
			return false
		}
	}
	return true
}

func (p *pattern) isConstant() bool { return p.kind == numberPattern || p.kind == constPattern }

// widthsDiffer reports mixed precision, about which algebra says nothing.
func widthsDiffer(x, y hlo.Instruction) bool {
	s, t := x.Shape().Type(), y.Shape().Type()
	return s != t && s.IsFloat() && t.IsFloat()
}

// plainCompare reports whether a compare orders as the type of its operands does by itself.
func plainCompare(in hlo.Instruction) bool {
	t := hlo.AttrsOf[hlo.CompareAttrs](in).Type
	var unset hlo.CompareType
	return t == unset || t == hlo.DefaultCompareType(in.OperandInstr(0).Shape().Type())
}

func (p *pattern) matchAttr(in hlo.Instruction, b *bindings) bool {
	if p.attrOf == directionAttr {
		d := hlo.AttrsOf[hlo.CompareAttrs](in).Direction
		switch {
		case p.attr == statedAttr:
			return p.directions&(1<<d) != 0
		case b.boundAttrs[1]&(1<<p.attrSlot) != 0:
			return b.directions[p.attrSlot] == d
		}
		b.directions[p.attrSlot] = d
		b.boundAttrs[1] |= 1 << p.attrSlot
		return true
	}
	axes := axesAttrOf(in)
	switch {
	case p.attr == statedAttr:
		return slices.Equal(axes, p.axes)
	case b.boundAttrs[0]&(1<<p.attrSlot) != 0:
		return slices.Equal(b.axes[p.attrSlot], axes)
	}
	b.axes[p.attrSlot] = axes
	b.boundAttrs[0] |= 1 << p.attrSlot
	return true
}

// forms lists the pattern with the operands of each op that commutes in either order, so that matching never has to go back. Orders that say
// the same are listed once.
func (p *pattern) forms() []*pattern {
	all := []*pattern{p}
	if p.kind != opPattern {
		return all
	}
	// Every choice of forms for the operands.
	all = all[:0]
	choices := [][]*pattern{nil}
	for _, a := range p.args {
		var longer [][]*pattern
		for _, head := range choices {
			for _, f := range a.forms() {
				longer = append(longer, append(slices.Clone(head), f))
			}
		}
		choices = longer
	}
	for _, args := range choices {
		q := *p
		q.args = args
		all = append(all, &q)
	}
	if !p.commutes() || p.args[0].same(p.args[1]) {
		return all
	}
	for _, args := range choices {
		q := *p
		q.args = []*pattern{args[1], args[0]}
		if q.sameOp || !slices.ContainsFunc(all, q.same) {
			all = append(all, &q)
		}
	}
	return all
}

func (p *pattern) commutes() bool {
	return len(p.args) == 2 && !p.ordered && !slices.ContainsFunc(p.ops, func(op hlo.Opcode) bool { return !hlo.Info(op).Traits.Has(hlo.TraitCommutative) })
}

// same reports whether two patterns match the same under the same names.
func (p *pattern) same(q *pattern) bool {
	return p.kind == q.kind && p.slot == q.slot && p.number == q.number && slices.Equal(p.ops, q.ops) && p.opSlot == q.opSlot && p.attr == q.attr &&
		p.attrSlot == q.attrSlot && p.directions == q.directions && slices.Equal(p.axes, q.axes) && slices.EqualFunc(p.args, q.args, (*pattern).same)
}

// constants are the opcodes of what may be a repeated number.
var constants = []hlo.Opcode{hlo.OpConstant, hlo.OpBroadcast}

// operandOps is what the first operands must be.
func (p *pattern) operandOps() [][]hlo.Opcode {
	ops := make([][]hlo.Opcode, len(p.args))
	for i, a := range p.args {
		switch a.kind {
		case numberPattern, constPattern:
			ops[i] = constants
		case opPattern:
			ops[i] = a.ops
		}
	}
	return ops
}

// keepsSizes reports whether the pattern has only ops whose result is as large as their operands, axis by axis.
func (p *pattern) keepsSizes() bool {
	for _, op := range p.ops {
		if !sizeKeeping(op) {
			return false
		}
	}
	return !slices.ContainsFunc(p.args, func(a *pattern) bool { return !a.keepsSizes() })
}

func sizeKeeping(op hlo.Opcode) bool {
	return hlo.Info(op).Traits.Has(hlo.TraitElementwise) || op == hlo.OpTranspose || op == hlo.OpReverse
}
