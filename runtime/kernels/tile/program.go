package tile

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
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
	folds    []rowFold
	across   bool // folds are
	byRuns   bool // they fold what is in registers: see foldruns.go
	splats   []splat
	tables   []table
	arrays   [][]byte // that are constants: see constantarray.go
	columns  []columns
	stages   []stage // or nil
	regs     []register
	weight   int
	// plain says that the program is one loop over memory: it needs no registers.
	plain  bool
	result int // the register that Visit shows
	// row, if not 0, is the length of the space's rows, at whose ends tiles end.
	row int
	// For [Program.Scalar]: names and numbers of operands of the steps, bytes of an element in each register.
	names  []scalar.Name
	arity  []int
	widths []int
	truth  []bool // whether a register holds bytes 0 and 1
	pairs  []bool // whether it holds complex numbers
	native nativeState
	pool   sync.Pool
}

// step computes register d from up to three others over n elements.
type step struct {
	fn         loop
	run        loop // fn, or what does the same with operands and results that are left as they are in memory
	d, a, b, c int
	vector     vectors.Name // see operation
	exchanged  bool
	// quotient says that it divides numbers of bf16, and that the result will be rounded to that.
	quotient bool
	// stored, if there is a name, is what rounds the result besides, which only is stored.
	stored vectors.Name
}

// loop is the inner loop of an op. The operands beyond its arity are those of register 0 and must not be touched. d may be a, b or c.
type loop func(n int, d, a, b, c unsafe.Pointer)

type load struct {
	arg     int
	reg     int
	typ     hlo.PrimitiveType
	view    View
	mode    loadMode
	direct  int // the output whose memory is the register, or -1
	widen   loop
	raw     bool          // the step that reads it widens it itself
	stage   int           // register for elements as they are in memory, if widen is set
	mover   func() *mover // made by the first run that needs it
	along   alone         // how a mover walks
	columns int           // 1 and the index of the group that brings it, or 0
	// period, if not 0, is the number of points after which the view repeats itself: tiles that begin with it hold the same.
	period int
}

// alone is a space and a view of it with as few dimensions as the view needs by itself, in the same order of points.
type alone struct {
	space Space
	view  View
}

type loadMode uint8

const (
	linear   loadMode = iota // element i of the space is element base+i of the input
	uniform                  // the same element everywhere
	gathered                 // anything else
)

type store struct {
	out    int
	reg    int
	typ    hlo.PrimitiveType
	direct bool // the register is the output's memory
	narrow loop
	// inPlace says that the step that computes the register narrows it itself, and writes to the output.
	inPlace bool
	// rounded says that machine code has the register rounded already.
	rounded bool
	// view, if it has strides, is where the elements go: see scatter.go.
	view  View
	stage int // register for what is on its way there
}

// splat is a constant.
type splat struct {
	reg   int
	width int
	value []byte
	code  []byte // of a narrow float, of which value is an f32
}

// register is a tile of memory: of its own, or found in an input or output.
type register struct {
	slot   int // index of the memory, or -1
	offset int
	out    int // the output whose memory it is, or -1
}

// aPeriod says that a register holds a view that repeats itself, from where it begins.
const aPeriod = -1

// Weight estimates the work per element in simple operations.
func (p *Program) Weight() int { return p.weight }

// Computes reports whether the program does more than move elements.
func (p *Program) Computes() bool { return len(p.steps) > 0 }

// Len is the number of elements of each output.
func (p *Program) Len() int { return int(p.space.Len()) }

// Grain is a number of elements that is worth handing to another thread; a multiple of the tile.
func (p *Program) Grain() int { return Size * min(64, max(1, 256/p.weight)) }

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
	if p.isLight() {
		p.runPlain(lo, hi, b)
		return
	}
	f := p.begin(lo, hi, b)
	code := p.compiled(f, hi-lo)
	if code != nil && code.overlaps(p) && p.overwrites(b) {
		code = code.byTiles(p)
	}
	if code != nil && code.repeats {
		p.repeatUniforms(f, b)
	}
	if p.plain && code == nil {
		p.pool.Put(f)
		p.runPlain(lo, hi, b)
		return
	}
	if code != nil && code.rows > 0 {
		lo = p.runRows(code, f, lo, hi, b)
	}
	for at := lo; at < hi; {
		n := p.next(at, hi)
		p.piece(code, f, at, n, b)
		at += n
	}
	p.pool.Put(f)
}

// Visitor sees the elements of a program's result.
type Visitor interface {
	// Tile gets n elements, from element at of the space on, in memory that is valid during the call. Narrow floats are float32.
	Tile(at, n int, elements unsafe.Pointer)
}

