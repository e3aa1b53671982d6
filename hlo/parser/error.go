package parser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gohalo/halo/internal/spelling"
)

// Error is one fault of a text, with its place.
type Error struct {
	File      string // "" when unknown
	Line, Col int    // from 1; Col counts bytes
	Msg       string
	Warning   bool // given to Config.Warn, not returned
	// Notes are the surroundings of the fault ("error parsing attribute window") and hints, each a line of its own.
	Notes []string
	// Rule is the id of the verifier's rule that the text breaks, "" when the fault is one of form only.
	Rule string
	// Source is the line of the text that the fault is in, shortened around the column when it is very long; Caret is the
	// column of the fault in it, from 0.
	Source string
	Caret  int
}

// Position is `file:line:col`.
func (e *Error) Position() string {
	if e.Line == 0 && e.File != "" {
		return e.File // of a file that is no text
	}
	if e.File == "" {
		return fmt.Sprintf("%d:%d", e.Line, e.Col)
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
}

// Error is the position and the message, the source line with a caret under the fault, and the notes.
func (e *Error) Error() string {
	var b strings.Builder
	severity := "error"
	if e.Warning {
		severity = "warning"
	}
	fmt.Fprintf(&b, "%s: %s: %s", e.Position(), severity, e.Msg)
	if e.Source != "" || e.Caret > 0 {
		fmt.Fprintf(&b, "\n%s\n%s^", e.Source, caretPadding(e.Source, e.Caret))
	}
	for _, n := range e.Notes {
		b.WriteString("\n  " + n)
	}
	return b.String()
}

// caretPadding is white space as wide as the first n bytes of line: tabs are kept, and what takes several bytes is one character wide.
func caretPadding(line string, n int) string {
	var pad strings.Builder
	for i := range n {
		switch {
		case i < len(line) && line[i] == '\t':
			pad.WriteByte('\t')
		case i >= len(line) || utf8.RuneStart(line[i]):
			pad.WriteByte(' ')
		}
	}
	return pad.String()
}

// ErrorList is the faults of a text by position, never empty when returned.
type ErrorList []*Error

// Error joins the messages by newlines.
func (l ErrorList) Error() string {
	var b strings.Builder
	for i, e := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap gives the errors to errors.As and errors.Is.
func (l ErrorList) Unwrap() []error {
	all := make([]error, len(l))
	for i, e := range l {
		all[i] = e
	}
	return all
}

func (l ErrorList) sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// maxErrors ends a parse that finds nothing but faults.
const maxErrors = 50

// maxSource is how much of a long line an Error keeps.
const maxSource = 240

// failure is a fault on its way from where it was found to the next statement boundary; it travels by panic, never out of the
// package.
type failure struct {
	off  int
	msg  string
	note []string
	rule string // of the verifier, if the fault breaks one
	// quiet marks a consequence of a fault that was reported before.
	quiet bool
}

// failAt abandons the statement because of a fault at byte offset off.
func (p *parser) failAt(off int, format string, args ...any) {
	panic(&failure{off: off, msg: fmt.Sprintf(format, args...)})
}

// failRule is failAt for a fault that breaks a rule of the verifier.
func (p *parser) failRule(rule string, off int, format string, args ...any) {
	panic(&failure{off: off, msg: fmt.Sprintf(format, args...), rule: rule})
}

// fail abandons the statement because of a fault at the next token.
func (p *parser) fail(format string, args ...any) {
	p.space()
	p.failAt(p.pos, format, args...)
}

// failHint is failAt with a line of advice.
func (p *parser) failHint(off int, hint, format string, args ...any) {
	p.failHintRule("", off, hint, format, args...)
}

// failHintRule is failHint for a fault that may break a rule of the verifier.
func (p *parser) failHintRule(rule string, off int, hint, format string, args ...any) {
	f := &failure{off: off, msg: fmt.Sprintf(format, args...), rule: rule}
	if hint != "" {
		f.note = append(f.note, hint)
	}
	panic(f)
}

// guard runs f and records the fault that ends it early, if any. It reports whether f came to its end.
func (p *parser) guard(f func()) (ok bool) {
	depth := p.depth
	defer func() {
		if r := recover(); r != nil {
			f, mine := r.(*failure)
			if !mine {
				panic(r)
			}
			p.depth = depth
			p.report(f)
		}
	}()
	f()
	return true
}

// report records a fault.
func (p *parser) report(f *failure) {
	key := p.attrKey
	p.attrKey = ""
	if f.quiet {
		return
	}
	e := p.errorAt(f.off, f.msg)
	e.Rule = f.rule
	if key != "" {
		e.Notes = append(e.Notes, "error parsing attribute "+key)
	}
	e.Notes = append(e.Notes, p.advise(f)...)
	p.errs = append(p.errs, e)
}

// before is a note that points to the earlier definition at off.
func (p *parser) before(what string, off int) string {
	e := p.errorAt(off, "")
	return fmt.Sprintf("%s previously defined here: %s: %s", what, e.Position(), strings.TrimSpace(e.Source))
}

// textLine is a line of the text, counted from 0. A text may have faults by the thousand, most of them in order and many in one line, so the
// line of the last one is where the next is looked for.
type textLine struct{ number, start, end int }

// around moves l to the line that off is in. The zero textLine is at the beginning of the text.
func (l *textLine) around(text string, off int) textLine {
	if l.end < l.start || off < l.start {
		*l = textLine{}
	}
	if off > l.end || l.end == 0 {
		from := l.start
		l.number += strings.Count(text[from:off], "\n")
		l.start = max(from, strings.LastIndexByte(text[from:off], '\n')+1+from)
		l.end = len(text)
		if i := strings.IndexByte(text[off:], '\n'); i >= 0 {
			l.end = off + i
		}
	}
	return *l
}

// errorAt makes an Error for byte offset off of the whole text.
func (p *parser) errorAt(off int, msg string) *Error {
	text := p.text
	off = min(max(off, 0), len(text))
	line := p.lastLine.around(text, off)
	e := &Error{File: p.file, Line: line.number + 1 + p.LinesBefore, Col: off - line.start + 1, Msg: msg, Caret: off - line.start}
	e.Source = strings.TrimRight(text[line.start:line.end], "\r")
	e.Caret = min(e.Caret, len(e.Source))
	if len(e.Source) > maxSource {
		from := max(0, e.Caret-maxSource/2)
		to := min(len(e.Source), from+maxSource)
		e.Source, e.Caret = e.Source[from:to], e.Caret-from
	}
	return e
}

// didYouMean is advice to write the candidate nearest to word, "" when none is near.
func didYouMean(word string, candidates []string) string {
	if c := spelling.Nearest(word, candidates); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return ""
}
