package parser

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// integer reads an integer or, for pred, a boolean.
func (r *literalReader) integer() {
	p := r.parser
	s, at := p.src, p.pos
	if at >= len(s) {
		p.fail("unexpected end of a literal")
	}
	if r.typ == hlo.PRED {
		switch {
		case class[s[at]]&classLetter != 0:
			v := byte(0)
			if p.bool() {
				v = 1
			}
			r.data = append(r.data, v)
			return
		case skipDecimal(s, at) > 0:
			p.fail("expects integer for primitive type: PRED")
		}
		v := byte(0)
		if p.int() != 0 {
			v = 1
		}
		r.data = append(r.data, v)
		return
	}
	if skipDecimal(s, at) > 0 || at < len(s) && class[s[at]]&classLetter != 0 {
		p.fail("expects integer for primitive type: %s", strings.ToUpper(r.typ.String()))
	}
	v := p.int()
	bits := r.typ.Bits()
	if r.typ.IsSigned() {
		low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
		if v < low || v > high || v < 0 && s[at] != '-' {
			r.outOfRange(at, s[at:p.pos], low, high)
		}
	} else if high := ^uint64(0) >> (64 - bits); uint64(v) > high {
		r.outOfRange(at, s[at:p.pos], 0, high)
	}
	switch r.width {
	case 1:
		r.data = append(r.data, byte(v))
	case 2:
		r.data = binary.LittleEndian.AppendUint16(r.data, uint16(v))
	case 4:
		r.data = binary.LittleEndian.AppendUint32(r.data, uint32(v))
	default:
		r.data = binary.LittleEndian.AppendUint64(r.data, uint64(v))
	}
}

func (r *literalReader) outOfRange(at int, value string, low, high any) {
	r.failAt(at, "value %s is out of range for literal's primitive type %s namely [%v, %v].", value, strings.ToUpper(r.typ.String()), low, high)
}

// real reads a floating-point value of type t.
func (r *literalReader) real(t hlo.PrimitiveType, what, comma string) {
	p := r.parser
	p.space()
	s, at := p.src, p.pos
	if at >= len(s) {
		p.fail("unexpected end of a literal")
	}
	end := at
	if s[end] == '-' {
		end++
	}
	if end < len(s) && class[s[end]]&classLetter != 0 {
		word := s[end:skipWord(s, end)]
		switch {
		case word == "nan":
			r.nan(t, s[at] == '-', at, end+3)
			return
		case word == "inf":
			p.pos = end + 3
			r.put(t, math.Inf(1-2*(end-at)))
			if f, ok := minifloats[t]; ok && !f.IsInf(f.FromFloat64(math.Inf(1))) {
				p.warn(at, t.String()+" has no infinity; the value becomes another one")
			}
			return
		}
		p.fail("unexpected token type in a literal: %s", word)
	}
	if s[at] == '.' {
		p.failHint(at, "a number begins with a digit: 0.5", "unexpected token type in a literal")
	}
	if end = skipDecimal(s, at); end == 0 {
		if end = skipSigned(s, at); end == 0 {
			p.fail("unexpected token type in a literal")
		}
		if _, _, msg := scanInt(s, at); msg != "" {
			p.fail("%s", msg)
		}
	}
	v, err := strconv.ParseFloat(s[at:end], 64)
	if v == 0 && s[at] == '-' && skipDecimal(s, at) == 0 && !p.keepZeroSigns() {
		v = 0
		p.negativeZero(at)
	}
	if err != nil && math.IsInf(v, 0) {
		p.failAt(at, "Constant is out of range for double: %s", s[at:end])
	}
	p.pos = end
	if !fitsFloat(t, v) {
		low, high := floatRange(t)
		r.failAt(at, "%s %v is out of range for literal's primitive type %s%s namely [%s, %s].", what, v, strings.ToUpper(r.typ.String()), comma, low, high)
	}
	r.put(t, v)
}

// zeroSigns says whether -0 is the negative zero in a text: not asked yet, no or yes.
type zeroSigns uint8

const (
	zeroSignsUnknown zeroSigns = iota
	zeroSignsLost
	zeroSignsKept
)

// keepZeroSigns finds out from the header, which is the first line that is not a comment, whether a printer wrote the text.
func (p *parser) keepZeroSigns() bool {
	if p.keepsZeros == zeroSignsUnknown {
		p.keepsZeros = zeroSignsLost
		header, _, _ := strings.Cut(p.text[skipSpace(p.text, 0):], "\n")
		if p.KeepZeroSigns && strings.HasPrefix(header, "HloModule") && strings.Contains(header, "entry_computation_layout=") {
			p.keepsZeros = zeroSignsKept
		}
	}
	return p.keepsZeros == zeroSignsKept
}

