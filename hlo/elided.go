package hlo

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/internal/budget"
)

// FillElided returns m with data in the place of every elided constant: the filler that XLA's reader makes, so that numbers can be
// compared with it. Each constant takes up where the one before it in the text ended; a module without elided constants is returned as
// it is. Constants for which there is no memory are an error.
func FillElided(m Module) (Module, error) {
	bytes := int64(0)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if l := in.Literal(); l != nil && l.IsElided() {
				if bytes += min(l.elidedBytes(), math.MaxInt64-bytes); bytes == math.MaxInt64 {
					break
				}
			}
		}
	}
	if err := budget.Check("data for the elided constants", bytes); err != nil {
		return Module{}, err
	}
	var f Filler
	e := m.Edit()
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if l := in.Literal(); l != nil && l.IsElided() {
				e.Computation(c.ID()).Instr(in.ID()).SetAttrs(&ConstantAttrs{Literal: f.Fill(l)})
			}
		}
	}
	return e.Freeze(), nil
}

// elidedBytes is the size of the parts of l that are not known.
func (l *Literal) elidedBytes() int64 {
	if l.parts == nil {
		if !l.isElided() {
			return 0
		}
		if !l.shape.IsTuple() {
			return l.shape.ByteSize()
		}
	}
	n := int64(0)
	for _, p := range l.parts {
		n += min(p.elidedBytes(), math.MaxInt64-n)
	}
	return n
}

// Filler makes the data of elided constants, one after the other in the order of the text. The zero Filler is at the beginning of one.
type Filler struct {
	words uint32
	bytes uint8
}

// Skip passes over an elided array without filling it.
func (f *Filler) Skip(l *Literal) {
	n := uint64(l.shape.ByteSize())
	f.words += uint32(n / 4)
	f.bytes += uint8(n % 4)
}

// Fill returns l with data in the place of what is elided.
func (f *Filler) Fill(l *Literal) *Literal {
	if l.parts != nil {
		parts := make([]*Literal, len(l.parts))
		for i, p := range l.parts {
			parts[i] = f.Fill(p)
		}
		return NewTupleLiteral(parts...)
	}
	if !l.isElided() {
		return l
	}
	data := make([]byte, l.shape.ByteSize())
	mask := ^uint32(0)
	if l.shape.Type() == PRED {
		mask = 0x01010101
	}
	words, rest := len(data)/4, len(data)%4
	for i := range words {
		binary.LittleEndian.PutUint32(data[4*i:], f.words&mask)
		f.words++
	}
	// The bytes after the last whole word stay zero; as many others, where XLA's loop lands, come from the second counter.
	for i := range rest {
		data[words+i] = f.bytes & byte(mask)
		f.bytes++
	}
	normalize(l.shape.Type(), data)
	return &Literal{shape: l.shape, data: data}
}

// normalize brings elements narrower than a byte to the form in which literals store them.
func normalize(t PrimitiveType, data []byte) {
	bits := t.Bits()
	if bits == 0 || bits >= 8 || t == PRED {
		return
	}
	for i, b := range data {
		if t.IsSigned() {
			data[i] = byte(int8(b<<(8-bits)) >> (8 - bits))
		} else {
			data[i] = b & (1<<bits - 1)
		}
	}
}
