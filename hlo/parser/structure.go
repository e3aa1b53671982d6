package parser

import (
	"errors"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// moduleSyntax is the outline of a module (hlo-text section 2.2), or of a part of one: see outline.
type moduleSyntax struct {
	Header       []lexer.Token        `parser:"@Header?"`
	Tables       []tableSyntax        `parser:"@@*"`
	Computations []*computationSyntax `parser:"@@*"`
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

const noClose = "expects '}' at the end of instruction list."

// Parse implements participle.Parseable: it takes the instructions that come next, and the end.
func (b *bodySyntax) Parse(lex *lexer.PeekingLexer) error {
	start := lex.RawCursor()
	for t := lex.Peek().Type; t == tokenInstruction || t == tokenBroken; t = lex.Peek().Type {
		lex.Next()
	}
	b.Statements = lex.Range(start, lex.RawCursor())
	if t := lex.Peek(); t.Type != tokenClose {
		return &textError{t.Pos.Offset, noClose}
	}
	b.Close = *lex.Next()
	return nil
}

var moduleGrammar = sync.OnceValue(func() *participle.Parser[moduleSyntax] {
	return participle.MustBuild[moduleSyntax](participle.Lexer(statementDefinition{}), participle.UseLookahead(1))
})

// outline reads the structure of a text piece by piece. The engine wants all tokens before the first is parsed; in pieces of some hundred
// statements they stay in the cache, and the text is never in memory as tokens as a whole.
type outline struct {
	lex   *statementLexer
	parts int
}

// pieceSize is the number of statements after which a piece ends with its computation.
const pieceSize = 256

// pieceLexer hands out the tokens of one piece. A fault ends the piece, so that what is before it is read all the same.
type pieceLexer struct {
	*statementLexer
	left  int
	ended bool
	err   error
}

// Next is the next token of the piece.
func (l *pieceLexer) Next() (lexer.Token, error) {
	if !l.ended {
		t, err := l.statementLexer.Next()
		if err == nil {
			l.left--
			l.ended = l.left <= 0 && t.Type == tokenClose
			return t, nil
		}
		l.err, l.ended = err, true
	}
	return lexer.Token{Type: lexer.EOF, Pos: lexer.Position{Offset: l.i}}, nil
}

// next reads a piece; nil when the text is at its end. What could be read before a fault comes with the fault.
func (o *outline) next() (*moduleSyntax, *failure) {
	if o.parts > 0 && skipSpace(o.lex.s, o.lex.i) == len(o.lex.s) {
		return nil, nil
	}
	o.parts++
	piece := &pieceLexer{statementLexer: o.lex, left: pieceSize}
	tokens, _ := lexer.Upgrade(piece) // faults stay in the piece
	m, err := moduleGrammar().ParseFromLexer(tokens)
	if m == nil {
		m = new(moduleSyntax)
	}
	if fault, ok := asTextError(piece.err); ok {
		return m, &failure{off: fault.off, msg: fault.msg}
	}
	if err != nil {
		return m, o.failure(err)
	}
	if o.parts > 1 {
		if len(m.Header) > 0 {
			return new(moduleSyntax), misplaced(m.Header[0])
		}
		if len(m.Tables) > 0 {
			return new(moduleSyntax), misplaced(m.Tables[0].Token)
		}
	}
	return m, nil
}

// failure says what the grammar found wrong.
func (o *outline) failure(err error) *failure {
	if fault, ok := asTextError(err); ok {
		return &failure{off: fault.off, msg: fault.msg}
	}
	var ue *participle.UnexpectedTokenError
	if errors.As(err, &ue) {
		return misplaced(ue.Unexpected)
	}
	return &failure{off: o.lex.i, msg: err.Error()}
}

// misplaced says what is wrong with a token where it stands.
func misplaced(t lexer.Token) *failure {
	f := &failure{off: t.Pos.Offset, msg: "expects name"}
	switch t.Type {
	case tokenHeader:
		f.msg = "a text holds one module"
		f.note = []string{"several modules are separated by lines that begin with // -----"}
	case tokenTable:
		f.msg = "debug tables come between the header and the computations"
	}
	return f
}
