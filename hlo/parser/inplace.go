package parser

import (
	"errors"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/hlo"
)

// A module is read in place: the grammar of frontSyntax finds the header and the debug tables, and from there on the cursor goes through
// the text once, computation by computation, with no token in between. Most of the time of a large module is spent here.
//
// Reading in place knows no way to go on behind a fault. A text that has one is read again by statements (module.go): it is that reader's
// errors that are reported, all of them, and its verdict that counts. The two must agree on every text without fault; TestInPlace holds
// them to it.

// frontSyntax is a module whose computations are one token.
type frontSyntax struct {
	Header       []lexer.Token      `parser:"@Header?"`
	Tables       []tableSyntax      `parser:"@@*"`
	Computations computationsSyntax `parser:"@@"`
}

// computationsSyntax is all computations of a module; [parser.computations] reads them.
type computationsSyntax struct{ At int }

// Parse implements participle.Parseable.
func (c *computationsSyntax) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokenComputations {
		return participle.NextMatch
	}
	c.At = lex.Next().Pos.Offset
	return nil
}

// frontDefinition is the lexer of frontSyntax.
type frontDefinition struct{ statementDefinition }

func (d frontDefinition) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString("", string(text))
}

func (frontDefinition) LexString(_, text string) (lexer.Lexer, error) {
	return &statementLexer{s: text, front: true}, nil
}

var frontGrammar = sync.OnceValue(func() *participle.Parser[frontSyntax] {
	return participle.MustBuild[frontSyntax](participle.Lexer(frontDefinition{}), participle.UseLookahead(1))
})

// estimate is about how many instructions a text has: it counts lines in a few places.
func estimate(text string) int {
	const samples, size = 4, 8 << 10
	if len(text) < 2*samples*size {
		return strings.Count(text, "\n")
	}
	lines := 0
	for i := range samples {
		from := len(text) / samples * i
		lines += strings.Count(text[from:from+size], "\n")
	}
	return len(text) / (samples * size) * lines
}

// maxText is the longest text: offsets of 32 bits are kept in many places.
const maxText = math.MaxUint32

// inPlace reads a module without faults; ok is false when there is one.
func (p *parser) inPlace() (m hlo.Module, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, mine := r.(*failure); !mine {
				panic(r)
			}
			m, ok = hlo.Module{}, false
		}
	}()
	front, err := frontGrammar().ParseString("", p.text)
	if err != nil {
		return hlo.Module{}, false
	}
	p.quiet = true
	p.beginModule("")
	p.ed.ReserveNames(estimate(p.text))
	p.config.FileName = p.file
	defer p.readAhead(front.Computations.At)()
	if len(front.Header) > 0 {
		p.header(front.Header[0])
	}
	p.tables(front.Tables)
	entry := p.computations(front.Computations.At)
	p.ed.SetEntry(p.comps[entry].id)
	if len(front.Header) == 0 {
		p.ed.SetName("module_" + entry)
	}
	m = p.finishModule()
	if len(p.errs) > 0 {
		return hlo.Module{}, false
	}
	for _, w := range p.warnings {
		p.Warn(w)
	}
	return m, true
}

// computations reads computations from offset at to the end of the text, and returns the name of the entry.
func (p *parser) computations(at int) (entry string) {
	p.src, p.pos = p.text, at
	last := ""
	for !p.atEnd() {
		name, isEntry := p.computation()
		if isEntry {
			if entry != "" {
				p.fail("expects only one ENTRY")
			}
			entry = name
		}
		last = name
	}
	if entry == "" {
		entry = last
	}
	return entry
}

// computation reads `ENTRY? name signature? { instructions } attributes`.
func (p *parser) computation() (name string, isEntry bool) {
	isEntry = p.acceptWord("ENTRY")
	p.space()
	at := p.pos
	name = p.name("expects name")
	if _, ok := p.comps[name]; ok {
		p.failAt(at, "computation already exists: %s", name)
	}
	name, _ = p.keep(name)
	f := p.openScope(name)
	var result hlo.Shape
	var resultAt int
	if p.peek() == '(' {
		result, resultAt = p.signature()
	}
	p.expect('{', "expects '{' at the beginning of instruction list.")
	for p.peek() != '}' {
		if c, r := p.ahead.find(p.pos); r != nil {
			p.adopt(f, c, r)
		} else {
			p.instruction(f)
		}
	}
	end := p.pos
	p.pos++
	for p.accept(',') {
		p.computationAttribute(f)
	}
	p.checkSignature(f, result, resultAt)
	p.comps[name] = definition{p.closeScope(f, end), uint32(at)}
	return name, isEntry
}

// errTooLong refuses a text whose offsets do not fit.
var errTooLong = errors.New("a text of 4 GiB and more cannot be read")
