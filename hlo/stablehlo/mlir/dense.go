package mlir

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// formats are the small floating-point types.
var formats = func() (t [hlo.NumPrimitiveTypes]minifloat.Format) {
	for _, f := range minifloat.Formats() {
		if e, ok := hlo.PrimitiveTypeByName(strings.ToLower(f.String())); ok {
			t[e] = f
		}
	}
	return t
}()

// dense reads the rest of `dense<...> : type`. The type comes last, so the end of the data is found first; the data is read when the size
// of its elements is known, straight into bytes.
func (r *reader) dense(at int) Attr {
	return r.repeated(at, r.constantKey(at), func() Attr { return r.denseBody(at) })
}

func (r *reader) denseBody(at int) Attr {
	r.expect("<")
	body := r.pos
	var end int // of the data, before the closing bracket
	isHex := false
	switch c := r.peek(); c {
	case '"':
		isHex = true
		body = r.pos + 1
		n := strings.IndexByte(r.text[body:], '"')
		if n < 0 {
			r.failAt(r.pos, "the string does not end")
		}
		end = body + n
		r.pos = end + 1
	default:
		n := strings.IndexByte(r.text[body:], '>')
		if n < 0 {
			r.failAt(at, "the constant is never closed")
		}
		end = body + n
		r.pos = end
	}
	r.expect(">")
	if lit := r.text[body:end]; !isHex && (strings.HasPrefix(lit, "__elided__") || strings.HasPrefix(lit, "...")) {
		r.failElided(at)
	}
	r.expect(":")
	t := r.typ()
	if t.Kind != Tensor || !t.IsStatic() {
		r.failAt(at, "dense elements of type %v: want a tensor of known size", t)
	}
	if isHex {
		return r.denseHex(body, end, t)
	}
	after := r.pos
	d := r.denseList(body, end, t)
	r.pos = after
	return d
}

func (r *reader) failElided(at int) {
	r.failHint(at, "print the program again with large constants, or as bytecode",
		"the elements are elided: the constants were left out when the text was printed")
}

// denseHex decodes a string of raw elements.
func (r *reader) denseHex(from, to int, t *Type) Attr {
	s := r.text[from:to]
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		r.failAt(from, "constants of strings are not supported")
	}
	if len(digits)%2 != 0 {
		r.failAt(from, "an odd number of hexadecimal digits")
	}
	data, bad, ok := decodeHex(digits)
	if !ok {
		r.failAt(from+2+bad, "expected a hexadecimal digit")
	}
	d, msg := MakeDense(t, data)
	if msg != "" {
		r.failAt(from, "%s", msg)
	}
	return d
}

// MakeDense makes dense elements of raw bytes, which it may keep: those of all elements or of one, for predicates also packed eight to a
// byte. The message is "" when that is well.
func MakeDense(t *Type, data []byte) (Dense, string) {
	n := t.NumElements()
	size := int64(t.Elem.ByteSize())
	have := int64(len(data))
	switch {
	case have == size && n > 1:
		return Dense{t, widened(t.Elem, data), true}, ""
	case n <= (1<<62)/max(size, 1) && have == n*size:
		return newDense(t, widened(t.Elem, data)), ""
	case t.Elem == hlo.PRED && have == (n+7)/8:
		bits := make([]byte, n)
		for i := range bits {
			bits[i] = data[i/8] >> (i % 8) & 1
		}
		return newDense(t, bits), ""
	}
	return Dense{}, "the constant has " + strconv.FormatInt(have, 10) + " bytes, the type " + t.Text + " wants " +
		strconv.FormatInt(n, 10) + " elements of " + strconv.FormatInt(size, 10) + " bytes, or one"
}

// widened makes elements that are narrower than a byte what literals hold: sign-extended, predicates 0 or 1.
func widened(e hlo.PrimitiveType, data []byte) []byte {
	bits := e.Bits()
	if bits >= 8 {
		return data
	}
	signed := e.IsSigned()
	for i, c := range data {
		c &= 1<<bits - 1
		switch {
		case e == hlo.PRED:
			c = data[i]
			if c != 0 {
				c = 1
			}
		case signed && c>>(bits-1) != 0:
			c |= 0xff << bits
		}
		data[i] = c
	}
	return data
}

