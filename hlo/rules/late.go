package rules

import (
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// Late is Must, but the rules are read one by one when they are needed: at first only the id, the class and the outermost ops of each are. A program
// meets few of many rules. What is not written as the outline expects is read at once.
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
		late[i].name, late[i].text = name, o.text
		heads[i] = pass.RewriteRule{ID: o.id, FP: o.fp, Root: o.root, Late: late[i].whole}
		all[i] = &heads[i]
	}
	return all
}

// lateRule is a rule that has perhaps been read.
type lateRule struct {
	name, text string
	once       sync.Once
	rule       *pass.RewriteRule
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
		first = word()
	}
	for op := first; ; op = word() {
		code, known := hlo.OpcodeByName(op)
		if !known {
			return o, false
		}
		o.root = append(o.root, code)
		if !take("|") {
			return o, true
		}
	}
}
