package lsp

import (
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// callers are the attributes that name computations, by the op table; those that name instructions are with them.
var callers = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{"control-predecessors": true, "branch_computations": true}
	for op := range hlo.Opcodes {
		for _, role := range hlo.Info(op).Callees {
			names[role.Name] = true
		}
		for _, alias := range hlo.Info(op).Aliases {
			names[alias.Name] = true
		}
	}
	return names
})

// hloIndexer finds the names of HLO text: computations, each with its instructions.
type hloIndexer struct {
	lexer
	*index
	token                          // the one that is looked at
	computations map[string]int    // by name
	later        []hloUse          // of computations, which may be defined further down
	instructions map[string]int    // of the computation that is being read
	pending      map[string][]span // of instructions that may be defined further down
	resolved     map[span]bool     // of those
	current      int
}

type hloUse struct {
	name string
	at   span
}

func indexHLO(text string) *index {
	x := &hloIndexer{lexer: lexer{text: text, dashes: true}, index: &index{}, computations: map[string]int{}, resolved: map[span]bool{}, current: -1}
	x.advance()
	for x.kind != endOfText {
		x.top()
	}
	for _, u := range x.later {
		if s, ok := x.computations[u.name]; ok && !x.resolved[u.at] {
			x.use(u.at, s)
		}
	}
	return x.finish()
}

func (x *hloIndexer) advance() { x.token = x.nextCode() }
func (x *hloIndexer) is(s string) bool {
	return x.kind != quoted && x.in(x.text) == s
}

// name is the token without its sign, and its place without it.
func (x *hloIndexer) name() (string, span) {
	s := x.span
	if isSigil(x.text[s.from]) {
		s.from++
	}
	return s.in(x.text), s
}

// top reads what stands outside of computations: the header, debug tables, and heads of computations.
func (x *hloIndexer) top() {
	switch {
	case x.is("HloModule"):
		end := x.from + lineLength(x.text[x.from:])
		x.advance()
		if x.kind == word && x.from < end {
			name, at := x.name()
			x.define(symbol{name: name, kind: symbolModule, detail: "module", def: at, whole: span{at.from - len("HloModule "), end}, within: -1})
		}
		for x.kind != endOfText && x.from < end {
			x.advance()
		}
		return
	case x.is("ENTRY"):
		from := x.from
		x.advance()
		x.head(from, "ENTRY")
		return
	case x.kind == word && (x.text[x.from] < '0' || x.text[x.from] > '9'):
		x.head(x.from, "")
		return
	case x.is("{"):
		x.skip()
		return
	}
	x.advance()
}

// head reads the head of a computation, and its body.
func (x *hloIndexer) head(from int, detail string) {
	if x.kind != word {
		return
	}
	name, at := x.name()
	x.advance()
	var signature span
	if x.is("(") {
		signature.from = x.from
		x.skip()
		for x.kind != endOfText && !x.is("{") && (x.is("->") || x.kind == word || strings.IndexByte("()[],/*<>=?", x.text[x.from]) >= 0) {
			x.advance()
			if x.is("{") && x.from > 0 && x.text[x.from-1] == ']' { // a layout
				x.skip()
			}
		}
		signature.to = x.from
	}
	if !x.is("{") {
		return
	}
	if signature.to > signature.from {
		detail = strings.TrimSpace(detail + " " + strings.TrimSpace(signature.in(x.text)))
	}
	x.current = x.define(symbol{name: name, kind: symbolFunction, detail: detail, def: at, whole: span{from, from}, within: -1})
	if _, taken := x.computations[name]; !taken {
		x.computations[name] = x.current
	}
	x.instructions, x.pending = map[string]int{}, map[string][]span{}
	open := x.from
	x.advance()
	for x.kind != endOfText && !x.is("}") {
		x.statement()
	}
	x.symbols[x.current].whole.to = x.to
	x.folds = append(x.folds, span{open, x.to})
	if x.is("}") {
		x.advance()
	}
}

