package parser

import (
	"math"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// parser reads one text. The cursor is pos in src, which is text cut off at the end of the current statement.
type parser struct {
	Config
	file string
	text string
	src  string
	pos  int

	tellAt int // where Progress is called next

	errs     ErrorList
	lastLine textLine // of the last error
	attrKey  string   // the attribute whose value is being read, for messages
	depth    int

	quiet    bool // warnings wait until the text turns out to have no fault
	warnings []*Error
	undo     undo
	stopped  bool // a computation has no end, or too much is wrong
	// Frequent warnings are given once: zeros that lose their signs, threads that do not count.
	warnedZero, warnedThread bool
	keepsZeros               zeroSigns

	// Last place whose line is known, for position.
	lineOff, lineStart int
	line               uint32

	ahead *aheadReader // reads ahead of this parser, if not nil
	part  *chunk       // what a parser that reads ahead is in, nil: it does not
	chunk int          // the size of chunks, 0: chunkSize

	session *Session // has what was read in versions before, if not nil
	touched *Touched // what is noted of differences from its last sound version, if not nil

	memo
	build
}

func newParser(cfg Config, file, text string) *parser {
	p := &parser{Config: cfg, file: file, text: text, src: text, line: uint32(1 + cfg.LinesBefore)}
	if p.MaxDepth <= 0 {
		p.MaxDepth = defaultDepth
	}
	p.tellAt = math.MaxInt
	if p.Progress != nil {
		p.tellAt = p.ProgressBytes
	}
	p.memo.init()
	return p
}

// tell reports progress.
func (p *parser) tell() {
	p.Progress(p.pos)
	p.tellAt = p.pos + p.ProgressBytes
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

// offset is where a position is in the text.
func (p *parser) offset(at hlo.Position) int {
	off := 0
	for line := uint32(1 + p.LinesBefore); line < at.Line; line++ {
		off += strings.IndexByte(p.text[off:], '\n') + 1
	}
	return off + int(at.Col) - 1
}

// enter counts a level of nesting; leave it with p.depth--.
func (p *parser) enter() {
	if p.depth++; p.depth > p.MaxDepth {
		p.fail(tooDeep)
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

// name takes a name: `%id`, `id` or `id:`. It fails with what when there is none.
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
	p.pos = end
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
