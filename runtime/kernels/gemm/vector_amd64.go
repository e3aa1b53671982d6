package gemm

import "golang.org/x/sys/cpu"

// assembly is the loops of gen for one type and width of vectors.
type assembly[T float32 | float64 | int32 | int64] struct {
	inner1, inner4, combine1, combine4, combine8 func(n int, x, a *T, stride int, y *T)
}

// vectorLoops sets v to the loops in assembly for this processor, if there are some.
func vectorLoops[T Number](v *Vector[T]) {
	wide := cpu.X86.HasAVX512F
	if !wide && !(cpu.X86.HasAVX2 && cpu.X86.HasFMA) {
		return
	}
	switch v := any(v).(type) {
	case *Vector[float32]:
		if wide {
			*v = assembly[float32]{inner1F32AVX512, inner4F32AVX512, combine1F32AVX512, combine4F32AVX512, combine8F32AVX512}.vector()
		} else {
			*v = assembly[float32]{inner1F32AVX2, inner4F32AVX2, combine1F32AVX2, combine4F32AVX2, combine8F32AVX2}.vector()
		}
	case *Vector[float64]:
		if wide {
			*v = assembly[float64]{inner1F64AVX512, inner4F64AVX512, combine1F64AVX512, combine4F64AVX512, combine8F64AVX512}.vector()
		} else {
			*v = assembly[float64]{inner1F64AVX2, inner4F64AVX2, combine1F64AVX2, combine4F64AVX2, combine8F64AVX2}.vector()
		}
	case *Vector[int32]:
		if wide {
			*v = assembly[int32]{inner1I32AVX512, inner4I32AVX512, combine1I32AVX512, combine4I32AVX512, combine8I32AVX512}.vector()
		} else {
			*v = assembly[int32]{inner1I32AVX2, inner4I32AVX2, combine1I32AVX2, combine4I32AVX2, combine8I32AVX2}.vector()
		}
	case *Vector[int64]:
		if wide && cpu.X86.HasAVX512DQ {
			*v = assembly[int64]{inner1I64AVX512, inner4I64AVX512, combine1I64AVX512, combine4I64AVX512, combine8I64AVX512}.vector()
		}
	case *Vector[complex64]:
		*v = ofParts[float32, complex64](VectorFor[float32]())
	case *Vector[complex128]:
		*v = ofParts[float64, complex128](VectorFor[float64]())
	}
}

func (l assembly[T]) vector() Vector[T] { return Vector[T]{l.innerProducts, l.combineRows} }

func (l assembly[T]) innerProducts(x, a []T, stride int, y []T) {
	if len(x) == 0 || len(y) == 0 {
		clear(y)
		return
	}
	_ = a[(len(y)-1)*stride+len(x)-1]
	r := 0
	for ; len(y)-r >= 4; r += 4 {
		l.inner4(len(x), &x[0], &a[r*stride], stride, &y[r])
	}
	for ; r < len(y); r++ {
		l.inner1(len(x), &x[0], &a[r*stride], stride, &y[r])
	}
}

func (l assembly[T]) combineRows(x, a []T, stride int, y []T) {
	if len(x) == 0 || len(y) == 0 {
		return
	}
	_ = a[(len(x)-1)*stride+len(y)-1]
	for r := 0; r < len(x); {
		run, rows := l.combine1, 1
		switch left := len(x) - r; {
		case left >= 8:
			run, rows = l.combine8, 8
		case left >= 4:
			run, rows = l.combine4, 4
		}
		run(len(y), &x[r], &a[r*stride], stride, &y[0])
		r += rows
	}
}
