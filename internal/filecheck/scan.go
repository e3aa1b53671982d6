package filecheck

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"

	"github.com/gohalo/halo/internal/spelling"
)

// Match compares output with the directives. The error is an Errors.
//
//  1. The output is cut into blocks at the matches of the labels, each found after the one before,
//     whatever else the directives say. A missing label ends the comparison.
//  2. In each block the directives up to its label, inclusive, are matched in order. The first that
//     fails is reported, and the next block is looked at.
//  3. A directive takes the -DAG and -NOT directives before it along: the region between
//     the previous match and its own is theirs.
func (c *Checks) Match(output []byte) error {
	s := newScan(c, output)
	if s.text == "" && !c.options.AllowEmpty {
		return Errors{{At: Position{File: c.options.OutputName}, Message: "is empty"}}
	}
	begin := 0 // of the directives and
	from := 0  // of the text that are left
	for i := 0; i <= len(c.directives); i++ {
		last := i == len(c.directives)
		if !last && c.directives[i].kind != label {
			continue
		}
		block, end := span{from, len(s.text)}, i
		if !last {
			d := c.directives[i]
			match, err := s.times(d, block)
			if err != nil {
				s.errs = append(s.errs, err)
				break
			}
			block.end, from, end = match.end, match.end, i+1
		}
		if begin > 0 && c.options.VarScope {
			s.vars.forget()
		}
		if err := s.block(c.directives[begin:end], block); err != nil {
			s.errs = append(s.errs, err)
		}
		begin = end
	}
	if len(s.errs) > 0 {
		return s.errs
	}
	return nil
}

// scan is the state of matching one output.
type scan struct {
	*Checks
	text  string
	lines []int // where each line begins
	vars  *variables
	errs  Errors
}

