package parser

import (
	"math"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Byte classes of the lexical grammar (hlo-text section 1).
const (
	classIdent  = 1 << iota // letters, digits, '_', '.', '-'
	classLetter             // letters and '_': what an identifier begins with
	classDigit
	classSpace
	classOpen
	classClose
	classQuote
	classSlash
	classGroup = classOpen | classClose | classQuote | classSlash // where skipping a group must look
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			t[c] = classIdent | classLetter
		case '0' <= c && c <= '9':
			t[c] = classIdent | classDigit
		case c == '.', c == '-':
			t[c] = classIdent
		case c == ' ', c == '\t', c == '\n', c == '\r':
			t[c] = classSpace
		case c == '(', c == '[', c == '{':
			t[c] = classOpen
		case c == ')', c == ']', c == '}':
			t[c] = classClose
		case c == '"', c == '\'':
			t[c] = classQuote
		case c == '/':
			t[c] = classSlash
		}
	}
	return t
}()

// keywords are the words that cannot be names when bare (hlo-text section 1.7).
var keywords = []string{
	"HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames", "FileLocations", "StackFrames", "true", "false", "inf", "maximal",
	"replicated", "manual", "unknown", "unreduced", "last_tile_dim_replicate", "shard_as", "shard_like", "nan",
}

func isKeyword(word string) bool { return slices.Contains(keywords, word) }

// typeByName is the primitive type that a word names in text: tuple and buffer are ordinary words there.
func typeByName(word string) (hlo.PrimitiveType, bool) {
	if len(word) < 2 || !mayBeReserved(word) {
		return hlo.InvalidType, false
	}
	t, ok := hlo.PrimitiveTypeByName(word)
	return t, ok && t != hlo.TUPLE && t != hlo.BUFFER
}

// isReserved reports whether a bare word is a keyword or a type.
func isReserved(word string) bool {
	if !mayBeReserved(word) {
		return false
	}
	_, isType := typeByName(word)
	return isType || isKeyword(word)
}

// mayBeReserved tells most words at once: it looks at the length and the first letter, and whether the word has a dot.
func mayBeReserved(word string) bool {
	return len(word) < 32 && reservedLengths[word[0]]>>len(word)&1 != 0 && strings.IndexByte(word, '.') < 0
}

// reservedLengths has a bit for every length of reserved words, by first letter.
var reservedLengths = func() (t [256]uint32) {
	for _, w := range append(slices.Clone(keywords), typeNames...) {
		t[w[0]] |= 1 << len(w)
	}
	return t
}()

// The functions below read text at an index and return the index after what they read; those that can fail return the place and a
// message. They are shared by the statement lexer, the instruction parser and the lexer of attribute grammars.

// skipSpace skips white space and comments. A malformed comment is left standing, so that whoever comes next trips over it.
func skipSpace(s string, i int) int {
	if i+1 < len(s) && s[i] == ' ' && class[s[i+1]]&(classSpace|classSlash) == 0 {
		return i + 1
	}
	for i < len(s) {
		switch c := s[i]; {
		case class[c]&classSpace != 0:
			i++
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			j := strings.Index(s[i+2:], "*/")
			if j < 0 {
				return i
			}
			i += j + 4
		case c == '/' && i+1 < len(s) && s[i+1] == '/':
			j := strings.IndexAny(s[i:], "\r\n")
			if j < 0 {
				return len(s)
			}
			i += j
		default:
			return i
		}
	}
	return i
}

// skipWord skips a run of identifier characters.
func skipWord(s string, i int) int {
	for i < len(s) && class[s[i]]&classIdent != 0 {
		i++
	}
	return i
}

// skipString skips the string that begins at i; -1 when it does not end.
func skipString(s string, i int) int {
	quote := s[i]
	for i++; ; {
		j := strings.IndexByte(s[i:], quote)
		if j < 0 {
			return -1
		}
		if k := strings.IndexByte(s[i:i+j], '\\'); k >= 0 {
			// The byte after a backslash is part of the string, whatever it is.
			if i += k + 2; i > len(s) {
				return -1
			}
			continue
		}
		return i + j + 1
	}
}

// skipDictionary skips the raw dictionary that begins with the brace at i (hlo-text section 1.8); -1 when it does not end. Only
// braces and double-quoted strings mean anything inside.
func skipDictionary(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			if i = skipString(s, i); i < 0 {
				return -1
			}
			i--
		}
	}
	return -1
}

// maxNesting bounds the brackets within brackets that are skipped. What is inside is read with a lower bound, see Config.MaxDepth.
const maxNesting = 1 << 17

