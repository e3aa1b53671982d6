package tile

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// Size is the number of elements in a tile: a handful of live registers fit into the nearest cache.
const Size = 1024

// Program computes outputs, all over one index space, from inputs. It is safe for concurrent use.
type Program struct {
	space    Space // collapsed
	loads    []load
	counters []counter
	steps    []step
	stores   []store
	splats   []splat
	regs     []register
	pool     sync.Pool
	weight   int
	// plain says that the program is one loop over memory: it needs no registers.
	plain bool
}

// step computes register d from up to three others over n elements.
type step struct {
	fn         loop
	d, a, b, c int
}

// loop is the inner loop of an op. The operands beyond its arity are those of register 0 and must not be touched. d may be a, b or c.
type loop func(n int, d, a, b, c unsafe.Pointer)

type load struct {
	arg    int
	reg    int
	typ    hlo.PrimitiveType
	view   View
	mode   loadMode
	direct int // the output whose memory is the register, or -1
	widen  loop
	stage  int // register for elements as they are in memory, if widen is set
}

type loadMode uint8

const (
	linear   loadMode = iota // element i of the space is element base+i of the input
	uniform                  // the same element everywhere
	gathered                 // anything else
)

// counter is an iota.
type counter struct {
	reg  int
	view View
	fill func(dst unsafe.Pointer, n int, w *walk)
}

type store struct {
	out    int
	reg    int
	typ    hlo.PrimitiveType
	direct bool // the register is the output's memory
	narrow loop
}

// splat is a constant.
type splat struct {
	reg   int
	width int
	value []byte
}

// register is a tile of memory: of its own, or found in an input or output.
type register struct {
	slot   int // index of the memory, or -1
	offset int
	out    int // the output whose memory it is, or -1
}

// frame is the state of one goroutine that runs a program.
type frame struct {
	ptr    []unsafe.Pointer
	memory []uint64
}

// Weight estimates the work per element in simple operations.
func (p *Program) Weight() int { return p.weight }

// Len is the number of elements of each output.
func (p *Program) Len() int { return int(p.space.Len()) }

// Grain is a number of elements that is worth handing to another thread; a multiple of the tile.
func (p *Program) Grain() int { return max(Size, 16*Size/max(1, p.weight/2)/Size*Size) }

// Buffers is where a program finds its inputs and outputs.
type Buffers interface {
	In(i int) []byte
	Out(i int) []byte
}

// Run computes elements [lo, hi) of the outputs. Every input and output is as long as the builder was told; an output may be the same
// memory as an input that is read through the identity view, if the program has one step.
func (p *Program) Run(lo, hi int, b Buffers) {
	if lo >= hi {
		return
	}
	if p.plain {
		p.runPlain(lo, hi, b)
		return
	}
	f := p.pool.Get().(*frame)
	for i := range p.loads {
		l := &p.loads[i]
		if l.mode == uniform {
			p.loadUniform(f, l, b.In(l.arg), min(Size, hi-lo))
		}
	}
	for at := lo; at < hi; at += Size {
		p.tile(f, at, min(Size, hi-at), b)
	}
	p.pool.Put(f)
}

// runPlain runs the only step from inputs to the output.
func (p *Program) runPlain(lo, hi int, b Buffers) {
	var ptr [3]unsafe.Pointer
	s := &p.steps[0]
	for i, reg := range [...]int{s.a, s.b, s.c} {
		l := &p.loads[min(reg, len(p.loads)-1)]
		ptr[i] = element(b.In(l.arg), int(l.view.Base)+lo, l.typ.ByteSize())
	}
	st := &p.stores[0]
	s.fn(hi-lo, element(b.Out(st.out), lo, st.typ.ByteSize()), ptr[0], ptr[1], ptr[2])
}

// isPlain reports whether every register of the program is an input, read from front to back, or the output.
func (p *Program) isPlain() bool {
	if len(p.steps) != 1 || len(p.stores) != 1 || !p.stores[0].direct || len(p.loads) != len(p.regs)-1 || len(p.loads) == 0 {
		return false
	}
	for i := range p.loads {
		if l := &p.loads[i]; l.mode != linear || l.widen != nil || l.reg != i {
			return false
		}
	}
	return true
}

