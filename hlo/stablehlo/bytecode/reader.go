package bytecode

import (
	"fmt"

	"github.com/gohalo/halo/hlo/parser"
)

// failure is an error on its way to Decode.
type failure struct{ msg string }

// reader reads a part of the file.
type reader struct {
	data    []byte
	pos     int
	base    int    // offset of data in the file
	section string // for messages
}

func (r *reader) fail(format string, args ...any) {
	panic(failure{fmt.Sprintf("byte %d of section %s: ", r.base+r.pos, r.section) + fmt.Sprintf(format, args...)})
}

func (r *reader) left() int { return len(r.data) - r.pos }

func (r *reader) byte() byte {
	if r.pos >= len(r.data) {
		r.fail("the data ends early")
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// take is the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(r.left()) {
		r.fail("%d bytes are wanted, %d are left", n, r.left())
	}
	b := r.data[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// varint reads an integer: the zero bits that the first byte ends in say how many bytes follow.
func (r *reader) varint() uint64 {
	if r.pos >= len(r.data) {
		r.fail("the data ends early")
	}
	first := r.data[r.pos]
	if first&1 != 0 { // most are one byte
		r.pos++
		return uint64(first >> 1)
	}
	n := 0
	for n < 8 && first>>n&1 == 0 {
		n++
	}
	b := r.take(uint64(n + 1))
	var v uint64
	if n == 8 {
		for i := range 8 {
			v |= uint64(b[1+i]) << (8 * i)
		}
		return v
	}
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v >> (n + 1)
}

// svarint reads a signed integer.
func (r *reader) svarint() int64 {
	v := r.varint()
	return int64(v>>1) ^ -int64(v&1)
}

// count reads the length of a list whose elements take a byte at least.
func (r *reader) count(what string) int {
	n := r.varint()
	if n > uint64(r.left()) {
		r.fail("%d %s, and %d bytes are left", n, what, r.left())
	}
	return int(n)
}

// end refuses what is left over.
func (r *reader) end(what string) {
	if r.left() != 0 {
		r.fail("%d bytes are left over after %s", r.left(), what)
	}
}

// fileError is an error of a file.
func fileError(file, msg string) error { return parser.ErrorList{{File: file, Msg: msg}} }
