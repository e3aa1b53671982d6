package prototext

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Append appends the text of a message in its binary form. Fields are in the order of their numbers.
func (s *Schema) Append(b []byte, name string, data []byte) ([]byte, error) {
	m := s.messages[name]
	if m == nil {
		return b, fmt.Errorf("prototext: the schema has no message %s", name)
	}
	return m.append(b, data, 0)
}

// occurrence is a field as it is found.
type occurrence struct {
	f    *field
	typ  protowire.Type
	data []byte // its value
}

func (m *message) append(b, data []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, fmt.Errorf("messages nest deeper than %d", maxDepth)
	}
	var found []occurrence
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return b, fmt.Errorf("%s: %w", m.name, protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(num, typ, data[n:])
		if size < 0 {
			return b, fmt.Errorf("%s: field %d: %w", m.name, num, protowire.ParseError(size))
		}
		if f := m.byNumber[num]; f != nil {
			found = append(found, occurrence{f, typ, data[n : n+size]})
		}
		data = data[n+size:]
	}
	slices.SortStableFunc(found, func(x, y occurrence) int { return int(x.f.number) - int(y.f.number) })
	var err error
	for _, o := range found {
		if b, err = o.append(b, depth); err != nil {
			return b, fmt.Errorf("%s.%s: %w", m.name, o.f.name, err)
		}
	}
	return b, nil
}

func indented(b []byte, depth int) []byte {
	for range depth {
		b = append(b, "  "...)
	}
	return b
}

func (o occurrence) append(b []byte, depth int) ([]byte, error) {
	f := o.f
	wire := f.scalar.wire
	switch {
	case f.message != nil:
		wire = protowire.BytesType
	case f.enum != nil:
		wire = protowire.VarintType
	}
	switch {
	case f.message != nil && o.typ == wire:
		data, _ := protowire.ConsumeBytes(o.data)
		b = append(append(indented(b, depth), f.name...), " {\n"...)
		b, err := f.message.append(b, data, depth+1)
		return append(indented(b, depth), "}\n"...), err
	case o.typ == wire:
		b, _, err := f.value(b, o.data, depth)
		return b, err
	case o.typ == protowire.BytesType && f.packs():
		data, _ := protowire.ConsumeBytes(o.data)
		for len(data) > 0 {
			var n int
			var err error
			if b, n, err = f.value(b, data, depth); err != nil {
				return b, err
			}
			data = data[n:]
		}
		return b, nil
	}
	return b, fmt.Errorf("unexpected wire type %d", o.typ)
}

// value appends a line for one value at the beginning of data, and returns its length there.
func (f *field) value(b, data []byte, depth int) ([]byte, int, error) {
	b = append(append(indented(b, depth), f.name...), ": "...)
	var x uint64
	var n int
	switch {
	case f.enum != nil || f.scalar.wire == protowire.VarintType:
		x, n = protowire.ConsumeVarint(data)
	case f.scalar.wire == protowire.Fixed64Type:
		x, n = protowire.ConsumeFixed64(data)
	case f.scalar.wire == protowire.Fixed32Type:
		var y uint32
		y, n = protowire.ConsumeFixed32(data)
		x = uint64(y)
	default:
		var v []byte
		if v, n = protowire.ConsumeBytes(data); n >= 0 {
			return append(quote(b, v), '\n'), n, nil
		}
	}
	if n < 0 {
		return b, 0, protowire.ParseError(n)
	}
	switch {
	case f.enum != nil:
		if name, ok := f.enum.names[int64(int32(x))]; ok {
			b = append(b, name...)
		} else {
			b = strconv.AppendInt(b, int64(int32(x)), 10)
		}
	case f.scalar.text == boolean:
		b = strconv.AppendBool(b, x != 0)
	case f.scalar.text == float32s:
		b = number(b, float64(math.Float32frombits(uint32(x))), 32)
	case f.scalar.text == float64s:
		b = number(b, math.Float64frombits(x), 64)
	case f.scalar.signed:
		b = strconv.AppendInt(b, int64(x), 10)
	default:
		b = strconv.AppendUint(b, x, 10)
	}
	return append(b, '\n'), n, nil
}

func number(b []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, "nan"...)
	case math.IsInf(x, 1):
		return append(b, "inf"...)
	case math.IsInf(x, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, bits)
}

// quote appends bytes as a string: what is not printable in ASCII is octal.
func quote(b, v []byte) []byte {
	b = append(b, '"')
	for _, c := range v {
		switch {
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '"' || c == '\\' || c == '\'':
			b = append(b, '\\', c)
		case c < ' ' || c >= 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
