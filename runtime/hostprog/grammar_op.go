package hostprog

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// syntax is an error at a token.
func syntax(t *lexer.Token, msg string) error { return &Diagnostic{Pos: position(t.Pos), Msg: msg} }

// expect takes a token of that text.
func expect(lex *lexer.PeekingLexer, lit string) error {
	if t := lex.Peek(); t.Value != lit || t.Type == tokString {
		return syntax(t, "expected '"+lit+"', got "+tokenText(t))
	}
	lex.Next()
	return nil
}

// tokenText is a token in a message.
func tokenText(t *lexer.Token) string {
	if t.EOF() {
		return "end of file"
	}
	return "'" + t.Value + "'"
}

func (n *opNode) Parse(lex *lexer.PeekingLexer) (err error) {
	t := lex.Peek()
	if t.Type != tokValue && t.Type != tokString && (t.Type != tokBare || t.Value == "loc") {
		return participle.NextMatch
	}
	if t.Type == tokValue {
		if err := n.results(lex); err != nil {
			return err
		}
		t = lex.Peek()
	}
	switch {
	case t.Type == tokString:
		n.Generic, err = genericParser().ParsePart(lex)
	case t.Type != tokBare:
		return syntax(t, "expected operation, got "+tokenText(t))
	case t.Value == "module":
		n.Module = new(moduleNode)
		err = n.Module.Parse(lex)
	case t.Value == "func.func" || t.Value == "func":
		n.Func, err = funcParser().ParsePart(lex)
	default:
		n.Custom = new(customNode)
		err = n.Custom.Parse(lex)
	}
	if err != nil || lex.Peek().Value != "loc" {
		return err
	}
	lex.Next()
	if err := expect(lex, "("); err != nil {
		return err
	}
	if n.Loc, err = locParser().ParsePart(lex); err != nil {
		return err
	}
	return expect(lex, ")")
}

// results reads %a, %b:2 = .
func (n *opNode) results(lex *lexer.PeekingLexer) error {
	for {
		t := lex.Peek()
		if t.Type != tokValue {
			return syntax(t, "expected SSA value name, got "+tokenText(t))
		}
		lex.Next()
		r := &resultNode{Pos: t.Pos, Name: t.Value}
		n.Results = append(n.Results, r)
		if lex.Peek().Value == ":" {
			lex.Next()
			t := lex.Peek()
			if t.Type != tokInt {
				return syntax(t, "expected integer number of results")
			}
			r.Count = lex.Next().Value
		}
		if lex.Peek().Value != "," {
			return expect(lex, "=")
		}
		lex.Next()
	}
}

func (n *useNode) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokValue {
		return participle.NextMatch
	}
	n.Pos, n.Name = t.Pos, t.Value
	lex.Next()
	if lex.Peek().Value != "#" {
		return nil
	}
	lex.Next()
	if t = lex.Peek(); t.Type != tokInt {
		return syntax(t, "expected integer after '#'")
	}
	n.Number = lex.Next().Value
	return nil
}

// bodyNode is the text between angle brackets, brackets included. White space
// counts as one blank, comments as none.
type bodyNode struct{ Text string }

func (n *bodyNode) Parse(lex *lexer.PeekingLexer) (err error) {
	n.Text, err = balanced(lex, "<", "<([{", ">)]}")
	return err
}

// extentsNode is the text between square brackets: HLO's shapes are types too,
// f32[2,3].
type extentsNode struct{ Text string }

func (n *extentsNode) Parse(lex *lexer.PeekingLexer) (err error) {
	n.Text, err = balanced(lex, "[", "[", "]") // with extents such as <=3
	return err
}

// balanced takes the tokens from an opening bracket to the one that closes it.
func balanced(lex *lexer.PeekingLexer, open, openers, closers string) (string, error) {
	if lex.Peek().Value != open {
		return "", participle.NextMatch
	}
	var b strings.Builder
	depth, end := 0, -1
	for {
		t := lex.Next()
		if t.EOF() {
			return "", syntax(t, "expected the bracket that closes '"+open+"'")
		}
		if end >= 0 && t.Pos.Offset > end {
			b.WriteByte(' ')
		}
		end = t.Pos.Offset + len(t.Value)
		b.WriteString(t.Value)
		if t.Type != tokPunct {
			continue
		}
		switch {
		case strings.Contains(openers, t.Value):
			depth++
		case strings.Contains(closers, t.Value):
			if depth--; depth == 0 {
				return b.String(), nil
			}
		}
	}
}

// moduleNode is a module. The text of one that is marked tfrt.compiled is kept.
type moduleNode struct {
	Pos   lexer.Position
	Name  string
	Attrs *dictNode
	Body  *regionNode
	// Offsets of the text, for one that is kept.
	Compiled   bool
	Start, End int
}

func (n *moduleNode) Parse(lex *lexer.PeekingLexer) error {
	first := lex.Peek()
	if first.Type != tokBare || first.Value != "module" {
		return participle.NextMatch
	}
	n.Pos = lex.Next().Pos
	n.Start = n.Pos.Offset
	if lex.Peek().Type == tokSymbol {
		n.Name = lex.Next().Value
	}
	if lex.Peek().Value == "attributes" {
		lex.Next()
		var err error
		if n.Attrs, err = dictParser().ParsePart(lex); err != nil {
			return err
		}
	}
	if n.Attrs == nil || !n.Attrs.has("tfrt.compiled") {
		var err error
		n.Body, err = regionParser().ParsePart(lex)
		return err
	}
	n.Compiled = true
	if t := lex.Peek(); t.Value != "{" {
		return syntax(t, "expected '{' to begin a region")
	}
	for depth := 0; ; {
		t := lex.Next()
		if t.EOF() {
			return syntax(t, "expected '}' to end a region")
		}
		if t.Type != tokPunct {
			continue
		}
		switch t.Value {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				n.End = t.Pos.Offset + 1
				return nil
			}
		}
	}
}

func (n *dictNode) has(name string) bool {
	for _, e := range n.Entries {
		if e.Name == name {
			return true
		}
	}
	return false
}
