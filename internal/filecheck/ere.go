package filecheck

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// translate turns a POSIX extended regular expression into one of Go's regexp syntax that
// matches the same in multi-line mode. Groups become non-capturing. What POSIX does not define
// is refused: it would mean something else to one of the two.
func translate(ere string) (string, error) {
	t := translator{rest: ere}
	for t.rest != "" {
		if err := t.step(); err != nil {
			return "", fmt.Errorf("invalid regex '%s': %w", ere, err)
		}
	}
	if t.depth > 0 {
		return "", fmt.Errorf("invalid regex '%s': parentheses not balanced", ere)
	}
	if _, err := regexp.Compile(t.out.String()); err != nil { // repetition counts out of range
		return "", fmt.Errorf("invalid regex '%s': %w", ere, err)
	}
	return t.out.String(), nil
}

type translator struct {
	rest  string
	out   strings.Builder
	depth int  // of parentheses
	atom  bool // what was read last can be repeated
}

var repetition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`) })

// step reads one item.
func (t *translator) step() error {
	c := t.rest[0]
	switch c {
	case '\\':
		return t.escape()
	case '[':
		return t.class()
	case '(':
		t.depth++
		t.emit(1, "(?:", false)
		return nil
	case ')':
		if t.depth--; t.depth < 0 {
			return errors.New("parentheses not balanced")
		}
		t.emit(1, ")", true)
		return nil
	case '|':
		t.emit(1, "|", false)
		return nil
	case '^':
		t.emit(1, "^", false)
		return nil
	case '$', '.':
		t.emit(1, string(c), true)
		return nil
	case '*', '+', '?':
		if !t.atom {
			return fmt.Errorf("nothing to repeat before '%c'", c)
		}
		t.emit(1, string(c), false)
		return nil
	case '{':
		if len(t.rest) > 1 && '0' <= t.rest[1] && t.rest[1] <= '9' {
			bounds := repetition().FindString(t.rest)
			if bounds == "" || !t.atom {
				return errors.New("invalid repetition count")
			}
			t.emit(len(bounds), bounds, false)
			return nil
		}
	}
	_, size := utf8.DecodeRuneInString(t.rest)
	t.emit(size, regexp.QuoteMeta(t.rest[:size]), true)
	return nil
}

// emit drops n bytes of input and writes text.
func (t *translator) emit(n int, text string, atom bool) {
	t.rest = t.rest[n:]
	t.out.WriteString(text)
	t.atom = atom
}

func (t *translator) escape() error {
	if len(t.rest) == 1 {
		return errors.New("trailing backslash")
	}
	c := t.rest[1]
	switch {
	case '1' <= c && c <= '9':
		return fmt.Errorf("back-reference \\%c; define a variable and use it", c)
	case c == '_' || c >= 0x80:
		t.emit(1, "", t.atom)
		return nil
	case isWord(c) && c != '-':
		return fmt.Errorf("\\%c is not POSIX; write a class such as [0-9] or [[:space:]]", c)
	}
	t.emit(2, regexp.QuoteMeta(string(c)), true)
	return nil
}

// class reads a bracket expression. There a backslash is a character like any other, and so
// is a closing bracket that comes first.
func (t *translator) class() error {
	var out strings.Builder
	rest, negated := strings.CutPrefix(t.rest[1:], "^")
	out.WriteString("[")
	if negated {
		out.WriteString(`^\n`)
	}
	for first := true; ; first = false {
		switch {
		case rest == "":
			return errors.New("brackets not balanced")
		case rest[0] == ']' && !first:
			out.WriteString("]")
			t.emit(len(t.rest)-len(rest)+1, out.String(), true)
			return nil
		case strings.HasPrefix(rest, "[:"):
			name, after, ok := strings.Cut(rest[2:], ":]")
			if !ok || !classNames[name] {
				return fmt.Errorf("invalid character class in %s", rest)
			}
			fmt.Fprintf(&out, "[:%s:]", name)
			rest = after
			continue
		case strings.HasPrefix(rest, "[="), strings.HasPrefix(rest, "[."):
			return errors.New("collating elements and equivalence classes are not supported")
		}
		runes := []rune(rest)
		low, high, n := runes[0], runes[0], 1
		if len(runes) > 2 && runes[1] == '-' && runes[2] != ']' {
			if high, n = runes[2], 3; high < low {
				return fmt.Errorf("invalid character range %c-%c", low, high)
			}
		}
		out.WriteString(inClass(low))
		if n > 1 {
			out.WriteString("-" + inClass(high))
		}
		rest = string(runes[n:])
	}
}

func inClass(r rune) string {
	if strings.ContainsRune(`\[]^-`, r) {
		return `\` + string(r)
	}
	return string(r)
}

var classNames = map[string]bool{
	"alnum": true, "alpha": true, "blank": true, "cntrl": true, "digit": true, "graph": true,
	"lower": true, "print": true, "punct": true, "space": true, "upper": true, "xdigit": true,
}
