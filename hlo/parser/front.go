package parser

import (
	"errors"
	"io"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// frontSyntax is a module whose computations are one token: the header, the debug tables, and all that follows.
type frontSyntax struct {
	Header       []lexer.Token `parser:"@Header?"`
	Tables       []tableSyntax `parser:"@@*"`
	Computations []*restOfText `parser:"@@?"`
}

// tableSyntax is one debug table.
type tableSyntax struct {
	Token lexer.Token `parser:"@Table"`
}

// restOfText is all computations of a module; [parser.computations] reads them.
type restOfText struct{ At int }

// Parse implements participle.Parseable.
func (c *restOfText) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokenComputations {
		return participle.NextMatch
	}
	c.At = lex.Next().Pos.Offset
	return nil
}

// frontDefinition is the lexer of frontSyntax, as the grammar is built with it.
type frontDefinition struct{}

func (frontDefinition) Symbols() map[string]lexer.TokenType { return statementSymbols }

func (frontDefinition) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return &statementLexer{s: string(text)}, nil
}

var frontGrammar = sync.OnceValue(func() *participle.Parser[frontSyntax] {
	return participle.MustBuild[frontSyntax](participle.Lexer(frontDefinition{}), participle.UseLookahead(1))
})

// frontLexer ends the text where it finds a fault, so that what stands before it is read all the same.
type frontLexer struct {
	*statementLexer
	err error
}

// Next is the next token.
func (l *frontLexer) Next() (lexer.Token, error) {
	if l.err == nil {
		t, err := l.statementLexer.Next()
		if err == nil {
			return t, nil
		}
		l.err = err
	}
	return lexer.Token{Type: lexer.EOF, Pos: lexer.Position{Offset: l.i}}, nil
}

// readFront reads the front of a module. What could be read before a fault comes with it.
func readFront(text string) (*frontSyntax, *failure) {
	if front, ok := wellFormedFront(text); ok {
		return front, nil
	}
	lex := &frontLexer{statementLexer: &statementLexer{s: text}}
	tokens, _ := lexer.Upgrade(lex) // faults stay in the lexer
	front, err := frontGrammar().ParseFromLexer(tokens)
	if front == nil {
		front = new(frontSyntax)
	}
	if lex.err != nil {
		return front, lexicalFault(lex.err)
	}
	if err != nil {
		var ue *participle.UnexpectedTokenError
		if errors.As(err, &ue) {
			return front, misplaced(ue.Unexpected)
		}
		return front, &failure{off: lex.i, msg: err.Error()}
	}
	return front, nil
}

// wellFormedFront is the front of a text in which everything stands in its place. Finding that out takes less time than building the grammar,
// which says what is wrong with the others.
func wellFormedFront(text string) (*frontSyntax, bool) {
	front := new(frontSyntax)
	for lex := (&statementLexer{s: text}); ; {
		t, err := lex.Next()
		rest := len(front.Computations) > 0
		switch {
		case err != nil:
			return nil, false
		case t.Type == lexer.EOF:
			return front, true
		case t.Type == tokenHeader && len(front.Header) == 0 && len(front.Tables) == 0 && !rest:
			front.Header = append(front.Header, t)
		case t.Type == tokenTable && !rest:
			front.Tables = append(front.Tables, tableSyntax{t})
		case t.Type == tokenComputations && !rest:
			front.Computations = append(front.Computations, &restOfText{t.Pos.Offset})
		default:
			return nil, false
		}
	}
}

// lexicalFault is the fault of a text that cannot be cut into statements.
func lexicalFault(err error) *failure {
	if fault, ok := asTextError(err); ok {
		return &failure{off: fault.off, msg: fault.msg}
	}
	return &failure{msg: err.Error()}
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