// newDense makes dense elements, as a splat when all are equal, which MLIR does too.
func newDense(t *Type, data []byte) Dense {
	size := t.Elem.ByteSize()
	if len(data) >= size && size > 0 && bytes.Equal(data[size:], data[:len(data)-size]) {
		return Dense{t, data[:size:size], true}
	}
	return Dense{t, data, false}
}

// denseList reads elements as they are written in text.
func (r *reader) denseList(from, to int, t *Type) Attr {
	l := listReader{r: r, s: r.text[:to], pos: from, t: t, size: t.Elem.ByteSize()}
	l.space()
	if l.pos == to {
		if t.NumElements() != 0 {
			r.failAt(from, "no elements, the type %v wants %d", t, t.NumElements())
		}
		return Dense{t, nil, false}
	}
	if l.s[l.pos] != '[' {
		l.out = make([]byte, 0, l.size)
		l.element()
		l.end()
		return Dense{t, l.out, true}
	}
	n := t.NumElements()
	if n > int64(to-from) { // each takes a character at least
		r.failAt(from, "the constant has fewer elements than the %d of the type %v", n, t)
	}
	l.out = make([]byte, 0, n*int64(l.size))
	l.list(0)
	l.end()
	return newDense(t, l.out)
}

// listReader reads nested lists of elements.
type listReader struct {
	r    *reader
	s    string
	pos  int
	t    *Type
	size int
	out  []byte
}

func (l *listReader) space() {
	for l.pos < len(l.s) && class[l.s[l.pos]]&blank != 0 {
		l.pos++
	}
}

func (l *listReader) end() {
	l.space()
	if l.pos != len(l.s) {
		l.r.failAt(l.pos, "expected '>' after the elements")
	}
}

// list reads the list of one dimension.
func (l *listReader) list(dim int) {
	at := l.pos
	if dim == len(l.t.Dims) {
		l.r.failAt(at, "lists nested deeper than the %d dimensions of %v", dim, l.t)
	}
	l.pos++
	n := int64(0)
	for {
		l.space()
		if l.pos >= len(l.s) {
			l.r.failAt(at, "the list is never closed")
		}
		c := l.s[l.pos]
		if c == ']' {
			l.pos++
			break
		}
		if n > 0 {
			if c != ',' {
				l.r.failAt(l.pos, "expected ',' or ']' among the elements")
			}
			l.pos++
			l.space()
			if l.pos < len(l.s) {
				c = l.s[l.pos]
			}
		}
		if n++; n > l.t.Dims[dim] {
			l.r.failAt(l.pos, "more than the %d elements that dimension %d of %v has", l.t.Dims[dim], dim, l.t)
		}
		if c == '[' {
			l.list(dim + 1)
		} else if dim == len(l.t.Dims)-1 {
			l.element()
		} else {
			l.r.failAt(l.pos, "expected a list: %v has %d dimensions", l.t, len(l.t.Dims))
		}
	}
	if n != l.t.Dims[dim] {
		l.r.failAt(at, "a list of %d elements, dimension %d of %v has %d", n, dim, l.t, l.t.Dims[dim])
	}
}

// element reads one element and adds its bytes.
func (l *listReader) element() {
	e := l.t.Elem
	if !e.IsComplex() {
		l.number(e)
		return
	}
	if l.pos >= len(l.s) || l.s[l.pos] != '(' {
		l.r.failAt(l.pos, "expected a complex number, (re, im)")
	}
	l.pos++
	l.space()
	l.number(e.ComponentType())
	l.space()
	if l.pos >= len(l.s) || l.s[l.pos] != ',' {
		l.r.failAt(l.pos, "expected ',' in a complex number")
	}
	l.pos++
	l.space()
	l.number(e.ComponentType())
	l.space()
	if l.pos >= len(l.s) || l.s[l.pos] != ')' {
		l.r.failAt(l.pos, "expected ')' after a complex number")
	}
	l.pos++
}

