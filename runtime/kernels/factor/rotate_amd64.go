package factor

import "golang.org/x/sys/cpu"

//go:generate go run ./gen

// loopsFor is the best loops for this processor.
func loopsFor[R Float]() rotateLoops[R] {
	wide := cpu.X86.HasAVX512F
	if !wide && !(cpu.X86.HasAVX2 && cpu.X86.HasFMA) {
		return portableLoops[R]()
	}
	var l rotateLoops[R]
	switch l := any(&l).(type) {
	case *rotateLoops[float32]:
		if wide {
			*l = assembled(64, 16, rotate4F32AVX512, rotate1F32AVX512)
		} else {
			*l = assembled(32, 8, rotate4F32AVX2, rotate1F32AVX2)
		}
	case *rotateLoops[float64]:
		if wide {
			*l = assembled(32, 8, rotate4F64AVX512, rotate1F64AVX512)
		} else {
			*l = assembled(16, 4, rotate4F64AVX2, rotate1F64AVX2)
		}
	}
	return l
}

// assembled checks what assembly reads and writes before it does.
func assembled[R Float](width, narrow int, wide, thin func(n int, cs, rows *R, stride int)) rotateLoops[R] {
	checked := func(width int, run func(n int, cs, rows *R, stride int)) func(int, []R, []R, int, int) {
		return func(n int, cs, rows []R, at, stride int) {
			_, _, _ = cs[2*n-1], rows[at+width-1], rows[at+n*stride:][width-1]
			run(n, &cs[0], &rows[at], stride)
		}
	}
	return rotateLoops[R]{width, narrow, checked(width, wide), checked(narrow, thin)}
}
