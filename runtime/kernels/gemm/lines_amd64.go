package gemm

import "golang.org/x/sys/cpu"

// lineLoop is a loop of gen.
type lineLoop[T float32 | float64] func(n, k int, c, a *T, aStep int, b *T, bStep int)

// vectorLines is the loop in assembly for this processor, or nil if there is none.
func vectorLines[T Number]() Lines[T] {
	wide := cpu.X86.HasAVX512F
	if !wide && !(cpu.X86.HasAVX2 && cpu.X86.HasFMA) {
		return nil
	}
	var l any
	switch any(T(0)).(type) {
	case float32:
		l = lineLoop[float32](linesF32AVX2).lines
		if wide {
			l = lineLoop[float32](linesF32AVX512).lines
		}
	case float64:
		l = lineLoop[float64](linesF64AVX2).lines
		if wide {
			l = lineLoop[float64](linesF64AVX512).lines
		}
	default:
		return nil
	}
	return l.(func(k int, c, a []T, aStep int, b []T, bStep int))
}

func (l lineLoop[T]) lines(k int, c, a []T, aStep int, b []T, bStep int) {
	if k <= 0 || len(c) == 0 || len(c)%LineStep != 0 || aStep < 0 || bStep < 0 {
		panic("gemm: lines are not whole")
	}
	_, _ = a[(k-1)*aStep+len(c)-1], b[(k-1)*bStep+len(c)-1]
	l(len(c), k, &c[0], &a[0], aStep, &b[0], bStep)
}
