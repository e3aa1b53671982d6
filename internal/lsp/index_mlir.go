package lsp

import "strings"

// indexMLIR finds the names of MLIR text: functions by their symbols, and in each its values. A value is defined where its name stands first in
// its function.
func indexMLIR(text string) *index {
	x := &index{}
	l := lexer{text: text}
	symbols := map[string]int{}
	type use struct {
		name string
		at   span
	}
	var later []use
	values := map[string]int{}
	function, depth, top := -1, 0, 0
	var open []span
	for t, previous := l.nextCode(), ""; t.kind != endOfText; t = l.nextCode() {
		s := t.in(text)
		switch {
		case t.kind == word && s[0] == '@':
			at := span{t.from + 1, t.to}
			if strings.HasSuffix(previous, "func") || previous == "private" || previous == "public" || previous == "mesh" {
				function = x.define(symbol{name: s[1:], kind: symbolFunction, detail: previous, def: at, whole: span{lineStart(text, t.from), t.from + lineLength(text[t.from:])}, within: -1})
				symbols[s[1:]] = function
				values, top = map[string]int{}, depth
			} else {
				later = append(later, use{s[1:], at})
			}
		case t.kind == word && s[0] == '%':
			at := span{t.from + 1, t.to}
			v, known := values[s]
			if !known {
				values[s] = x.define(symbol{name: s[1:], kind: symbolVariable, detail: defining(text, t.to), def: at,
					whole: span{lineStart(text, t.from), t.from + lineLength(text[t.from:])}, within: function})
				break
			}
			x.use(at, v)
		case t.kind == sign && s == "{":
			depth++
			open = append(open, t.span)
		case t.kind == sign && s == "}" && len(open) > 0:
			depth--
			x.folds = append(x.folds, span{open[len(open)-1].from, t.to})
			open = open[:len(open)-1]
			if function >= 0 && depth == top {
				x.symbols[function].whole.to = t.to
			}
		}
		if t.kind == word {
			previous = s
		}
	}
	for _, u := range later {
		if s, ok := symbols[u.name]; ok {
			x.use(u.at, s)
		}
	}
	return x.finish()
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// defining is the op that defines a value whose name ends at an offset; "" for arguments.
func defining(text string, at int) string {
	rest := text[at : at+lineLength(text[at:])]
	_, op, ok := strings.Cut(rest, "= ")
	if !ok || strings.ContainsAny(rest[:len(rest)-len(op)], "(") {
		return ""
	}
	op = strings.TrimLeft(op, " \"")
	end := strings.IndexAny(op, " (\"<{[")
	if end < 0 {
		end = len(op)
	}
	_, types, _ := strings.Cut(op, " : ")
	return strings.TrimSpace(op[:end] + " " + types)
}
