package tile

import "unsafe"

// Rows of few bytes are written in words, whatever their length: the next row writes over what was too much.

const (
	wordBytes = 8
	// rowInWords is the longest such row that is copied, in bytes, and repeatedInWords that of one element: calling a loop for a longer one is quicker.
	rowInWords, repeatedInWords = 2 * wordBytes, 16 * wordBytes
)

// wholeRows is the number of rows of n elements after which so many elements from the beginning of each stay within dst.
func wholeRows[T any](dst []T, rows, n, elements int) int {
	if elements > len(dst) {
		return 0
	}
	return min(rows, (len(dst)-elements)/n+1)
}

// repeatInWords writes rows in which one element is repeated.
func repeatInWords[T any](dst, src []T, rows, n, at, step int) {
	width := int(unsafe.Sizeof(dst[0]))
	words := (n*width + wordBytes - 1) / wordBytes
	whole := wholeRows(dst, rows, n, words*wordBytes/width)
	for r := range whole {
		var word uint64
		switch p := unsafe.Pointer(&src[at]); width {
		case 1:
			word = uint64(*(*uint8)(p)) * 0x0101010101010101
		case 2:
			word = uint64(*(*uint16)(p)) * 0x0001000100010001
		case 4:
			word = uint64(*(*uint32)(p)) * 0x0000000100000001
		case 8:
			word = *(*uint64)(p)
		}
		to := unsafe.Pointer(&dst[r*n])
		*(*uint64)(to) = word
		if words > 1 {
			*(*uint64)(unsafe.Add(to, wordBytes)) = word
			for k := 2 * wordBytes; k < words*wordBytes; k += wordBytes {
				*(*uint64)(unsafe.Add(to, k)) = word
			}
		}
		at += step
	}
	for r := whole; r < rows; r++ {
		row, x := dst[r*n:][:n], src[at]
		for i := range row {
			row[i] = x
		}
		at += step
	}
}

// copyInWords copies rows of neighbours, step elements apart. What follows a row in src is read, too, where there is as much.
func copyInWords[T any](dst, src []T, rows, n, at, step int) {
	elements := rowInWords / int(unsafe.Sizeof(dst[0]))
	whole := 0
	if room := len(src) - elements - at; step > 0 && room >= 0 {
		whole = min(wholeRows(dst, rows, n, elements), room/step+1)
	}
	for r := range whole {
		*(*[2]uint64)(unsafe.Pointer(&dst[r*n])) = *(*[2]uint64)(unsafe.Pointer(&src[at]))
		at += step
	}
	for r := whole; r < rows; r++ {
		row, from := dst[r*n:][:n], src[at:][:n]
		for i := range row {
			row[i] = from[i]
		}
		at += step
	}
}
