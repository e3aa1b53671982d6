package hostprog

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
)

// Parse reads a text. name is what locations call the file. The program is not
// verified. The error is an [ErrorList].
func Parse(name, text string) (*Program, error) {
	tree, err := fileParser().ParseString(name, text)
	if err != nil {
		return nil, ErrorList{syntaxError(name, err)}.located(text)
	}
	r := resolver{src: text, aliases: make(map[string]*attrNode), busy: make(map[string]bool)}
	var p *Program
	if d := catch(func() { p = r.file(tree, name) }); d != nil {
		return nil, ErrorList{d}.located(text)
	}
	return p, nil
}

// Read parses and verifies.
func Read(name, text string, c Config) (*Program, error) {
	p, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	if err := Verify(p, c); err != nil {
		return nil, err
	}
	return p, nil
}

// syntaxError gives participle's findings the form of ours.
func syntaxError(name string, err error) *Diagnostic {
	var d *Diagnostic
	if errors.As(err, &d) {
		return d
	}
	var un *participle.UnexpectedTokenError
	if errors.As(err, &un) {
		return &Diagnostic{Pos: position(un.Position()), Msg: unexpected(un)}
	}
	var pe participle.Error
	if errors.As(err, &pe) {
		return &Diagnostic{Pos: position(pe.Position()), Msg: pe.Message()}
	}
	return &Diagnostic{Pos: Position{File: name, Line: 1, Column: 1}, Msg: err.Error()}
}

// words are what nodes of the grammar are called in messages.
var words = map[string]string{"TypeNode": "type", "PlainType": "type", "AttrNode": "attribute", "OpNode": "operation",
	"RegionNode": "'{' to begin a region", "DictNode": "attributes in braces", "ResultsNode": "types", "UseNode": "SSA operand",
	"LocNode": "location", "FunctionTypeNode": "function type", "ParamNode": "parameter", "EntryNode": "attribute name",
	"DenseLiteral": "element", "Int": "integer", "String": "string", "Symbol": "symbol name", "Value": "SSA value name"}

// expectation finds the first thing that the grammar would have taken.
var expectation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(expected [(]*(?:"([^"]*)"|<(\w+)>|(\w+))`)
})

// unexpected says what was expected, and what is there.
func unexpected(e *participle.UnexpectedTokenError) string {
	got := "'" + e.Unexpected.Value + "'"
	if e.Unexpected.EOF() {
		got = "end of file"
	}
	if strings.Contains(e.Message(), "<int> | <float>") {
		return "expected a value, got " + got
	}
	m := expectation().FindStringSubmatch(e.Message())
	if m == nil {
		return "unexpected " + got
	}
	want := "'" + m[1] + "'"
	if m[1] == "" {
		name := m[2] + m[3]
		if want = words[name]; want == "" {
			want = words[strings.ToUpper(name[:1])+name[1:]]
		}
	}
	if want == "" {
		return "unexpected " + got
	}
	return "expected " + want + ", got " + got
}
