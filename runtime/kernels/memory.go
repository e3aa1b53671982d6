package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// elems is b as elements of type T. Buffers are aligned for their elements.
func elems[T any](b []byte) []T {
	var e T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(e)))
}

// rowMajor is the distance in elements of neighbours along each axis of a dense array.
func rowMajor(dims []int64) []int {
	r := make([]int, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		r[i] = step
		step *= int(dims[i])
	}
	return r
}

// offsetsOver lists the offsets of all index combinations of some axes, in row-major order of those axes.
func offsetsOver(axes []int64, dims []int64, strides []int) []int {
	all := productOver(axes, dims)
	if all == 0 {
		return []int{}
	}
	offsets := make([]int, 1, all)
	for _, a := range axes {
		n, d := len(offsets), int(dims[a])
		offsets = offsets[:n*d]
		for i := n - 1; i >= 0; i-- { // from the back, as each gives way to d
			o := offsets[i]
			for k := d - 1; k >= 0; k-- {
				offsets[i*d+k] = o + k*strides[a]
			}
		}
	}
	return offsets
}

func productOver(axes []int64, dims []int64) int {
	n := 1
	for _, a := range axes {
		n *= int(dims[a])
	}
	return n
}

// scratchPlan lays out the scratch memory of a kernel.
type scratchPlan struct{ size int64 }

// section is a part of the scratch memory.
type section struct{ at, bytes int64 }

func (p *scratchPlan) take(bytes int64) section {
	s := section{p.size, bytes}
	p.size += (bytes + runtime.BufferAlign - 1) &^ (runtime.BufferAlign - 1)
	return s
}

func (s section) of(f *runtime.TensorFrame) []byte { return f.Scratch()[s.at:][:s.bytes] }

// place is where a kernel finds or puts an array: an input or output, or a section of the scratch memory.
type place struct {
	kind    placeKind
	index   int
	section section
}

type placeKind uint8

const (
	inInput placeKind = iota
	inOutput
	inScratch
)

func (p place) of(f *runtime.TensorFrame) []byte {
	switch p.kind {
	case inInput:
		return f.In(p.index).Data
	case inOutput:
		return f.Out(p.index).Data
	}
	return p.section.of(f)
}

// conversion changes the element type of a whole array from one place to another, or the order of its elements.
type conversion struct {
	from, to place
	program  *tile.Program
	loop     *parallelLoop
}

// newConversion fails for types without a conversion.
func newConversion(from, to place, src, dst hlo.PrimitiveType, n int64) (*conversion, bool) {
	b := tile.NewBuilder(tile.Space{Dims: []int64{n}})
	if !tile.Supports(src) || !tile.Supports(dst) {
		return nil, false
	}
	v, ok := b.Convert(dst, b.Input(0, src, tile.View{Strides: []int64{1}}))
	if !ok {
		return nil, false
	}
	b.Store(0, v)
	p, ok := b.Build()
	if !ok {
		return nil, false
	}
	c := &conversion{from: from, to: to, program: p}
	c.loop = newParallelLoop(c.body)
	return c, true
}

// newMove copies an array over a space, seen through a view.
func newMove(from, to place, t hlo.PrimitiveType, space tile.Space, view tile.View) (*conversion, bool) {
	b := tile.NewBuilder(space)
	b.Store(0, b.Input(0, t, view))
	p, ok := b.Build()
	if !ok {
		return nil, false
	}
	c := &conversion{from: from, to: to, program: p}
	c.loop = newParallelLoop(c.body)
	return c, true
}

func (c *conversion) body(f *runtime.TensorFrame, lo, hi int) {
	b := conversionPool.Get().(*conversionBuffers)
	*b = conversionBuffers{c.from.of(f), c.to.of(f)}
	c.program.Run(lo, hi, b)
	*b = conversionBuffers{}
	conversionPool.Put(b)
}

func (c *conversion) run(f *runtime.TensorFrame) {
	if c != nil {
		c.loop.run(f, c.program.Len(), c.program.Grain())
	}
}

// conversionBuffers is the input and the output of a conversion.
type conversionBuffers struct{ in, out []byte }

// conversionPool has them for programs of tiles, which take an interface.
var conversionPool = sync.Pool{New: func() any { return new(conversionBuffers) }}

func (b *conversionBuffers) In(int) []byte  { return b.in }
func (b *conversionBuffers) Out(int) []byte { return b.out }
