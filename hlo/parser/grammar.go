package parser

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/internal/parsing"
)

// The grammars of structured attribute values are participle's: a struct per production in the grammar_*.go files, each with a
// method or function that checks what the grammar cannot say and makes the value of package hlo. They are built on first use.

// grammar is a production, read into a pointer G to its struct, and what it is called in messages.
type grammar[G any] struct {
	what  string
	build func() *parsing.Parser[G]
	// plain, if not nil, reads what nearly all texts are like. The others are the parser's, which takes longer to make than most programs take to read.
	plain func(text string) (G, bool)
}

func newGrammar[G any](what string) grammar[G] {
	return grammar[G]{what: what, build: sync.OnceValue(func() *parsing.Parser[G] {
		return parsing.MustBuild[G](participle.Lexer(valueDefinition{}), participle.UseLookahead(2))
	})}
}

// withPlain is the grammar with its plain texts read by a function.
func (g grammar[G]) withPlain(plain func(text string) (G, bool)) grammar[G] {
	g.plain = plain
	return g
}

// maxValueDepth bounds the nesting of brackets in a structured value, since the engine of the grammars recurses.
const maxValueDepth = 200

// parse reads text, all of it, whose first byte is at offset at of the whole text.
func (g grammar[G]) parse(p *parser, text string, at int) G {
	if g.plain != nil {
		if v, ok := g.plain(text); ok {
			return v
		}
	}
	if nesting(text) > maxValueDepth {
		p.failAt(at, tooDeep)
	}
	v, err := g.run(text)
	if err == nil {
		return v
	}
	if t, ok := asTextError(err); ok {
		p.failAt(at+t.off, "%s", t.msg)
	}
	var pe participle.Error
	if !errors.As(err, &pe) {
		p.failAt(at, "expects %s", g.what)
	}
	off := at + min(pe.Position().Offset, len(text))
	var ue *participle.UnexpectedTokenError
	if errors.As(err, &ue) {
		p.failAt(off, "unexpected token %s in %s%s", describe(ue.Unexpected), g.what, expectation(ue.Expect))
	}
	p.failAt(off, "%s", pe.Message())
	return v
}

// run calls the engine. It panics when a repetition matches without moving on; none of the grammars should let it, and should one do
// so all the same, the text is refused.
func (g grammar[G]) run(text string) (v G, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed %s", g.what)
		}
	}()
	return g.build().ParseString("", text)
}

// cached is parse with the result of build remembered by text; build may fail.
func cached[G, V any](p *parser, g grammar[G], text string, at int, build func(G, int) V) V {
	key := valueKey{g.what, text}
	if v, ok := p.values[key]; ok {
		return v.(V)
	}
	v := build(g.parse(p, text, at), at)
	p.values[key] = v
	return v
}

// nesting is the greatest depth of brackets outside of strings.
func nesting(s string) int {
	depth, deepest := 0, 0
	for i := 0; i < len(s); i++ {
		switch class[s[i]] & classGroup {
		case classOpen:
			depth++
			deepest = max(deepest, depth)
		case classClose:
			depth--
		case classQuote:
			j := skipString(s, i)
			if j < 0 {
				return deepest
			}
			i = j - 1
		}
	}
	return deepest
}

func describe(t lexer.Token) string {
	if t.EOF() {
		return "at the end"
	}
	return fmt.Sprintf("%q", t.Value)
}

// expectation turns a node of the grammar into words when it is a single thing.
func expectation(e string) string {
	if e == "" || strings.ContainsAny(e, " |?*+") {
		return ""
	}
	if word, ok := tokenWords[strings.Trim(e, "<>")]; ok {
		return ", expects " + word
	}
	return ", expects " + e
}

var tokenWords = map[string]string{
	"int": "integer", "ident": "identifier", "string": "string", "key": "attribute name", "EOF": "the end", "eof": "the end",
	"Int": "integer", "Ident": "identifier", "String": "string", "Key": "attribute name",
}

// integer is a captured integer token.
type integer int64

// Capture implements participle.Capture.
func (n *integer) Capture(values []string) error {
	v, _, msg := scanInt(values[0], 0)
	if msg != "" {
		return errors.New(msg)
	}
	*n = integer(v)
	return nil
}

// quoted is a captured string token, unescaped.
type quoted string

// Capture implements participle.Capture.
func (q *quoted) Capture(values []string) error {
	s, bad := unescape(values[0][1 : len(values[0])-1])
	if bad >= 0 {
		return errors.New("unknown escape in string")
	}
	*q = quoted(s)
	return nil
}

func ints(list []integer) []int64 {
	if list == nil {
		return nil
	}
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}
