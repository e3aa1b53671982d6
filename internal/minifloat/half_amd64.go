package minifloat

import "golang.org/x/sys/cpu"

//go:generate go run ./gen

var hasVector = cpu.X86.HasAVX2 && cpu.X86.HasF16C

// vectorRun bounds what one call of assembly does, since the scheduler cannot interrupt it: some
// ten microseconds.
const vectorRun = 1 << 16

// The functions below convert as many elements as fill vectors and return their number.

func widenF16Vector(dst []float32, src []uint16) (done int) {
	if hasVector {
		for n := len(src) &^ 7; done < n; done += vectorRun {
			widenF16AVX2(&dst[done], &src[done], min(n-done, vectorRun))
		}
		return len(src) &^ 7
	}
	return 0
}

func narrowF16Vector(dst []uint16, src []float32) (done int) {
	if hasVector {
		for n := len(src) &^ 7; done < n; done += vectorRun {
			narrowF16AVX2(&dst[done], &src[done], min(n-done, vectorRun))
		}
		return len(src) &^ 7
	}
	return 0
}

func widenBF16Vector(dst []float32, src []uint16) (done int) {
	if hasVector {
		for n := len(src) &^ 7; done < n; done += vectorRun {
			widenBF16AVX2(&dst[done], &src[done], min(n-done, vectorRun))
		}
		return len(src) &^ 7
	}
	return 0
}

func narrowBF16Vector(dst []uint16, src []float32) (done int) {
	if hasVector {
		for n := len(src) &^ 7; done < n; done += vectorRun {
			narrowBF16AVX2(&dst[done], &src[done], min(n-done, vectorRun))
		}
		return len(src) &^ 7
	}
	return 0
}
