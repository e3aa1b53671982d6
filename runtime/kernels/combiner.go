package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// combiner is what a scatter does with an element and its update.
type combiner[T any] struct {
	// rows combines the elements of x with as many of u.
	rows func(x, u []T)
	// lines combines n elements of u with n of x for each entry of the list.
	lines func(x, u []T, n int, list []scatteredLine)
	// s32 and s64 combine element i of u with that of x at at[i], if there is one.
	s32 func(x []T, at []int32, u []T)
	s64 func(x []T, at []int, u []T)
	partial[T]
}

// partial is how updates may be combined by themselves, before they are combined with the elements, so that the result is the same.
type partial[T any] struct {
	// begin makes an array that is to be combined with updates, then with x; nil where the order of updates matters.
	begin func(y, x []T)
	// isLost reports whether what updates of an array were is lost in it, if not nil.
	isLost func(y []T) bool
}

// scatteredLine is where a line is in the array and in the updates, in elements. Vector loops read it.
type scatteredLine struct{ to, from int }

// elementIndex is the types of indices that combiners take.
type elementIndex interface{ int32 | int }

// shortLine is the length of lines below which calling a loop over rows takes longer than the loop.
const shortLine = 16

func replacing[T any]() *combiner[T] {
	return &combiner[T]{
		rows: func(x, u []T) { copy(x, u) },
		lines: func(x, u []T, n int, list []scatteredLine) {
			for _, l := range list {
				from := u[l.from:][:n]
				if n >= shortLine {
					copy(x[l.to:][:n], from)
					continue
				}
				for k, v := range from {
					x[l.to+k] = v
				}
			}
		},
		s32: replaceElements[T, int32],
		s64: replaceElements[T, int],
	}
}

func replaceElements[T any, I elementIndex](x []T, at []I, u []T) {
	u = u[:len(at)]
	for i, o := range at {
		if uint(o) < uint(len(x)) { // negative numbers are large ones
			x[o] = u[i]
		}
	}
}

// folding is the combiner by a fold; nil if there is none.
func folding[T any](f *fold[T]) *combiner[T] {
	if f == nil {
		return nil
	}
	return &combiner[T]{
		rows: f.rows,
		lines: func(x, u []T, n int, list []scatteredLine) {
			for _, l := range list {
				from, to := u[l.from:][:n], x[l.to:][:n]
				if n >= shortLine {
					f.rows(to, from)
					continue
				}
				for k, v := range from {
					to[k] = f.pair(to[k], v)
				}
			}
		},
		s32: foldElements[T, int32](f.pair),
		s64: foldElements[T, int](f.pair),
	}
}

func foldElements[T any, I elementIndex](pair func(x, y T) T) func(x []T, at []I, u []T) {
	return func(x []T, at []I, u []T) {
		u = u[:len(at)]
		for i, o := range at {
			if uint(o) < uint(len(x)) {
				x[o] = pair(x[o], u[i])
			}
		}
	}
}

// foldingNumbers is the combiner by an op, without a call for each element where the op is a common one.
func foldingNumbers[T realNumber](op hlo.Opcode) *combiner[T] {
	c := folding(foldOf[T](op))
	if c == nil {
		return nil
	}
	t := elementType[T]()
	name := vec.Of(op, t)
	//halo:allow opswitch the ops of foldOf
	switch op {
	case hlo.OpAdd:
		name = vec.Of(op, vec.Unsigned(t))
		c.s32, c.s64 = addElements[T, int32], addElements[T, int]
	case hlo.OpMultiply:
		name = vec.Of(op, vec.Unsigned(t))
		c.s32, c.s64 = multiplyElements[T, int32], multiplyElements[T, int]
	case hlo.OpMaximum:
		c.s32, c.s64 = maxElements[T, int32], maxElements[T, int]
		c.begin = fromArray[T]
	case hlo.OpMinimum:
		c.s32, c.s64 = minElements[T, int32], minElements[T, int]
		c.begin = fromArray[T]
	}
	if t.IsFloat() && c.begin != nil {
		c.isLost = hasNaN[T] // which bits a NaN has depends on the order
	}
	if loop := vec.Find(name.In(vec.Scattered), nil); loop != nil {
		c.lines = vectorLines[T](loop)
	}
	if loop := vec.Find(vec.Of(op, t, hlo.S32).In(vec.Scattered), nil); loop != nil {
		c.s32 = vectorElements[T, int32](loop)
	}
	if loop := vec.Find(vec.Of(op, t, hlo.S64).In(vec.Scattered), nil); loop != nil {
		c.s64 = vectorElements[T, int](loop)
	}
	return c
}

