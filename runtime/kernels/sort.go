package kernels

import (
	"cmp"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// sorter sorts lines of arrays by keys. The order of a line is found on numbers that hold key and position, so that it is stable, and all
// operands are then permuted.
type sorter struct {
	keys    []sortKey
	n       int // elements of a line
	stride  int // between them
	inner   int // lines that are neighbours: the product of the dimensions after the sorted one
	widths  []int
	packed  bool // key and position fit into 64 bits
	wide    bool // one key of more than 32 bits
	bare    bool // one operand, which is the key: nothing is to be carried along
	loop    *parallelLoop
	buffers sync.Pool
}

// sortBuffers is what sorting one line needs. What a line does not need is not made.
type sortBuffers struct {
	line, key    []byte
	packed, swap []uint64
	wide, other  []keyed
	keys         [][]uint64
	order        []int32
	short        []uint32
	conversion   conversionBuffers // of a line to keys
}

// forOrder makes what finding an order needs.
func (b *sortBuffers) forOrder(x *sorter) {
	if b.order != nil {
		return
	}
	b.order = make([]int32, x.n)
	b.forLine(x)
	for _, k := range x.keys {
		if k.program != nil && b.key == nil {
			b.key = runtime.AlignedBytes(int64(x.n * 8))
		}
		if !x.packed {
			b.keys = append(b.keys, make([]uint64, x.n))
		}
	}
	if x.packed {
		b.forNumbers(x)
	}
	if x.wide {
		b.wide, b.other = make([]keyed, x.n), make([]keyed, x.n)
	}
}

func (b *sortBuffers) forLine(x *sorter) {
	if b.line == nil {
		b.line = runtime.AlignedBytes(int64(x.n * max(8, slices.Max(x.widths))))
	}
}

func (b *sortBuffers) forNumbers(x *sorter) {
	if b.packed == nil {
		b.packed, b.swap = make([]uint64, x.n), make([]uint64, x.n)
	}
}

func sortLines(s *site) (runtime.Bound, bool) {
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return runtime.Bound{}, false
	}
	shape, axis := s.shape(0), int(hlo.AttrsOf[hlo.SortAttrs](s.in).Dimensions[0])
	if shape.NumElements() == 0 || shape.Rank() == 0 || shape.Dim(axis) > 1<<30 {
		return runtime.Bound{}, false
	}
	x := &sorter{n: int(shape.Dim(axis)), stride: rowMajor(shape.Dimensions())[axis], inner: rowMajor(shape.Dimensions())[axis]}
	if x.keys, ok = sortKeys(s.m, comp, x.n); !ok {
		return runtime.Bound{}, false
	}
	for i := range s.in.NumOperands() {
		t := s.shape(i).Type()
		if comp.Parameter(2*i).Shape().Type() != t || comp.Parameter(2*i+1).Shape().Type() != t {
			return runtime.Bound{}, false // keys would be read as the comparator's type
		}
		x.widths = append(x.widths, t.ByteSize())
	}
	x.packed = len(x.keys) == 1 && x.keys[0].bits() <= 32
	x.wide = len(x.keys) == 1 && !x.packed
	x.bare = len(x.widths) == 1 && len(x.keys) == 1 && x.keys[0].program == nil && x.keys[0].restores()
	x.buffers.New = func() any { return new(sortBuffers) }
	x.loop = newParallelLoop(x.lines)
	return x.loop.bound(int(shape.NumElements())/x.n, 1+(1<<10)/x.n), true
}

func (x *sorter) lines(f *runtime.TensorFrame, lo, hi int) {
	b := x.buffers.Get().(*sortBuffers)
	for l := lo; l < hi; l++ {
		first := l/x.inner*x.inner*x.n + l%x.inner
		if x.bare && x.sortBare(f, b, first) {
			continue
		}
		x.order(f, b, first)
		for i, w := range x.widths {
			x.permute(f.Out(i).Data, f.In(i).Data, w, first, b)
		}
	}
	x.buffers.Put(b)
}

// order finds the order of the line that begins at an element.
func (x *sorter) order(f *runtime.TensorFrame, b *sortBuffers, first int) {
	b.forOrder(x)
	for i := range x.keys {
		k := &x.keys[i]
		w := x.widths[k.operand]
		readLine(b.line, f.In(k.operand).Data, w, first, x.stride, x.n)
		source := b.line
		if k.program != nil {
			b.conversion = conversionBuffers{b.line, b.key}
			k.program.Run(0, x.n, &b.conversion)
			source = b.key
		}
		if x.packed {
			k.orderable(b.packed, source)
			break
		}
		k.orderable(b.keys[i], source)
	}
	if x.packed {
		for i, v := range b.packed {
			b.packed[i] = v<<32 | uint64(i)
		}
		sorted := sortPacked(b.packed, b.swap, x.keys[0].bits())
		for i, v := range sorted {
			b.order[i] = int32(uint32(v))
		}
		return
	}
	if x.wide && x.n >= radixAbove {
		for i, k := range b.keys[0] {
			b.wide[i] = keyed{k, int32(i)}
		}
		for i, k := range sortWide(b.wide, b.other) {
			b.order[i] = k.at
		}
		return
	}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	slices.SortFunc(b.order, func(p, q int32) int {
		for _, keys := range b.keys {
			if c := cmp.Compare(keys[p], keys[q]); c != 0 {
				return c
			}
		}
		return cmp.Compare(p, q)
	})
}

// readLine copies n elements, stride apart, to the front of dst.
func readLine(dst, src []byte, width, first, stride, n int) {
	if stride == 1 {
		copy(dst, src[first*width:][:n*width])
		return
	}
	b := box{dims: []int{n}, src: []int{stride * width}, dst: []int{width}, run: width, width: width}
	b.row(dst, src, 0, first*width, n)
}

// permute writes a line of the result in the order found. It goes by way of a buffer, for the result may be the operand's memory.
func (x *sorter) permute(dst, src []byte, width, first int, b *sortBuffers) {
	switch width {
	case 1:
		permuteAs(dst, src, b.line, first, x.stride, b.order)
	case 2:
		permuteAs(elems[uint16](dst), elems[uint16](src), elems[uint16](b.line), first, x.stride, b.order)
	case 4:
		permuteAs(elems[uint32](dst), elems[uint32](src), elems[uint32](b.line), first, x.stride, b.order)
	case 8:
		permuteAs(elems[uint64](dst), elems[uint64](src), elems[uint64](b.line), first, x.stride, b.order)
	default:
		permuteAs(elems[[2]uint64](dst), elems[[2]uint64](src), elems[[2]uint64](b.line), first, x.stride, b.order)
	}
}

func permuteAs[T any](dst, src, line []T, first, stride int, order []int32) {
	line = line[:len(order)]
	for i, o := range order {
		line[i] = src[first+int(o)*stride]
	}
	if stride == 1 {
		copy(dst[first:], line)
		return
	}
	at := first
	for _, v := range line {
		dst[at] = v
		at += stride
	}
}
