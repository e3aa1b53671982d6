package kernels

import (
	"github.com/gohalo/halo/hlo"
)

// fold is an associative operation on numbers, in the forms in which reductions need it.
type fold[T any] struct {
	pair func(x, y T) T
	// run folds a run of at least one element; rows folds y into x, element by element.
	run  func(x []T) T
	rows func(x, y []T)
	// short folds y[i] with run i of x, all runs as long; for runs too short to be worth a call of run.
	short func(y, x []T, run int)
}

type integerNumber interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}
type realNumber interface {
	integerNumber | float32 | float64
}

// foldOf returns the fold by an op, or nil where there is none.
func foldOf[T realNumber](op hlo.Opcode) *fold[T] {
	switch op {
	case hlo.OpAdd:
		return &fold[T]{func(x, y T) T { return x + y }, sumRun[T], sumRows[T], sumShort[T]}
	case hlo.OpMultiply:
		return foldBy(func(x, y T) T { return x * y })
	case hlo.OpMaximum:
		return &fold[T]{func(x, y T) T { return max(x, y) }, maxRun[T], maxRows[T], maxShort[T]}
	case hlo.OpMinimum:
		return &fold[T]{func(x, y T) T { return min(x, y) }, minRun[T], minRows[T], minShort[T]}
	}
	return nil
}

func integerFoldOf[T integerNumber](op hlo.Opcode) *fold[T] {
	switch op {
	case hlo.OpAnd:
		return foldBy(func(x, y T) T { return x & y })
	case hlo.OpOr:
		return foldBy(func(x, y T) T { return x | y })
	case hlo.OpXor:
		return foldBy(func(x, y T) T { return x ^ y })
	}
	return foldOf[T](op)
}

// predFoldOf is on bytes 0 and 1.
func predFoldOf(op hlo.Opcode) *fold[uint8] {
	switch op {
	case hlo.OpAdd, hlo.OpMaximum, hlo.OpOr:
		return integerFoldOf[uint8](hlo.OpOr)
	case hlo.OpMultiply, hlo.OpMinimum, hlo.OpAnd:
		return integerFoldOf[uint8](hlo.OpAnd)
	case hlo.OpXor:
		return integerFoldOf[uint8](op)
	}
	return nil
}

func foldBy[T any](pair func(x, y T) T) *fold[T] {
	return &fold[T]{pair,
		func(x []T) T {
			r := x[0]
			for _, v := range x[1:] {
				r = pair(r, v)
			}
			return r
		},
		func(x, y []T) {
			y = y[:len(x)]
			for i := range x {
				x[i] = pair(x[i], y[i])
			}
		},
		func(y, x []T, run int) {
			for i, v := range y {
				for _, e := range x[i*run:][:run] {
					v = pair(v, e)
				}
				y[i] = v
			}
		}}
}

// sumBlock is how many elements are added before their sum is: it keeps rounding errors of long sums small.
const sumBlock = 4096

func sumRun[T realNumber](x []T) T {
	if len(x) <= sumBlock {
		return sumOf(x)
	}
	half := (len(x)/2 + sumBlock - 1) / sumBlock * sumBlock
	return sumRun(x[:half]) + sumRun(x[half:])
}

// sumOf adds in eight chains, which the processor follows at once.
func sumOf[T realNumber](x []T) T {
	var s0, s1, s2, s3, s4, s5, s6, s7 T
	for len(x) >= 8 {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
		s4 += x[4]
		s5 += x[5]
		s6 += x[6]
		s7 += x[7]
		x = x[8:]
	}
	for _, v := range x {
		s0 += v
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

func sumRows[T realNumber](x, y []T) {
	for len(x) >= 4 && len(y) >= 4 {
		x[0] += y[0]
		x[1] += y[1]
		x[2] += y[2]
		x[3] += y[3]
		x, y = x[4:], y[4:]
	}
	for i := range x {
		x[i] += y[i]
	}
}

func maxRun[T realNumber](x []T) T {
	r0, r1 := x[0], x[0]
	for len(x) >= 2 {
		r0 = max(r0, x[0])
		r1 = max(r1, x[1])
		x = x[2:]
	}
	if len(x) > 0 {
		r0 = max(r0, x[0])
	}
	return max(r0, r1)
}

func maxRows[T realNumber](x, y []T) {
	y = y[:len(x)]
	for i := range x {
		x[i] = max(x[i], y[i])
	}
}

func minRun[T realNumber](x []T) T {
	r0, r1 := x[0], x[0]
	for len(x) >= 2 {
		r0 = min(r0, x[0])
		r1 = min(r1, x[1])
		x = x[2:]
	}
	if len(x) > 0 {
		r0 = min(r0, x[0])
	}
	return min(r0, r1)
}

func minRows[T realNumber](x, y []T) {
	y = y[:len(x)]
	for i := range x {
		x[i] = min(x[i], y[i])
	}
}

func sumShort[T realNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v += e
		}
		y[i] = v
	}
}

func maxShort[T realNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v = max(v, e)
		}
		y[i] = v
	}
}

func minShort[T realNumber](y, x []T, run int) {
	for i, v := range y {
		for _, e := range x[i*run:][:run] {
			v = min(v, e)
		}
		y[i] = v
	}
}

// binaryOf recognises a computation that is one binary op on its two parameters, and returns the op. Swapped parameters count for
// commutative ops.
func binaryOf(c hlo.Computation) (hlo.Opcode, bool) {
	root := c.Root()
	if c.NumParameters() != 2 || root.NumOperands() != 2 || !root.Shape().IsScalar() {
		return 0, false
	}
	p0, ok0 := root.OperandInstr(0).ParameterNumber()
	p1, ok1 := root.OperandInstr(1).ParameterNumber()
	if !ok0 || !ok1 || p0 == p1 {
		return 0, false
	}
	if p0 == 1 && !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitCommutative) {
		return 0, false
	}
	for i := range 2 {
		if root.OperandInstr(i).Shape().Type() != root.Shape().Type() {
			return 0, false
		}
	}
	return root.Opcode(), true
}
