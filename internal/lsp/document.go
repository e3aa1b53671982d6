package lsp

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// document is one version of a text. Versions are replaced, never changed; what follows from one is computed when it is asked for.
type document struct {
	uri      string
	version  int
	text     string
	lines    []int // the offset of each line
	language *language

	names  func() *index
	checks func() checked
	shared *shared
}

// shared is what versions of a document have in common.
type shared struct {
	mu sync.Mutex
	// module is that of the newest version that could be read, this one or one before: hover uses it while a fault is being typed.
	module hlo.Module

	reading sync.Mutex
	session *parser.Session
	warn    func(*parser.Error) // of the version being read
}

// lastGood is the module of the newest version that could be read.
func (s *shared) lastGood() hlo.Module {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.module
}

func newDocument(uri string, version int, text string, l *language, s *shared) *document {
	lines := append(make([]int, 0, strings.Count(text, "\n")+1), 0)
	return makeDocument(uri, version, text, appendLines(lines, text, 0), l, s)
}

// appendLines appends where the lines behind the ends of lines in a part of a text begin, which itself begins at an offset.
func appendLines(lines []int, part string, offset int) []int {
	for at := 0; ; {
		n := strings.IndexByte(part[at:], '\n')
		if n < 0 {
			return lines
		}
		at += n + 1
		lines = append(lines, offset+at)
	}
}

func makeDocument(uri string, version int, text string, lines []int, l *language, s *shared) *document {
	d := &document{uri: uri, version: version, text: text, lines: lines, language: l, shared: s}
	d.names = sync.OnceValue(func() *index { return l.index(d.text) })
	d.checks = sync.OnceValue(func() checked { return l.check(d) })
	return d
}

// line is the text of a line, without its end.
func (d *document) line(n int) string {
	if n < 0 || n >= len(d.lines) {
		return ""
	}
	end := len(d.text)
	if n+1 < len(d.lines) {
		end = d.lines[n+1] - 1
	}
	return strings.TrimSuffix(d.text[d.lines[n]:end], "\r")
}

// offset is the place of a position; what lies beyond a line's end is at its end.
func (d *document) offset(p Position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(d.lines):
		return len(d.text)
	}
	line, units := d.line(p.Line), 0
	for i, r := range line {
		if units >= p.Character {
			return d.lines[p.Line] + i
		}
		units += utf16.RuneLen(r)
		if r == utf8.RuneError {
			units++ // RuneLen has no length for it
		}
	}
	return d.lines[p.Line] + len(line)
}

// position is the place of an offset.
func (d *document) position(offset int) Position {
	offset = min(max(offset, 0), len(d.text))
	lo, hi := 0, len(d.lines)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if d.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	units := 0
	for _, r := range d.text[d.lines[lo]:offset] {
		if n := utf16.RuneLen(r); n > 0 {
			units += n
		} else {
			units++
		}
	}
	return Position{lo, units}
}

func (d *document) rangeOf(s span) Range { return Range{d.position(s.from), d.position(s.to)} }

// place is the offset of a line and a column that count from 1, the column in bytes, as faults have them.
func (d *document) place(line, col int) int {
	if line < 1 || line > len(d.lines) {
		return 0
	}
	return min(d.lines[line-1]+max(col-1, 0), d.lines[line-1]+len(d.line(line-1)))
}

// edited is the document after changes.
func (d *document) edited(version int, changes []contentChange) (*document, error) {
	next := d
	for _, c := range changes {
		if c.Range == nil {
			next = newDocument(d.uri, version, c.Text, d.language, d.shared)
			continue
		}
		from, to := next.offset(c.Range.Start), next.offset(c.Range.End)
		if from > to {
			return nil, fmt.Errorf("a change from %v to %v", c.Range.Start, c.Range.End)
		}
		next = next.replaced(version, span{from, to}, c.Text)
	}
	return next, nil
}

// replaced is the document with another text in the place of a part.
func (d *document) replaced(version int, old span, text string) *document {
	first := sort.SearchInts(d.lines, old.from+1) // the lines in front begin before what is replaced, or with it
	last := sort.SearchInts(d.lines, old.to+1)
	lines := make([]int, first, len(d.lines)+strings.Count(text, "\n"))
	copy(lines, d.lines)
	lines = appendLines(lines, text, old.from)
	for _, at := range d.lines[last:] {
		lines = append(lines, at+len(text)-(old.to-old.from))
	}
	return makeDocument(d.uri, version, d.text[:old.from]+text+d.text[old.to:], lines, d.language, d.shared)
}

// nameAt is the name at an offset, or behind the sign there.
func (d *document) nameAt(offset int) (occurrence, bool) {
	o, ok := d.names().at(offset)
	if !ok && offset < len(d.text) && isSigil(d.text[offset]) {
		return d.names().at(offset + 1)
	}
	return o, ok
}
