package hostprog

import (
	"fmt"
	"sort"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Position is a place in the text; line and column count from 1, columns in bytes.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	if p.Line == 0 {
		if p.File == "" {
			return "<unknown>"
		}
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

func position(p lexer.Position) Position {
	return Position{File: p.Filename, Line: p.Line, Column: p.Column}
}

// Severity of a diagnostic.
type Severity uint8

const (
	SevError Severity = iota
	SevWarning
	SevRemark
)

func (s Severity) String() string { return [...]string{"error", "warning", "remark"}[s] }

// Diagnostic is a finding at a place of the text.
type Diagnostic struct {
	Pos      Position
	Severity Severity
	Msg      string
	// Source is the line that Pos is in, if it is known.
	Source string
}

// Error is one line: file:line:col: severity: message.
func (d *Diagnostic) Error() string {
	return fmt.Sprintf("%v: %v: %s", d.Pos, d.Severity, d.Msg)
}

// String adds the source line and a caret below the place.
func (d *Diagnostic) String() string {
	if d.Source == "" || d.Pos.Column < 1 {
		return d.Error()
	}
	// Tabs stay tabs, so that the caret stands right however wide they are.
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, d.Source[:min(d.Pos.Column-1, len(d.Source))])
	return d.Error() + "\n" + d.Source + "\n" + pad + "^"
}

// ErrorList is all that is wrong with a text, in the order of the text.
type ErrorList []*Diagnostic

func (l ErrorList) Error() string {
	s := make([]string, len(l))
	for i, d := range l {
		s[i] = d.String()
	}
	return strings.Join(s, "\n")
}

// Unwrap gives errors.As its way to each diagnostic.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, d := range l {
		errs[i] = d
	}
	return errs
}

// located sorts the list and adds source lines; nil if there is nothing.
func (l ErrorList) located(src string) error {
	if len(l) == 0 {
		return nil
	}
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Pos, l[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	addSource(l, src)
	return l
}

func addSource(l []*Diagnostic, src string) {
	lines := strings.Split(src, "\n")
	for _, d := range l {
		if d.Source == "" && d.Pos.Line > 0 && d.Pos.Line <= len(lines) {
			d.Source = strings.TrimSuffix(lines[d.Pos.Line-1], "\r")
		}
	}
}

// bailout carries the first error out of a recursion; it never leaves the package.
type bailout struct{ d *Diagnostic }

func fail(pos Position, format string, args ...any) {
	panic(bailout{&Diagnostic{Pos: pos, Msg: fmt.Sprintf(format, args...)}})
}

// catch runs f and returns the error it bailed out with.
func catch(f func()) (d *Diagnostic) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case bailout:
			d = r.d
		default:
			panic(r)
		}
	}()
	f()
	return nil
}
