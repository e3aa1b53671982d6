//go:build !amd64

package factor

func blockSolverFor[T Number](_, _ int) blockSolver[T] { return blockSolver[T]{} }
