package filecheck

import (
	"fmt"
	"strings"
)

// Position is a place in a file; lines and columns count from 1, columns in bytes.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error is a directive that is wrong or does not match.
type Error struct {
	At        Position // of the pattern or what is wrong in it
	Directive string   // such as CHECK-NEXT
	Message   string
	Line      string // of the checks
	Notes     []Note
}

// Note is something about an error, and where it is to be seen in the output. Lines of the
// output are shown as they are compared, with blanks squeezed.
type Note struct {
	At      Position
	Message string
	Line    string
}

// Error is the message with its line and a caret, followed by the notes in the same way.
func (e *Error) Error() string {
	var b strings.Builder
	message := e.Message
	if e.Directive != "" {
		message = e.Directive + ": " + message
	}
	render(&b, e.At, "error", message, e.Line)
	for _, n := range e.Notes {
		b.WriteByte('\n')
		render(&b, n.At, "note", n.Message, n.Line)
	}
	return b.String()
}

func render(b *strings.Builder, at Position, severity, message, line string) {
	fmt.Fprintf(b, "%v: %s: %s", at, severity, message)
	if at.Line == 0 {
		return
	}
	line = strings.TrimSuffix(line, "\r")
	before := min(max(at.Column-1, 0), len(line))
	indent := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:before])
	fmt.Fprintf(b, "\n%s\n%s^", line, indent)
}

// Errors are all that is wrong, in the order of the checks.
type Errors []*Error

// Error is one message after the other.
func (e Errors) Error() string {
	var b strings.Builder
	for i, err := range e {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap makes the entries visible to errors.As.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}
