package kernels

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

type complexNumber interface{ complex64 | complex128 }

// Complex numbers in a line: long runs are folded onto lines of chains, which the loops over rows fold.
const complexLine = 64

// mostComplexInOrder is how many numbers of a run are folded one by one.
const mostComplexInOrder = 16

// mostComplexColumns is up to how many numbers runs are folded by columns.
const mostComplexColumns = 8

// complexFoldOf is the fold of complex numbers by an op, or nil where there is none. There is no identity: 1 is none, as it times an infinity may be no number.
func complexFoldOf[T complexNumber](op hlo.Opcode) *fold[T] {
	f := &fold[T]{}
	t := hlo.C64
	if sizeOf(*new(T)) == hlo.C128.ByteSize() {
		t = hlo.C128
	}
	//halo:allow opswitch the ops that complex numbers are reduced by
	switch op {
	case hlo.OpAdd:
		f.pair, f.scan, f.short, f.columns = func(x, y T) T { return x + y }, sumLines[T], sumShort[T], sumColumns[T]
		f.rows = complexRows(vec.Of(op, t.ComponentType()), sumRows[T])
	case hlo.OpMultiply:
		f.pair, f.scan, f.short, f.columns = func(x, y T) T { return x * y }, multiplyLines[T], multiplyShort[T], multiplyColumns[T]
		f.rows = complexRows(vec.Of(op, t), multiplyRows[T])
	default:
		return nil
	}
	nan := math.NaN()
	f.identity = T(complex(nan, nan))
	f.run = foldBlocks(f.pair, complexRun(f))
	takeColumns(f, mostComplexColumns)
	return f
}

// complexRows is fold.rows by a loop of package vec that counts parts.
func complexRows[T complexNumber](name vec.Name, portable func(x, y []T)) func(x, y []T) {
	loop := vec.Find(name, func(n int, d, _, b, _ unsafe.Pointer) {
		portable(unsafe.Slice((*T)(d), n/2), unsafe.Slice((*T)(b), n/2))
	})
	return func(x, y []T) {
		if len(x) > 0 {
			loop(2*len(x), unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[:len(x)][0]), nil)
		}
	}
}

// complexRun folds a run: the lines of it onto the first one, whose halves are folded until few numbers are left.
func complexRun[T complexNumber](f *fold[T]) func(x []T) T {
	lines := sync.Pool{New: func() any { return new([complexLine]T) }}
	return func(x []T) T {
		if len(x) > mostComplexInOrder {
			line := lines.Get().(*[complexLine]T)
			n := complexLine
			for n > len(x) {
				n /= 2
			}
			y := line[:n]
			copy(y, x)
			for x = x[n:]; len(x) >= n; x = x[n:] {
				f.rows(y, x[:n])
			}
			f.rows(y[:len(x)], x)
			for ; n > mostComplexInOrder/2; n /= 2 {
				f.rows(y[:n/2], y[n/2:n])
			}
			r := foldInOrder(f, y[:n])
			lines.Put(line)
			return r
		}
		return foldInOrder(f, x)
	}
}

func foldInOrder[T any](f *fold[T], x []T) T {
	r := x[0]
	for _, v := range x[1:] {
		r = f.pair(r, v)
	}
	return r
}

// complexColumns adds up rows element by element: as rows of twice as many real numbers, from an initial value both of whose parts are the same.
func complexColumns[T float32 | float64](s *site, op hlo.Opcode, leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	var l reduceLayout
	l.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	arg, isInput := leaf(s.in.OperandInstr(0))
	if l.inner || op != hlo.OpAdd || !isInput || s.in.OperandInstr(0).Shape().Type() != s.in.Shape().Type() || s.shape(0).NumElements() == 0 {
		return runtime.Bound{}, false
	}
	r, e := &reduction[T]{fold: foldOf[T](hlo.OpAdd)}, &reduceEnds{t: s.in.Shape().Type()}
	r.layOut(append(slices.Clone(s.shape(0).Dimensions()), 2), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	first := s.in.OperandInstr(1).Literal()
	if first == nil || first.IsElided() || !e.plan(s, leaf) {
		return runtime.Bound{}, false
	}
	if parts := elems[T](first.Bytes()); !bytes.Equal(bytesOf(parts[:1]), bytesOf(parts[1:])) {
		return runtime.Bound{}, false
	}
	r.init, r.out, r.in = e.init, e.out, place{kind: inInput, index: arg}
	r.divide()
	r.takeRows(r.fold.list, sizeOf(*new(T)))
	return r.bound(e, 2*int(s.shape(0).NumElements())), true
}
