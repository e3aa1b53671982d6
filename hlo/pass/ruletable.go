package pass

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
)

// ruleTable finds the rules that may fire at an instruction by looking at it once, however many rules there are: the rules of an opcode are the
// bits of a set, and the opcode of each of the first operands selects those that it does not rule out.
type ruleTable struct {
	rules []*RewriteRule
	of    [hlo.NumOpcodes][]uint16 // rules, by the opcode of what they replace
	made  [hlo.NumOpcodes]atomic.Pointer[opcodeRules]
}

// looked is the number of operands whose opcodes count.
const looked = 3

// opcodeRules are the rules that replace instructions of one opcode, in order. They are made when the first instruction of the opcode is met:
// most programs have few opcodes.
type opcodeRules struct {
	entries  []ruleEntry
	operands [looked]operandFilter
}

// ruleEntry is one form of a rule, or all that have such operands of one that is read when it is met.
type ruleEntry struct {
	rule *RewriteRule
	RuleForm
}

// operandFilter says which rules are left when an operand is known. An opcode that no rule names has class 0.
type operandFilter struct {
	class [hlo.NumOpcodes]uint8
	left  []ruleSet // by class
}

type ruleSet []uint64

func (s ruleSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func newRuleTable(rules []*RewriteRule) *ruleTable {
	t := &ruleTable{rules: rules}
	var counts [hlo.NumOpcodes]int
	total := 0
	for _, r := range rules {
		total += len(r.Root)
		for _, op := range r.Root {
			counts[op]++
		}
	}
	all := make([]uint16, total)
	for op, n := range counts {
		t.of[op], all = all[:0:n], all[n:]
	}
	for i, r := range rules {
		for _, op := range r.Root {
			t.of[op] = append(t.of[op], uint16(i))
		}
	}
	return t
}

// has reports whether there are rules of an opcode.
func (t *ruleTable) has(op hlo.Opcode) bool { return len(t.of[op]) > 0 }

// opcode returns the rules of an opcode, or nil if there are none.
func (t *ruleTable) opcode(op hlo.Opcode) *opcodeRules {
	if !t.has(op) {
		return nil
	}
	if o := t.made[op].Load(); o != nil {
		return o
	}
	o := &opcodeRules{entries: make([]ruleEntry, 0, len(t.of[op]))}
	for _, i := range t.of[op] {
		r := t.rules[i]
		switch {
		case r.Late != nil:
			for _, operands := range r.LateOperands() {
				o.entries = append(o.entries, ruleEntry{r, RuleForm{Operands: operands}})
			}
		case r.Forms == nil:
			o.entries = append(o.entries, ruleEntry{r, RuleForm{r.Operands, r.Rewrite}})
		}
		for _, f := range r.Forms {
			o.entries = append(o.entries, ruleEntry{r, f})
		}
	}
	for i := range o.operands {
		o.operands[i].fill(o.entries, i)
	}
	t.made[op].Store(o)
	return o
}

// fill makes the filter of operand i.
func (f *operandFilter) fill(rules []ruleEntry, i int) {
	names := func(r *ruleEntry) bool { return i < len(r.Operands) && r.Operands[i] != nil }
	classes := 1
	for n := range rules {
		if r := &rules[n]; names(r) {
			for _, op := range r.Operands[i] {
				if f.class[op] == 0 {
					f.class[op] = uint8(classes)
					classes++
				}
			}
		}
	}
	words := (len(rules) + 63) / 64
	sets := make(ruleSet, classes*words)
	f.left = make([]ruleSet, classes)
	for class := range f.left {
		f.left[class], sets = sets[:words:words], sets[words:]
	}
	for n := range rules {
		if r := &rules[n]; !names(r) {
			f.left[0].add(n)
		} else {
			for _, op := range r.Operands[i] {
				f.left[f.class[op]].add(n)
			}
		}
	}
	for _, left := range f.left[1:] {
		for w, set := range f.left[0] {
			left[w] |= set
		}
	}
}

// candidates calls yield with the rules that may fire at in, in order.
func (t *ruleTable) candidates(in hlo.Instruction, yield func(*RewriteRule, func(hlo.Instruction) (Expr, bool)) bool) {
	o := t.opcode(in.Opcode())
	if o == nil {
		return
	}
	var sets [looked]ruleSet
	n := min(in.NumOperands(), looked)
	for i := range n {
		f := &o.operands[i]
		if len(f.left) > 1 {
			sets[i] = f.left[f.class[in.OperandInstr(i).Opcode()]]
		} else {
			sets[i] = f.left[0]
		}
	}
	var late *RewriteRule // the last one, whose entries are next to each other
	for word := range (len(o.entries) + 63) / 64 {
		set := ^uint64(0)
		for i := range n {
			set &= sets[i][word]
		}
		for ; set != 0; set &= set - 1 {
			i := 64*word + bits.TrailingZeros64(set)
			if i >= len(o.entries) {
				return
			}
			e := &o.entries[i]
			if e.rule.Late == nil {
				if !yield(e.rule, e.Rewrite) {
					return
				}
			} else if e.rule != late {
				late = e.rule
				whole := late.Whole()
				for f := range whole.Forms {
					if form := &whole.Forms[f]; form.fits(in) && !yield(whole, form.Rewrite) {
						return
					}
				}
			}
		}
	}
}

// fits reports whether the operands have opcodes that the form does not rule out.
func (f *RuleForm) fits(in hlo.Instruction) bool {
	for i, ops := range f.Operands[:min(len(f.Operands), looked, in.NumOperands())] {
		if ops != nil && !slices.Contains(ops, in.OperandInstr(i).Opcode()) {
			return false
		}
	}
	return true
}
