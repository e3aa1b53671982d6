package filecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/internal/parsing"
)

// kind is what a directive asks of its match.
type kind int

const (
	plain kind = iota
	next
	same
	not
	dag
	label
	empty
)

var suffixes = map[string]kind{
	"-NEXT": next, "-SAME": same, "-NOT": not, "-DAG": dag, "-LABEL": label, "-EMPTY": empty,
}

// directive is one line of checks.
type directive struct {
	name    string // as written, without modifiers and colon: "CHECK-NEXT"
	kind    kind
	count   int // matches in a row; 1 but for -COUNT-n
	at      Position
	pattern *pattern
}

// head is what stands between the prefix of a directive and its pattern.
type head struct {
	Count   string   `parser:"( @Count"`
	Kinds   []string `parser:"| @Suffix+ )?"`
	Literal bool     `parser:"@Literal?"`
	Pattern string   `parser:"Colon @Pattern?"`
}

var headParser = sync.OnceValue(func() *parsing.Parser[*head] {
	return parsing.MustBuild[*head](participle.Lexer(lexer.MustStateful(lexer.Rules{
		"Root": {
			{Name: "Count", Pattern: `-COUNT-[0-9]+`},
			{Name: "Suffix", Pattern: `-[A-Z]+`},
			{Name: "Literal", Pattern: `\{ *LITERAL *\}`},
			{Name: "Colon", Pattern: `:`, Action: lexer.Push("Pattern")},
			{Name: "Other", Pattern: `.`}, // no directive after all
		},
		"Pattern": {{Name: "Pattern", Pattern: `.+`}},
	})))
})

// misspelled matches what follows a prefix when an underscore replaces a hyphen of a directive.
var misspelled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([-_](COUNT[-_][0-9]+|NEXT|SAME|NOT|DAG|LABEL|EMPTY))+:`)
})

// parse finds the directives of a file and reads them.
//
//  1. Each line is searched for the first prefix that is not part of a word and begins a directive.
//  2. Its head gives the kind; the rest of the line is the pattern.
//  3. Patterns are read in order, since a variable's kind is known from where it was defined.
//  4. What only the whole file shows is checked: prefixes that do not occur.
func parse(checks string, options Options) (*Checks, error) {
	c := &Checks{options: options, source: strings.Split(checks, "\n")}
	r := reader{Checks: c, vars: newSymbols(options.Define), used: map[string]bool{}}
	for i, line := range c.source {
		r.line(i+1, strings.TrimSuffix(line, "\r"))
	}
	unused := slices.DeleteFunc(slices.Clone(options.Prefixes), func(p string) bool { return r.used[p] })
	if len(r.errs) == 0 && len(unused) > 0 && (len(r.used) == 0 || !options.AllowUnusedPrefixes) {
		for i, p := range unused {
			unused[i] = "'" + p + ":'"
		}
		r.errs = append(r.errs, &Error{At: Position{File: options.CheckName},
			Message: "no check strings found with prefix " + strings.Join(unused, ", ")})
	}
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return c, nil
}

// reader collects directives and the mistakes in them.
type reader struct {
	*Checks
	vars symbols
	used map[string]bool // prefixes seen
	errs Errors
}

// line reads the directive on a line, if there is one.
func (r *reader) line(number int, line string) {
	for from := 0; ; {
		at, prefix, comment := r.findPrefix(line, from)
		if at < 0 {
			return
		}
		rest := line[at+len(prefix):]
		if comment {
			if strings.HasPrefix(rest, ":") {
				return
			}
		} else if r.directive(Position{r.options.CheckName, number, at + 1}, prefix, rest) {
			return
		}
		from = at + len(prefix)
	}
}

// findPrefix returns the first prefix in line[from:], the longest of those that begin there.
func (r *reader) findPrefix(line string, from int) (at int, prefix string, comment bool) {
	at = -1
	look := func(prefixes []string, comments bool) {
		for _, p := range prefixes {
			for i := from; ; {
				j := strings.Index(line[i:], p)
				if j < 0 || p == "" {
					break
				}
				i += j
				if i == 0 || !isWord(line[i-1]) {
					if at < 0 || i < at || i == at && len(p) > len(prefix) {
						at, prefix, comment = i, p, comments
					}
					break
				}
				i += len(p)
			}
		}
	}
	look(r.options.Prefixes, false)
	look(r.options.CommentPrefixes, true)
	return at, prefix, comment
}

func isWord(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// directive reads a directive whose prefix is followed by rest. It reports false when that
// is no directive.
func (r *reader) directive(at Position, prefix, rest string) bool {
	fail := func(format string, args ...any) bool {
		r.fail(at, format, args...)
		return true
	}
	h, err := headParser().ParseString("", rest)
	if err != nil {
		if m := misspelled().FindString(rest); strings.Contains(m, "_") {
			return fail("misspelled directive '%s%s'", prefix, m)
		}
		return false
	}
	d := &directive{name: prefix + strings.Join(h.Kinds, ""), count: 1, at: at}
	for _, suffix := range h.Kinds {
		k, ok := suffixes[suffix]
		if !ok {
			return false
		}
		d.kind = k
	}
	switch {
	case len(h.Kinds) > 2, len(h.Kinds) == 2 && !slices.Contains(h.Kinds, "-NOT"):
		return false
	case len(h.Kinds) == 2:
		return fail("unsupported -NOT combination on prefix '%s'", prefix)
	}
	if h.Count != "" {
		d.name += "-COUNT"
		if d.count, err = strconv.Atoi(h.Count[len("-COUNT-"):]); err != nil || d.count == 0 {
			return fail("invalid count in -COUNT specification on prefix '%s'", prefix)
		}
	}
	r.used[prefix] = true

	d.at.Column += len(rest) - len(h.Pattern) + len(prefix)
	text := h.Pattern
	if !r.options.StrictWhitespace || !r.options.MatchFullLines {
		text = strings.TrimLeft(text, " \t")
		d.at.Column += len(h.Pattern) - len(text)
		text = strings.TrimRight(text, " \t")
	}
	if !r.options.StrictWhitespace {
		text = canonical(text)
	}
	switch {
	case text == "" && d.kind != empty:
		return fail("found empty check string with prefix '%s:'", d.name)
	case text != "" && d.kind == empty:
		return fail("found non-empty check string for empty check with prefix '%s:'", d.name)
	case (d.kind == next || d.kind == same || d.kind == empty) && !slices.ContainsFunc(r.directives, (*directive).anchors):
		return fail("found '%s' without previous '%s:' line", d.name, prefix)
	}
	p, err := r.pattern(text, d, h.Literal)
	if err != nil {
		r.errs = append(r.errs, err.(*Error))
		return true
	}
	if d.kind == label && len(p.parts) > 0 && p.hasVariables() {
		return fail("found '%s:' with variable definition or use", d.name)
	}
	d.pattern = p
	r.directives = append(r.directives, d)
	return true
}

// anchors reports whether a match of d is one that the next directive can be next to.
func (d *directive) anchors() bool { return d.kind != not && d.kind != dag }

func (r *reader) fail(at Position, format string, args ...any) {
	r.errs = append(r.errs, &Error{At: at, Message: fmt.Sprintf(format, args...), Line: r.source[at.Line-1]})
}

var blanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t]+`) })

// canonical makes each run of blanks one space.
func canonical(text string) string {
	return blanks().ReplaceAllString(text, " ")
}