// skipGroup skips the brackets that begin at i, whatever is inside. On failure msg says why and end is the place: the bracket, string or
// comment that does not end, or a closing bracket of another kind.
func skipGroup(s string, i int) (end int, msg string) {
	var buf [32]int
	open := buf[:0]
	for i < len(s) {
		k := class[s[i]] & classGroup
		if k == 0 {
			i++
			continue
		}
		switch k {
		case classOpen:
			if s[i] == '{' && i > 0 && s[i-1] == '=' {
				j, msg := skipKeyed(s, i)
				if msg != "" {
					return j, msg
				}
				if j > i {
					if i = j; len(open) == 0 {
						return i, ""
					}
					continue
				}
			}
			if open = append(open, i); len(open) > maxNesting {
				return i, "maximum recursion depth exceeded"
			}
			i++
		case classClose:
			o := s[open[len(open)-1]]
			if c := s[i]; c != o+2 && c != o+1 { // '(' and ')' are neighbours, the others are two apart
				return open[len(open)-1], "'" + string(o) + "' is not closed before a '" + string(c) + "'"
			}
			open = open[:len(open)-1]
			i++
			if len(open) == 0 {
				return i, ""
			}
		case classQuote:
			j := skipString(s, i)
			if j < 0 {
				return i, "string does not end"
			}
			i = j
		case classSlash:
			j := skipSpace(s, i)
			if j == i {
				if strings.HasPrefix(s[i:], "/*") {
					return i, "comment does not end"
				}
				j++
			}
			i = j
		}
	}
	at := open[len(open)-1]
	return at, "'" + s[at:at+1] + "' is never closed"
}

// skipKeyed skips the braces at i that follow `key=` when the key says that raw dictionaries may be inside, where quotes and comments
// are read differently. It returns i for any other key.
func skipKeyed(s string, i int) (end int, msg string) {
	switch before := s[:i-1]; {
	case strings.HasSuffix(before, "backend_config"):
		if end := skipDictionary(s, i); end >= 0 {
			return end, ""
		}
		return i, "dictionary does not end"
	case strings.HasSuffix(before, "frontend_attributes"):
		return skipFrontend(s, i)
	}
	return i, ""
}

// skipFrontend skips the value of frontend_attributes: braces around keys with strings or raw dictionaries.
func skipFrontend(s string, i int) (end int, msg string) {
	i = skipSpace(s, i+1)
	if i < len(s) && s[i] == '}' {
		return i + 1, ""
	}
	for {
		i = skipSpace(s, i)
		if end := skipWord(s, i); end == i || end >= len(s) || s[end] != '=' {
			return i, "expects attribute name"
		} else {
			i = skipSpace(s, end+1)
		}
		if i >= len(s) {
			return i, "expects string or dictionary"
		}
		end := -1
		switch s[i] {
		case '"', '\'':
			end = skipString(s, i)
		case '{':
			end = skipDictionary(s, i)
		default:
			return i, "expects string or dictionary"
		}
		if end < 0 {
			return i, "string or dictionary does not end"
		}
		if i = skipSpace(s, end); i < len(s) && s[i] == '}' {
			return i + 1, ""
		}
		if i >= len(s) || s[i] != ',' {
			return i, "expects '}' at the end of frontend_attributes"
		}
		i++
	}
}

// parser reads one text. The cursor is pos in src, which is text cut off at the end of the current statement.
type parser struct {
	Config
	file string
	text string
	src  string
	pos  int

	nameAt int // where the name that was read last begins

	errs    ErrorList
	attrKey string // the attribute whose value is being read, for messages
	depth   int

	quiet    bool // warnings wait until the text turns out to have no fault
	warnings []*Error

	// Last place whose line is known, for position.
	lineOff, lineStart int
	line               uint32

	memo
	build
}

func newParser(cfg Config, file, text string) *parser {
	p := &parser{Config: cfg, file: file, text: text, src: text, line: uint32(1 + cfg.LinesBefore)}
	if p.MaxDepth <= 0 {
		p.MaxDepth = defaultDepth
	}
	p.memo.init()
	return p
}

// position is the line and column of an offset. Offsets mostly ascend.
func (p *parser) position(off int) hlo.Position {
	if off < p.lineOff {
		if n := strings.Count(p.text[off:p.lineOff], "\n"); n > 0 {
			p.line -= uint32(n)
			p.lineStart = strings.LastIndexByte(p.text[:off], '\n') + 1
		}
	} else if n := strings.Count(p.text[p.lineOff:off], "\n"); n > 0 {
		p.line += uint32(n)
		p.lineStart = strings.LastIndexByte(p.text[:off], '\n') + 1
	}
	p.lineOff = off
	return hlo.Position{Line: p.line, Col: uint32(min(off-p.lineStart+1, math.MaxUint32))}
}

// enter counts a level of nesting; leave it with p.depth--.
func (p *parser) enter() {
	if p.depth++; p.depth > p.MaxDepth {
		p.fail("maximum recursion depth exceeded")
	}
}

// space skips white space and comments.
func (p *parser) space() {
	if i := p.pos; i < len(p.src) && class[p.src[i]]&(classSpace|classSlash) != 0 {
		p.pos = skipSpace(p.src, i)
	}
}

// peek is the next significant byte, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

// accept takes the byte c if it is next.
func (p *parser) accept(c byte) bool {
	if p.peek() == c {
		p.pos++
		return true
	}
	return false
}

