package rules

import (
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// Late is Must, but the rules are read one by one when they are needed: at first only the id, the class and the outermost ops of each are, then what
// their operands must be. A program meets few of many rules. What is not written as the outline expects is read at once.
func Late(name, text string) []*pass.RewriteRule {
	outlines, ok := outlinesOf(text)
	if !ok {
		var all []*pass.RewriteRule
		for _, r := range Must(name, text) {
			all = append(all, r.RewriteRule)
		}
		return all
	}
	all := make([]*pass.RewriteRule, len(outlines))
	heads, late := make([]pass.RewriteRule, len(outlines)), make([]lateRule, len(outlines))
	for i, o := range outlines {
		late[i].name, late[i].outline = name, o
		heads[i] = pass.RewriteRule{ID: o.id, FP: o.fp, Root: o.root, Late: late[i].whole, LateOperands: late[i].operands}
		all[i] = &heads[i]
	}
	return all
}

// lateRule is a rule that has perhaps been read.
type lateRule struct {
	name string
	outline
	once sync.Once
	rule *pass.RewriteRule
}

func (l *lateRule) whole() *pass.RewriteRule {
	l.once.Do(func() { l.rule = Must(l.name, l.text)[0].RewriteRule })
	return l.rule
}

// outline is what a rule is found by.
type outline struct {
	id   string
	fp   pass.FP
	root []hlo.Opcode
	text string // of the rule alone
	op   string // what the text calls the outermost op, "" if nothing
	args string // the text from behind the outermost ops
}

// outlinesOf finds the rules of a text; it is false if it does not understand one.
func outlinesOf(text string) (all []outline, ok bool) {
	all = make([]outline, 0, strings.Count(text, " => "))
	for at := 0; ; {
		at += blank(text[at:])
		if at == len(text) {
			return all, true
		}
		end := at + ruleEnd(text[at:])
		o, ok := outlineOf(text[at:end])
		if !ok {
			return nil, false
		}
		all, at = append(all, o), end
	}
}

// blank is the length of the blanks and comments at the front.
func blank(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case strings.IndexByte(" \t\r\f\n", s[n]) >= 0:
			n++
		case strings.HasPrefix(s[n:], "//"):
			n += lineEnd(s[n:])
		default:
			return n
		}
	}
	return n
}

// ruleEnd is where the reason of the first rule ends. Comments may have dashes, too.
func ruleEnd(s string) int {
	for at := 0; at < len(s); {
		line := s[at : at+lineEnd(s[at:])]
		reason, comment := strings.Index(line, "--"), strings.Index(line, "//")
		if at = min(at+len(line)+1, len(s)); reason >= 0 && (comment < 0 || reason < comment) {
			return at
		}
	}
	return len(s)
}

// outlineOf reads the beginning of a rule.
func outlineOf(text string) (o outline, ok bool) {
	s := text
	word := func() string {
		n := 0
		if s != "" {
			n = wordLength(s)
		}
		w := s[:n]
		s = s[n:]
		return w
	}
	take := func(mark string) bool {
		rest, found := strings.CutPrefix(s, mark)
		s = rest
		return found
	}
	o.id, o.text = word(), text
	if o.id == "" || !take(" ") {
		return o, false
	}
	if take("[") {
		class := word()
		var known bool
		if o.fp, known = classes[class]; !known || class == "" || !take("] ") {
			return o, false
		}
	}
	if !take("(") { // the whole may have a name
		if word() == "" || !take(":(") {
			return o, false
		}
	}
	first := word()
	if take(":") { // and so may the op
		o.op, first = first, word()
	}
	for op := first; ; op = word() {
		code, known := hlo.OpcodeByName(op)
		if !known {
			return o, false
		}
		o.root = append(o.root, code)
		if !take("|") {
			o.args = s
			return o, true
		}
	}
}

// operands is what the operands must be in each order in which they match, or what leaves more than that: nil is anything.
func (o *outline) operands() [][][]hlo.Opcode {
	s, ordered := strings.CutPrefix(o.args, "!")
	if strings.HasPrefix(s, "[") {
		s = s[strings.IndexByte(s, ']')+1:]
	}
	var all [][]hlo.Opcode
	for {
		s = s[blank(s):]
		if s == "" || strings.Contains(o.text, "//") { // a comment may stand between any two words
			return [][][]hlo.Opcode{nil}
		}
		if s[0] == ')' {
			break
		}
		var ops []hlo.Opcode
		ops, s = o.operand(s)
		all = append(all, ops)
	}
	orders := [][][]hlo.Opcode{all}
	if len(all) == 2 && !ordered && !slices.ContainsFunc(o.root, func(op hlo.Opcode) bool { return !hlo.Info(op).Traits.Has(hlo.TraitCommutative) }) {
		orders = append(orders, [][]hlo.Opcode{all[1], all[0]})
	}
	return orders
}

// operand is what the first operand in s must be, and the text behind it.
func (o *outline) operand(s string) (ops []hlo.Opcode, rest string) {
	named := false
	if n := wordLength(s); n > 0 && n < len(s) && s[n] == ':' {
		s, named = s[n+1:], true
	}
	if s != "" && s[0] == '(' {
		return o.ops(s[1:]), s[closed(s):]
	}
	end := strings.IndexAny(s, " \t\r\f\n)")
	if end <= 0 {
		return nil, ""
	}
	if numberLength(s) == end || named && s[:end] == "const" {
		ops = constants
	}
	return ops, s[end:]
}

// ops are those that begin an operand in parentheses.
func (o *outline) ops(s string) (ops []hlo.Opcode) {
	for {
		n := 0
		if s != "" {
			n = wordLength(s)
		}
		if s[:n] == o.op && len(ops) == 0 {
			return o.root
		}
		op, known := hlo.OpcodeByName(s[:n])
		if !known || s[n:] != "" && s[n] == ':' { // a name that stands for an op
			return nil
		}
		ops = append(ops, op)
		if s = s[n:]; !strings.HasPrefix(s, "|") {
			return ops
		}
		s = s[1:]
	}
}

// closed is the length of the term in parentheses at the front.
func closed(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
