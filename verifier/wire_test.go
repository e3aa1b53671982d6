package verifier_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is a message of the wire format, its fields in order.
type message struct{ fields []wireField }

type wireField struct {
	num protowire.Number
	typ protowire.Type
	raw []byte // the value as it is encoded, length included
}

func decode(t testing.TB, data []byte) *message {
	t.Helper()
	m := new(message)
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		require.Positive(t, n)
		size := protowire.ConsumeFieldValue(num, typ, data[n:])
		require.Positive(t, size)
		m.fields = append(m.fields, wireField{num, typ, data[n : n+size]})
		data = data[n+size:]
	}
	return m
}

func (m *message) encode() []byte {
	var b []byte
	for _, f := range m.fields {
		b = append(protowire.AppendTag(b, f.num, f.typ), f.raw...)
	}
	return b
}

func (f wireField) bytes() []byte {
	b, _ := protowire.ConsumeBytes(f.raw)
	return b
}

// index finds the message in field num that has the given name; "" finds the first.
func (m *message) index(t testing.TB, num protowire.Number, name string) int {
	t.Helper()
	for i, f := range m.fields {
		if f.num != num {
			continue
		}
		if name == "" {
			return i
		}
		for _, inner := range decode(t, f.bytes()).fields {
			if inner.num == nameField && string(inner.bytes()) == name {
				return i
			}
		}
	}
	t.Fatalf("field %d has no %q", num, name)
	return -1
}

func (m *message) find(t testing.TB, num protowire.Number, name string) wireField {
	return m.fields[m.index(t, num, name)]
}

// within changes a message inside.
func (m *message) within(t testing.TB, num protowire.Number, name string, change func(*message)) {
	i := m.index(t, num, name)
	inner := decode(t, m.fields[i].bytes())
	change(inner)
	m.fields[i].raw = protowire.AppendBytes(nil, inner.encode())
}

func (m *message) setIDs(num protowire.Number, ids ...uint64) {
	m.fields = slices.DeleteFunc(m.fields, func(f wireField) bool { return f.num == num })
	var packed []byte
	for _, id := range ids {
		packed = protowire.AppendVarint(packed, id)
	}
	m.fields = append(m.fields, wireField{num, protowire.BytesType, protowire.AppendBytes(nil, packed)})
}

// ids are the numbers in a packed field.
func (m *message) ids(num protowire.Number) []uint64 {
	var ids []uint64
	for _, f := range m.fields {
		if f.num != num {
			continue
		}
		for packed := f.bytes(); len(packed) > 0; {
			id, n := protowire.ConsumeVarint(packed)
			if n <= 0 {
				return nil
			}
			ids, packed = append(ids, id), packed[n:]
		}
	}
	return ids
}

// setID gives an instruction another id and returns the one it had.
func (m *message) setID(id uint64) uint64 {
	var old uint64
	m.fields = slices.DeleteFunc(m.fields, func(f wireField) bool {
		if f.num == instructionID {
			old, _ = protowire.ConsumeVarint(f.raw)
		}
		return f.num == instructionID
	})
	m.fields = append(m.fields, wireField{instructionID, protowire.VarintType, protowire.AppendVarint(nil, id)})
	return old
}
