package gemm

import (
	"sync"
	"unsafe"
)

// Products of complex numbers, made of those of their parts. A row of the matrix is read as real numbers re, im, re, im, ...; it is multiplied twice, and the second time it
// comes from the nearest cache.

// What is multiplied at a time.
const (
	partNumbers = 256 // numbers of a row
	partRows    = 8   // rows whose multiples are added up
	partInner   = 64  // rows that are multiplied with a vector, at most
)

// partsRoom is memory for parts of vectors, so many of each kind, and for sums.
type partsRoom[T float32 | float64] struct {
	first, second [2 * partNumbers]T
	sums          [2][partInner]T
}

// partsVector is loops over complex numbers by those over their parts.
type partsVector[T float32 | float64, Z complex64 | complex128] struct {
	loops Vector[T]
	rooms *sync.Pool
}

// ofParts is the loops for Z, whose parts are T.
func ofParts[T float32 | float64, Z complex64 | complex128](loops Vector[T]) Vector[Z] {
	v := partsVector[T, Z]{loops, &sync.Pool{New: func() any { return new(partsRoom[T]) }}}
	return Vector[Z]{v.inner, v.combine}
}

// realParts reads complex numbers as real ones.
func realParts[T float32 | float64, Z complex64 | complex128](x []Z) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// inner multiplies rows with re, -im, re, -im, ... of x for the real parts, and with im, re, im, re, ... for the imaginary ones.
func (v partsVector[T, Z]) inner(x, a []Z, stride int, y []Z) {
	room, sums, m := v.rooms.Get().(*partsRoom[T]), realParts[T](y), realParts[T](a)
	clear(y)
	for at := 0; at < len(x) && len(y) > 0; at += partNumbers {
		piece := realParts[T](x[at:min(at+partNumbers, len(x))])
		forRe, forIm := room.first[:len(piece)], room.second[:len(piece)]
		for i := 0; i < len(piece); i += 2 {
			re, im := piece[i], piece[i+1]
			forRe[i], forRe[i+1] = re, -im
			forIm[i], forIm[i+1] = im, re
		}
		rows := min(partInner, max(4, 2*partRows*partNumbers/len(piece)&^3))
		for r := 0; r < len(y); r += rows {
			n := min(rows, len(y)-r)
			re, im := room.sums[0][:n], room.sums[1][:n]
			from := m[2*(r*stride+at):]
			v.loops.Inner(forRe, from, 2*stride, re)
			v.loops.Inner(forIm, from, 2*stride, im)
			for i := range re {
				sums[2*(r+i)] += re[i]
				sums[2*(r+i)+1] += im[i]
			}
		}
	}
	v.rooms.Put(room)
}

// combine adds up multiples by real parts and by imaginary ones, and adds i times the latter to the former.
func (v partsVector[T, Z]) combine(x, a []Z, stride int, y []Z) {
	room, parts, m := v.rooms.Get().(*partsRoom[T]), realParts[T](x), realParts[T](a)
	for at := 0; at < len(y); at += partNumbers {
		re := realParts[T](y[at:min(at+partNumbers, len(y))])
		im := room.first[:len(re)]
		clear(im)
		for r := 0; r < len(x); r += partRows {
			n := min(partRows, len(x)-r)
			ofRe, ofIm := room.second[:n], room.second[partRows:][:n]
			for i := range n {
				ofRe[i], ofIm[i] = parts[2*(r+i)], parts[2*(r+i)+1]
			}
			from := m[2*(r*stride+at):]
			v.loops.Combine(ofRe, from, 2*stride, re)
			v.loops.Combine(ofIm, from, 2*stride, im)
		}
		for i := 0; i < len(re); i += 2 {
			re[i] -= im[i+1]
			re[i+1] += im[i]
		}
	}
	v.rooms.Put(room)
}