// foldingIntegers is foldingNumbers for integers, whose updates may be combined in any order.
func foldingIntegers[T integerNumber](op hlo.Opcode) *combiner[T] {
	c := foldingNumbers[T](op)
	if c == nil {
		c = folding(integerFoldOf[T](op))
	}
	if c == nil {
		return nil
	}
	//halo:allow opswitch the ops of integerFoldOf
	switch op {
	case hlo.OpAdd, hlo.OpXor:
		c.begin = func(y, _ []T) { clear(y) }
	case hlo.OpMultiply:
		c.begin = func(y, _ []T) {
			for i := range y {
				y[i] = 1
			}
		}
	case hlo.OpAnd, hlo.OpOr:
		c.begin = fromArray[T]
	}
	return c
}

// foldingComplex is foldingNumbers for complex numbers.
func foldingComplex[T complexNumber](op hlo.Opcode) *combiner[T] {
	c := folding(complexFoldOf[T](op))
	//halo:allow opswitch the ops of complexFoldOf
	switch op {
	case hlo.OpAdd:
		c.s32, c.s64 = addElements[T, int32], addElements[T, int]
	case hlo.OpMultiply:
		c.s32, c.s64 = multiplyElements[T, int32], multiplyElements[T, int]
	}
	return c
}

// fromArray begins with the elements themselves, for ops that may see one twice.
func fromArray[T any](y, x []T) { copy(y, x) }

func hasNaN[T realNumber](x []T) bool {
	for _, v := range x {
		if v != v {
			return true
		}
	}
	return false
}

// vectorLines is lines by a vector loop.
func vectorLines[T any](loop vec.Loop) func(x, u []T, n int, list []scatteredLine) {
	return func(x, u []T, n int, list []scatteredLine) {
		loop(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&u[0]), unsafe.Pointer(&list[0]), unsafe.Pointer(&list[len(list)-1]))
	}
}

// vectorElements is s32 or s64 by a loop in assembly.
func vectorElements[T any, I elementIndex](loop vec.Loop) func(x []T, at []I, u []T) {
	return func(x []T, at []I, u []T) {
		if len(at) > 0 && len(x) > 0 {
			loop(len(at), unsafe.Pointer(&x[0]), unsafe.Pointer(&at[0]), unsafe.Pointer(&u[:len(at)][0]), unsafe.Pointer(&x[len(x)-1]))
		}
	}
}

func addElements[T foldedNumber, I elementIndex](x []T, at []I, u []T) {
	u = u[:len(at)]
	for i, o := range at {
		if uint(o) < uint(len(x)) {
			x[o] += u[i]
		}
	}
}

func multiplyElements[T foldedNumber, I elementIndex](x []T, at []I, u []T) {
	u = u[:len(at)]
	for i, o := range at {
		if uint(o) < uint(len(x)) {
			x[o] *= u[i]
		}
	}
}

func maxElements[T realNumber, I elementIndex](x []T, at []I, u []T) {
	u = u[:len(at)]
	for i, o := range at {
		if uint(o) < uint(len(x)) {
			x[o] = max(x[o], u[i])
		}
	}
}

func minElements[T realNumber, I elementIndex](x []T, at []I, u []T) {
	u = u[:len(at)]
	for i, o := range at {
		if uint(o) < uint(len(x)) {
			x[o] = min(x[o], u[i])
		}
	}
}
