package npz

import "slices"

// swapBytes turns big-endian items into little-endian ones, in place. A complex item is two numbers,
// a raw one has no order.
func swapBytes(data []byte, it item) {
	size := it.size
	switch it.kind {
	case 'V':
		return
	case 'c':
		size /= 2
	}
	for i := 0; i+size <= len(data); i += size {
		slices.Reverse(data[i : i+size])
	}
}

// toRowMajor returns items stored with the first dimension fastest in order of the last dimension fastest.
// It returns data itself where the two are the same.
func toRowMajor(data []byte, shape []int64, itemSize int) []byte {
	if len(data) == 0 {
		return data
	}
	// Dimensions of length 1 do not matter, and at most 62 others fit into memory.
	var lengths, strides []int
	stride := itemSize
	for _, n := range shape {
		if n > 1 {
			lengths, strides = append(lengths, int(n)), append(strides, stride)
			stride *= int(n)
		}
	}
	if len(lengths) < 2 {
		return data
	}
	out := make([]byte, 0, len(data))
	last := len(lengths) - 1
	index := make([]int, last) // of a row: all dimensions but the last
	offset := 0                // of the row's first item in data
	for {
		for i := range lengths[last] {
			from := offset + i*strides[last]
			out = append(out, data[from:from+itemSize]...)
		}
		d := last - 1
		for ; d >= 0; d-- {
			index[d]++
			offset += strides[d]
			if index[d] < lengths[d] {
				break
			}
			offset -= lengths[d] * strides[d]
			index[d] = 0
		}
		if d < 0 {
			return out
		}
	}
}
