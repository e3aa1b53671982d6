package filecheck

import (
	"errors"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// stepLimit bounds the work of one search by backtracking.
const stepLimit = 1_000_000

var errTooComplex = errors.New("too many ways to match a pattern that uses a variable it defines")

// findByBacktracking matches a pattern that uses a text variable it defines, which Go's regular
// expressions cannot: it is a back-reference. The first match in greedy order wins.
func (p *pattern) findByBacktracking(text string, v *variables) (span, error) {
	b := backtracker{text: text, p: p, nodes: make([]*syntax.Regexp, len(p.parts)), found: map[string]string{}, steps: stepLimit}
	for i, part := range p.parts {
		if part.recall != "" {
			continue
		}
		expression, err := part.expression(v)
		if err != nil {
			return none, err
		}
		if b.nodes[i], err = syntax.Parse(p.flags()+expression, syntax.Perl); err != nil {
			return none, err
		}
	}
	margin, err := syntax.Parse(p.margin, syntax.Perl)
	if err != nil {
		return none, err
	}
	for begin := 0; begin <= len(text); begin++ {
		result := none
		matched := func(end int) bool { result = span{begin, end}; return true }
		if !p.fullLine {
			b.parts(0, begin, matched)
		} else if b.at(begin, syntax.EmptyBeginLine) {
			toLineEnd := func(pos int) bool {
				return b.node(margin, pos, func(pos int) bool { return b.at(pos, syntax.EmptyEndLine) && matched(pos) })
			}
			b.node(margin, begin, func(pos int) bool { return b.parts(0, pos, toLineEnd) })
		}
		if b.steps < 0 {
			return none, errTooComplex
		}
		if result == none {
			continue
		}
		for _, part := range p.parts {
			if name := part.defines(); name != "" {
				v.bind(part, b.found[name])
			}
		}
		return result, nil
	}
	return none, nil
}

// backtracker tries all ways to match by continuations: each function calls next with the position
// after every match it finds, until next reports true.
type backtracker struct {
	text  string
	p     *pattern
	nodes []*syntax.Regexp // of the parts of p, nil for a recall
	found map[string]string
	steps int // left
}

// parts matches p.parts[i:] at pos.
func (b *backtracker) parts(i, pos int, next func(int) bool) bool {
	if i == len(b.p.parts) {
		return next(pos)
	}
	part := b.p.parts[i]
	if part.recall != "" {
		value := b.found[part.recall]
		if !strings.HasPrefix(b.text[pos:], value) {
			return false
		}
		return b.parts(i+1, pos+len(value), next)
	}
	name := part.defines()
	return b.node(b.nodes[i], pos, func(end int) bool {
		if name == "" {
			return b.parts(i+1, end, next)
		}
		before := b.found[name]
		b.found[name] = b.text[pos:end]
		if b.parts(i+1, end, next) {
			return true
		}
		b.found[name] = before
		return false
	})
}

// node matches re at pos.
func (b *backtracker) node(re *syntax.Regexp, pos int, next func(int) bool) bool {
	if b.steps--; b.steps < 0 {
		return false
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next(pos)
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return b.characters(re, pos, next)
	case syntax.OpBeginLine:
		return b.at(pos, syntax.EmptyBeginLine) && next(pos)
	case syntax.OpEndLine:
		return b.at(pos, syntax.EmptyEndLine) && next(pos)
	case syntax.OpCapture:
		return b.node(re.Sub[0], pos, next)
	case syntax.OpConcat:
		return b.sequence(re.Sub, pos, next)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if b.node(sub, pos, next) {
				return true
			}
		}
		return false
	case syntax.OpStar:
		return b.repeat(re.Sub[0], 0, -1, pos, next)
	case syntax.OpPlus:
		return b.repeat(re.Sub[0], 1, -1, pos, next)
	case syntax.OpQuest:
		return b.repeat(re.Sub[0], 0, 1, pos, next)
	case syntax.OpRepeat:
		return b.repeat(re.Sub[0], re.Min, re.Max, pos, next)
	}
	return false // OpNoMatch; translate makes nothing else
}

func (b *backtracker) sequence(nodes []*syntax.Regexp, pos int, next func(int) bool) bool {
	if len(nodes) == 0 {
		return next(pos)
	}
	return b.node(nodes[0], pos, func(pos int) bool { return b.sequence(nodes[1:], pos, next) })
}

// repeat matches re at least min and at most max times, as often as it can; max < 0 is no limit.
func (b *backtracker) repeat(re *syntax.Regexp, min, max, pos int, next func(int) bool) bool {
	if max != 0 && b.node(re, pos, func(end int) bool {
		if end == pos && min <= 0 {
			return false // matching nothing again leads nowhere
		}
		return b.repeat(re, min-1, max-1, end, next)
	}) {
		return true
	}
	return min <= 0 && next(pos)
}

// characters matches a class, or a literal of any length.
func (b *backtracker) characters(re *syntax.Regexp, pos int, next func(int) bool) bool {
	one := *re
	for i := 0; ; i++ {
		if re.Op == syntax.OpLiteral {
			if i == len(re.Rune) {
				return next(pos)
			}
			one.Rune = re.Rune[i : i+1]
		} else if i == 1 {
			return next(pos)
		}
		r, size := utf8.DecodeRuneInString(b.text[pos:])
		if size == 0 || !matchesRune(&one, r) {
			return false
		}
		pos += size
	}
}

func matchesRune(re *syntax.Regexp, r rune) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpAnyCharNotNL:
		return r != '\n'
	case syntax.OpLiteral:
		return r == re.Rune[0] ||
			re.Flags&syntax.FoldCase != 0 && strings.EqualFold(string(r), string(re.Rune[0]))
	}
	for i := 0; i < len(re.Rune); i += 2 {
		if re.Rune[i] <= r && r <= re.Rune[i+1] {
			return true
		}
	}
	return false
}

// at reports whether a line begins or ends at pos.
func (b *backtracker) at(pos int, what syntax.EmptyOp) bool {
	if what == syntax.EmptyBeginLine {
		return pos == 0 || b.text[pos-1] == '\n'
	}
	return pos == len(b.text) || b.text[pos] == '\n'
}