// acceptText takes text if it is next.
func (p *parser) acceptText(text string) bool {
	p.space()
	if strings.HasPrefix(p.src[p.pos:], text) {
		p.pos += len(text)
		return true
	}
	return false
}

// expect takes the byte c or fails with what was expected.
func (p *parser) expect(c byte, what string) {
	if !p.accept(c) {
		p.fail("%s", what)
	}
}

// atEnd reports whether nothing but white space is left.
func (p *parser) atEnd() bool {
	p.space()
	return p.pos >= len(p.src)
}

// word takes a run of identifier characters that begins with a letter; "" when there is none.
func (p *parser) word() string {
	p.space()
	start := p.pos
	if start >= len(p.src) || class[p.src[start]]&classLetter == 0 {
		return ""
	}
	p.pos = skipWord(p.src, start)
	return p.src[start:p.pos]
}

// name takes a name: `%id`, `id` or `id:`, and leaves its place in p.nameAt. It fails with what when there is none.
func (p *parser) name(what string) string {
	p.space()
	s, start := p.src, p.pos
	i := start
	percent := i < len(s) && s[i] == '%'
	if percent {
		i++
	}
	end := skipWord(s, i)
	if end == i || class[s[i]]&classLetter == 0 {
		p.fail("%s", what)
	}
	p.pos, p.nameAt = end, i
	word := s[i:end]
	if percent {
		return word
	}
	if end < len(s) {
		switch s[end] {
		case ':':
			p.pos++
			return word
		case '=':
			p.pos = start
			p.failHint(start, "an attribute needs a comma before it, a name a space before its '=' or a '%' before itself", "%s", what)
		}
	}
	if isReserved(word) {
		p.pos = start
		hint := word + " is a reserved word; as a name it needs a '%'"
		if !isKeyword(word) {
			hint = typeAsName(word)
		}
		p.failHint(start, hint, "%s", what)
	}
	return word
}

// typeAsName is advice on a type that was taken for a name.
func typeAsName(word string) string { return word + " is a type, and nothing else can be called so" }

// key takes an attribute name, `id=`, without the sign; "" when there is none.
func (p *parser) key() string {
	start := p.pos
	word := p.word()
	if word == "" || p.pos >= len(p.src) || p.src[p.pos] != '=' {
		p.pos = start
		return ""
	}
	p.pos++
	return word
}

// int takes an integer token (hlo-text section 1.5).
func (p *parser) int() int64 {
	p.space()
	v, end, msg := scanInt(p.src, p.pos)
	if msg != "" {
		p.fail("%s", msg)
	}
	p.pos = end
	return v
}

// scanInt reads an integer of 64 bits; a positive one that needs all 64 has their int64 value.
func scanInt(s string, i int) (v int64, end int, msg string) {
	start := i
	negative := i < len(s) && s[i] == '-'
	if negative {
		i++
	}
	first := i
	var u uint64
	for ; i < len(s) && class[s[i]]&classDigit != 0; i++ {
		d := uint64(s[i] - '0')
		if u > (math.MaxUint64-d)/10 {
			return 0, start, "integer does not fit 64 bits"
		}
		u = u*10 + d
	}
	if i == first {
		return 0, start, "expects integer"
	}
	if negative {
		if u > 1<<63 {
			return 0, start, "integer does not fit 64 bits"
		}
		return -int64(u), i, ""
	}
	return int64(u), i, ""
}

// string takes a string token and returns its unescaped value.
func (p *parser) string() string {
	c := p.peek()
	if c != '"' && c != '\'' {
		p.fail("expects string")
	}
	if n := strings.IndexByte(p.src[p.pos+1:], c); n >= 0 {
		if raw := p.src[p.pos+1 : p.pos+1+n]; strings.IndexByte(raw, '\\') < 0 {
			p.pos += n + 2
			return raw
		}
	}
	end := skipString(p.src, p.pos)
	if end < 0 {
		p.fail("string does not end")
	}
	raw := p.src[p.pos+1 : end-1]
	text, bad := unescape(raw)
	if bad >= 0 {
		p.failAt(p.pos+1+bad, "unknown escape in string")
	}
	p.pos = end
	return text
}

// stringOrDictionary takes a string, or a raw dictionary as it stands.
func (p *parser) stringOrDictionary() string {
	if p.peek() != '{' {
		if c := p.peek(); c != '"' && c != '\'' {
			p.fail("expects string or dictionary")
		}
		return p.string()
	}
	end := skipDictionary(p.src, p.pos)
	if end < 0 {
		p.fail("dictionary does not end")
	}
	raw := p.src[p.pos:end]
	p.pos = end
	return raw
}

// group takes a group in braces and returns its text, braces included.
func (p *parser) group() string {
	if p.peek() != '{' {
		p.fail("expects '{'")
	}
	end, msg := skipGroup(p.src, p.pos)
	if msg != "" {
		p.failAt(end, "%s", msg)
	}
	raw := p.src[p.pos:end]
	p.pos = end
	return raw
}