func (p *Program) tile(f *frame, at, n int, b Buffers) {
	for i := range p.stores {
		if s := &p.stores[i]; s.direct {
			f.ptr[s.reg] = element(b.Out(s.out), at, s.typ.ByteSize())
		}
	}
	for i := range p.loads {
		l := &p.loads[i]
		switch l.mode {
		case linear:
			src := element(b.In(l.arg), int(l.view.Base)+at, l.typ.ByteSize())
			switch {
			case l.widen != nil:
				l.widen(n, f.ptr[l.reg], src, nil, nil)
			case l.direct >= 0:
				copyBytes(f.ptr[l.reg], src, n*l.typ.ByteSize())
			default:
				f.ptr[l.reg] = src
			}
		case gathered:
			dst := f.ptr[l.stage]
			gather(dst, n, b.In(l.arg), l.typ.ByteSize(), &p.space, &l.view, at)
			if l.widen != nil {
				l.widen(n, f.ptr[l.reg], dst, nil, nil)
			}
		}
	}
	for i := range p.counters {
		o := &p.counters[i]
		var w walk
		w.start(&p.space, &o.view, at)
		o.fill(f.ptr[o.reg], n, &w)
	}
	ptr := f.ptr
	for i := range p.steps {
		s := &p.steps[i]
		s.fn(n, ptr[s.d], ptr[s.a], ptr[s.b], ptr[s.c])
	}
	for i := range p.stores {
		s := &p.stores[i]
		switch {
		case s.direct:
		case s.narrow != nil:
			s.narrow(n, element(b.Out(s.out), at, s.typ.ByteSize()), ptr[s.reg], nil, nil)
		default:
			w := s.typ.ByteSize()
			copyBytes(element(b.Out(s.out), at, w), ptr[s.reg], n*w)
		}
	}
}

// loadUniform repeats one element n times, which is a whole tile unless the run is shorter: a scalar program fills one element.
func (p *Program) loadUniform(f *frame, l *load, data []byte, n int) {
	w := l.typ.ByteSize()
	src := element(data, int(l.view.Base), w)
	if l.widen != nil {
		l.widen(1, f.ptr[l.reg], src, nil, nil)
		src, w = f.ptr[l.reg], 4
	}
	fillTile(f.ptr[l.reg], src, w, n)
}

func (p *Program) newFrame() *frame {
	size := 0
	for _, r := range p.regs {
		size = max(size, r.offset)
	}
	const widest = 16
	f := &frame{ptr: make([]unsafe.Pointer, len(p.regs)), memory: make([]uint64, (size+Size*widest)/8)}
	for i, r := range p.regs {
		if r.slot >= 0 {
			f.ptr[i] = unsafe.Add(unsafe.Pointer(&f.memory[0]), r.offset)
		}
	}
	for _, s := range p.splats {
		fillTile(f.ptr[s.reg], unsafe.Pointer(&s.value[0]), s.width, Size)
	}
	return f
}

func element(b []byte, i, width int) unsafe.Pointer { return unsafe.Pointer(&b[i*width]) }

func vec[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func copyBytes(dst, src unsafe.Pointer, n int) { copy(vec[byte](dst, n), vec[byte](src, n)) }

func fillTile(dst, src unsafe.Pointer, width, n int) {
	switch width {
	case 1:
		fill(vec[uint8](dst, n), *(*uint8)(src))
	case 2:
		fill(vec[uint16](dst, n), *(*uint16)(src))
	case 4:
		fill(vec[uint32](dst, n), *(*uint32)(src))
	case 8:
		fill(vec[uint64](dst, n), *(*uint64)(src))
	case 16:
		fill(vec[[2]uint64](dst, n), *(*[2]uint64)(src))
	}
}

func fill[T any](d []T, x T) {
	for i := range d {
		d[i] = x
	}
}
