package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/spelling"
)

// Rule is a rule as it was read: the rewrite, and its text.
type Rule struct {
	ID, Reason string
	FP         pass.FP
	Line       int
	*pass.RewriteRule

	tree  *ruleText
	left  []*pattern // the forms of the left side
	right *node
	conds []*cond
	names names
}

// names are what a rule calls its parts, by the slot in which each is kept.
type names struct {
	value, op, axes, direction slots
	ops                        [][]hlo.Opcode // that an op may be, by its slot
}

// mayBe is what an op of that name may be; nil is no such name.
func (n *names) mayBe(op string) []hlo.Opcode {
	at, ok := n.op.at(op)
	if !ok {
		return nil
	}
	return n.ops[at]
}

// slots are the names of one kind. There are few.
type slots []string

// at is the slot of a name, if there is one.
func (s slots) at(name string) (int, bool) {
	i := slices.Index(s, name)
	return i, i >= 0
}

// of is the slot of a name, which gets one if it has none.
func (s *slots) of(name string) int {
	i, ok := s.at(name)
	if !ok {
		i = len(*s)
		*s = append(*s, name)
	}
	return i
}

// Limits of a rule: matching keeps what it binds in an array on the stack.
const (
	maxValues = 12
	maxOther  = 4
	// Each op that commutes doubles the ways in which a rule is matched.
	maxCommuting = 5
)

var classes = map[string]pass.FP{"": pass.Exact, "zero-sign": pass.ZeroSign, "rounding": pass.Rounding, "overflow": pass.Overflow,
	"nan": pass.NotANumber, "fast": pass.FastMath}

// Parse reads rules. Errors are of type [ErrorList].
func Parse(name, text string) ([]*Rule, error) {
	f, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	c := &checker{file: name, text: text}
	var all []*Rule
	seen := map[string]int{}
	for _, r := range f.Rules {
		if at, twice := seen[r.ID]; twice {
			c.fail(r.Pos.Line, r.Pos.Column, "rule %s is there already, in line %d", r.ID, at)
			continue
		}
		seen[r.ID] = r.Pos.Line
		if rule := c.rule(r); rule != nil {
			all = append(all, rule)
		}
	}
	if len(c.errs) > 0 {
		slices.SortStableFunc(c.errs, func(a, b *Error) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) })
		return nil, c.errs
	}
	return all, nil
}

// Must is Parse for rules that are part of the program.
func Must(name, text string) []*Rule {
	all, err := Parse(name, text)
	if err != nil {
		panic(err)
	}
	return all
}

// checker turns trees into rules. What it cannot accept it reports, and goes on.
type checker struct {
	file, text string
	errs       ErrorList
	names      names
	left       bool // on the left side names are made, on the right they must be known
}

func (c *checker) fail(line1, col int, format string, args ...any) {
	msg, hint, _ := strings.Cut(fmt.Sprintf(format, args...), "\x00")
	c.errs = append(c.errs, &Error{File: c.file, Line: line1, Col: col, Msg: msg, Hint: hint, Source: line(c.text, line1)})
}

