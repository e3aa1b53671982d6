package proto

import (
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// A LiteralProto has the elements in the order of memory, which is that of the layout, in one of many fields by element type. Types of
// less than 8 bits take a byte each; some programs pack those of 1, 2 and 4 bits, several to a byte, which is read, too.

// elementField returns the address of the field for type t.
func (m *literalMsg) elementField(t hlo.PrimitiveType) any {
	switch t {
	case hlo.PRED:
		return &m.Preds
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
		return &m.S32
	case hlo.S64:
		return &m.S64
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
		return &m.U32
	case hlo.U64:
		return &m.U64
	case hlo.F16:
		return &m.F16
	case hlo.BF16:
		return &m.BF16
	case hlo.F32:
		return &m.F32
	case hlo.F64:
		return &m.F64
	case hlo.C64:
		return &m.C64
	case hlo.C128:
		return &m.C128
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

func decodeLiteral(m *literalMsg, shapes *shapeCache) (*hlo.Literal, error) {
	s, err := shapes.shape(m.Shape)
	if err != nil {
		return nil, within(err, "shape")
	}
	return decodeLiteralAs(m, s)
}

// decodeLiteralAs reads a literal of shape s.
func decodeLiteralAs(m *literalMsg, s hlo.Shape) (*hlo.Literal, error) {
	switch {
	case m.Elided:
		return hlo.NewElidedLiteral(s), nil
	case s.IsTuple():
		if len(m.Tuple) != s.NumElems() {
			return nil, errorf("%d parts of %v", len(m.Tuple), s)
		}
		parts := make([]*hlo.Literal, len(m.Tuple))
		for i, p := range m.Tuple {
			var err error
			if parts[i], err = decodeLiteralAs(p, s.Elem(i)); err != nil {
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
	t := s.Type()
	data := elementBytes(m.elementField(t), t)
	if isNarrow(t) {
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

// elementBytes is the content of a field of a literal as a literal of ours stores it.
func elementBytes(field any, t hlo.PrimitiveType) []byte {
	v := reflect.ValueOf(field).Elem()
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return v.Bytes()
	}
	w := t.ByteSize()
	data := make([]byte, v.Len()*w)
	for i := range v.Len() {
		putElement(data[i*w:], w, getVarint(v.Index(i)))
	}
	return data
}

func putElement(b []byte, width int, x uint64) {
	switch width {
	case 1:
		b[0] = byte(x)
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(x))
	case 8:
		binary.LittleEndian.PutUint64(b, x)
	}
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

func encodeLiteral(l *hlo.Literal) *literalMsg {
	s := l.Shape()
	m := &literalMsg{Shape: encodeShape(s)}
	switch {
	case s.IsTuple() && l.NumParts() == s.NumElems():
		for i := range l.NumParts() {
			m.Tuple = append(m.Tuple, encodeLiteral(l.Part(i)))
		}
		return m
	case l.IsElided():
		m.Elided = true
		return m
	case !s.IsArray():
		return m
	}
	t := s.Type()
	data := permute(l.Bytes(), s, true)
	v := reflect.ValueOf(m.elementField(t)).Elem()
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(data)
		return m
	}
	w := t.ByteSize()
	v.Set(reflect.MakeSlice(v.Type(), len(data)/w, len(data)/w))
	for i := range v.Len() {
		setVarint(v.Index(i), getElement(data[i*w:], w))
	}
	return m
}

func getElement(b []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}
