package kernels

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// topKSearch finds the first k of each row in an order of keys of at most 32 bits. Numbers of 64 bits stand for elements: the key
// that orders above, the position below, so that none are equal. A row is read once; what is larger than the k-th of what was seen is
// kept, and when that has become twice too much, the smaller half is dropped. As most of a long row is not, elements are compared first as what they are.
type topKSearch struct {
	key     sortKey
	width   int // of an element
	n, k    int
	skip    skipping // or nil
	loop    *parallelLoop
	buffers sync.Pool
}

// topKBuffers is what one row needs.
type topKBuffers struct {
	keys       [topKBlock]uint64
	kept       []uint64
	made       []byte // keys that are not the elements themselves
	conversion conversionBuffers
}

// topKBlock is how many keys are made at a time, and afterSkipping how many once something was skipped.
const (
	topKBlock     = 512
	afterSkipping = 8
)

// topK is the op: an order of the elements themselves.
func topK(s *site) (runtime.Bound, bool) {
	a, t := hlo.AttrsOf[hlo.TopKAttrs](s.in), s.shape(0).Type()
	if !isItsKey(t) {
		return runtime.Bound{}, false
	}
	return firstOfRows(s, int(a.K), sortKey{typ: t, descending: a.Largest})
}

// isItsKey reports whether elements of a type can be ordered as they are.
func isItsKey(t hlo.PrimitiveType) bool {
	return t.Bits() == 8*t.ByteSize() && !t.IsComplex() && (!t.IsFloat() || t.Bits() >= 16)
}

// topKCall is XLA's custom call for the same, whose comparator is any that sorts understand by one key. Without one, as TensorFlow 2.12 has it, the largest come first.
func topKCall(s *site) (runtime.Bound, bool) {
	result := s.in.Shape()
	if hlo.AttrsOf[hlo.CustomCallAttrs](s.in).Target != "TopK" || s.in.NumOperands() != 1 || s.in.NumCallees() > 1 || !result.IsTuple() || result.NumElems() != 2 {
		return runtime.Bound{}, false
	}
	in, values := s.shape(0), result.Elem(0)
	if in.Rank() == 0 || in.NumElements() == 0 || values.Rank() != in.Rank() {
		return runtime.Bound{}, false
	}
	n := in.Dim(in.Rank() - 1)
	k := values.Dim(in.Rank() - 1)
	ok := true
	for d := range in.Rank() - 1 {
		ok = ok && values.Dim(d) == in.Dim(d)
	}
	if !ok || k > n || n > math.MaxInt32 || values.Type() != in.Type() {
		return runtime.Bound{}, false
	}
	if s.in.NumCallees() == 0 {
		if !isItsKey(in.Type()) {
			return runtime.Bound{}, false
		}
		return firstOfRows(s, int(k), sortKey{typ: in.Type(), descending: true})
	}
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || comp.NumParameters() == 0 || comp.Parameter(0).Shape().Type() != in.Type() {
		return runtime.Bound{}, false
	}
	keys, ok := sortKeys(s.m, comp, int(n))
	if !ok || len(keys) != 1 || keys[0].operand != 0 {
		return runtime.Bound{}, false
	}
	return firstOfRows(s, int(k), keys[0])
}

// firstOfRows gives the first k elements of each row, and where they were, as a sort by the key would put them.
func firstOfRows(s *site, k int, key sortKey) (runtime.Bound, bool) {
	in := s.shape(0)
	if in.Rank() == 0 || in.NumElements() == 0 || k == 0 || in.Dim(in.Rank()-1) > math.MaxInt32 || s.in.Shape().Elem(1).Type() != hlo.S32 {
		return runtime.Bound{}, false
	}
	n, w := int(in.Dim(in.Rank()-1)), in.Type().ByteSize()
	rows := int(in.NumElements()) / n
	if key.bits() > 32 {
		x := &topKSorted{sorter: sorter{keys: []sortKey{key}, n: n, stride: 1, inner: 1, widths: []int{w}, wide: true}, k: k}
		x.sorter.buffers.New = func() any { return new(sortBuffers) }
		x.sorter.loop = newParallelLoop(x.rows)
		return x.sorter.loop.bound(rows, 1+(1<<10)/n), true
	}
	key.descending = !key.descending // the search is for the largest
	x := newTopKSearch(key, w, n, k)
	x.loop = newParallelLoop(x.rows)
	return x.loop.bound(rows, 1+(1<<14)/n), true
}

// newTopKSearch searches rows of n elements for the k with the largest keys.
func newTopKSearch(key sortKey, width, n, k int) *topKSearch {
	x := &topKSearch{key: key, width: width, n: n, k: k}
	x.skip = skippingOf(&x.key)
	x.buffers.New = func() any { return &topKBuffers{kept: make([]uint64, 0, max(64, 2*k))} }
	return x
}

func (x *topKSearch) rows(f *runtime.TensorFrame, lo, hi int) {
	b := x.buffers.Get().(*topKBuffers)
	w := x.width
	for r := lo; r < hi; r++ {
		row := f.In(0).Data[r*x.n*w:][:x.n*w]
		first := x.search(b, x.keysOf(b, row))
		values, positions := f.Out(0).Data[r*x.k*w:][:x.k*w], elems[int32](f.Out(1).Data)[r*x.k:][:x.k]
		for i, v := range first {
			at := ^uint32(v)
			positions[i] = int32(at)
			copy(values[i*w:][:w], row[int(at)*w:])
		}
	}
	b.conversion = conversionBuffers{}
	x.buffers.Put(b)
}

