package export

import (
	"encoding/binary"
	"fmt"
)

// failure is an error on its way to Open.
type failure struct{ msg string }

// buffer is a flatbuffer. Whatever is out of it is an error.
type buffer []byte

func (b buffer) fail(at int64, format string, args ...any) {
	panic(failure{fmt.Sprintf("byte %d: ", at) + fmt.Sprintf(format, args...)})
}

func (b buffer) bytes(at, n int64) []byte {
	if at < 0 || n < 0 || at > int64(len(b))-n {
		b.fail(at, "%d bytes are wanted, the file has %d", n, len(b))
	}
	return b[at : at+n : at+n]
}

func (b buffer) u16(at int64) int64 { return int64(binary.LittleEndian.Uint16(b.bytes(at, 2))) }
func (b buffer) u32(at int64) int64 { return int64(binary.LittleEndian.Uint32(b.bytes(at, 4))) }

// table is a table of the buffer.
type table struct {
	b      buffer
	at     int64
	vtable int64
	fields int64
}

// tableAt is the table at an offset. Its list of fields stands before or after it.
func (b buffer) tableAt(at int64) table {
	vtable := at - int64(int32(b.u32(at)))
	size := b.u16(vtable)
	if size < 4 || size%2 != 0 {
		b.fail(vtable, "a table whose list of fields has %d bytes", size)
	}
	b.bytes(vtable, size)
	return table{b, at, vtable, (size - 4) / 2}
}

// field is where a field stands, 0 when it is absent.
func (t table) field(slot int64) int64 {
	if slot >= t.fields {
		return 0
	}
	off := t.b.u16(t.vtable + 4 + 2*slot)
	if off == 0 {
		return 0
	}
	return t.at + off
}

// number reads a field of size bytes, unsigned; 0 when it is absent.
func (t table) number(slot, size int64) int64 {
	at := t.field(slot)
	if at == 0 {
		return 0
	}
	var v int64
	for i, c := range t.b.bytes(at, size) {
		v |= int64(c) << (8 * i)
	}
	return v
}

// target is where an offset field leads, 0 when it is absent.
func (t table) target(slot int64) int64 {
	at := t.field(slot)
	if at == 0 {
		return 0
	}
	return at + t.b.u32(at)
}

// data reads a vector of bytes, or a string.
func (t table) data(slot int64) []byte {
	at := t.target(slot)
	if at == 0 {
		return nil
	}
	return t.b.bytes(at+4, t.b.u32(at))
}

func (t table) str(slot int64) string { return string(t.data(slot)) }

// vector is where a vector's elements begin and how many there are.
func (t table) vector(slot, size int64) (at, n int64) {
	at = t.target(slot)
	if at == 0 {
		return 0, 0
	}
	n = t.b.u32(at)
	t.b.bytes(at+4, n*size)
	return at + 4, n
}

// numbers reads a vector of unsigned numbers.
func (t table) numbers(slot, size int64) []int64 {
	at, n := t.vector(slot, size)
	list := make([]int64, n)
	for i := range list {
		for k, c := range t.b.bytes(at+int64(i)*size, size) {
			list[i] |= int64(c) << (8 * k)
		}
	}
	return list
}

// tables calls f with each table of a vector.
func (t table) tables(slot int64, f func(table)) {
	at, n := t.vector(slot, 4)
	for i := range n {
		p := at + 4*i
		f(t.b.tableAt(p + t.b.u32(p)))
	}
}

// table is the table of a field.
func (t table) table(slot int64) (table, bool) {
	at := t.target(slot)
	if at == 0 {
		return table{}, false
	}
	return t.b.tableAt(at), true
}

// strings reads a vector of strings.
func (t table) strings(slot int64) []string {
	at, n := t.vector(slot, 4)
	list := make([]string, n)
	for i := range list {
		p := at + 4*int64(i)
		p += t.b.u32(p)
		list[i] = string(t.b.bytes(p+4, t.b.u32(p)))
	}
	return list
}
