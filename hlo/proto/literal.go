package proto

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// A LiteralProto has the elements in the order of memory, which is that of the layout, in one of many fields by element type. Types of
// less than 8 bits take a byte each; some programs pack those of 1, 2 and 4 bits, several to a byte, which is read, too.

// elementField returns the address of the field for type t, as it is encoded.
func (m *literalMsg) elementField(t hlo.PrimitiveType) *[]byte {
	switch t {
	case hlo.PRED:
		return (*[]byte)(&m.Preds)
	case hlo.S1:
		return &m.S1
	case hlo.S2:
		return &m.S2
	case hlo.S4:
		return &m.S4
	case hlo.S8:
		return &m.S8
	case hlo.S16:
		return &m.S16
	case hlo.S32:
		return (*[]byte)(&m.S32)
	case hlo.S64:
		return (*[]byte)(&m.S64)
	case hlo.U1:
		return &m.U1
	case hlo.U2:
		return &m.U2
	case hlo.U4:
		return &m.U4
	case hlo.U8:
		return &m.U8
	case hlo.U16:
		return &m.U16
	case hlo.U32:
		return (*[]byte)(&m.U32)
	case hlo.U64:
		return (*[]byte)(&m.U64)
	case hlo.F16:
		return &m.F16
	case hlo.BF16:
		return &m.BF16
	case hlo.F32:
		return (*[]byte)(&m.F32)
	case hlo.F64:
		return (*[]byte)(&m.F64)
	case hlo.C64:
		return (*[]byte)(&m.C64)
	case hlo.C128:
		return (*[]byte)(&m.C128)
	case hlo.F8E5M2:
		return &m.F8E5M2
	case hlo.F8E4M3:
		return &m.F8E4M3
	case hlo.F8E3M4:
		return &m.F8E3M4
	case hlo.F8E4M3FN:
		return &m.F8E4M3FN
	case hlo.F8E5M2FNUZ:
		return &m.F8E5M2FNUZ
	case hlo.F8E4M3FNUZ:
		return &m.F8E4M3FNUZ
	case hlo.F8E4M3B11FNUZ:
		return &m.F8E4M3B11
	case hlo.F8E8M0FNU:
		return &m.F8E8M0FNU
	case hlo.F6E3M2FN:
		return &m.F6E3M2FN
	case hlo.F6E2M3FN:
		return &m.F6E2M3FN
	case hlo.F4E2M1FN:
		return &m.F4E2M1FN
	}
	return nil
}

// isNarrow reports whether elements of type t take less than a byte.
func isNarrow(t hlo.PrimitiveType) bool { return t.Bits() < 8 && t != hlo.PRED && t.Bits() > 0 }

// isVarint reports whether elements of type t are written as varints.
func isVarint(t hlo.PrimitiveType) bool {
	return t == hlo.PRED || t.IsInteger() && t.Bits() >= 32
}

// decodeLiteral reads a literalMsg.
func decodeLiteral(raw rawMsg, known shapes) (*hlo.Literal, error) {
	var m literalMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	s, err := known.shape(m.Shape)
	if err != nil {
		return nil, within(err, "shape")
	}
	return decodeLiteralAs(&m, s)
}

// decodeLiteralAs reads a literal of shape s, whatever its own.
func decodeLiteralAs(m *literalMsg, s hlo.Shape) (*hlo.Literal, error) {
	switch {
	case m.Elided:
		return hlo.NewElidedLiteral(s), nil
	case s.IsTuple():
		if len(m.Tuple) != s.NumElems() {
			return nil, errorf("%d parts of %v", len(m.Tuple), s)
		}
		parts := make([]*hlo.Literal, len(m.Tuple))
		for i, raw := range m.Tuple {
			var part literalMsg
			err := unmarshal(raw, &part)
			if err == nil {
				parts[i], err = decodeLiteralAs(&part, s.Elem(i))
			}
			if err != nil {
				return nil, within(err, at("tuple_literals", i))
			}
		}
		return hlo.NewTupleLiteral(parts...), nil
	case s.IsToken():
		return newLiteral(s, nil)
	case !s.IsArray():
		return nil, errorf("literal of shape %v", s)
	case s.HasUnbounded():
		return nil, errorf("literal of unbounded shape %v", s)
	}
	// Sizes less than their bounds have no place in a literal of ours.
	if len(m.DynamicSizes) > 0 && !slices.Equal(m.DynamicSizes, s.Dimensions()) {
		return nil, errorf("sizes %v in a literal of shape %v", m.DynamicSizes, s)
	}
	t := s.Type()
	data := *m.elementField(t)
	switch {
	case len(data) == 0 && len(m.Tuple) == 0 && 0 < s.ByteSize() && s.ByteSize() <= maxUnpacked:
		// What TensorFlow gives as optimized_hlo_proto_serialized is without data. Of more than a message can hold there never was any.
		return hlo.NewElidedLiteral(s), nil
	case isVarint(t):
		if n := countVarints(data); int64(n) != s.NumElements() {
			return nil, errorf("%d elements of data for %v", n, s)
		}
		data = fromVarints(data, t.ByteSize())
	case isNarrow(t):
		data = narrowBytes(data, s)
	}
	if int64(len(data)) != s.ByteSize() {
		return nil, errorf("%d bytes of data for %v", len(data), s)
	}
	return newLiteral(s, permute(data, s, false))
}

