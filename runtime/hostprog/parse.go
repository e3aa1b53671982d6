package hostprog

import (
	"errors"

	"github.com/alecthomas/participle/v2"
)

// Parse reads a text. name is what locations call the file. The program is not
// verified. The error is an [ErrorList].
func Parse(name, text string) (*Program, error) {
	tree, err := fileParser.ParseString(name, text)
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
	var pe participle.Error
	if errors.As(err, &pe) {
		return &Diagnostic{Pos: position(pe.Position()), Msg: pe.Message()}
	}
	return &Diagnostic{Pos: Position{File: name, Line: 1, Column: 1}, Msg: err.Error()}
}
