package mlir

import (
	"strings"

	"github.com/gohalo/halo/hlo/parser"
)

// The tokens of MLIR depend on where they are: in a shape `0x3` is two dimensions, elsewhere a hexadecimal number; `x` is a name or a
// separator. So there is no stream of tokens: each part of the reader takes what it expects from the text. Large constants are found by
// their ends and are never tokens.

// failure is an error on its way to Parse; it travels by panic, never out of the package.
type failure struct{ err *parser.Error }

func (r *reader) failAt(at int, format string, args ...any) {
	panic(failure{r.src.Error(at, nil, format, args...)})
}

// failHint is failAt with a line of advice, which may be "".
func (r *reader) failHint(at int, hint, format string, args ...any) {
	if hint == "" {
		r.failAt(at, format, args...)
	}
	panic(failure{r.src.Error(at, []string{hint}, format, args...)})
}

// fail is failAt the next token.
func (r *reader) fail(format string, args ...any) {
	r.space()
	r.failAt(r.pos, format, args...)
}

// classes of characters
const (
	idStart = 1 << iota
	idNext
	suffixStart // of %value names
	suffixNext
	digit
	blank
	slash // which may begin a comment
)

var class = func() (t [256]uint8) {
	for c := range t {
		b := byte(c)
		letter := 'a' <= b|0x20 && b|0x20 <= 'z'
		switch {
		case letter || b == '_':
			t[c] = idStart | idNext | suffixStart | suffixNext
		case '0' <= b && b <= '9':
			t[c] = idNext | suffixNext | digit
		case b == '$' || b == '.':
			t[c] = idNext | suffixStart | suffixNext
		case b == '-':
			t[c] = suffixStart | suffixNext
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			t[c] = blank
		case b == '/':
			t[c] = slash
		}
	}
	return t
}()

// space skips white space and comments. It is inlined; mostly there is none, or one blank.
func (r *reader) space() {
	if r.pos < len(r.text) && class[r.text[r.pos]]&(blank|slash) != 0 {
		r.skipSpace()
	}
}

func (r *reader) skipSpace() {
	s, at := r.text, r.pos
	for at < len(s) {
		c := s[at]
		if class[c]&blank != 0 {
			at++
			continue
		}
		if c != '/' || at+1 >= len(s) || s[at+1] != '/' {
			break
		}
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			at = len(s)
			break
		}
		at += n + 1
	}
	r.pos = at
}

