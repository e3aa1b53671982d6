package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// fold is an associative operation on numbers, in the forms in which reductions need it.
type fold[T any] struct {
	pair func(x, y T) T
	// run folds a run of at least one element; rows folds y into x, element by element.
	run  func(x []T) T
	rows func(x, y []T)
	// short folds y[i] with run i of x, all runs as long; for runs too short to be worth a call of run.
	short func(y, x []T, run int)
	// columns folds the rows of x, each as long as y, into y; for rows too short to be worth a call of rows.
	columns func(y, x []T)
	// block sets d to the fold of a run of up to sumBlock elements; or is nil, and run is to be called.
	block func(d *T, x []T)
	// lines does what each does for runs of up to sumBlock elements, or is nil.
	lines func(y, x []T, run int, first *T)
	// runs does what each does for runs of up to longest elements, and better than short.
	runs    func(y, x []T, run int, first *T)
	longest int
	// scan folds the elements of lines of n elements one by one, each from first on and from the front or the back, and sets y to what is folded so far; or is nil.
	scan func(y, x []T, n int, reverse bool, first T)
	// list is the loop that folds rows which lie anywhere, or nil; identity is an element that changes no other one; anyOrder says that it is the same whatever is folded first.
	list     vec.Loop
	identity T
	anyOrder bool
}

// takesRuns reports whether runs is the way to fold runs of a length.
func (f *fold[T]) takesRuns(run int) bool {
	return run <= f.longest
}

// each sets y[i] to the fold of first and run i of x, all runs as long.
func (f *fold[T]) each(y, x []T, run int, first *T) {
	switch {
	case run <= f.longest:
		f.runs(y, x, run, first)
		return
	case f.lines != nil && run <= sumBlock:
		f.lines(y, x, run, first)
		return
	case f.block == nil || run > sumBlock:
		for i := range y {
			y[i] = f.run(x[i*run:][:run])
		}
	default:
		for i := range y {
			f.block(&y[i], x[i*run:][:run])
		}
	}
	f.begin(y, *first)
}

// begin folds the initial value in front of finished elements.
func (f *fold[T]) begin(y []T, first T) {
	for i, v := range y {
		y[i] = f.pair(first, v)
	}
}

// below folds the rows of x, each as long as y, into y.
func (f *fold[T]) below(y, x []T) {
	if len(y) < shortRun {
		f.columns(y, x)
		return
	}
	for ; len(x) > 0; x = x[len(y):] {
		f.rows(y, x[:len(y)])
	}
}

type integerNumber interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}
type realNumber interface {
	integerNumber | float32 | float64
}

// foldedNumber is an element type that is folded by ops.
type foldedNumber interface{ realNumber | complexNumber }

// elementType is the type of which T is.
func elementType[T realNumber]() hlo.PrimitiveType {
	var x T
	switch any(x).(type) {
	case int8:
		return hlo.S8
	case int16:
		return hlo.S16
	case int32:
		return hlo.S32
	case int64:
		return hlo.S64
	case uint8:
		return hlo.U8
	case uint16:
		return hlo.U16
	case uint32:
		return hlo.U32
	case uint64:
		return hlo.U64
	case float32:
		return hlo.F32
	}
	return hlo.F64
}

// foldOf returns the fold by an op, or nil where there is none.
func foldOf[T realNumber](op hlo.Opcode) *fold[T] {
	t := elementType[T]()
	isInteger := t.IsInteger()
	switch op {
	case hlo.OpAdd:
		pair := func(x, y T) T { return x + y }
		name := vec.Of(op, vec.Unsigned(t))
		block := vec.FindFold(name.In(vec.Folding), pair, vec.SumOf[T])
		lines, _ := vec.FindFoldRows[T, T](name)
		return withFoldRuns(fold[T]{pair: pair, run: sumLinesOfBlocks(runLoop(block, vec.SumOf[T]), lines), rows: rowsLoop(name, sumRows[T]), short: sumShort[T], columns: sumColumns[T], block: block, identity: -zeroOf[T](), anyOrder: isInteger, scan: sumLines[T]}, name)
	case hlo.OpMultiply:
		name := vec.Of(op, vec.Unsigned(t))
		return withFoldRuns(fold[T]{pair: func(x, y T) T { return x * y }, run: multiplyRun[T], rows: rowsLoop(name, multiplyRows[T]), short: multiplyShort[T], columns: multiplyColumns[T], identity: 1, anyOrder: isInteger, scan: multiplyLines[T]}, name)
	case hlo.OpMaximum:
		pair := func(x, y T) T { return max(x, y) }
		block := vec.FindFold(vec.Of(op, t).In(vec.Folding), pair, maxRun[T])
		return withFoldRuns(fold[T]{pair: pair, run: runLoop(block, maxRun[T]), rows: rowsLoop(vec.Of(op, t), maxRows[T]), short: maxShort[T], columns: maxColumns[T], block: block, identity: lowest[T](), anyOrder: true}, vec.Of(op, t))
	case hlo.OpMinimum:
		pair := func(x, y T) T { return min(x, y) }
		block := vec.FindFold(vec.Of(op, t).In(vec.Folding), pair, minRun[T])
		return withFoldRuns(fold[T]{pair: pair, run: runLoop(block, minRun[T]), rows: rowsLoop(vec.Of(op, t), minRows[T]), short: minShort[T], columns: minColumns[T], block: block, identity: highest[T](), anyOrder: true}, vec.Of(op, t))
	}
	return nil
}

