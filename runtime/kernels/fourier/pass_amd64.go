package fourier

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen

type (
	assembly         = func(m, s, apart int, dst, src, twiddles, constants *byte)
	assemblyOfOdd    = func(half, m, s int, dst, src, twiddles, constants *byte)
	assemblyOfHalves = func(n int, dst, src, twiddles, constants *byte)
	assemblyOfTurn   = func(n, step int, dst, src, by *byte)
	assemblyOfPairs  = func(n, step int, x, y, scale *byte)
	assemblyOfRows   = func(n, each, to, from int, dst, src, by *byte)
)

// functions are the assembly for vectors of one width and one type.
type functions struct {
	passes   []assembly // of radix 2 and on
	odd      assemblyOfOdd
	halves   assemblyOfHalves
	turn     assemblyOfTurn
	exchange assemblyOfPairs
	scale    assemblyOfRows
	multiply assemblyOfRows
}

// best is the widest vectors of this processor.
func best[T Float]() vectors[T] {
	var x T
	single := unsafe.Sizeof(x) == 4
	switch {
	case cpu.X86.HasAVX512F && single:
		return wrapped[T](8, functions{[]assembly{pass2f32x512, pass3f32x512, pass4f32x512, pass5f32x512}, passoddf32x512, halvesf32x512, turnf32x512, exchangef32x512, scalerowsf32x512, turnrowsf32x512})
	case cpu.X86.HasAVX512F:
		return wrapped[T](4, functions{[]assembly{pass2f64x512, pass3f64x512, pass4f64x512, pass5f64x512}, passoddf64x512, halvesf64x512, turnf64x512, exchangef64x512, scalerowsf64x512, turnrowsf64x512})
	}
	return narrow[T]()
}

// narrow is the vectors of 256 bits.
func narrow[T Float]() vectors[T] {
	var x T
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return portable[T]()
	case unsafe.Sizeof(x) == 4:
		return wrapped[T](4, functions{[]assembly{pass2f32x256, pass3f32x256, pass4f32x256, pass5f32x256}, passoddf32x256, halvesf32x256, turnf32x256, exchangef32x256, scalerowsf32x256, turnrowsf32x256})
	}
	return wrapped[T](2, functions{[]assembly{pass2f64x256, pass3f64x256, pass4f64x256, pass5f64x256}, passoddf64x256, halvesf64x256, turnf64x256, exchangef64x256, scalerowsf64x256, turnrowsf64x256})
}

// wrapped checks the buffers before assembly reads them.
func wrapped[T Float](lanes int, f functions) vectors[T] {
	const short = "fourier: buffers are too short"
	v := vectors[T]{lanes: lanes}
	var x T
	size := int(unsafe.Sizeof(x))
	v.halves = func(n int, dst, src, twiddles, constants []T) {
		if all := 2 * lanes * (n + 1); n < 1 || len(dst) < all || len(src) < all || len(twiddles) < 2*(n/2+1) {
			panic(short)
		}
		f.halves(n, bytePointer(dst), bytePointer(src), bytePointer(twiddles), bytePointer(constants))
	}
	for i, run := range f.passes {
		radix := i + 2
		v.passes[radix] = func(m, s, apart int, dst, src, twiddles, constants []T) {
			row := 2 * lanes * s
			if n := radix * m; m < 1 || s < 1 || apart < 0 || len(dst) < n*row || len(src) < (n-1)*apart+row || len(twiddles) < 2*(radix-1)*m {
				panic(short)
			}
			run(m, s, apart*size, bytePointer(dst), bytePointer(src), bytePointer(twiddles), bytePointer(constants))
		}
	}
	v.odd = func(radix, m, s int, dst, src, twiddles, constants []T) {
		half := radix / 2
		if n := 2 * lanes * radix * m * s; half < 1 || radix > mostOdd || m < 1 || s < 1 || len(dst) < n || len(src) < n || len(twiddles) < 4*half*m || len(constants) < 1+2*half*half {
			panic(short)
		}
		f.odd(half, m, s, bytePointer(dst), bytePointer(src), bytePointer(twiddles), bytePointer(constants))
	}
	bytes := 2 * lanes * size
	v.turn = func(dst, src, by []T, back bool) {
		n := len(by) / 2
		all := 2 * lanes * n
		if n < 1 || len(dst) < all || len(src) < all {
			panic(short)
		}
		if back {
			f.turn(n, -bytes, bytePointer(dst), bytePointer(src[all-2*lanes:]), bytePointer(by))
			return
		}
		f.turn(n, bytes, bytePointer(dst), bytePointer(src), bytePointer(by))
	}
	v.backwards = func(y []T, elements, each int, scale []T) {
		row := 2 * lanes * each
		if elements < 2 || each < 1 || len(y) < elements*row || len(scale) == 0 {
			panic(short)
		}
		if each == 1 {
			f.exchange(elements/2, -bytes, bytePointer(y[row:]), bytePointer(y[(elements-1)*row:]), bytePointer(scale))
			return
		}
		for i := 1; i <= elements/2; i++ {
			f.exchange(each, bytes, bytePointer(y[i*row:]), bytePointer(y[(elements-i)*row:]), bytePointer(scale))
		}
	}
	v.scale = func(n, each, to, from int, dst, src, by []T) {
		if len(by) == 0 || !rowsFit(n, 2*lanes*each, to, dst) || !rowsFit(n, 2*lanes*each, max(from, -from), src) {
			panic(short)
		}
		f.scale(n, each, to*size, from*size, bytePointer(dst), firstRow(n, from, src), bytePointer(by))
	}
	v.multiply = func(n, each, to, from int, dst, src, by []T) {
		if row := 2 * lanes * each; len(by) < n*row || !rowsFit(n, row, to, dst) || !rowsFit(n, row, max(from, -from), src) {
			panic(short)
		}
		f.multiply(n, each, to*size, from*size, bytePointer(dst), firstRow(n, from, src), bytePointer(by))
	}
	return v
}

// rowsFit reports whether there are n rows, so far apart.
func rowsFit[T Float](n, row, apart int, in []T) bool {
	return n > 0 && row > 0 && apart >= 0 && len(in) >= (n-1)*apart+row
}

// firstRow is where the first of n rows is that are taken from the last on if from is negative.
func firstRow[T Float](n, from int, src []T) *byte {
	if from < 0 {
		src = src[(1-n)*from:]
	}
	return bytePointer(src)
}

func bytePointer[T Float](v []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(v))) }
