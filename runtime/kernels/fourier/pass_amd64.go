package fourier

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen

type (
	assembly         = func(m, s int, dst, src, twiddles, constants *byte)
	assemblyOfHalves = func(n int, dst, src, twiddles, constants *byte)
)

// best is the widest vectors of this processor.
func best[T Float]() vectors[T] {
	var x T
	single := unsafe.Sizeof(x) == 4
	switch {
	case cpu.X86.HasAVX512F && single:
		return wrapped[T](8, halvesf32x512, pass2f32x512, pass3f32x512, pass4f32x512, pass5f32x512)
	case cpu.X86.HasAVX512F:
		return wrapped[T](4, halvesf64x512, pass2f64x512, pass3f64x512, pass4f64x512, pass5f64x512)
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
		return wrapped[T](4, halvesf32x256, pass2f32x256, pass3f32x256, pass4f32x256, pass5f32x256)
	}
	return wrapped[T](2, halvesf64x256, pass2f64x256, pass3f64x256, pass4f64x256, pass5f64x256)
}

// wrapped checks the buffers before assembly reads them. Passes are those of radix 2 and on.
func wrapped[T Float](lanes int, halves assemblyOfHalves, passes ...assembly) vectors[T] {
	v := vectors[T]{lanes: lanes}
	v.halves = func(n int, dst, src, twiddles, constants []T) {
		if all := 2 * lanes * (n + 1); n < 1 || len(dst) < all || len(src) < all || len(twiddles) < 2*(n/2+1) {
			panic("fourier: buffers are too short")
		}
		halves(n, bytePointer(dst), bytePointer(src), bytePointer(twiddles), bytePointer(constants))
	}
	for i, run := range passes {
		radix := i + 2
		v.passes[radix] = func(m, s int, dst, src, twiddles, constants []T) {
			if n := 2 * lanes * radix * m * s; m < 1 || s < 1 || len(dst) < n || len(src) < n || len(twiddles) < 2*(radix-1)*m {
				panic("fourier: buffers are too short")
			}
			run(m, s, bytePointer(dst), bytePointer(src), bytePointer(twiddles), bytePointer(constants))
		}
	}
	return v
}

func bytePointer[T Float](v []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(v))) }
