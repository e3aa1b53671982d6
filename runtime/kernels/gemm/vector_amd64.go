package gemm

import "golang.org/x/sys/cpu"

// assembly is the loops of gen for one type and width of vectors; they take whole vectors of lanes elements.
type assembly[T float32 | float64] struct {
	lanes                   int
	inner1, inner4, combine func(n int, x, a *T, stride int, y *T)
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
			*v = assembly[float32]{16, inner1F32AVX512, inner4F32AVX512, combineF32AVX512}.vector()
		} else {
			*v = assembly[float32]{8, inner1F32AVX2, inner4F32AVX2, combineF32AVX2}.vector()
		}
	case *Vector[float64]:
		if wide {
			*v = assembly[float64]{8, inner1F64AVX512, inner4F64AVX512, combineF64AVX512}.vector()
		} else {
			*v = assembly[float64]{4, inner1F64AVX2, inner4F64AVX2, combineF64AVX2}.vector()
		}
	}
}

func (l assembly[T]) vector() Vector[T] { return Vector[T]{l.innerProducts, l.combineRows} }

func (l assembly[T]) innerProducts(x, a []T, stride int, y []T) {
	whole := len(x) / l.lanes * l.lanes
	if whole == 0 || len(y) == 0 {
		inner(x, a, stride, y)
		return
	}
	_ = a[(len(y)-1)*stride+len(x)-1]
	for r := 0; r < len(y); {
		run, n := l.inner1, 1
		if len(y)-r >= 4 {
			run, n = l.inner4, 4
		}
		run(whole, &x[0], &a[r*stride], stride, &y[r])
		for ; n > 0; n-- {
			for k := whole; k < len(x); k++ {
				y[r] += x[k] * a[r*stride+k]
			}
			r++
		}
	}
}

func (l assembly[T]) combineRows(x, a []T, stride int, y []T) {
	const rows = 8
	whole := len(y) / l.lanes * l.lanes
	for ; len(x) >= rows && whole > 0; x = x[rows:] {
		_ = a[(rows-1)*stride+len(y)-1]
		l.combine(whole, &x[0], &a[0], stride, &y[0])
		if whole < len(y) {
			combine(x[:rows], a[whole:], stride, y[whole:])
		}
		if len(x) > rows {
			a = a[rows*stride:]
		}
	}
	combine(x, a, stride, y)
}