func (c *checker) rule(t *ruleText) *Rule {
	before := len(c.errs)
	c.names = names{}
	r := &Rule{ID: t.ID, tree: t, Reason: strings.TrimSpace(strings.TrimPrefix(t.Reason, "--")), Line: t.Pos.Line}
	fp, ok := classes[t.Class]
	if !ok {
		c.fail(t.Pos.Line, t.Pos.Column, "there is no class %q\x00zero-sign, rounding, overflow, nan, fast", t.Class)
	}
	if r.Reason == "" {
		c.fail(t.Pos.Line, t.Pos.Column, "rule %s gives no reason", t.ID)
	}
	r.FP = fp
	c.left = true
	left := c.pattern(t.Left)
	if left != nil && left.kind != opPattern {
		c.fail(t.Left.Pos.Line, t.Left.Pos.Column, "the left side must be an op with operands")
	}
	c.left = false
	if left == nil {
		return nil // the right side would only say so again
	}
	r.right = c.node(t.Right)
	for _, k := range t.If {
		if cond := c.condition(k); cond != nil {
			r.conds = append(r.conds, cond)
		}
	}
	if left != nil && left.commuting() > maxCommuting {
		c.fail(t.Pos.Line, t.Pos.Column, "rule %s has more than %d ops that commute on its left side: write add! and the like where the order is known", t.ID, maxCommuting)
	}
	if len(c.names.value) > maxValues || len(c.names.op) > maxOther || len(c.names.axes) > maxOther || len(c.names.direction) > maxOther {
		c.fail(t.Pos.Line, t.Pos.Column, "rule %s has too many names", t.ID)
	}
	if len(c.errs) > before {
		return nil
	}
	r.names = c.names
	r.left = left.forms()
	r.RewriteRule = &pass.RewriteRule{ID: r.ID, Words: r.words, FP: fp, Root: left.ops, Dynamic: left.keepsSizes() && r.right.keepsSizes()}
	for _, form := range r.left {
		r.Forms = append(r.Forms, pass.RuleForm{Operands: form.operandOps(), Rewrite: r.rewriteBy(form)})
	}
	return r
}

// pattern checks a term of the left side.
func (c *checker) pattern(t *term) *pattern {
	p := &pattern{slot: -1, opSlot: -1, attrSlot: -1}
	switch {
	case t.Number != "":
		p.kind = numberPattern
		p.number, _ = number(t.Number)
	case t.Call != nil:
		p.kind = opPattern
		if !c.opPattern(p, t.Call) {
			return nil
		}
	case t.Name != "" && t.Word == "const":
		p.kind = constPattern
	case t.Name != "":
		c.fail(t.Pos.Line, t.Pos.Column, "%s:%s: a name stands before a number, an op in parentheses, or const", t.Name, t.Word)
		return nil
	default:
		p.kind = anyPattern
		t.Name = t.Word
	}
	if t.Name != "" {
		p.slot = c.names.value.of(t.Name)
	}
	return p
}

func (c *checker) opPattern(p *pattern, k *call) bool {
	words := append([]string{k.Op}, k.Or...)
	if k.Of != nil {
		words = k.Of
		p.opSlot = c.names.op.of(k.Op)
	} else if i, ok := c.names.op.at(k.Op); ok && len(words) == 1 {
		p.opSlot, p.sameOp, words = i, true, nil
	}
	for _, w := range words {
		op, ok := hlo.OpcodeByName(w)
		if !ok {
			c.fail(k.Pos.Line, k.Pos.Column, "there is no op %q%s", w, nearest(w, opNames()))
			return false
		}
		if !hlo.Info(op).Arity.Accepts(len(k.Args)) {
			c.fail(k.Pos.Line, k.Pos.Column, "%s takes %v operands, here are %d", w, hlo.Info(op).Arity, len(k.Args))
			return false
		}
		p.ops = append(p.ops, op)
	}
	if p.sameOp {
		p.ops = c.names.ops[p.opSlot]
	} else if p.opSlot == len(c.names.ops) {
		c.names.ops = append(c.names.ops, p.ops)
	} else if p.opSlot >= 0 {
		c.names.ops[p.opSlot] = p.ops
	}
	p.ordered = k.Ordered
	for _, a := range k.Args {
		arg := c.pattern(a)
		if arg == nil {
			return false
		}
		p.args = append(p.args, arg)
	}
	return k.Attr == nil || c.attrPattern(p, k)
}

