package bef

import (
	"encoding/binary"
	"math/bits"
)

// Variable-length integers: seven bits a byte, most significant group first,
// the high bit set on all bytes but the last. (Not LEB128, which starts at the
// other end.)

const maxVBRLen = 10

func appendVBR(b []byte, v uint64) []byte {
	for n := vbrLen(v) - 1; n > 0; n-- {
		b = append(b, byte(v>>(7*n))|0x80)
	}
	return append(b, byte(v)&0x7F)
}

func vbrLen(v uint64) int { return max(1, (bits.Len64(v)+6)/7) }

// appendPad appends padding until the length is a multiple of align.
func appendPad(b []byte, align int) []byte {
	for len(b)%align != 0 {
		b = append(b, padByte)
	}
	return b
}

// cursor reads a section. After the first error it stays where it is, returns
// zeros, and keeps the error.
type cursor struct {
	b      []byte
	i      int
	sec    SectionID
	base   int64 // of b in the file
	strict bool
	err    *FormatError
}

func (c *cursor) fail(value uint64, format string, args ...any) {
	if c.err == nil {
		c.err = fail(c.sec, value, format, args...)
		c.err.Offset = c.base + int64(c.i)
	}
}

func (c *cursor) left() int { return len(c.b) - c.i }

// vbr reads an integer; what names it for the error.
func (c *cursor) vbr(what string) uint64 {
	if c.i < len(c.b) && c.b[c.i] < 0x80 && c.err == nil {
		c.i++
		return uint64(c.b[c.i-1])
	}
	return c.longVBR(what)
}

func (c *cursor) longVBR(what string) uint64 {
	if c.err != nil {
		return 0
	}
	var v uint64
	for n := 0; ; n++ {
		switch {
		case c.i+n >= len(c.b):
			c.fail(v, "%s: integer runs off the end", what)
			return 0
		case n == maxVBRLen:
			c.fail(v, "%s: integer of more than %d bytes", what, maxVBRLen)
			return 0
		case v>>57 != 0:
			c.fail(v, "%s: integer overflows 64 bits", what)
			return 0
		}
		x := c.b[c.i+n]
		if n == 0 && x == 0x80 && c.strict {
			c.fail(0, "%s: integer with a redundant leading byte", what)
			return 0
		}
		v = v<<7 | uint64(x&0x7F)
		if x < 0x80 {
			c.i += n + 1
			return v
		}
	}
}

// vbr32 reads an integer that must fit in 32 bits.
func (c *cursor) vbr32(what string) uint32 {
	// Most integers have one to three bytes.
	if b := c.b[min(c.i, len(c.b)):]; len(b) >= 3 && c.err == nil {
		switch x, y, z := uint32(b[0]), uint32(b[1]), uint32(b[2]); {
		case x < 0x80:
			c.i++
			return x
		case y < 0x80 && x != 0x80:
			c.i += 2
			return x&0x7F<<7 | y
		case z < 0x80 && x != 0x80 && y >= 0x80:
			c.i += 3
			return x&0x7F<<14 | y&0x7F<<7 | z
		}
	}
	at := c.i
	v := c.vbr(what)
	if v>>32 != 0 {
		c.i = at
		c.fail(v, "%s %d does not fit in 32 bits", what, v)
		return 0
	}
	return uint32(v)
}

// count reads a number of things that take at least size bytes each in what is
// left of the section, so that nothing is allocated for things that cannot be there.
func (c *cursor) count(what string, size int) int {
	at := c.i
	v := c.vbr(what)
	if v > uint64(c.left()/size) {
		c.i = at
		c.fail(v, "%s %d is more than the section can hold", what, v)
		return 0
	}
	return int(v)
}

func (c *cursor) byte(what string) byte {
	if c.err != nil {
		return 0
	}
	if c.i >= len(c.b) {
		c.fail(0, "%s: missing byte", what)
		return 0
	}
	c.i++
	return c.b[c.i-1]
}

// end checks that nothing is left.
func (c *cursor) end() *FormatError {
	if c.err == nil && c.i != len(c.b) {
		c.fail(uint64(c.left()), "unexpected data in BEF section")
	}
	return c.err
}

func word(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