// statement reads an instruction: [ROOT] name = shape opcode(operands), attributes.
func (x *hloIndexer) statement() {
	from := x.from
	if x.is("ROOT") {
		x.advance()
	}
	if x.kind != word {
		x.advance()
		return
	}
	name, at := x.name()
	x.advance()
	if !x.is("=") {
		return
	}
	x.advance()
	shape := x.from
	for x.kind != endOfText && !x.is("}") {
		if x.kind == word && x.lexer.at < len(x.text) && x.text[x.lexer.at] == '(' {
			break // the opcode
		}
		if x.is("{") || x.is("(") {
			x.skip()
			continue
		}
		if x.is("=") {
			return // the name of the next one: this has no opcode
		}
		x.advance()
	}
	detail := strings.TrimSpace(x.text[shape:x.from])
	if x.kind == word {
		detail = x.in(x.text) + " " + detail
		x.advance()
	}
	s := x.define(symbol{name: name, kind: symbolVariable, detail: detail, def: at, whole: span{from, x.to}, within: x.current})
	if _, taken := x.instructions[name]; !taken {
		x.instructions[name] = s
		for _, early := range x.pending[name] {
			x.use(early, s)
			x.resolved[early] = true
		}
	}
	x.symbols[s].whole.to = x.operandsAndAttributes()
}

// operandsAndAttributes reads the rest of an instruction, and returns where it ends.
func (x *hloIndexer) operandsAndAttributes() (end int) {
	depth, key := 0, ""
	operands := x.is("(")
	end = x.from
	for x.kind != endOfText {
		switch {
		case x.is("(") || x.is("{") || x.is("["):
			depth++
		case x.is(")") || x.is("}") || x.is("]"):
			if depth == 0 {
				return end
			}
			depth--
			if depth == 0 {
				operands = false
			}
		case x.kind == word:
			name, at := x.name()
			after := byte(' ')
			if x.lexer.at < len(x.text) {
				after = x.text[x.lexer.at]
			}
			switch {
			case depth == 0 && (name == "ROOT" || x.beginsStatement()):
				return end
			case after == '=' && depth == 0:
				key = name
			case operands && after != '[' && after != '(' || at.from > x.from:
				x.refer(name, at, false)
			case callers()[key]:
				x.refer(name, at, true)
			}
		}
		end = x.to
		x.advance()
	}
	return end
}

// beginsStatement reports whether the word is the name of the next instruction.
func (x *hloIndexer) beginsStatement() bool {
	rest := strings.TrimLeft(x.text[x.lexer.at:min(len(x.text), x.lexer.at+8)], " ")
	if !strings.HasPrefix(rest, "=") {
		return false
	}
	line := x.text[strings.LastIndexByte(x.text[:x.from], '\n')+1 : x.from]
	return strings.TrimSpace(line) == "" || strings.HasPrefix(rest, "= ")
}

// refer resolves a name: to an instruction of the computation, else to a computation.
func (x *hloIndexer) refer(name string, at span, computation bool) {
	if hash := strings.IndexByte(name, '#'); hash >= 0 {
		name, at.to = name[:hash], at.from+hash
	}
	signed := x.text[at.from-1] == '%'
	if name == "" || !signed && name[0] >= '0' && name[0] <= '9' {
		return
	}
	if s, ok := x.instructions[name]; ok && (!computation || signed) { // control-predecessors are among the attributes that call
		x.use(at, s)
		return
	}
	x.later = append(x.later, hloUse{name, at})
	x.pending[name] = append(x.pending[name], at)
}

// skip passes over a bracket and all within.
func (x *hloIndexer) skip() {
	depth := 0
	for x.kind != endOfText {
		if x.kind == sign {
			switch x.text[x.from] {
			case '(', '{', '[':
				depth++
			case ')', '}', ']':
				depth--
			}
		}
		x.advance()
		if depth <= 0 {
			return
		}
	}
}
