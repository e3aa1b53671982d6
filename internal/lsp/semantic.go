package lsp

import (
	"sort"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// tokenTypes are the colours, in the order in which tokens number them.
var tokenTypes = []string{"function", "variable", "type", "keyword", "property", "string", "number", "comment", "class", "enumMember", "namespace"}

const (
	colourFunction = iota
	colourVariable
	colourType
	colourKeyword
	colourProperty
	colourString
	colourNumber
	colourComment
	colourClass
	colourMember
	colourNamespace
	noColour = -1
)

// ofSymbol is the colour of each kind of symbol.
var ofSymbol = map[int]int{symbolModule: colourNamespace, symbolClass: colourClass, symbolFunction: colourFunction, symbolVariable: colourVariable}

// colours are the tokens of a part of the text, as differences to the token before: lines, characters, length, type, modifiers.
func (d *document) colours(part span) semanticTokens {
	x := d.names()
	next := sort.Search(len(x.occurrences), func(i int) bool { return x.occurrences[i].from >= part.from })
	l := lexer{text: d.text, at: part.from, dashes: d.language.name != nameStableHLO}
	out := semanticTokens{Data: []uint32{}}
	last := Position{}
	line := d.position(part.from).Line
	add := func(s span, colour int, modifiers uint32) {
		for line+1 < len(d.lines) && d.lines[line+1] <= s.from {
			line++
		}
		if end := d.lines[line] + len(d.line(line)); s.to > end {
			s.to = end // a comment of several lines
		}
		at := Position{line, units(d.text[d.lines[line]:s.from])}
		if at.Line > last.Line {
			last.Character = 0
		}
		out.Data = append(out.Data, uint32(at.Line-last.Line), uint32(at.Character-last.Character), uint32(units(s.in(d.text))), uint32(colour), modifiers)
		last = at
	}
	for t := l.next(); t.kind != endOfText && t.from < part.to; t = l.next() {
		for next < len(x.occurrences) && x.occurrences[next].from < t.from {
			next++
		}
		if next < len(x.occurrences) && x.occurrences[next].from < t.to { // the sign of a name belongs to it
			s := x.symbols[x.occurrences[next].symbol]
			modifiers := uint32(0)
			if s.def == x.occurrences[next].span {
				modifiers = 1
			}
			add(t.span, ofSymbol[s.kind], modifiers)
			continue
		}
		if c := d.colourOf(t); c != noColour {
			add(t.span, c, 0)
		}
	}
	return out
}

// colourOf is the colour of a token that names nothing.
func (d *document) colourOf(t token) int {
	switch t.kind {
	case comment:
		return colourComment
	case quoted:
		return colourString
	case sign:
		return noColour
	}
	s := t.in(d.text)
	after := byte(' ')
	if t.to < len(d.text) {
		after = d.text[t.to]
	}
	_, isType := hlo.PrimitiveTypeByName(s)
	switch {
	case s[0] >= '0' && s[0] <= '9':
		return colourNumber
	case d.language.name == nameRules && (reserved[s] || isOpName(s)):
		return colourKeyword
	case d.language.name == nameStableHLO && (strings.Contains(s, ".") || s == "return" || s == "module"):
		return colourKeyword
	case d.language.name == nameStableHLO && (s == "tensor" || s[0] == '!'):
		return colourType
	case s == "HloModule" || s == "ENTRY" || s == "ROOT":
		return colourKeyword
	case isType || after == '[' && d.language.name == nameHLO:
		return colourType
	case after == '=':
		return colourProperty
	case after == '(' && d.language.name == nameHLO:
		return colourKeyword
	}
	return colourMember
}

// units is the length of a text in UTF-16.
func units(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
