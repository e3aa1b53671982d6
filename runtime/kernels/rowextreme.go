package kernels

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// extremeRows finds what rows fold to, which follow each other and are as long: elements, and the positions where they are, of which that of the first element of a row is at.
type extremeRows func(rows []byte, length, at int, values, indices []byte)

// extremeOf is how the fold of rows is found if the computation takes the largest or the smallest element and the first position where it is, and the second array
// is the positions. Nil if not.
//
// The computation is recognised by what it computes. If it does nothing with elements but compare and choose them, then its results depend on their order alone,
// and it is known by its results on all pairs of a few elements that are in all orders to each other.
func extremeOf(s *site, comp hlo.Computation, r *rowLanes) extremeRows {
	if r.arrays != 2 || !r.positions(s.in.OperandInstr(1)) || !analysis.OnlyCompares(comp) {
		return nil
	}
	switch comp.Parameter(1).Shape().Type() {
	case hlo.S32, hlo.U32:
		return extremeAs[int32](comp, r)
	case hlo.S64, hlo.U64:
		return extremeAs[int64](comp, r)
	}
	return nil
}

// positions reports whether in counts along the last axis of rows, which is all that they are.
func (r *rowLanes) positions(in hlo.Instruction) bool {
	d := in.Shape().Rank() - 1
	if r.axes != nil {
		d = r.axes[d]
	}
	return in.Opcode() == hlo.OpIota && hlo.AttrsOf[hlo.IotaAttrs](in).Dimension == int64(d) && in.Shape().Dim(d) == int64(r.run)
}

// extremeKind recognises a computation by its program: largest or smallest, and of equal ones the value of the last or the first.
func extremeKind(comp hlo.Computation, p *tile.Program) (largest, last, ok bool) {
	r := &rowLanes{arrays: 2, program: p}
	switch comp.Parameter(1).Shape().Type() {
	case hlo.S32, hlo.U32:
		ok = extremeAs[int32](comp, r) != nil
	case hlo.S64, hlo.U64:
		ok = extremeAs[int64](comp, r) != nil
	}
	return r.largest, r.last, ok
}

func extremeAs[I int32 | int64](comp hlo.Computation, r *rowLanes) extremeRows {
	switch comp.Parameter(0).Shape().Type() {
	case hlo.BF16, hlo.F16:
		return probeNarrow[I](comp.Parameter(0).Shape().Type(), r)
	case hlo.F32:
		return probe[float32, I](r, []float32{-1, negativeZero[float32](), 0, 1, infinite[float32](1), infinite[float32](-1), notANumber[float32]()})
	case hlo.F64:
		return probe[float64, I](r, []float64{-1, negativeZero[float64](), 0, 1, infinite[float64](1), infinite[float64](-1), notANumber[float64]()})
	case hlo.PRED:
		return probe[uint8, I](r, []uint8{0, 1})
	case hlo.S8:
		return probe[int8, I](r, []int8{-1 << 7, -1, 0, 1, 1<<7 - 1})
	case hlo.U8:
		return probe[uint8, I](r, []uint8{0, 1, 2, 1<<8 - 1})
	case hlo.S16:
		return probe[int16, I](r, []int16{-1 << 15, -1, 0, 1, 1<<15 - 1})
	case hlo.U16:
		return probe[uint16, I](r, []uint16{0, 1, 2, 1<<16 - 1})
	case hlo.S32:
		return probe[int32, I](r, []int32{-1 << 31, -1, 0, 1, 1<<31 - 1})
	case hlo.U32:
		return probe[uint32, I](r, []uint32{0, 1, 2, 1<<32 - 1})
	case hlo.S64:
		return probe[int64, I](r, []int64{-1 << 63, -1, 0, 1, 1<<63 - 1})
	}
	return nil
}

// ordered is the types of elements whose extremes are found as they are.
type ordered interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | float32 | float64
}

func negativeZero[T float32 | float64]() T {
	zero := T(0)
	return -zero
}
func infinite[T float32 | float64](sign T) T {
	zero := T(0)
	return sign / zero
}
func notANumber[T float32 | float64]() T { return infinite[T](1) - infinite[T](1) }

func probe[T ordered, I int32 | int64](r *rowLanes, values []T) extremeRows {
	largest, last, ok := probed[T, I](r, values, bytesOf[T], elems[T])
	if !ok {
		return nil
	}
	return extremeRow[T, I](largest, last, neutral(values, largest))
}

// neutral is the number that changes no other one's fold: the smallest of values if that is the largest, or else the largest.
func neutral[T ordered](values []T, largest bool) T {
	v := values[0]
	for _, x := range values {
		if (x < v) == largest && x == x {
			v = x
		}
	}
	return v
}

