package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/spelling"
)

// skipShape finds the end of the shape at i; what is inside is not looked at. On failure msg says why and end is the place.
func skipShape(s string, i int) (end int, msg string) {
	if i < len(s) && s[i] == '(' {
		return skipGroup(s, i)
	}
	j := skipWord(s, i)
	switch {
	case j == i || class[s[i]]&classLetter == 0:
		return i, "expected primitive type, saw " + tokenKind(s, i)
	case isBuffer(s, i, j):
		return skipGroup(s, skipSpace(s, j))
	}
	if j >= len(s) || s[j] != '[' {
		if j = skipSpace(s, j); j >= len(s) || s[j] != '[' {
			return i, "expected primitive type, saw " + tokenKind(s, i)
		}
	}
	if k := strings.IndexByte(s[j:], ']'); k < 0 {
		return j, "'[' is never closed"
	} else {
		end = j + k + 1
	}
	if beginsLayout(s, skipSpace(s, end)) {
		return skipGroup(s, skipSpace(s, end))
	}
	return end, ""
}

// isBuffer reports whether the word from i to end begins the shape of a buffer, `b(f32[2])`.
func isBuffer(s string, i, end int) bool {
	if end-i != 1 || s[i] != 'b' {
		return false
	}
	end = skipSpace(s, end)
	return end < len(s) && s[end] == '('
}

// beginsLayout reports whether the brace at i, if there is one, begins a layout: what follows is an integer or a colon
// (hlo-text section 3.4).
func beginsLayout(s string, i int) bool {
	if i >= len(s) || s[i] != '{' {
		return false
	}
	i = skipSpace(s, i+1)
	if i < len(s) && s[i] == '-' {
		i++
	}
	return i < len(s) && (class[s[i]]&classDigit != 0 || s[i] == ':')
}

// tokenKind names the kind of the token at i as messages do.
func tokenKind(s string, i int) string {
	if i >= len(s) {
		return "kEof"
	}
	switch c := s[i]; {
	case class[c]&classLetter != 0:
		return "kIdent"
	case class[c]&classDigit != 0:
		return "kInt"
	case class[c]&classQuote != 0:
		return "kString"
	case c == '%':
		return "kName"
	}
	return "'" + s[i:i+1] + "'"
}

// beginsShape reports whether a shape, and not a name or an opcode, comes next.
func (p *parser) beginsShape() bool {
	c := p.peek()
	if c == '(' {
		return true
	}
	if class[c]&classLetter == 0 {
		return false
	}
	end := skipWord(p.src, p.pos)
	word := p.src[p.pos:end]
	if end < len(p.src) && p.src[end] == '[' {
		return true
	}
	if word == "b" {
		return isBuffer(p.src, p.pos, end)
	}
	_, ok := typeByName(word)
	return ok
}

// shape takes a shape. Shapes with the same text are one.
func (p *parser) shape() hlo.Shape {
	p.space()
	start := p.pos
	recent := &p.recent[recentIndex(p.src, start)]
	if n := recent.len(p.src, start); n > 0 {
		p.pos = start + n
		return recent.shape
	}
	end, msg := skipShape(p.src, start)
	if msg != "" {
		hint := ""
		if word := p.src[start:skipWord(p.src, start)]; end == start && word != "" {
			if _, isType := typeByName(word); isType {
				hint = typeAsName(word)
			}
		}
		p.failHint(end, hint, "%s", msg)
	}
	raw := p.src[start:end]
	if known, ok := p.shapes[raw]; ok {
		p.pos = end
		*recent = known
		return known.shape
	}
	s := p.parseShape()
	if p.pos != end {
		p.fail("unexpected text in a shape")
	}
	s = p.internShape(s)
	*recent = recentShape{p.keepText(raw), s, uint32(len(p.shapes))}
	p.shapes[recent.text] = *recent
	return s
}

// recentShape is a shape read before, in a cache by the first bytes of its text.
type recentShape struct {
	text   string
	shape  hlo.Shape
	number uint32 // counts texts
}

const numRecent = 256

// recentIndex is where in the cache the shape at i would be.
func recentIndex(s string, i int) uint32 {
	if i+8 > len(s) {
		return 0
	}
	s = s[i : i+8]
	h := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return uint32(h * 0x9e3779b97f4a7c15 >> 56)
}

// len is the length of the text if it is a shape at i of s, else 0: the text of an array without a layout ends there only if no layout
// follows.
func (r *recentShape) len(s string, i int) int {
	n := len(r.text)
	if n == 0 || len(s)-i < n || s[i:i+n] != r.text {
		return 0
	}
	if s[i+n-1] == ']' && beginsLayout(s, skipSpace(s, i+n)) {
		return 0
	}
	return n
}

