package parser

import (
	"errors"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// moduleSyntax is the outline of a module (hlo-text section 2.2).
type moduleSyntax struct {
	Header       []lexer.Token        `parser:"@Header?"`
	Tables       []tableSyntax        `parser:"@@*"`
	Computations []*computationSyntax `parser:"@@+"`
}

// computationSyntax is the outline of a computation.
type computationSyntax struct {
	Head lexer.Token `parser:"@Head"`
	Body bodySyntax  `parser:"@@"`
}

// tableSyntax is one debug table.
type tableSyntax struct {
	Token lexer.Token `parser:"@Table"`
}

// bodySyntax is the statements of a computation, up to the closing brace. They stay where the lexer put them.
type bodySyntax struct {
	Statements []lexer.Token
	Close      lexer.Token
}

// Parse implements participle.Parseable: it takes the instructions that come next, and the end.
func (b *bodySyntax) Parse(lex *lexer.PeekingLexer) error {
	start := lex.RawCursor()
	for t := lex.Peek().Type; t == tokenInstruction || t == tokenBroken; t = lex.Peek().Type {
		lex.Next()
	}
	b.Statements = lex.Range(start, lex.RawCursor())
	if t := lex.Peek(); t.Type != tokenClose {
		return &textError{t.Pos.Offset, "expects '}' at the end of instruction list."}
	}
	b.Close = *lex.Next()
	return nil
}

var moduleGrammar = sync.OnceValue(func() *participle.Parser[moduleSyntax] {
	return participle.MustBuild[moduleSyntax](participle.Lexer(statementDefinition{}), participle.UseLookahead(1))
})

// outline reads the structure of the text. What it could read before a fault comes with the fault.
func (p *parser) outline() (*moduleSyntax, *failure) {
	m, err := moduleGrammar().ParseString("", p.text)
	if err == nil {
		return m, nil
	}
	if m == nil {
		m = new(moduleSyntax)
	}
	if t, ok := asTextError(err); ok {
		return m, &failure{off: t.off, msg: t.msg}
	}
	var ue *participle.UnexpectedTokenError
	if errors.As(err, &ue) {
		return m, p.outlineFailure(m, ue.Unexpected)
	}
	var pe participle.Error
	if errors.As(err, &pe) {
		return m, &failure{off: pe.Position().Offset, msg: pe.Message()}
	}
	return m, &failure{msg: err.Error()}
}

// outlineFailure says what should have been in the place of t.
func (p *parser) outlineFailure(m *moduleSyntax, t lexer.Token) *failure {
	f := &failure{off: t.Pos.Offset, msg: "expects name"}
	switch t.Type {
	case tokenHeader:
		f.msg = "a text holds one module"
		f.note = []string{"several modules are separated by lines that begin with // -----"}
	case tokenTable:
		f.msg = "debug tables come between the header and the computations"
	case lexer.EOF:
		if len(m.Computations) == 0 {
			f.note = []string{"a module has at least one computation"}
		}
	}
	return f
}
