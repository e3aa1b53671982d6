package prototext

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/internal/spelling"
)

// Error is a mistake in text.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// Unmarshal is the binary form of the text of a message.
func (s *Schema) Unmarshal(name string, text []byte) (data []byte, err error) {
	m := s.messages[name]
	if m == nil {
		return nil, fmt.Errorf("prototext: the schema has no message %s", name)
	}
	r := &reader{text: text}
	defer func() {
		if e, ok := recover().(*Error); ok {
			data, err = nil, e
		} else if e != nil {
			panic(e)
		}
	}()
	r.next()
	return r.message(m, tokenEnd, 0), nil
}

// token is a word, a number, a string with its quotes undone, or one of the signs; 0 is the end.
type token struct {
	kind byte // 'w', 'n', 's', the sign, or 0
	text string
	at   int
}

const tokenEnd = 0

type reader struct {
	text []byte
	pos  int
	now  token
}

// fail ends reading.
func (r *reader) fail(at int, format string, args ...any) {
	before := r.text[:at]
	e := &Error{Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}
	for i, c := range before {
		if c == '\n' {
			e.Line, e.Column = e.Line+1, 1
		} else if e.Column++; i == len(before) {
			break
		}
	}
	panic(e)
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// next reads a token.
func (r *reader) next() {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f':
			r.pos++
			continue
		case c == '#':
			for r.pos < len(r.text) && r.text[r.pos] != '\n' {
				r.pos++
			}
			continue
		}
		break
	}
	r.now = token{at: r.pos}
	if r.pos == len(r.text) {
		return
	}
	start, c := r.pos, r.text[r.pos]
	switch {
	case c == '"' || c == '\'':
		r.now.kind, r.now.text = 's', r.quoted(c)
		return
	case isWord(c) || c == '.' || c == '-' || c == '+':
		r.pos++
		for r.pos < len(r.text) && (isWord(r.text[r.pos]) || r.text[r.pos] == '.' || (r.text[r.pos] == '-' || r.text[r.pos] == '+') && r.text[r.pos-1]|0x20 == 'e') {
			r.pos++
		}
		if r.now.kind = 'n'; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' {
			r.now.kind = 'w'
		}
	default:
		r.pos++
		r.now.kind = c
	}
	r.now.text = string(r.text[start:r.pos])
}

// quoted reads a string.
func (r *reader) quoted(end byte) string {
	start := r.pos
	r.pos++
	var b []byte
	for {
		if r.pos >= len(r.text) || r.text[r.pos] == '\n' {
			r.fail(start, "this string has no end in its line")
		}
		c := r.text[r.pos]
		r.pos++
		switch c {
		case end:
			return string(b)
		case '\\':
			b = r.escape(b)
		default:
			b = append(b, c)
		}
	}
}

const simpleEscapes = "n\nr\rt\ta\ab\bf\fv\v\\\\''\"\"??"

func (r *reader) escape(b []byte) []byte {
	at := r.pos - 1
	if r.pos == len(r.text) {
		r.fail(at, "the string has no end")
	}
	c := r.text[r.pos]
	r.pos++
	if i := strings.IndexByte(simpleEscapes, c); i >= 0 && i%2 == 0 && c >= ' ' {
		return append(b, simpleEscapes[i+1])
	}
	digits := func(most int, base int) uint64 {
		from := r.pos
		for r.pos < len(r.text) && r.pos-from < most {
			if _, err := strconv.ParseUint(string(r.text[r.pos]), base, 8); err != nil {
				break
			}
			r.pos++
		}
		x, err := strconv.ParseUint(string(r.text[from:r.pos]), base, 32)
		if err != nil {
			r.fail(at, "an escape without digits")
		}
		return x
	}
	switch {
	case c >= '0' && c <= '7':
		r.pos--
		x := digits(3, 8)
		if x > math.MaxUint8 {
			r.fail(at, "an escape of more than a byte")
		}
		return append(b, byte(x))
	case c == 'x' || c == 'X':
		return append(b, byte(digits(2, 16)))
	case c == 'u':
		return append(b, string(rune(digits(4, 16)))...)
	case c == 'U':
		return append(b, string(rune(digits(8, 16)))...)
	}
	r.fail(at, `there is no escape \%c`, c)
	return b
}