// number reads one number of a type.
func (l *listReader) number(e hlo.PrimitiveType) {
	s, at := l.s, l.pos
	if at < len(s) && (s[at] == 't' || s[at] == 'f') {
		v := uint64(0)
		switch {
		case strings.HasPrefix(s[at:], "true"):
			l.pos, v = at+4, 1
		case strings.HasPrefix(s[at:], "false"):
			l.pos = at + 5
		}
		if l.pos == at || e != hlo.PRED {
			l.r.failAt(at, "expected an element of type %s", ElementName(e))
		}
		l.put(e, v)
		return
	}
	i := at
	neg := i < len(s) && s[i] == '-'
	if neg {
		i++
	}
	begin := i
	if strings.HasPrefix(s[i:], "0x") {
		i += 2
		for i < len(s) && hexDigit(s[i]) >= 0 {
			i++
		}
		v, err := strconv.ParseUint(s[begin+2:i], 16, 64)
		if err != nil {
			l.r.failAt(at, "expected a hexadecimal number of 64 bits at most")
		}
		l.pos = i
		if e.IsFloat() {
			if neg || e.Bits() < 64 && v>>e.Bits() != 0 {
				l.r.failAt(at, "the bits of a %s have %d hexadecimal digits at most, and no sign", ElementName(e), (e.Bits()+3)/4)
			}
			l.put(e, v)
			return
		}
		l.integer(e, at, neg, v)
		return
	}
	v := uint64(0)
	overflow := false
	for i < len(s) && class[s[i]]&digit != 0 {
		d := uint64(s[i] - '0')
		if v > (1<<64-1-d)/10 {
			overflow = true
		}
		v = v*10 + d
		i++
	}
	if i == begin {
		l.r.failAt(at, "expected an element of type %s", ElementName(e))
	}
	if i >= len(s) || s[i] != '.' {
		if overflow {
			l.r.failAt(at, "the number does not fit %s", ElementName(e))
		}
		l.pos = i
		if e.IsFloat() {
			l.r.failAt(at, "an integer for the type %s: want a point, or the bits in hexadecimal", ElementName(e))
		}
		l.integer(e, at, neg, v)
		return
	}
	l.r.pos = i
	l.r.floatRest()
	l.pos = l.r.pos
	if !e.IsFloat() {
		l.r.failAt(at, "a number with a point for the type %s", ElementName(e))
	}
	l.put(e, floatBits(e, s[at:l.pos]))
}

// integer adds an integer, which may be in the signed or the unsigned range of its type.
func (l *listReader) integer(e hlo.PrimitiveType, at int, neg bool, v uint64) {
	bits := e.Bits()
	ok := bits == 64 || v>>bits == 0
	if neg {
		ok = v <= 1<<(bits-1) && (!e.IsUnsigned() || v == 0) && e != hlo.PRED
		v = -v
	}
	if !ok {
		l.r.failAt(at, "the number does not fit %s", ElementName(e))
	}
	if e.IsSigned() && bits < 8 {
		v = uint64(int64(v<<(64-bits)) >> (64 - bits))
	}
	l.put(e, v)
}

func (l *listReader) put(e hlo.PrimitiveType, v uint64) {
	switch e.ByteSize() {
	case 1:
		l.out = append(l.out, byte(v))
	case 2:
		l.out = binary.LittleEndian.AppendUint16(l.out, uint16(v))
	case 4:
		l.out = binary.LittleEndian.AppendUint32(l.out, uint32(v))
	default:
		l.out = binary.LittleEndian.AppendUint64(l.out, v)
	}
}

// ElementBytes are the bytes of one element, given its bits.
func ElementBytes(e hlo.PrimitiveType, bits uint64) []byte {
	l := listReader{}
	l.put(e, bits)
	return l.out
}

// FloatBits are the bits of a decimal number in a type.
func FloatBits(t hlo.PrimitiveType, lit string) uint64 { return floatBits(t, lit) }