// probed runs the computation on all pairs of the values, in positions before, equal and after, and reports which of those that are recognised it is. In memory values are as
// encode has them.
func probed[T ordered, I int32 | int64](r *rowLanes, values []T, encode func([]T) []byte, decode func([]byte) []T) (largest, last, ok bool) {
	type element struct {
		v T
		i I
	}
	var before, after []element
	for _, x := range values {
		for _, y := range values {
			for ij := I(0); ij < 9; ij++ {
				before, after = append(before, element{x, ij / 3}), append(after, element{y, ij % 3})
			}
		}
	}
	f := &rowFrame{}
	memory := func(of []element, i int) []byte {
		var v []T
		var at []I
		for _, e := range of {
			v, at = append(v, e.v), append(at, e.i)
		}
		if i == 0 {
			return encode(v)
		}
		return bytesOf(at)
	}
	for i := range 2 {
		f.acc[0] = append(f.acc[0], memory(before, i))
		f.acc[1] = append(f.acc[1], slices.Clone(f.acc[0][i]))
		f.x = append(f.x, memory(after, i))
	}
	r.program.Run(0, len(before), &f.laneFrame)
	v, at := decode(f.acc[1][0]), elems[I](f.acc[1][1])
	for _, largest := range []bool{true, false} {
		for _, last := range []bool{true, false} {
			same := true
			for k, a := range before {
				b := after[k]
				wantV, wantAt := chooseExtreme(a.v, b.v, a.i, b.i, largest, last)
				same = same && bitsEqual(wantV, v[k]) && wantAt == at[k]
			}
			if same {
				r.largest, r.last = largest, last
				return largest, last, true
			}
		}
	}
	return false, false, false
}

// chooseExtreme is the computation that is recognised: the first NaN, or else the largest (or smallest); of equal ones the lower position, and the value of the last or
// the first, which may be zeros of different signs.
func chooseExtreme[T ordered, I int32 | int64](a, b T, i, j I, largest, last bool) (T, I) {
	switch {
	case a != a:
		return a, i
	case b != b:
		return b, j
	case a == b && last:
		return b, min(i, j)
	case a == b:
		return a, min(i, j)
	case (a > b) == largest:
		return a, i
	}
	return b, j
}

// extremeBlock is how many elements are folded before the place is known.
const extremeBlock = 512

// extremeRow finds the elements that short rows fold to, of all of them at once, or else the block in which the result is by folding blocks, and then its place.
func extremeRow[T ordered, I int32 | int64](largest, last bool, first T) extremeRows {
	op := hlo.OpMinimum
	if largest {
		op = hlo.OpMaximum
	}
	fold := foldOf[T](op)
	size := int(unsafe.Sizeof(first))
	return func(rows []byte, length, at int, values, indices []byte) {
		all, best, index := elems[T](rows), elems[T](values), elems[I](indices)
		areFolded := length > shortRun && fold.takesRuns(length)
		if areFolded {
			fold.runs(best, all, length, &first)
		}
		for i := range best {
			x := all[i*length:][:length]
			place := 0
			switch {
			case length <= shortRun:
				place = firstExtreme(x, largest)
			case areFolded && (len(x) <= countedRun || size == 1) && best[i] != 0 && best[i] == best[i]: // so that it has one encoding
				place = firstSame(rows[i*length*size:][:length*size], bytesOf(best[i:i+1]))
			case areFolded:
				place = firstEqual(x, best[i])
			default:
				place = blockExtreme(x, fold, largest)
			}
			best[i], index[i] = extremeAt(x, place, last), I(at+place)
		}
	}
}

// extremeAt is the result whose place is known: of zeros the last one, if that is asked for.
func extremeAt[T ordered](x []T, place int, last bool) T {
	if x[place] == 0 && last {
		for k := len(x) - 1; k >= 0; k-- {
			if x[k] == 0 {
				return x[k]
			}
		}
	}
	return x[place]
}

// firstEqual is the place of the first element that equals v, or is NaN if that is.
func firstEqual[T ordered](x []T, v T) int {
	place := 0
	if v != v {
		for x[place] == x[place] {
			place++
		}
		return place
	}
	if unsafe.Sizeof(v) == 1 {
		return bytes.IndexByte(bytesOf(x), bytesOf([]T{v})[0])
	}
	for x[place] != v {
		place++
	}
	return place
}

// countedRun is the length of rows up to which comparing all elements is better than a branch at the first that is equal, which nothing foretells.
const countedRun = 32

// firstSame is the place of the first element with the bits of v, which is there.
func firstSame(x, v []byte) int {
	switch len(v) {
	case 1:
		return bytes.IndexByte(x, v[0])
	case 2:
		return firstSameAs(elems[uint16](x), elems[uint16](v)[0])
	case 4:
		return firstSameAs(elems[uint32](x), elems[uint32](v)[0])
	}
	return firstSameAs(elems[uint64](x), elems[uint64](v)[0])
}

func firstSameAs[U uint16 | uint32 | uint64](x []U, v U) (place int) {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i] == v {
			place = i
		}
	}
	return place
}

// blockExtreme is what firstExtreme is, of a row that is folded block by block.
func blockExtreme[T ordered](x []T, fold *fold[T], largest bool) (place int) {
	best := fold.run(x[:min(extremeBlock, len(x))])
	for k := extremeBlock; k < len(x) && best == best; k += extremeBlock {
		if v := fold.run(x[k:min(k+extremeBlock, len(x))]); v != v || v != best && (v > best) == largest {
			best, place = v, k
		}
	}
	return place + firstEqual(x[place:], best)
}

// firstExtreme is the place of the first NaN, or else of the first of the largest or smallest elements.
func firstExtreme[T ordered](x []T, largest bool) (place int) {
	best := x[0]
	if best != best {
		return 0
	}
	for i, v := range x[1:] {
		if v != v {
			return i + 1
		}
		if v != best && (v > best) == largest {
			best, place = v, i+1
		}
	}
	return place
}

// bytesOf is the memory of v.
func bytesOf[T any](v []T) []byte {
	var e T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(e)))
}

func bitsEqual[T ordered](x, y T) bool {
	return slices.Equal(bytesOf([]T{x}), bytesOf([]T{y}))
}