// Visit computes elements [lo, hi) of the result and shows them to v, tile by tile, instead of storing them.
func (p *Program) Visit(lo, hi int, b Buffers, v Visitor) {
	if lo >= hi {
		return
	}
	f := p.begin(lo, hi, b)
	code := p.compiled(f, hi-lo)
	if code != nil && code.repeats {
		p.repeatUniforms(f, b)
	}
	for at := lo; at < hi; {
		n := p.next(at, hi)
		p.piece(code, f, at, n, b)
		v.Tile(at, n, f.ptr[p.result])
		at += n
	}
	p.pool.Put(f)
}

// next is the size of the tile at an element.
func (p *Program) next(at, hi int) int {
	n := min(Size, hi-at)
	if p.row == 0 {
		return n
	}
	if rest := p.row - at%p.row; rest < Size {
		n = min(n, rest+(Size-rest)/p.row*p.row)
	}
	return n
}

// alignRows lets tiles end with rows if something repeats or steps along them: it is found in one place for all of a row then. What
// repeats after a few rows sets the pace.
func (p *Program) alignRows() {
	last := len(p.space.Dims) - 1
	if last < 1 {
		return
	}
	row := 0
	for i := range p.loads {
		if l := &p.loads[i]; l.mode == gathered {
			l.period = p.space.period(&l.view)
			row = max(row, l.period)
			if p.space.Dims[last] >= minRow {
				row = max(row, int(p.space.Dims[last]))
			}
		}
	}
	for i := range p.counters {
		o := &p.counters[i]
		if period := p.space.period(&o.view); p.stages != nil || period <= longestCounted { // stages: offsets within windows
			o.period = period
			row = max(row, o.period)
		}
	}
	if p.row == 0 {
		p.row = row
	}
}

// longestCounted is the number of points after which a counter begins again that had better be counted once for many tiles. Longer series are written fast.
const longestCounted = Size / 4

// minRow is the length of rows for which tiles are cut short.
const minRow = 64

// runPlain runs the only step from inputs to the output.
func (p *Program) runPlain(lo, hi int, b Buffers) {
	var ptr [3]unsafe.Pointer
	s := &p.steps[0]
	for i, reg := range [...]int{s.a, s.b, s.c} {
		l := &p.loads[min(reg, len(p.loads)-1)]
		ptr[i] = element(p.in(b, l.arg), int(l.view.Base)+lo, l.typ.ByteSize())
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
	p.bringTile(f, at, n, b)
	p.compute(f, at, n, b)
}

// bringTile makes pointers point to what belongs to a tile, and loads it where it is not to be left in memory.
func (p *Program) bringTile(f *frame, at, n int, b Buffers) {
	p.repeatUniforms(f, b)
	for i := range p.stores {
		if s := &p.stores[i]; s.direct || s.inPlace {
			f.ptr[s.reg] = element(b.Out(s.out), at, s.typ.ByteSize())
		}
	}
	for i := range p.loads {
		l := &p.loads[i]
		switch l.mode {
		case linear:
			src := element(p.in(b, l.arg), int(l.view.Base)+at, l.typ.ByteSize())
			switch {
			case l.raw:
				f.ptr[l.reg] = src
			case l.widen != nil:
				l.widen(n, f.ptr[l.reg], src, nil, nil)
			case l.direct >= 0:
				copyBytes(f.ptr[l.reg], src, n*l.typ.ByteSize())
			default:
				f.ptr[l.reg] = src
			}
		case gathered:
			p.gather(f, i, at, n, b)
		}
	}
	if len(p.counters) > 0 {
		p.count(f, at, n)
	}
}

// compute runs the steps on registers, and stores.
func (p *Program) compute(f *frame, at, n int, b Buffers) {
	p.runSteps(f, 0, len(p.steps), n)
	p.storeTile(f, at, n, b)
}

// runSteps runs steps [first, end).
func (p *Program) runSteps(f *frame, first, end, n int) {
	ptr := f.ptr
	for i := first; i < end; i++ {
		s := &p.steps[i]
		s.run(n, ptr[s.d], ptr[s.a], ptr[s.b], ptr[s.c])
	}
}

// storeTile moves results to outputs that are not written in place.
func (p *Program) storeTile(f *frame, at, n int, b Buffers) {
	ptr := f.ptr
	for i := range p.stores {
		s := &p.stores[i]
		switch {
		case s.direct || s.inPlace:
		case s.isPlaced():
			from := ptr[s.reg]
			if s.narrow != nil {
				from = ptr[s.stage]
				s.narrow(n, from, ptr[s.reg], nil, nil)
			}
			p.put(s, from, at, n, b)
		case s.narrow != nil:
			s.narrow(n, element(b.Out(s.out), at, s.typ.ByteSize()), ptr[s.reg], nil, nil)
		default:
			w := s.typ.ByteSize()
			copyBytes(element(b.Out(s.out), at, w), ptr[s.reg], n*w)
		}
	}
}

func element(b []byte, i, width int) unsafe.Pointer { return unsafe.Pointer(&b[i*width]) }

func vec[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func copyBytes(dst, src unsafe.Pointer, n int) { copy(vec[byte](dst, n), vec[byte](src, n)) }
