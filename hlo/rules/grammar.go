package rules

import (
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar.
type (
	file struct {
		Rules []*ruleText `parser:"@@*"`
	}
	ruleText struct {
		Pos    lexer.Position
		ID     string       `parser:"@Word"`
		Class  string       `parser:"( '[' ( @Word | @Number ) ']' )?"`
		Left   *term        `parser:"@@ '=>'"`
		Right  *term        `parser:"@@"`
		If     []*condition `parser:"( 'if' @@ ( ',' @@ )* )?"`
		Reason string       `parser:"@Reason"`
	}
	term struct {
		Pos    lexer.Position
		Name   string `parser:"( @Word ':' (?= ( '(' | Word | Number ) ) )?"`
		Number string `parser:"( @Number"`
		Call   *call  `parser:"| '(' @@ ')'"`
		Word   string `parser:"| @Word )"`
	}
	call struct {
		Pos     lexer.Position
		Op      string   `parser:"@Word"`
		Of      []string `parser:"( ':' @Word ( '|' @Word )*"`
		Or      []string `parser:"| ( '|' @Word )+ )?"`
		Ordered bool     `parser:"@'!'?"`
		Attr    *attr    `parser:"( '[' @@ ']' )?"`
		Args    []*term  `parser:"@@*"`
	}
	attr struct {
		Pos  lexer.Position
		Axes []string  `parser:"( @Number ( ',' @Number )*"`
		None bool      `parser:"| @'-'"`
		Call *attrCall `parser:"| @@"`
		Or   []string  `parser:"  ( '|' @Word )* )"`
	}
	attrCall struct {
		Pos  lexer.Position
		Name string      `parser:"@Word"`
		Args []*attrCall `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	}
	condition struct {
		Pos  lexer.Position
		Not  bool        `parser:"@'not'?"`
		Name string      `parser:"@Word"`
		Args []*argument `parser:"'(' ( @@ ( ',' @@ )* )? ')'"`
	}
	argument struct {
		Pos  lexer.Position
		Word string `parser:"@Word | @Number"`
	}
)

var grammar = sync.OnceValue(func() *participle.Parser[file] {
	return participle.MustBuild[file](
		participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
			{Name: "Comment", Pattern: `//[^\n]*`},
			{Name: "Reason", Pattern: `--[^\n]*`},
			{Name: "Number", Pattern: `-?(inf|nan|[0-9]+(\.[0-9]+)?(e-?[0-9]+)?|true|false)\b`},
			{Name: "Word", Pattern: `[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*`},
			{Name: "Punct", Pattern: `=>|[()\[\]:,|!-]`},
			{Name: "Space", Pattern: `\s+`},
		})),
		participle.Elide("Space", "Comment"), participle.UseLookahead(3),
	)
})

// Error is a mistake in a file of rules.
type Error struct {
	File      string
	Line, Col int
	Msg, Hint string
	Source    string // the line
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: error: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Source != "" {
		fmt.Fprintf(&b, "\n  %s\n  %s^", e.Source, strings.Repeat(" ", max(e.Col-1, 0)))
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n  hint: %s", e.Hint)
	}
	return b.String()
}

// ErrorList is every mistake that was found, in order.
type ErrorList []*Error

func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

func parse(name, text string) (*file, error) {
	if f, ok := read(name, text); ok {
		return f, nil
	}
	return parseByGrammar(name, text)
}

func parseByGrammar(name, text string) (*file, error) {
	f, err := grammar().ParseString(name, text)
	if err == nil {
		return f, nil
	}
	e := &Error{File: name, Line: 1, Col: 1, Msg: err.Error()}
	if at, ok := err.(participle.Error); ok {
		e.Line, e.Col, e.Msg = at.Position().Line, at.Position().Column, at.Message()
	}
	if strings.Contains(e.Msg, "Reason") || strings.Contains(e.Msg, "<reason>") {
		e.Hint = "a rule ends with its reason: -- why it holds"
	}
	e.Source = line(text, e.Line)
	return nil, ErrorList{e}
}

// line is line n of a text, tabs made spaces so that a caret stands under its column.
func line(text string, n int) string {
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.ReplaceAll(strings.TrimRight(lines[n-1], "\r"), "\t", " ")
}
