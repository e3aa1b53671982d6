package hlo

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/gohalo/halo/internal/minifloat"
)

// AppendText appends the literal in full without its shape, on one line, as XLA writes it (hlo-text section 4.6): `{1, 2}`,
// `( true, {0.5} )`. Data that is not known is `{...}`.
func (l *Literal) AppendText(b []byte) []byte { return l.appendText(b, false) }

// AppendShapedText appends the literal with the shape of each leaf before it: `s32[2]{0} {1, 2}`.
func (l *Literal) AppendShapedText(b []byte) []byte { return l.appendText(b, true) }

// String is the literal with its shapes.
func (l *Literal) String() string { return string(l.AppendShapedText(nil)) }

func (l *Literal) appendText(b []byte, shaped bool) []byte {
	if l.shape.IsTuple() && !l.isElided() {
		b = append(b, "( "...)
		for i, p := range l.parts {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = p.appendText(b, shaped)
		}
		return append(b, " )"...)
	}
	if shaped {
		b = append(l.shape.AppendText(b, true), ' ')
	}
	switch {
	case l.shape.IsToken():
		return append(b, "token"...)
	case l.isElided(), l.shape.bracesOnly() > maxBraces:
		return append(b, "{...}"...)
	}
	t := l.shape.Type()
	w := literalWriter{dims: l.shape.d.dims, data: l.data, elem: elementWriters[t], size: t.ByteSize()}
	if t == PRED && len(w.dims) == 0 {
		return strconv.AppendBool(b, l.data[0] != 0)
	}
	if t.IsFloat() || t.IsComplex() { // the longest of a row is rarely much longer than the others
		b = grow(b, 10*len(l.data)/w.size)
	}
	return w.array(b, 0, 0)
}

// maxBraces bounds what is written of an array without elements. There is nothing to lose: such an array has one value.
const maxBraces = 1 << 16

// bracesOnly is how many rows the text of an array without elements has, which consists of braces.
func (s Shape) bracesOnly() int64 {
	if s.NumElements() != 0 {
		return 0
	}
	n := int64(1)
	for _, d := range s.d.dims {
		if d == 0 {
			break
		}
		if n > math.MaxInt64/d {
			return math.MaxInt64
		}
		n *= d
	}
	return n
}

func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]byte, 0, max(len(b)+n, 2*cap(b))), b...)
}

// literalWriter writes the elements of one array in order.
type literalWriter struct {
	dims []int64
	data []byte // what is left
	elem func([]byte, []byte) []byte
	size int
}

// array writes the part at the given depth; index is its place in the part around it.
func (w *literalWriter) array(b []byte, depth int, index int64) []byte {
	rank := len(w.dims)
	if depth == rank {
		b = w.elem(b, w.data[:w.size])
		w.data = w.data[w.size:]
		return b
	}
	n := w.dims[depth]
	if depth == rank-1 {
		return w.row(b, n, rank > 1 && n > 1)
	}
	b = append(b, '{')
	if rank >= 4 && depth > 0 {
		b = strconv.AppendInt(append(b, " /*i"...), int64(depth-1), 10)
		b = strconv.AppendInt(append(b, '='), index, 10)
		b = append(b, "*/"...)
		if n > 0 {
			b = append(b, ' ')
		}
	} else {
		b = append(b, ' ')
	}
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.array(b, depth+1, i)
	}
	return append(b, " }"...)
}

func (w *literalWriter) row(b []byte, n int64, spaced bool) []byte {
	b = append(b, '{')
	if spaced {
		b = append(b, ' ')
	}
	data := w.data
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = w.elem(b, data[:w.size])
		data = data[w.size:]
	}
	w.data = data
	if spaced {
		b = append(b, ' ')
	}
	return append(b, '}')
}

// elementWriters append one element of each type, given its bytes.
var elementWriters = func() (all [NumPrimitiveTypes]func(b, e []byte) []byte) {
	signed := func(b, e []byte) []byte { return strconv.AppendInt(b, int64(int8(e[0])), 10) }
	unsigned := func(b, e []byte) []byte { return strconv.AppendUint(b, uint64(e[0]), 10) }
	for _, t := range []PrimitiveType{S1, S2, S4, S8} {
		all[t] = signed
	}
	for _, t := range []PrimitiveType{PRED, U1, U2, U4, U8} {
		all[t] = unsigned
	}
	le := binary.LittleEndian
	all[S16] = func(b, e []byte) []byte { return strconv.AppendInt(b, int64(int16(le.Uint16(e))), 10) }
	all[S32] = func(b, e []byte) []byte { return strconv.AppendInt(b, int64(int32(le.Uint32(e))), 10) }
	all[S64] = func(b, e []byte) []byte { return strconv.AppendInt(b, int64(le.Uint64(e)), 10) }
	all[U16] = func(b, e []byte) []byte { return strconv.AppendUint(b, uint64(le.Uint16(e)), 10) }
	all[U32] = func(b, e []byte) []byte { return strconv.AppendUint(b, uint64(le.Uint32(e)), 10) }
	all[U64] = func(b, e []byte) []byte { return strconv.AppendUint(b, le.Uint64(e), 10) }
	f32 := func(b, e []byte) []byte { return appendFloat32(b, le.Uint32(e)) }
	f64 := func(b, e []byte) []byte { return appendFloat64(b, le.Uint64(e)) }
	all[F32], all[F64] = f32, f64
	all[C64] = func(b, e []byte) []byte {
		return append(f32(append(f32(append(b, '('), e[:4]), ", "...), e[4:]), ')')
	}
	all[C128] = func(b, e []byte) []byte {
		return append(f64(append(f64(append(b, '('), e[:8]), ", "...), e[8:]), ')')
	}
	for _, f := range minifloat.Formats() {
		t, _ := PrimitiveTypeByName(f.String())
		digits := miniDigits(f)
		switch t.ByteSize() {
		case 1:
			all[t] = func(b, e []byte) []byte { return appendMini(b, f, uint16(e[0]), digits) }
		case 2:
			all[t] = func(b, e []byte) []byte { return appendMini(b, f, le.Uint16(e), digits) }
		}
	}
	return all
}()