// attrPattern checks what stands in brackets behind an op on the left.
func (c *checker) attrPattern(p *pattern, k *call) bool {
	a := k.Attr
	kind := attrKindOf(p.ops)
	switch {
	case kind == noAttr:
		c.fail(a.Pos.Line, a.Pos.Column, "%s has no attribute that rules know", k.Op)
		return false
	case a.Axes != nil && kind == axesAttr:
		p.axes, p.attr = axesOf(a.Axes), statedAttr
	case a.None && kind == axesAttr:
		p.axes, p.attr = []int64{}, statedAttr
	case a.Call == nil || a.Call.Args != nil:
		c.fail(a.Pos.Line, a.Pos.Column, "on the left an attribute is stated or named")
		return false
	case kind == directionAttr && len(a.Or) > 0 && !isDirection(a.Call.Name):
		c.fail(a.Pos.Line, a.Pos.Column, "%s is no direction", a.Call.Name)
		return false
	case kind == directionAttr:
		if d, ok := directionOf(a.Call.Name); ok {
			p.directions, p.attr = 1<<d, statedAttr
			for _, w := range a.Or {
				d, known := directionOf(w)
				if !known {
					c.fail(a.Pos.Line, a.Pos.Column, "%s is no direction", w)
				}
				p.directions |= 1 << d
			}
			break
		}
		p.attr, p.attrSlot = namedAttr, c.names.direction.of(a.Call.Name)
	default:
		p.attr, p.attrSlot = namedAttr, c.names.axes.of(a.Call.Name)
	}
	p.attrOf = kind
	return true
}

func isDirection(name string) bool {
	_, ok := directionOf(name)
	return ok
}

// commuting counts the ops whose operands are tried in either order.
func (p *pattern) commuting() int {
	n := 0
	if p.kind == opPattern && p.commutes() {
		n++
	}
	for _, a := range p.args {
		n += a.commuting()
	}
	return n
}

// number reads a number as text has it.
func number(s string) (float64, bool) {
	switch s {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil
}

func axesOf(words []string) []int64 {
	axes := []int64{}
	for _, w := range words {
		v, _ := strconv.ParseInt(w, 10, 64)
		axes = append(axes, v)
	}
	return axes
}

func opNames() (names []string) {
	for op := range hlo.Opcodes {
		names = append(names, hlo.Info(op).Name)
	}
	return names
}

func nearest(word string, names []string) string {
	if near := spelling.Nearest(word, names); near != "" {
		return fmt.Sprintf("\x00did you mean %q?", near)
	}
	return ""
}

// textOf is a rule without id and reason, on one line.
func textOf(t *ruleText) string {
	var b strings.Builder
	t.Left.write(&b)
	b.WriteString(" => ")
	t.Right.write(&b)
	for i, k := range t.If {
		b.WriteString([]string{" if ", ", "}[min(i, 1)])
		if k.Not {
			b.WriteString("not ")
		}
		b.WriteString(k.Name + "(")
		for j, a := range k.Args {
			b.WriteString([]string{"", ", "}[min(j, 1)] + a.Word)
		}
		b.WriteString(")")
	}
	return b.String()
}

func (t *term) write(b *strings.Builder) {
	if t.Name != "" && t.Name != t.Word {
		b.WriteString(t.Name + ":")
	}
	b.WriteString(t.Number + t.Word)
	if t.Call == nil {
		return
	}
	b.WriteString("(" + t.Call.Op)
	for i, w := range t.Call.Of {
		b.WriteString([]string{":", "|"}[min(i, 1)] + w)
	}
	for _, w := range t.Call.Or {
		b.WriteString("|" + w)
	}
	if t.Call.Ordered {
		b.WriteString("!")
	}
	if a := t.Call.Attr; a != nil {
		b.WriteString(a.String())
	}
	for _, a := range t.Call.Args {
		b.WriteString(" ")
		a.write(b)
	}
	b.WriteString(")")
}

func (a *attrCall) String() string {
	if a.Args == nil {
		return a.Name
	}
	args := make([]string, len(a.Args))
	for i, x := range a.Args {
		args[i] = x.String()
	}
	return a.Name + "(" + strings.Join(args, ",") + ")"
}

// Source is the rule as it is written.
func (r *Rule) Source() string {
	class := ""
	for name, fp := range classes {
		if fp == r.FP && name != "" {
			class = "[" + name + "] "
		}
	}
	return r.ID + " " + class + textOf(r.tree) + " -- " + r.Reason
}

// words are the rule as formulas, and as it is written.
func (r *Rule) words() (doc, text string) { return docOf(r.tree), r.Source() }