// internShape makes equal shapes one, whatever their spelling.
func (p *parser) internShape(s hlo.Shape) hlo.Shape {
	if s.NumParts() > 1024 { // an inferred shape can be much larger than its text
		return s
	}
	b := s.AppendText(p.scratch[:0], true)
	p.scratch = b
	if t, ok := p.canonical[string(b)]; ok && t.Equal(s) {
		return t
	}
	p.canonical[string(b)] = s
	return s
}

func (p *parser) parseShape() hlo.Shape {
	p.enter()
	defer func() { p.depth-- }()
	switch {
	case p.accept('('):
		var elems []hlo.Shape
		if !p.accept(')') {
			for {
				// A nested tuple is not looked up: finding its end at every level would take time by the square of the depth.
				if p.peek() == '(' {
					elems = append(elems, p.parseShape())
				} else {
					p.space()
					at := p.pos
					elems = append(elems, p.shape())
					p.checkElement(elems[len(elems)-1], at)
				}
				if !p.accept(',') {
					break
				}
			}
			p.expect(')', "expects ')' at the end of tuple.")
		}
		return hlo.MakeTuple(elems...)
	case isBuffer(p.src, p.pos, skipWord(p.src, p.pos)):
		p.pos = skipSpace(p.src, p.pos+1) + 1
		at := p.pos
		s := p.parseShape()
		if !s.IsArray() {
			p.failAt(at, "the element of a buffer must be an array shape")
		}
		p.expect(')', "expects ')' at the end of buffer shape")
		return hlo.MakeBuffer(s)
	}
	return p.arrayShape()
}

func (p *parser) arrayShape() hlo.Shape {
	start := p.pos
	word := p.word()
	t, ok := typeByName(word)
	if !ok {
		p.failHint(start, typeMeant(word), "expected primitive type, saw %s", tokenKind(p.src, start))
	}
	p.expect('[', "expects '[' after the element type")
	var dims []int64
	var dyn []bool
	if !p.accept(']') {
		for {
			d, dynamic := p.dimension()
			dims, dyn = append(dims, d), append(dyn, dynamic)
			if !p.accept(',') {
				break
			}
		}
		p.expect(']', "expects ']' at the end of the dimensions")
	}
	at := skipSpace(p.src, p.pos)
	var layout *hlo.Layout
	if beginsLayout(p.src, at) {
		p.pos = at
		layout = p.layout()
	}
	if t == hlo.TOKEN || t == hlo.OPAQUE {
		if len(dims) > 0 || layout != nil {
			p.failAt(start, "%v can have neither dimensions nor a layout", t)
		}
		if t == hlo.TOKEN {
			return hlo.MakeToken()
		}
		return hlo.MakeOpaque()
	}
	if layout != nil && len(layout.MinorToMajor) != len(dims) {
		p.failRule("GEN-04", at, "Dimensions size is %d, but minor to major size is %d.", len(dims), len(layout.MinorToMajor))
	}
	if layout == nil && (len(dims) == 0 || !p.KeepMissingLayouts) && !p.keepLayouts {
		layout = hlo.DefaultLayout(len(dims))
	}
	return hlo.MakeArray(t, dims, dyn, layout)
}

func (p *parser) dimension() (size int64, dynamic bool) {
	if p.accept('?') {
		return hlo.UnboundedSize, true
	}
	dynamic = p.acceptText("<=")
	p.space()
	at := p.pos
	size = p.int()
	if size < 0 {
		p.failAt(at, "a dimension must not be negative")
	}
	return size, dynamic
}

// typeMeant asks for the element type that was meant by a word.
func typeMeant(word string) string {
	if t := spelling.ElementType(word); slices.Contains(typeNames, t) {
		return didYouMean(t, typeNames)
	}
	return didYouMean(word, typeNames)
}

var typeNames = func() (names []string) {
	for t := range hlo.PrimitiveType(hlo.NumPrimitiveTypes) {
		if t != hlo.InvalidType && t != hlo.TUPLE && t != hlo.BUFFER {
			names = append(names, t.String())
		}
	}
	return names
}()

// layout takes a layout in braces.
func (p *parser) layout() *hlo.Layout {
	p.space()
	at := p.pos
	raw := p.group()
	if l, ok := p.layouts[raw]; ok {
		return l
	}
	l := p.grammarLayout(raw, at)
	p.layouts[raw] = l
	return l
}