// miniDigits is the number of significant digits that XLA writes of a narrow format: enough to read back, save for types with
// few mantissa bits, which all get what the count of bits gives.
func miniDigits(f minifloat.Format) int {
	switch m := f.Info().MantissaBits; {
	case m >= 10:
		return 5
	case m >= 7:
		return 4
	case m >= 3:
		return 3
	}
	return 2
}

func appendMini(b []byte, f minifloat.Format, code uint16, digits int) []byte {
	if !f.IsNaN(code) {
		return appendG(b, f.Float64(code), digits)
	}
	info := f.Info()
	b = appendNaN(b, info.HasSign && code>>(info.Bits-1)&1 != 0)
	if p := f.Payload(code); info.PayloadBits > 0 && p != 1<<(info.PayloadBits-1) {
		b = appendPayload(b, p)
	}
	return b
}

func appendNaN(b []byte, negative bool) []byte {
	if negative {
		b = append(b, '-')
	}
	return append(b, "nan"...)
}

func appendPayload(b []byte, p uint64) []byte {
	return append(strconv.AppendUint(append(b, "(0x"...), p, 16), ')')
}

// appendFloat32 writes 6 digits, or 9 when 6 do not read back as the same value.
func appendFloat32(b []byte, bits uint32) []byte {
	x := math.Float32frombits(bits)
	if i := int32(x); float32(i) == x && -100_000 < i && i < 100_000 && bits != 1<<31 {
		return strconv.AppendInt(b, int64(i), 10)
	}
	if x != x {
		b = appendNaN(b, bits>>31 != 0)
		if p := bits & (1<<23 - 1); p != 1<<22 {
			b = appendPayload(b, uint64(p))
		}
		return b
	}
	return appendRoundTrip(b, float64(x), 32, 6, 9)
}

// appendFloat64 writes 15 digits, or 17 when 15 do not read back as the same value.
func appendFloat64(b []byte, bits uint64) []byte {
	x := math.Float64frombits(bits)
	if x != x {
		b = appendNaN(b, bits>>63 != 0)
		if p := bits & (1<<52 - 1); p != 1<<51 {
			b = appendPayload(b, p)
		}
		return b
	}
	return appendRoundTrip(b, x, 64, 15, 17)
}

// appendRoundTrip writes x with the smaller precision if that reads back exactly, else with the greater one. The shortest text tells
// most cases apart: when it takes more digits than low, no text of low digits reads back.
func appendRoundTrip(b []byte, x float64, bits, low, high int) []byte {
	if math.IsInf(x, 0) {
		return appendG(b, x, low)
	}
	at := len(b)
	b = strconv.AppendFloat(b, x, 'e', -1, bits)
	if digitsOf(b[at:]) > low {
		return appendG(b[:at], x, high)
	}
	b = appendG(b[:at], x, low)
	if y, err := strconv.ParseFloat(string(b[at:]), bits); err != nil || y != x {
		b = appendG(b[:at], x, high)
	}
	return b
}

// digitsOf counts the digits of the mantissa of a text like -1.25e+07.
func digitsOf(s []byte) int {
	n := 0
	for _, c := range s {
		if c == 'e' {
			break
		}
		if '0' <= c && c <= '9' {
			n++
		}
	}
	return n
}

// appendG writes x as %.{digits}g of C does. Go's 'g' agrees with it but for the names of infinities.
func appendG(b []byte, x float64, digits int) []byte {
	switch {
	case math.IsInf(x, 1):
		return append(b, "inf"...)
	case math.IsInf(x, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, x, 'g', digits, 64)
}

// appendShortFloat writes a floating-point attribute: 6 digits as XLA does, or, where that would be another number, as many as it
// takes. bits is the width of the type that readers keep, 32 or 64.
func appendShortFloat(b []byte, x float64, bits int) []byte {
	if math.IsInf(x, 0) || x != x {
		if x != x {
			return appendNaN(b, math.Signbit(x))
		}
		return appendG(b, x, 6)
	}
	at := len(b)
	b = appendG(b, x, 6)
	y, err := strconv.ParseFloat(string(b[at:]), bits)
	if err == nil && y == x {
		return b
	}
	digits := 9
	if bits == 64 {
		digits = 17
	}
	at2 := len(b)
	b = strconv.AppendFloat(b, x, 'e', -1, bits)
	digits = min(digits, digitsOf(b[at2:]))
	return appendG(b[:at], x, digits)
}