// narrowBytes puts elements of less than 8 bits into bytes of their own, signed ones with their sign.
func narrowBytes(data []byte, s hlo.Shape) []byte {
	t, n := s.Type(), s.NumElements()
	bits := t.Bits()
	out := slices.Clone(data)
	if int64(len(data)) < n && n <= int64(len(data))*8 && 8%bits == 0 && len(data) == minifloat.PackedLen(int(n), bits) {
		out = make([]byte, n)
		minifloat.Unpack(out, data, bits)
	}
	for i, b := range out {
		if shift := 8 - bits; t.IsSigned() {
			out[i] = byte(int8(b<<shift) >> shift)
		} else {
			out[i] = b << shift >> shift
		}
	}
	return out
}

func newLiteral(s hlo.Shape, data []byte) (*hlo.Literal, error) {
	l, err := hlo.NewLiteral(s, data)
	if err != nil {
		return nil, errorf("%v", err)
	}
	return l, nil
}

// fromVarints turns varints into numbers of 1, 4 or 8 bytes.
func fromVarints(packed []byte, width int) []byte {
	data := make([]byte, 0, countVarints(packed)*width)
	for len(packed) > 0 {
		x, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return nil
		}
		packed = packed[n:]
		switch width {
		case 1:
			data = append(data, byte(protowire.EncodeBool(x != 0)))
		case 4:
			data = binary.LittleEndian.AppendUint32(data, uint32(x))
		case 8:
			data = binary.LittleEndian.AppendUint64(data, x)
		}
	}
	return data
}

// toVarints is the inverse of fromVarints, for elements of type t. Negative numbers take ten bytes, whatever their width.
func toVarints(data []byte, t hlo.PrimitiveType) []byte {
	w := t.ByteSize()
	packed := make([]byte, 0, len(data)/w*2)
	for ; len(data) > 0; data = data[w:] {
		switch {
		case w == 1:
			packed = append(packed, data[0])
		case w == 8:
			packed = protowire.AppendVarint(packed, binary.LittleEndian.Uint64(data))
		case t.IsSigned():
			packed = protowire.AppendVarint(packed, uint64(int32(binary.LittleEndian.Uint32(data))))
		default:
			packed = protowire.AppendVarint(packed, uint64(binary.LittleEndian.Uint32(data)))
		}
	}
	return packed
}

// permute turns elements in the order of memory into row-major order, or back.
func permute(data []byte, s hlo.Shape, toMemory bool) []byte {
	l, ok := s.Layout()
	if !ok || l.IsRowMajor() || len(data) == 0 {
		return data
	}
	dims, w := s.Dimensions(), s.Type().ByteSize()
	// stride of each axis in row-major order, and the axes from slowest to fastest in memory
	strides := make([]int, len(dims))
	step := w
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		step *= int(dims[i])
	}
	axes := slices.Clone(l.MinorToMajor)
	slices.Reverse(axes)
	out := make([]byte, len(data))
	index := make([]int64, len(dims))
	logical := 0
	for memory := 0; memory < len(data); memory += w {
		if toMemory {
			copy(out[memory:memory+w], data[logical:])
		} else {
			copy(out[logical:logical+w], data[memory:])
		}
		for k := len(axes) - 1; k >= 0; k-- {
			a := axes[k]
			index[a]++
			logical += strides[a]
			if index[a] < dims[a] {
				break
			}
			logical -= int(dims[a]) * strides[a]
			index[a] = 0
		}
	}
	return out
}

// literal is the message of a literal. Elided parts have the data of filled, where there is one, and a mark.
func (e *encoder) literal(l, filled *hlo.Literal) *literalMsg {
	s := l.Shape()
	m := &literalMsg{Shape: e.shape(s), Elided: l.NumParts() == 0 && l.IsElided()}
	if m.Elided && filled != nil {
		l = filled
	}
	switch {
	case s.IsTuple():
		for i := range l.NumParts() {
			var part *hlo.Literal
			if filled != nil {
				part = filled.Part(i)
			}
			m.Tuple = append(m.Tuple, marshal(nil, e.literal(l.Part(i), part)))
		}
	case s.IsArray() && !l.IsElided():
		t := s.Type()
		if !s.IsStatic() {
			m.DynamicSizes = s.Dimensions()
		}
		data := permute(l.Bytes(), s, true)
		if isVarint(t) {
			data = toVarints(data, t)
		}
		*m.elementField(t) = data
	}
	return m
}

// elidedBytes is the size of what is elided of a literal.
func elidedBytes(l *hlo.Literal) int64 {
	if l.NumParts() == 0 && l.IsElided() {
		return l.Shape().ByteSize()
	}
	n := int64(0)
	for i := range l.NumParts() {
		n = min(n+elidedBytes(l.Part(i)), maxFiller+1)
	}
	return n
}
