package mlir

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// Source is a text. Where its lines begin is found when the first position is asked for. It is safe for concurrent use.
type Source struct {
	File   string
	Text   string
	before int // lines of the file before the text

	find  sync.Once
	lines []int // offsets
}

func (s *Source) findLines() {
	s.lines = append(make([]int, 0, 1+strings.Count(s.Text, "\n")), 0)
	for at := 0; ; {
		n := strings.IndexByte(s.Text[at:], '\n')
		if n < 0 {
			return
		}
		at += n + 1
		s.lines = append(s.lines, at)
	}
}

// Position is the line and column of an offset.
func (s *Source) Position(offset int) hlo.Position {
	s.find.Do(s.findLines)
	line := sort.SearchInts(s.lines, offset+1)
	return hlo.Position{Line: uint32(s.before + line), Col: uint32(offset-s.lines[line-1]) + 1}
}

// maxQuoted is how much of a long line an error shows.
const maxQuoted = 160

// Error is an error at an offset, with the line and a caret under the place.
func (s *Source) Error(offset int, notes []string, format string, args ...any) *parser.Error {
	offset = max(0, min(offset, len(s.Text)))
	p := s.Position(offset)
	e := &parser.Error{File: s.File, Line: int(p.Line), Col: int(p.Col), Msg: fmt.Sprintf(format, args...), Notes: notes}
	begin := offset + 1 - int(p.Col)
	line := s.Text[begin:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	line = strings.TrimSuffix(line, "\r")
	e.Caret = min(offset-begin, len(line))
	if len(line) > maxQuoted {
		from := max(0, min(e.Caret-maxQuoted/2, len(line)-maxQuoted))
		line = line[from:min(len(line), from+maxQuoted)]
		e.Caret -= from
	}
	e.Source = line
	return e
}