// peek is the first character of the next token, 0 at the end.
func (r *reader) peek() byte {
	r.space()
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

// is reports whether the next token is lit: a punctuation, or a word that ends there.
func (r *reader) is(lit string) bool {
	r.space()
	return r.pos < len(r.text) && r.text[r.pos] == lit[0] && r.matches(lit)
}

// matches is the rest of is, when the first character is right.
func (r *reader) matches(lit string) bool {
	rest := r.text[r.pos:]
	if len(lit) > 1 && !strings.HasPrefix(rest, lit) {
		return false
	}
	return class[lit[0]]&idStart == 0 || len(rest) == len(lit) || class[rest[len(lit)]]&idNext == 0
}

// accept takes lit if it is next.
func (r *reader) accept(lit string) bool {
	if !r.is(lit) {
		return false
	}
	r.pos += len(lit)
	return true
}

// expect takes lit.
func (r *reader) expect(lit string) {
	if !r.accept(lit) {
		r.failExpected(lit)
	}
}

func (r *reader) failExpected(lit string) {
	hint := ""
	if lit == ":" && r.peek() == '%' {
		hint = "operands are separated by commas"
	}
	r.failHint(r.pos, hint, "expected '%s', got %s", lit, r.next())
}

// next describes the next token for messages.
func (r *reader) next() string {
	c := r.peek()
	switch {
	case c == 0:
		return "the end of the text"
	case class[c]&idStart != 0:
		return "'" + r.wordAt(r.pos) + "'"
	case c == '%' || c == '@' || c == '#' || c == '!' || c == '^':
		return "'" + string(c) + r.wordAt(r.pos+1) + "'"
	}
	return "'" + string(rune(c)) + "'"
}

func (r *reader) wordAt(at int) string {
	end := at
	for end < len(r.text) && class[r.text[end]]&suffixNext != 0 && end < at+100 {
		end++
	}
	return r.text[at:end]
}

// ident takes a bare identifier; "" when there is none.
func (r *reader) ident() string {
	r.space()
	s, at := r.text, r.pos
	if at >= len(s) || class[s[at]]&idStart == 0 {
		return ""
	}
	end := at + 1
	for end < len(s) && class[s[end]]&idNext != 0 {
		end++
	}
	r.pos = end
	return s[at:end]
}

// word is ident where there must be one.
func (r *reader) word(what string) string {
	w := r.ident()
	if w == "" {
		r.fail("expected %s, got %s", what, r.next())
	}
	return w
}

// suffix takes what follows the sigil of a value, a block or an alias.
func (r *reader) suffix(what string) string {
	s, at := r.text, r.pos
	end := at
	if end < len(s) && class[s[end]]&digit != 0 {
		for end < len(s) && class[s[end]]&digit != 0 {
			end++
		}
		if end < len(s) && class[s[end]]&idStart != 0 {
			r.failHint(end, "a name that begins with a digit has nothing but digits", "'%s' is not the name of a %s", r.wordAt(at), what)
		}
	} else if end < len(s) && class[s[end]]&suffixStart != 0 {
		for end < len(s) && class[s[end]]&suffixNext != 0 {
			end++
		}
	}
	if end == at {
		r.failAt(at, "expected the name of a %s", what)
	}
	r.pos = end
	return s[at:end]
}

// integer takes a decimal integer, perhaps negative.
func (r *reader) integer() int64 {
	neg := r.accept("-")
	r.space()
	v := r.natural()
	if neg {
		return -v
	}
	return v
}

// natural takes decimal digits at the present place.
func (r *reader) natural() int64 {
	s, at := r.text, r.pos
	var v int64
	for r.pos < len(s) && class[s[r.pos]]&digit != 0 {
		d := int64(s[r.pos] - '0')
		if v > (1<<63-1-d)/10 {
			r.failAt(at, "the number is too large")
		}
		v = v*10 + d
		r.pos++
	}
	if r.pos == at {
		r.fail("expected an integer, got %s", r.next())
	}
	return v
}

// quoted takes a string and undoes its escapes.
func (r *reader) quoted() string {
	r.space()
	at := r.pos
	if at >= len(r.text) || r.text[at] != '"' {
		r.fail("expected a string, got %s", r.next())
	}
	s := r.text[at+1:]
	// Most strings have no escapes; the large ones are hexadecimal digits.
	end := strings.IndexByte(s, '"')
	if end >= 0 && strings.IndexByte(s[:end], '\\') < 0 && strings.IndexByte(s[:end], '\n') < 0 {
		r.pos = at + end + 2
		return s[:end]
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			r.pos = at + i + 2
			return b.String()
		case '\n':
			r.failAt(at, "the string does not end on its line")
		case '\\':
			n := r.escape(&b, s[i+1:], at+1+i)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	r.failAt(at, "the string does not end")
	return ""
}

// escape writes what an escape stands for and returns how long it is without its backslash.
func (r *reader) escape(b *strings.Builder, s string, at int) int {
	if s != "" {
		switch s[0] {
		case '"', '\\':
			b.WriteByte(s[0])
			return 1
		case 'n':
			b.WriteByte('\n')
			return 1
		case 't':
			b.WriteByte('\t')
			return 1
		}
	}
	if len(s) >= 2 {
		hi, lo := hexDigit(s[0]), hexDigit(s[1])
		if hi >= 0 && lo >= 0 {
			b.WriteByte(byte(hi<<4 | lo))
			return 2
		}
	}
	r.failAt(at, `unknown escape in a string: want \", \\, \n, \t or two hexadecimal digits`)
	return 0
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// balanced takes a bracket and everything up to the one that closes it, and returns the text. Strings are opaque, and `->` is no bracket.
func (r *reader) balanced() string {
	r.space()
	s, at := r.text, r.pos
	var open []byte
	for i := at; i < len(s); i++ {
		switch c := s[i]; c {
		case '<', '(', '[', '{':
			open = append(open, c)
		case '>', ')', ']', '}':
			if c == '>' && i > 0 && s[i-1] == '-' {
				continue
			}
			if len(open) == 0 || !closes(open[len(open)-1], c) {
				r.failAt(i, "'%c' closes nothing", c)
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				r.pos = i + 1
				return s[at:r.pos]
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
		if len(open) == 0 {
			r.failAt(i, "expected a bracket")
		}
	}
	r.failAt(at, "the bracket is never closed")
	return ""
}

func closes(open, c byte) bool {
	switch open {
	case '<':
		return c == '>'
	case '(':
		return c == ')'
	case '[':
		return c == ']'
	}
	return c == '}'
}