// message reads fields up to a sign, or the end.
func (r *reader) message(m *message, end byte, depth int) []byte {
	if depth > maxDepth {
		r.fail(r.now.at, "messages nest deeper than %d", maxDepth)
	}
	var data []byte
	packed := map[*field][]byte{}
	var order []*field
	seen := map[*field]bool{}
	for r.now.kind != end {
		if r.now.kind == tokenEnd {
			r.fail(r.now.at, "%s ends without %q", m.name, string(end))
		}
		name := r.now
		f := m.byName[name.text]
		if name.kind != 'w' || f == nil {
			hint := ""
			if near := spelling.Nearest(name.text, names(m)); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			r.fail(name.at, "%s has no field %q%s", m.name, name.text, hint)
		}
		if seen[f] && !f.repeated {
			r.fail(name.at, "%s has one %s, and this is the second", m.name, f.name)
		}
		seen[f] = true
		r.next()
		colon := r.now.kind == ':'
		if colon {
			r.next()
		} else if f.message == nil {
			r.fail(r.now.at, "got %q, want a colon behind %s", r.now.text, f.name)
		}
		one := func() {
			switch {
			case f.message != nil:
				data = protowire.AppendBytes(protowire.AppendTag(data, f.number, protowire.BytesType), r.braced(f.message, depth))
			case f.packs():
				if packed[f] == nil {
					order = append(order, f)
				}
				packed[f] = r.value(packed[f], f)
			default:
				wire := f.scalar.wire
				if f.enum != nil {
					wire = protowire.VarintType
				}
				data = r.value(protowire.AppendTag(data, f.number, wire), f)
			}
		}
		if r.now.kind == '[' && f.repeated {
			r.next()
			for r.now.kind != ']' {
				one()
				if r.now.kind != ',' {
					break
				}
				r.next()
			}
			r.expect(']')
		} else {
			one()
		}
		if r.now.kind == ',' || r.now.kind == ';' {
			r.next()
		}
	}
	for _, f := range order {
		data = protowire.AppendBytes(protowire.AppendTag(data, f.number, protowire.BytesType), packed[f])
	}
	return data
}

func names(m *message) (all []string) {
	for n := range m.byName {
		all = append(all, n)
	}
	return all
}

func (r *reader) expect(sign byte) {
	if r.now.kind != sign {
		r.fail(r.now.at, "got %q, want %q", r.now.text, string(sign))
	}
	r.next()
}

// braced reads a message in { } or < >.
func (r *reader) braced(m *message, depth int) []byte {
	end := byte('}')
	if r.now.kind == '<' {
		end = '>'
	} else if r.now.kind != '{' {
		r.fail(r.now.at, "got %q, want { and the fields of %s", r.now.text, m.name)
	}
	r.next()
	data := r.message(m, end, depth+1)
	r.next()
	return data
}

// value appends a value without its tag.
func (r *reader) value(b []byte, f *field) []byte {
	t := r.now
	r.next()
	if f.scalar.text == quoted {
		if t.kind != 's' {
			r.fail(t.at, "got %q, want a string for %s", t.text, f.name)
		}
		for r.now.kind == 's' { // they are one
			t.text += r.now.text
			r.next()
		}
		return protowire.AppendString(b, t.text)
	}
	text := t.text
	if (text == "-" || text == "+") && (r.now.kind == 'w' || r.now.kind == 'n') { // a sign apart
		text += r.now.text
		r.next()
	}
	wrong := func(want string) { r.fail(t.at, "got %q, want %s for %s", text, want, f.name) }
	if f.enum != nil {
		if n, ok := f.enum.numbers[text]; ok {
			return protowire.AppendVarint(b, uint64(n))
		}
		n, err := strconv.ParseInt(text, 0, 32)
		if err != nil {
			wrong("one of the enumeration's names")
		}
		return protowire.AppendVarint(b, uint64(n))
	}
	switch f.scalar.text {
	case boolean:
		x, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			wrong("true or false")
		}
		return protowire.AppendVarint(b, protowire.EncodeBool(x))
	case float32s, float64s:
		bits := 64
		if f.scalar.text == float32s {
			bits = 32
		}
		x, err := strconv.ParseFloat(strings.TrimRight(strings.ToLower(text), "f"), bits)
		if strings.HasSuffix(strings.ToLower(text), "inf") {
			x, err = strconv.ParseFloat(text, bits)
		}
		if err != nil && !math.IsInf(x, 0) {
			wrong("a number")
		}
		if bits == 32 {
			return protowire.AppendFixed32(b, math.Float32bits(float32(x)))
		}
		return protowire.AppendFixed64(b, math.Float64bits(x))
	}
	var x uint64
	var err error
	if f.scalar.signed {
		var y int64
		y, err = strconv.ParseInt(text, 0, 64)
		x = uint64(y)
	} else {
		x, err = strconv.ParseUint(text, 0, 64)
	}
	if err != nil {
		wrong("an integer")
	}
	switch f.scalar.wire {
	case protowire.Fixed32Type:
		return protowire.AppendFixed32(b, uint32(x))
	case protowire.Fixed64Type:
		return protowire.AppendFixed64(b, x)
	}
	return protowire.AppendVarint(b, x)
}