// keysOf is the row of what is compared.
func (x *topKSearch) keysOf(b *topKBuffers, row []byte) []byte {
	if x.key.program == nil {
		return row
	}
	if b.made == nil {
		b.made = runtime.AlignedBytes(int64(x.n * x.key.typ.ByteSize()))
	}
	b.conversion = conversionBuffers{row, b.made}
	x.key.program.Run(0, x.n, &b.conversion)
	return b.made
}

// topKSorted does the same with keys of 64 bits, which leave no room for positions: it sorts the whole row.
type topKSorted struct {
	sorter sorter
	k      int
}

func (x *topKSorted) rows(f *runtime.TensorFrame, lo, hi int) {
	b := x.sorter.buffers.Get().(*sortBuffers)
	w := x.sorter.widths[0]
	for r := lo; r < hi; r++ {
		x.sorter.order(f, b, r*x.sorter.n)
		row, values := f.In(0).Data[r*x.sorter.n*w:], f.Out(0).Data[r*x.k*w:][:x.k*w]
		positions := elems[int32](f.Out(1).Data)[r*x.k:][:x.k]
		copy(positions, b.order)
		for i, at := range positions {
			copy(values[i*w:][:w], row[int(at)*w:])
		}
	}
	x.sorter.buffers.Put(b)
}

// search returns the k largest numbers of a row of keys, largest first.
func (x *topKSearch) search(b *topKBuffers, row []byte) []uint64 {
	kept, threshold := b.kept[:0], uint64(0) // of keys: what is no larger is not needed
	w := x.key.typ.ByteSize()
	seen, smallest := false, 0 // the position of the threshold
	for from := 0; from < x.n; {
		keys := b.keys[:min(topKBlock, x.n-from)]
		if seen && x.skip != nil {
			from = x.skip(row, from, smallest)
			keys = b.keys[:min(afterSkipping, x.n-from)]
		}
		x.key.orderable(keys, row[from*w:])
		for i, key := range keys {
			// A later element comes after an equal one before it.
			if key <= threshold && seen {
				continue
			}
			v := key<<32 | uint64(^uint32(from+i))
			if x.k <= inOrder {
				if kept = insertInOrder(kept, v, x.k); len(kept) == x.k {
					least := kept[x.k-1]
					threshold, smallest, seen = least>>32, int(^uint32(least)), true
				}
				continue
			}
			if len(kept) == cap(kept) {
				largestFirst(kept, x.k)
				kept = kept[:x.k]
				least := slices.Min(kept)
				threshold, smallest, seen = least>>32, int(^uint32(least)), true
				if key <= threshold {
					continue
				}
			}
			kept = append(kept, v)
		}
		from += len(keys)
	}
	if x.k <= inOrder {
		return kept
	}
	largestFirst(kept, x.k)
	kept = kept[:x.k]
	slices.SortFunc(kept, func(p, q uint64) int {
		if p > q {
			return -1
		}
		return 1
	})
	return kept
}

// inOrder is the most numbers that are kept in their order: then no more are kept than are wanted.
const inOrder = 32

// insertInOrder puts a number into a list of up to k, largest first, of which the last goes where there are more. If there are k, it is larger than that.
func insertInOrder(kept []uint64, v uint64, k int) []uint64 {
	if len(kept) < k {
		kept = append(kept, v)
	}
	i := len(kept) - 1
	for ; i > 0 && kept[i-1] < v; i-- {
		kept[i] = kept[i-1]
	}
	kept[i] = v
	return kept
}

// largestFirst moves the k largest of v, which are all different, to the front. Where pivots keep failing, it sorts.
func largestFirst(v []uint64, k int) {
	for rounds := 4 * bits.Len(uint(len(v))); len(v) > k && k > 0; rounds-- {
		if rounds == 0 || len(v) < 12 {
			slices.Sort(v)
			slices.Reverse(v)
			return
		}
		a, b, c := v[0], v[len(v)/2], v[len(v)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		larger := 0
		for i, x := range v {
			if x > pivot {
				v[i], v[larger] = v[larger], x
				larger++
			}
		}
		switch {
		case larger > k:
			v = v[:larger]
		case larger == k:
			return
		default:
			v, k = v[larger:], k-larger
		}
	}
}

// skipping returns the position of the first element of a row, at from or after, that may have a larger key than the one at a position before, or the length of the row.
type skipping func(row []byte, from, than int) int

// skippingOf is nil for elements that the processor does not compare.
func skippingOf(k *sortKey) skipping {
	switch k.typ {
	case hlo.F32:
		return func(row []byte, from, than int) int {
			v := elems[float32](row)
			bound := v[than]
			if bound == 0 && !k.canonical && math.Signbit(float64(bound)) != k.descending { // the other zero comes before this one
				bound = float32(math.Copysign(math.SmallestNonzeroFloat32, float64(bound)))
			}
			return skipTo(v, from, bound, k.descending)
		}
	case hlo.S32:
		return skipAs[int32](k)
	case hlo.U32:
		return skipAs[uint32](k)
	case hlo.S16:
		return skipAs[int16](k)
	case hlo.U16:
		return skipAs[uint16](k)
	case hlo.S8:
		return skipAs[int8](k)
	case hlo.U8:
		return skipAs[uint8](k)
	}
	return nil
}

type compared interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | float32
}

func skipAs[T compared](k *sortKey) skipping {
	return func(row []byte, from, than int) int {
		v := elems[T](row)
		return skipTo(v, from, v[than], k.descending)
	}
}

// skipTo finds the first element that is larger than bound, or smaller if keys descend, or NaN.
func skipTo[T compared](v []T, from int, bound T, descending bool) int {
	rest := v[from:]
	if descending {
		for i, x := range rest {
			if !(x >= bound) { // NaN is neither
				return from + i
			}
		}
		return len(v)
	}
	for i, x := range rest {
		if !(x <= bound) { // NaN is neither
			return from + i
		}
	}
	return len(v)
}