// negativeZero warns, once for a text, of a zero that loses its sign.
func (p *parser) negativeZero(at int) {
	if p.warnedZero {
		return
	}
	p.warn(at, "-0 is read as 0: XLA prints the negative zero so, but reads it as an integer; -0.0 keeps its sign")
	p.warnedZero = true
}

// fitsFloat reports whether a finite value stays finite in t, and can be written in it at all.
func fitsFloat(t hlo.PrimitiveType, v float64) bool {
	switch t {
	case hlo.F64:
		return true
	case hlo.F32:
		return !math.IsInf(float64(float32(v)), 0)
	case hlo.F8E8M0FNU:
		if v <= 0 {
			return false
		}
	}
	f := minifloats[t]
	x := f.Float64(f.FromFloat64(rounded(t, v)))
	return !math.IsInf(x, 0) && !math.IsNaN(x)
}

func floatRange(t hlo.PrimitiveType) (low, high string) {
	switch t {
	case hlo.F64:
		return "-1.79769e+308", "1.79769e+308"
	case hlo.F32:
		return "-3.40282e+38", "3.40282e+38"
	}
	f := minifloats[t]
	high = strconv.FormatFloat(f.Float64(f.Max()), 'g', 6, 64)
	if t == hlo.F8E8M0FNU {
		return "5.87747e-39", high
	}
	return "-" + high, high
}

// rounded is v as XLA converts it on the way to t: f16 and bf16 come from f32.
func rounded(t hlo.PrimitiveType, v float64) float64 {
	if t == hlo.F16 || t == hlo.BF16 {
		return float64(float32(v))
	}
	return v
}

// put appends v as an element of type t.
func (r *literalReader) put(t hlo.PrimitiveType, v float64) {
	switch t {
	case hlo.F64:
		r.data = binary.LittleEndian.AppendUint64(r.data, math.Float64bits(v))
	case hlo.F32:
		r.data = binary.LittleEndian.AppendUint32(r.data, math.Float32bits(float32(v)))
	default:
		r.putCode(minifloats[t].FromFloat64(rounded(t, v)))
	}
}

func (r *literalReader) putCode(code uint16) {
	if r.width == 1 {
		r.data = append(r.data, byte(code))
	} else {
		r.data = binary.LittleEndian.AppendUint16(r.data, code)
	}
}

// nan reads what follows the word nan: a payload in parentheses or nothing.
func (r *literalReader) nan(t hlo.PrimitiveType, negative bool, at, end int) {
	p := r.parser
	p.pos = end
	payload, given := uint64(0), false
	if end < len(p.src) && p.src[end] == '(' {
		close := strings.IndexByte(p.src[end:], ')')
		text, ok := "", false
		if close > 0 {
			text, ok = strings.CutPrefix(p.src[end+1:end+close], "0x")
		}
		v, err := strconv.ParseUint(text, 16, 64)
		if !ok || err != nil || v == 0 || v >= 1<<52 {
			p.failAt(end, "expects a NaN payload (0x1) to (0xfffffffffffff)")
		}
		payload, given = v, true
		p.pos = end + close + 1
	}
	sign := uint64(0)
	if negative {
		sign = 1
	}
	bits := payloadBits(t)
	if given && payload == 1<<51 {
		given = false // the default payload of a double stands for the default of any type
	}
	if given && (bits == 0 || payload>>bits != 0) {
		p.failAt(at, "tries to set NaN payload 0x%x to a literal in shape %v, but the NaN payload is out of range (0x%x)", payload, r.shape, uint64(1)<<bits-1)
	}
	if !given && bits > 0 {
		payload = 1 << (bits - 1)
	}
	switch t {
	case hlo.F64:
		r.data = binary.LittleEndian.AppendUint64(r.data, sign<<63|0x7ff<<52|payload)
		return
	case hlo.F32:
		r.data = binary.LittleEndian.AppendUint32(r.data, uint32(sign<<31|0xff<<23|payload))
		return
	}
	f := minifloats[t]
	if code, ok := f.NaNWithPayload(negative, payload); ok && bits > 0 {
		r.putCode(code)
		return
	}
	code := f.NaN()
	if !f.IsNaN(code) {
		p.warn(at, t.String()+" has no NaN; the value becomes another one")
		if negative {
			code = 0 // XLA makes -0 of NaN, and flips its sign
		}
	}
	if negative && f.IsNaN(f.Negate(code)) {
		code = f.Negate(code)
	}
	r.putCode(code)
}

// payloadBits is the width of NaN payloads in t, 0 when its NaN has none.
func payloadBits(t hlo.PrimitiveType) int {
	switch t {
	case hlo.F64:
		return 52
	case hlo.F32:
		return 23
	}
	return minifloats[t].Info().PayloadBits
}