func newScan(c *Checks, output []byte) *scan {
	text := strings.ReplaceAll(string(output), "\r\n", "\n")
	if !c.options.StrictWhitespace {
		text = canonical(text)
	}
	s := &scan{Checks: c, text: text, lines: []int{0}, vars: &variables{map[string]string{}, map[string]*big.Int{}}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	for name, value := range c.options.Define {
		s.vars.texts[name] = value
	}
	return s
}

// block matches directives, none of them a label but the last, in a part of the text.
func (s *scan) block(directives []*directive, in span) *Error {
	var pending []*directive // -DAG and -NOT
	for _, d := range directives {
		if !d.anchors() {
			pending = append(pending, d)
			continue
		}
		start, nots, err := s.unordered(pending, in)
		if err != nil {
			return err
		}
		pending = nil
		match, err := s.times(d, span{start, in.end})
		if err != nil {
			return err
		}
		if err := s.adjacent(d, start, match); err != nil {
			return err
		}
		if err := s.absent(nots, span{start, match.begin}); err != nil {
			return err
		}
		in.begin = match.end
	}
	start, nots, err := s.unordered(pending, in)
	if err != nil {
		return err
	}
	return s.absent(nots, span{start, in.end})
}

// times matches d as many times in a row as it asks for and returns all of that.
func (s *scan) times(d *directive, in span) (span, *Error) {
	all := span{-1, in.begin}
	for i := range d.count {
		match, err := s.find(d, span{all.end, in.end})
		if err != nil {
			if d.count > 1 {
				err.Message += fmt.Sprintf(" (%d out of %d)", i+1, d.count)
			}
			return none, err
		}
		if i == 0 {
			all.begin = match.begin
		}
		all.end = match.end
	}
	return all, nil
}

// adjacent checks that the match of d is on the line it asks for, seen from the end of the previous one.
func (s *scan) adjacent(d *directive, previous int, match span) *Error {
	skipped := s.text[previous:match.begin]
	lines := strings.Count(skipped, "\n")
	problem := ""
	switch {
	case d.kind == same && lines > 0:
		problem = "is not on the same line as the previous match"
	case (d.kind == next || d.kind == empty) && lines == 0:
		problem = "is on the same line as the previous match"
	case (d.kind == next || d.kind == empty) && lines > 1:
		problem = "is not on the line after the previous match"
	default:
		return nil
	}
	err := s.fail(d, problem)
	err.note(s, match.begin, "the match is here")
	err.note(s, previous, "previous match ended here")
	if lines > 1 && d.kind != same {
		err.note(s, previous+strings.IndexByte(skipped, '\n')+1, "non-matching line after the previous match")
	}
	return err
}

// unordered matches the -DAG directives of a run, and the -NOT directives before the last of them.
// It returns where matching goes on, and the -NOT directives that are left for that.
func (s *scan) unordered(run []*directive, in span) (start int, nots []*directive, err *Error) {
	start = in.begin
	for len(run) > 0 {
		if run[0].kind == not {
			nots, run = append(nots, run[0]), run[1:]
			continue
		}
		n := slices.IndexFunc(run, func(d *directive) bool { return d.kind == not })
		if n < 0 {
			n = len(run)
		}
		matches, err := s.group(run[:n], span{start, in.end})
		if err != nil {
			return 0, nil, err
		}
		if err := s.absent(nots, span{start, matches[0].begin}); err != nil {
			return 0, nil, err
		}
		start, nots, run = matches[len(matches)-1].end, nil, run[n:]
	}
	return start, nots, nil
}

// group matches -DAG directives: each takes the first place that no earlier one has taken.
// The matches are returned in order of the text.
func (s *scan) group(dags []*directive, in span) ([]span, *Error) {
	var taken []span
	for _, d := range dags {
		from := in.begin
		for {
			match, err := s.find(d, span{from, in.end})
			if err != nil {
				return nil, err
			}
			i := sort.Search(len(taken), func(i int) bool { return match.begin < taken[i].end })
			if i == len(taken) || match.end <= taken[i].begin {
				taken = slices.Insert(taken, i, match)
				break
			}
			from = taken[i].end
		}
	}
	return taken, nil
}

// absent checks that none of the -NOT directives matches.
func (s *scan) absent(nots []*directive, in span) *Error {
	for _, d := range nots {
		match, err := d.pattern.find(s.text[in.begin:in.end], s.vars)
		if err != nil {
			return s.fail(d, err.Error())
		}
		if match != none {
			err := s.fail(d, "excluded string found in output")
			err.note(s, in.begin+match.begin, "found here")
			return err
		}
	}
	return nil
}

// find returns the first match of d.
func (s *scan) find(d *directive, in span) (span, *Error) {
	text := s.text[in.begin:in.end]
	var match span
	var cause error
	if d.kind == empty {
		match = findEmptyLine(text)
	} else {
		match, cause = d.pattern.find(text, s.vars)
	}
	if match != none {
		return span{in.begin + match.begin, in.begin + match.end}, nil
	}
	err := s.fail(d, "expected string not found in output")
	err.note(s, in.begin, "scanning from here")
	if cause != nil {
		err.note(s, in.begin, cause.Error())
		return none, err
	}
	for _, substitution := range d.pattern.substitutions(s.vars) {
		err.note(s, in.begin, substitution)
	}
	if at := s.similar(d.pattern.text, in); at >= 0 {
		err.note(s, at, "possible intended match here")
	}
	return none, err
}

func (s *scan) fail(d *directive, message string) *Error {
	return &Error{At: d.at, Directive: d.name, Message: message, Line: s.source[d.at.Line-1]}
}

// note adds a note about a place in the text.
func (e *Error) note(s *scan, offset int, message string) {
	i := sort.SearchInts(s.lines, offset+1) - 1
	line, _, _ := strings.Cut(s.text[s.lines[i]:], "\n")
	e.Notes = append(e.Notes, Note{
		At:      Position{s.options.OutputName, i + 1, offset - s.lines[i] + 1},
		Message: message,
		Line:    line,
	})
}

// similar returns where the line begins that looks most like pattern among the next hundred,
// or -1 when none is at all alike.
func (s *scan) similar(pattern string, in span) int {
	const lines, width = 100, 160
	pattern = pattern[:min(len(pattern), width)]
	best, at := len(pattern)/2, -1
	first := sort.SearchInts(s.lines, in.begin)
	for i := first; i < min(first+lines, len(s.lines)) && s.lines[i] < in.end; i++ {
		line, _, _ := strings.Cut(s.text[s.lines[i]:in.end], "\n")
		text := strings.TrimLeft(line, " \t")
		begin := s.lines[i] + len(line) - len(text)
		if d := spelling.Distance(pattern, text[:min(len(text), len(pattern))], best); d < best {
			best, at = d, begin
		}
	}
	return at
}
