// Package parsing builds parsers from structs with participle.
//
// participle.Build is generic, so that a program holds a copy of it, 30 kB of code and names, for every struct. Here a struct is the only
// member of a union, which has one type for all: they share one copy.
package parsing

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parser reads texts into P, a pointer to a struct.
type Parser[P any] struct{ union *participle.Parser[any] }

// MustBuild makes the parser of a struct. The struct must not match the empty text: participle panics when a member of a union does so before
// a token.
func MustBuild[P any](options ...participle.Option) *Parser[P] {
	var root P
	return &Parser[P]{participle.MustBuild[any](append(options, participle.Union[any](root))...)}
}

// ParseString reads text, all of it.
func (p *Parser[P]) ParseString(name, text string) (P, error) {
	return result[P](p.union.ParseString(name, text))
}

// ParsePart reads the next tokens of lex.
func (p *Parser[P]) ParsePart(lex *lexer.PeekingLexer) (P, error) {
	return result[P](p.union.ParseFromLexer(lex, participle.AllowTrailing(true)))
}

func result[P any](v *any, err error) (root P, _ error) {
	if err == nil {
		root = (*v).(P)
	}
	return root, err
}
