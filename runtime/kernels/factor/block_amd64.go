package factor

import "golang.org/x/sys/cpu"

// blockSolverFor is the loops in assembly that solve blocks of mr unknowns for nr right sides, if there are some.
func blockSolverFor[T Number](mr, nr int) (s blockSolver[T]) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA || mr != 6 {
		return s
	}
	switch s := any(&s).(type) {
	case *blockSolver[float32]:
		if nr == 16 {
			*s = checkedBlocks(mr, nr, solveBlockF32AVX2, solveUnitBlockF32AVX2)
		}
	case *blockSolver[float64]:
		if nr == 8 {
			*s = checkedBlocks(mr, nr, solveBlockF64AVX2, solveUnitBlockF64AVX2)
		}
	}
	return s
}

// checkedBlocks checks what assembly reads and writes before it does.
func checkedBlocks[T float32 | float64](mr, nr int, divided func(below, diag, x *T), unit func(below, x *T)) blockSolver[T] {
	return blockSolver[T]{
		divided: func(below, diag, x []T) {
			_, _, _ = below[mr*mr-1], diag[mr*nr-1], x[mr*nr-1]
			divided(&below[0], &diag[0], &x[0])
		},
		unit: func(below, x []T) {
			_, _ = below[mr*mr-1], x[mr*nr-1]
			unit(&below[0], &x[0])
		},
	}
}
