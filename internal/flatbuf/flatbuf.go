// Package flatbuf reads FlatBuffers. Google's runtime for Go checks no offset; here whatever leads out of the buffer is an error.
package flatbuf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// failure is an error on its way to Read.
type failure struct{ msg string }

// Read gives read the table at the root of a buffer. What read finds wrong, it says with [Table.Fail], which ends it; so do the methods that read fields.
func Read[T any](data []byte, read func(Table) T) (v T, err error) {
	defer func() {
		if x := recover(); x != nil {
			f, mine := x.(failure)
			if !mine {
				panic(x)
			}
			err = errors.New(f.msg)
		}
	}()
	b := buffer(data)
	return read(b.tableAt(b.u32(0))), nil
}

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

// Table is a table of the buffer. Fields are named by their slots.
type Table struct {
	b      buffer
	at     int64
	vtable int64
	fields int64
}

// tableAt is the table at an offset. Its list of fields stands before or after it.
func (b buffer) tableAt(at int64) Table {
	vtable := at - int64(int32(b.u32(at)))
	size := b.u16(vtable)
	if size < 4 || size%2 != 0 {
		b.fail(vtable, "a table whose list of fields has %d bytes", size)
	}
	b.bytes(vtable, size)
	return Table{b, at, vtable, (size - 4) / 2}
}

// Fail ends what reads the table, and says where that was.
func (t Table) Fail(format string, args ...any) { t.b.fail(t.at, format, args...) }

// field is where a field stands, 0 when it is absent.
func (t Table) field(slot int64) int64 {
	if slot >= t.fields {
		return 0
	}
	off := t.b.u16(t.vtable + 4 + 2*slot)
	if off == 0 {
		return 0
	}
	return t.at + off
}

// Number reads a field of size bytes, unsigned; 0 when it is absent.
func (t Table) Number(slot, size int64) int64 {
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
func (t Table) target(slot int64) int64 {
	at := t.field(slot)
	if at == 0 {
		return 0
	}
	return at + t.b.u32(at)
}

// Data reads a vector of bytes, or a string.
func (t Table) Data(slot int64) []byte {
	at := t.target(slot)
	if at == 0 {
		return nil
	}
	return t.b.bytes(at+4, t.b.u32(at))
}

// String reads a string.
func (t Table) String(slot int64) string { return string(t.Data(slot)) }

// vector is where a vector's elements begin and how many there are.
func (t Table) vector(slot, size int64) (at, n int64) {
	at = t.target(slot)
	if at == 0 {
		return 0, 0
	}
	n = t.b.u32(at)
	t.b.bytes(at+4, n*size)
	return at + 4, n
}

// Numbers reads a vector of unsigned numbers.
func (t Table) Numbers(slot, size int64) []int64 {
	at, n := t.vector(slot, size)
	list := make([]int64, n)
	for i := range list {
		for k, c := range t.b.bytes(at+int64(i)*size, size) {
			list[i] |= int64(c) << (8 * k)
		}
	}
	return list
}

// Tables calls f with each table of a vector.
func (t Table) Tables(slot int64, f func(Table)) {
	at, n := t.vector(slot, 4)
	for i := range n {
		p := at + 4*i
		f(t.b.tableAt(p + t.b.u32(p)))
	}
}

// Table is the table of a field.
func (t Table) Table(slot int64) (Table, bool) {
	at := t.target(slot)
	if at == 0 {
		return Table{}, false
	}
	return t.b.tableAt(at), true
}

// Strings reads a vector of strings.
func (t Table) Strings(slot int64) []string {
	at, n := t.vector(slot, 4)
	list := make([]string, n)
	for i := range list {
		p := at + 4*int64(i)
		p += t.b.u32(p)
		list[i] = string(t.b.bytes(p+4, t.b.u32(p)))
	}
	return list
}