// zeroOf is 0, which can be divided by and negated.
func zeroOf[T realNumber]() (zero T) { return zero }

// highest is the number that no other is greater than.
func highest[T realNumber]() T {
	t, zero, one := elementType[T](), zeroOf[T](), T(1)
	switch {
	case t.IsFloat():
		return one / zero
	case t.IsUnsigned():
		return zero - one
	}
	half := one
	for range t.Bits() - 2 {
		half += half
	}
	return half - one + half
}

// lowest is the number that no other is less than.
func lowest[T realNumber]() T {
	t := elementType[T]()
	switch {
	case t.IsFloat():
		return -highest[T]()
	case t.IsUnsigned():
		return 0
	}
	return -highest[T]() - 1
}

// withFoldRuns is a fold with the loop for short runs, if there is one.
func withFoldRuns[T realNumber](f fold[T], name vec.Name) *fold[T] {
	f.lines, _ = vec.FindFoldRows[T, T](name)
	f.runs, f.longest = vec.FindFoldRuns(name, f.pair, f.short)
	takeFew(&f, name.Op == hlo.OpMultiply)
	f.list = listOf(name, f.pair, itself[T])
	return &f
}

func integerFoldOf[T integerNumber](op hlo.Opcode) *fold[T] {
	switch op {
	case hlo.OpAnd:
		return bitFold(op, func(x, y T) T { return x & y }, func(x, y uint64) uint64 { return x & y })
	case hlo.OpOr:
		return bitFold(op, func(x, y T) T { return x | y }, func(x, y uint64) uint64 { return x | y })
	case hlo.OpXor:
		return bitFold(op, func(x, y T) T { return x ^ y }, func(x, y uint64) uint64 { return x ^ y })
	}
	return foldOf[T](op)
}

// predFoldOf is on bytes 0 and 1, of which the greatest is whether any is 1.
func predFoldOf(op hlo.Opcode) *fold[uint8] {
	//halo:allow opswitch on predicates each op is another one
	switch op {
	case hlo.OpAdd, hlo.OpMaximum, hlo.OpOr:
		return foldOf[uint8](hlo.OpMaximum)
	case hlo.OpMultiply, hlo.OpMinimum, hlo.OpAnd:
		f := foldOf[uint8](hlo.OpMinimum)
		f.identity = 1
		return f
	case hlo.OpXor:
		return integerFoldOf[uint8](op)
	}
	return nil
}

// foldBy is the fold by a function, which it calls for every element.
func foldBy[T any](pair func(x, y T) T) *fold[T] {
	return &fold[T]{pair: pair,
		run: func(x []T) T {
			r := x[0]
			for _, v := range x[1:] {
				r = pair(r, v)
			}
			return r
		},
		rows: func(x, y []T) {
			y = y[:len(x)]
			for i := range x {
				x[i] = pair(x[i], y[i])
			}
		},
		short: func(y, x []T, run int) {
			for i, v := range y {
				for _, e := range x[i*run:][:run] {
					v = pair(v, e)
				}
				y[i] = v
			}
		},
		columns: func(y, x []T) {
			for c, v := range y {
				for i := c; i < len(x); i += len(y) {
					v = pair(v, x[i])
				}
				y[c] = v
			}
		}}
}

// rowsLoop is a loop of package vec as fold.rows.
func rowsLoop[T any](name vec.Name, portable func(x, y []T)) func(x, y []T) {
	loop := vec.Find(name, func(n int, d, _, b, _ unsafe.Pointer) {
		portable(unsafe.Slice((*T)(d), n), unsafe.Slice((*T)(b), n))
	})
	return func(x, y []T) {
		if len(x) > 0 {
			loop(len(x), unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[:len(x)][0]), nil)
		}
	}
}

// runLoop is a loop of package vec as fold.run, or portable if there is none.
func runLoop[T realNumber, S any](loop func(d *T, x []S), portable func(x []S) T) func(x []S) T {
	if loop == nil {
		return portable
	}
	// The loop writes through a pointer, which would take a new variable for each call.
	results := sync.Pool{New: func() any { return new(T) }}
	return func(x []S) T {
		p := results.Get().(*T)
		loop(p, x)
		r := *p
		results.Put(p)
		return r
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
