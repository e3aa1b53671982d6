package tile

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// frame is the state of one goroutine that runs a program.
type frame struct {
	ptr    []unsafe.Pointer // where registers are at the moment
	own    []unsafe.Pointer // where those are that have memory
	memory []byte
	// How much of a load's register may be used again, and what is there: the element that it repeats, or aPeriod.
	filled  []int
	held    []int64
	columns []int   // of each group of columns: 1 and the point whose row is first in the registers, or 0
	counted []int   // how many numbers of each counter that repeats itself are in its register, from where it begins
	walk    walk    // of a counter, whose loop is a variable and would move it to the heap
	series  *series // that counters work on
	// Elements that are the same everywhere are repeated when the first tile of a run asks for them, as often as its largest tile takes them.
	most     int
	repeated bool
	// What machine code is given: the pointers, how far they move from row to row and then what bundles add, and memory for its own use.
	slots   []unsafe.Pointer
	strides []int64
	space   []byte
	chains  []byte // of folds
	pads    []byte // vectors that are not full
	work    int64  // done without machine code, and not yet counted by the program
}

// begin takes a frame for a run over [lo, hi).
func (p *Program) begin(lo, hi int, b Buffers) *frame {
	f := p.pool.Get().(*frame)
	clear(f.filled)
	clear(f.columns)
	f.most, f.repeated = min(Size, hi-lo), false
	for _, t := range p.tables {
		f.ptr[t.reg] = unsafe.Pointer(unsafe.SliceData(b.In(t.arg)))
	}
	return f
}

func (p *Program) newFrame() *frame {
	size := 0
	for _, r := range p.regs {
		size = max(size, r.offset)
	}
	const widest, line = 16, 64
	f := &frame{ptr: make([]unsafe.Pointer, len(p.regs)), memory: make([]byte, size+Size*widest+line)}
	base := unsafe.Pointer(&f.memory[0])
	base = unsafe.Add(base, -uintptr(base)%line)
	for i, r := range p.regs {
		if r.slot >= 0 {
			f.ptr[i] = unsafe.Add(base, r.offset)
		}
	}
	f.own = slices.Clone(f.ptr)
	f.filled, f.held = make([]int, len(p.loads)), make([]int64, len(p.loads))
	f.columns = make([]int, len(p.columns))
	if len(p.counters) > 0 {
		f.series, f.counted = new(series), make([]int, len(p.counters))
	}
	for i := range p.counters {
		if o := &p.counters[i]; p.isFixed(o) {
			f.walk.start(&p.space, &o.view, 0)
			o.fill(f.ptr[o.reg], p.Len(), &f.walk, f.series)
		}
	}
	for _, s := range p.splats {
		fillTile(f.ptr[s.reg], unsafe.Pointer(&s.value[0]), s.width, Size)
	}
	return f
}

func fillTile(dst, src unsafe.Pointer, width, n int) {
	if width == 16 {
		fill[[2]uint64](n, dst, src, nil, nil)
	} else if repeat := fillLoop(width); repeat != nil {
		repeat(n, dst, src, nil, nil)
	}
}

// Repeat is the loop that sets n elements of d to the first of a, of a width, or nil for other widths than those of real numbers.
func Repeat(width int) vectors.Loop { return vectors.Loop(fillLoop(width)) }

// fillLoop repeats an element of that many bytes; nil for other sizes than those of numbers.
func fillLoop(width int) loop {
	if width > 8 {
		return nil
	}
	return fillLoops()[width]
}

var fillLoops = sync.OnceValue(func() *[9]loop {
	return &[...]loop{
		1: vectors.Find(vectors.Of(hlo.OpBroadcast, hlo.U8), fill[uint8]),
		2: vectors.Find(vectors.Of(hlo.OpBroadcast, hlo.U16), fill[uint16]),
		4: vectors.Find(vectors.Of(hlo.OpBroadcast, hlo.U32), fill[uint32]),
		8: vectors.Find(vectors.Of(hlo.OpBroadcast, hlo.U64), fill[uint64]),
	}
})

func fill[T any](n int, d, a, _, _ unsafe.Pointer) {
	x := *(*T)(a)
	for i, z := 0, vec[T](d, n); i < len(z); i++ {
		z[i] = x
	}
}
