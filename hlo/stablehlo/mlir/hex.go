package mlir

import "sync"

// hexPairs is the byte that each pair of hexadecimal digits stands for, plus 256 when they are digits. Constants of models are most of
// their text, and one look at a table for two digits is twice as fast as two looks.
var hexPairs = sync.OnceValue(func() *[1 << 16]uint16 {
	t := new([1 << 16]uint16)
	for hi := range 256 {
		for lo := range 256 {
			h, l := hexDigit(byte(hi)), hexDigit(byte(lo))
			if h >= 0 && l >= 0 {
				t[hi|lo<<8] = 256 | uint16(h<<4|l)
			}
		}
	}
	return t
})

// decodeHex decodes an even number of digits; ok is false when there are others, and bad is where the first is.
func decodeHex(digits string) (data []byte, bad int, ok bool) {
	t := hexPairs()
	data = make([]byte, len(digits)/2)
	all := uint16(256)
	for i := range data {
		v := t[uint16(digits[2*i])|uint16(digits[2*i+1])<<8]
		all &= v
		data[i] = byte(v)
	}
	if all != 0 {
		return data, 0, true
	}
	for i := range digits {
		if hexDigit(digits[i]) < 0 {
			return nil, i, false
		}
	}
	return nil, 0, false
}
