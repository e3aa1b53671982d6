package minifloat

import "fmt"

// PackedLen is the number of bytes that n elements of 1, 2, 4 or 8 bits take when packed.
func PackedLen(n, bits int) int {
	perByte := elementsPerByte(bits)
	return n/perByte + (n%perByte+perByte-1)/perByte
}

// pack stores the low bits of each byte of src one after the other in dst, the first element
// in the least significant bits, and fills up the last byte with zeros. dst holds at least
// PackedLen(len(src), bits) bytes; it may be src itself.
func pack(dst, src []byte, bits int) {
	perByte := elementsPerByte(bits)
	mask := byte(1<<bits - 1)
	dst = dst[:PackedLen(len(src), bits)]
	for i := range dst {
		group := src[i*perByte:]
		group = group[:min(perByte, len(group))]
		var b byte
		for j, element := range group {
			b |= element & mask << (j * bits)
		}
		dst[i] = b
	}
}

// Unpack is the inverse of pack for len(dst) elements: each goes to the low bits of a byte of
// its own, high bits zero. src holds at least PackedLen(len(dst), bits) bytes and does not overlap dst.
func Unpack(dst, src []byte, bits int) {
	perByte := elementsPerByte(bits)
	mask := byte(1<<bits - 1)
	src = src[:PackedLen(len(dst), bits)]
	for i, b := range src {
		group := dst[i*perByte:]
		group = group[:min(perByte, len(group))]
		for j := range group {
			group[j] = b & mask
			b >>= bits
		}
	}
}

func elementsPerByte(bits int) int {
	switch bits {
	case 1, 2, 4, 8:
		return 8 / bits
	}
	panic(fmt.Sprintf("minifloat: elements of %d bits cannot be packed", bits))
}
