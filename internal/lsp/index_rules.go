package lsp

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// indexRules finds the names of a file of rules: rules by their ids, and in each its variables. A variable is defined where it stands first.
func indexRules(text string) *index {
	x := &index{}
	l := lexer{text: text, dashes: true}
	rule := -1
	variables := map[string]int{}
	var previous token
	inReason := false
	for t := l.nextCode(); t.kind != endOfText; t = l.nextCode() {
		s := t.in(text)
		if t.kind == word && isRuleID(s) && strings.TrimSpace(text[lineStart(text, t.from):t.from]) == "" {
			rule = x.define(symbol{name: s, kind: symbolClass, def: t.span, whole: span{t.from, t.from + lineLength(text[t.from:])}, within: -1})
			_, x.symbols[rule].detail, _ = strings.Cut(x.symbols[rule].whole.in(text), "--")
			variables, inReason, previous = map[string]int{}, false, t
			continue
		}
		inReason = inReason || s == "-" && strings.HasPrefix(text[t.from:], "--")
		if !inReason && rule >= 0 && t.kind == word && isVariable(text, previous, t) {
			v, known := variables[s]
			if known {
				x.use(t.span, v)
			} else {
				variables[s] = x.define(symbol{name: s, kind: symbolVariable, def: t.span, whole: t.span, within: rule})
			}
		}
		if rule >= 0 && !inReason {
			x.symbols[rule].whole.to = max(x.symbols[rule].whole.to, t.to)
		}
		previous = t
	}
	return x.finish()
}

// isRuleID reports whether a word has the form of a rule's id: capitals, then a digit somewhere.
func isRuleID(s string) bool {
	return s[0] >= 'A' && s[0] <= 'Z' && strings.ContainsAny(s, "0123456789")
}

// isVariable reports whether a word of a rule names a value: it is no op, no condition, no function, no number and no attribute.
func isVariable(text string, previous, t token) bool {
	s := t.in(text)
	before := previous.in(text)
	after := byte(' ')
	if t.to < len(text) {
		after = text[t.to]
	}
	switch {
	case s[0] < 'a' || s[0] > 'z':
		return false
	case before == "(" && previous.from > 0 && isLetter(text[previous.from-1]): // an argument of a condition
	case before == "(" && after != ':' && after != ')', after == '(', after == '|', before == "|":
		_, isOp := hlo.OpcodeByName(s)
		return after != '(' && !isOp && after != '!' && before == "(" && after == ' ' && s != "fold" && s != "eval" || after == ':'
	case before == ":" && (s == "const" || isOpName(s)):
		return false
	}
	return !reserved[s]
}

func isOpName(s string) bool { _, ok := hlo.OpcodeByName(s); return ok }

// reserved are the words of the language of rules that are no names.
var reserved = map[string]bool{"if": true, "not": true, "const": true, "true": true, "false": true, "inf": true, "nan": true, "fold": true, "eval": true,
	"fast": true, "rounding": true, "overflow": true, "zero-sign": true}
