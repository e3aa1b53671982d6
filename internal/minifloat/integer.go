package minifloat

import "fmt"

// Integer is one of the integer types narrower than a byte.
type Integer uint8

// The integer types, under their HLO names in capitals.
const (
	S1 Integer = iota
	U1
	S2
	U2
	S4
	U4

	numIntegers
)

// Bits is the width of one element: 1, 2 or 4.
func (t Integer) Bits() int { return 1 << (t / 2) }

// Signed reports whether t is two's complement; s1 holds -1 and 0.
func (t Integer) Signed() bool { return t%2 == 0 }

// Min is the smallest value of t.
func (t Integer) Min() int8 {
	if !t.Signed() {
		return 0
	}
	return -1 << (t.Bits() - 1)
}

// Max is the largest value of t.
func (t Integer) Max() int8 {
	if t.Signed() {
		return 1<<(t.Bits()-1) - 1
	}
	return 1<<t.Bits() - 1
}

// Decode returns the value of an element in the low bits of b. The high bits are ignored.
func (t Integer) Decode(b byte) int8 {
	unused := 8 - t.Bits()
	if t.Signed() {
		return int8(b<<unused) >> unused
	}
	return int8(b << unused >> unused)
}

// Encode returns x modulo 2^Bits in the low bits, high bits zero.
func (t Integer) Encode(x int64) byte {
	return byte(x) & (1<<t.Bits() - 1)
}

// String is the name of t in HLO text.
func (t Integer) String() string {
	if t >= numIntegers {
		return fmt.Sprintf("Integer(%d)", uint8(t))
	}
	kind := "u"
	if t.Signed() {
		kind = "s"
	}
	return fmt.Sprintf("%s%d", kind, t.Bits())
}
