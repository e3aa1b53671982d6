package printer

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// Bounds of what is written of constants.
const (
	maxSmallConstant     = 10     // elements, when large constants are left out
	maxEssentialConstant = 500000 // elements of integers, when only essential constants are written
)

const elided = "{...}"

// constant writes the value of a constant instruction. A tuple is written in full even when large constants are left out: there is no
// way to read an elided one.
func (p *printer) constant(l *hlo.Literal) {
	s := l.Shape()
	switch {
	case p.EssentialConstants:
		p.essential(l)
	case p.LargeConstants || s.IsTuple() || s.NumElements() <= maxSmallConstant:
		p.b = l.AppendText(p.b)
	default:
		p.str(elided)
	}
}

// essential writes all zeros as `0` and all ones as `1`, other integers in full, and nothing else.
func (p *printer) essential(l *hlo.Literal) {
	s := l.Shape()
	switch {
	case s.IsTuple() && s.NumElems() == 0:
		p.b = l.AppendText(p.b)
	case s.IsTuple() || l.IsElided():
		p.str(elided)
	case s.NumElements() == 0 || isAll(l, 0):
		p.str("0")
	case isAll(l, 1):
		p.str("1")
	case s.Type().IsInteger() && s.NumElements() <= maxEssentialConstant:
		p.b = l.AppendText(p.b)
	default:
		p.str(elided)
	}
}

// isAll reports whether every element of an array is the number v, 0 or 1; -0 is not 0.
func isAll(l *hlo.Literal, v int) bool {
	t := l.Shape().Type()
	one, ok := encodeElement(t, v)
	if !ok {
		return false
	}
	data := l.Bytes()
	return bytes.HasPrefix(data, one) && (len(data) == len(one) || bytes.Equal(data[len(one):], data[:len(data)-len(one)]))
}

// encodeElement is the number v as an element of type t; false when t has no such number.
func encodeElement(t hlo.PrimitiveType, v int) ([]byte, bool) {
	e := make([]byte, t.ByteSize())
	switch {
	case t == hlo.PRED || t.IsInteger():
		e[0] = byte(v)
		if t == hlo.S1 && v == 1 {
			return nil, false
		}
	case t == hlo.F64 || t == hlo.C128:
		binary.LittleEndian.PutUint64(e, math.Float64bits(float64(v)))
	case t == hlo.F32 || t == hlo.C64:
		binary.LittleEndian.PutUint32(e, math.Float32bits(float32(v)))
	default:
		return encodeMini(e, t, v)
	}
	return e, true
}

// encodeMini is encodeElement for the narrow formats.
func encodeMini(e []byte, t hlo.PrimitiveType, v int) ([]byte, bool) {
	for _, f := range minifloat.Formats() {
		if f.String() != t.String() {
			continue
		}
		code := f.FromFloat64(float64(v))
		if f.Float64(code) != float64(v) { // f8e8m0fnu has no zero
			return nil, false
		}
		e[0] = byte(code)
		if len(e) > 1 {
			e[1] = byte(code >> 8)
		}
		return e, true
	}
	return nil, false
}
