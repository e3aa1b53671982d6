package tile

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/native"
)

// nativeState is the machine code of a program's steps. It is made once the program has done so much that making it pays.
type nativeState struct {
	work atomic.Int64 // done without it
	once sync.Once
	code atomic.Pointer[nativeSteps]
}

// nativeSteps replaces the steps of a program, and what it does to bring narrow floats into registers and back.
type nativeSteps struct {
	*native.Code
	slots []slot
	// rows is the length of rows if no load has to be brought into a register: many rows are one call.
	rows int
	// repeats says that registers are read which repeat an element.
	repeats bool
	// stages, if not nil, are all that there is: see stages.go.
	stages []stage
	// tables are the numbers of counters, each once: along a row, or one for each row.
	tables [][]byte
	// once is the code for runs in which results are where operands are, if this one computes some elements twice. It is made when it is needed.
	once  *nativeSteps
	tiled sync.Once
}

// slot is a pointer that the code takes.
type slot struct {
	kind  slotKind
	index int
}

type slotKind uint8

const (
	ofLoad     slotKind = iota // the memory of a linear load
	ofRow                      // that of a load which is linear, or stays where it is, along each row
	ofKept                     // where a load is that is brought into its register once for all rows
	ofRegister                 // where a register is
	ofRepeated                 // where one is that holds the same element everywhere
	ofUniform                  // where that element is in the memory of a load
	ofResult                   // where the one is that Visit shows
	ofStore                    // the memory of a store
	ofFold                     // chains
	ofColumns                  // the table of a counter for a row
	ofRows                     // that of one which has the same number all along a row
)

// payingWork is the work, in elements times weight, after which code is made: what that costs is about what it saves on as much again.
const payingWork = 1 << 18

var atOnce atomic.Bool

// CodeAtOnce makes programs code when they next run, whatever they have done, and returns what undoes that. It is for tests.
func CodeAtOnce() (restore func()) {
	before := atOnce.Swap(true)
	return func() { atOnce.Store(before) }
}

// stepWork is what calling the loop of a step costs, in the same unit.
const stepWork = 32

// heavyLoop is the weight of a single op from which on code is better than its loop, which does not ask for memory ahead.
const heavyLoop = 4

// isLight reports whether the program is one loop that code would not improve.
func (p *Program) isLight() bool { return p.plain && p.weight < heavyLoop }

// countedWork is the work that a frame counts by itself: an atomic addition for each run would be a good part of a run over few elements.
const countedWork = payingWork / 16

// compiled returns the code, for a run over n elements, or nil.
func (p *Program) compiled(f *frame, n int) *nativeSteps {
	if c := p.native.code.Load(); c != nil {
		return c.orNil()
	}
	f.work += int64(n*p.weight + len(p.steps)*stepWork)
	if f.work < countedWork && p.native.work.Load()+f.work < payingWork && !atOnce.Load() {
		return nil
	}
	work := p.native.work.Add(f.work)
	if f.work = 0; work < payingWork && !atOnce.Load() {
		return nil
	}
	return p.code()
}

// code is that of the steps, which is made if it has not been, or nil.
func (p *Program) code() *nativeSteps {
	p.native.once.Do(func() {
		c, ok := p.compile()
		if !ok {
			c = &nativeSteps{}
		}
		p.native.code.Store(c)
	})
	return p.native.code.Load().orNil()
}

func (c *nativeSteps) orNil() *nativeSteps {
	if c.Code == nil && c.stages == nil {
		return nil
	}
	return c
}

func (p *Program) compile() (*nativeSteps, bool) {
	if p.stages != nil {
		return p.compileStages()
	}
	if !p.hasChains() && (len(p.steps) == 0 || p.isLight()) {
		return nil, false
	}
	if p.across {
		return p.compileFor(p.rowLength())
	}
	isShown := len(p.stores)+len(p.folds) == 0 || p.byRuns // tile by tile
	if rows := p.alongRows(); rows > 0 && (!isShown || rows == p.Len() || p.endsWithRows(rows)) {
		// Without masks, what is left of each row when vectors are full would be left to the steps.
		if c, ok := p.compileFor(rows); !ok || c.takes(rows) || rows == p.Len() && len(p.folds) == 0 {
			return c, ok
		}
	}
	if p.hasChains() {
		return nil, false
	}
	return p.compileFor(0)
}

// takes reports whether the code computes rows of a length to their ends.
func (c *nativeSteps) takes(n int) bool {
	return c.Masked || n%c.Lanes == 0 || c.Overlaps && n >= c.Lanes
}

// overlaps reports whether the code computes some elements of each row twice.
func (c *nativeSteps) overlaps(p *Program) bool {
	return c.stages == nil && c.rows > 0 && c.rows < p.Len() && !c.Masked && c.rows%c.Lanes != 0
}

// byTiles is code that computes each element once, or nil.
func (c *nativeSteps) byTiles(p *Program) *nativeSteps {
	c.tiled.Do(func() {
		if t, ok := p.compileFor(0); ok {
			c.once = t
		}
	})
	return c.once
}

// overwrites reports whether a result is where an operand is.
func (p *Program) overwrites(b Buffers) bool {
	for i := range p.stores {
		out := uintptr(unsafe.Pointer(unsafe.SliceData(b.Out(p.stores[i].out)))) // or a part of it
		for k := range p.loads {
			l := &p.loads[k]
			if l.arg < 0 {
				continue
			}
			in := b.In(l.arg)
			if from := uintptr(unsafe.Pointer(unsafe.SliceData(in))); out >= from && out < from+uintptr(max(1, len(in))) {
				return true
			}
		}
	}
	return false
}

// call runs the code over n elements of a tile.
func (p *Program) call(c *nativeSteps, f *frame, at, n int, b Buffers) {
	f.forCode(c)
	for i, s := range c.slots {
		switch s.kind {
		case ofLoad:
			l := &p.loads[s.index]
			f.slots[i] = element(p.in(b, l.arg), int(l.view.Base)+at, l.typ.ByteSize())
		case ofUniform:
			f.slots[i] = p.uniform(s.index, b)
		case ofStore:
			s := &p.stores[s.index]
			if s.isPlaced() {
				f.slots[i] = f.ptr[s.stage]
			} else {
				f.slots[i] = element(b.Out(s.out), at, s.typ.ByteSize())
			}
		default:
			f.slots[i] = f.ptr[s.index]
		}
	}
	c.Run(1, 1, n, f.slots, f.strides, f.space)
	for _, s := range c.slots {
		if s.kind == ofStore && p.stores[s.index].isPlaced() {
			o := &p.stores[s.index]
			p.put(o, f.ptr[o.stage], at, n, b)
		}
	}
}

// uniform is where the only element is that a load sees.
func (p *Program) uniform(load int, b Buffers) unsafe.Pointer {
	l := &p.loads[load]
	return element(p.in(b, l.arg), int(l.view.Base), l.typ.ByteSize())
}

// forCode makes room for what code is given.
func (f *frame) forCode(c *nativeSteps) {
	if len(f.slots) < len(c.slots) || len(f.space) < c.Memory { // stages have codes of their own
		slots, memory := max(len(f.slots), len(c.slots)), max(len(f.space), c.Memory)
		f.slots, f.strides, f.space = make([]unsafe.Pointer, slots), make([]int64, 2*slots), make([]byte, memory)
	}
}

// piece computes a tile, by the code if there is any.
func (p *Program) piece(c *nativeSteps, f *frame, at, n int, b Buffers) {
	switch {
	case c == nil:
		p.tile(f, at, n, b)
		return
	case c.stages != nil:
		p.runStages(c, f, at, n, b)
		return
	case c.rows > 0 && c.rows < p.Len() && c.takes(c.rows):
		if at%c.rows == 0 && n%c.rows == 0 {
			p.shownRows(c, f, at, n, b)
		} else { // where a range begins or ends
			p.tile(f, at, n, b)
		}
		return
	}
	for i := range p.loads {
		if p.loads[i].mode == gathered {
			p.gather(f, i, at, n, b)
		}
	}
	p.count(f, at, n)
	whole := n
	if !c.Masked {
		whole = n / c.Lanes * c.Lanes
	}
	if whole > 0 {
		p.call(c, f, at, whole, b)
	}
	if whole < n {
		p.rest(c, f, at, whole, n-whole, b)
	}
}

// padBytes is the size of the elements that belong to a vector at most: complex numbers, whose parts are in two.
const padBytes = 128

// rest computes the n elements behind those of a tile that are done already, fewer than a vector, without masks: as a vector in memory of the frame's own, of
// which n elements are copied in and out.
func (p *Program) rest(c *nativeSteps, f *frame, at, done, n int, b Buffers) {
	f.forCode(c)
	if f.pads == nil {
		f.pads = make([]byte, padBytes*len(c.slots))
	}
	for i, s := range c.slots {
		pad := unsafe.Pointer(&f.pads[i*padBytes])
		f.slots[i] = pad
		switch s.kind {
		case ofLoad:
			l := &p.loads[s.index]
			size := l.typ.ByteSize()
			copyBytes(pad, element(p.in(b, l.arg), int(l.view.Base)+at+done, size), n*size)
		case ofRegister:
			size := p.widths[s.index]
			copyBytes(pad, unsafe.Add(f.ptr[s.index], done*size), n*size)
		case ofRepeated:
			f.slots[i] = f.ptr[s.index]
		case ofUniform:
			f.slots[i] = p.uniform(s.index, b)
		}
	}
	c.Run(1, 1, c.Lanes, f.slots, f.strides, f.space)
	for i, s := range c.slots {
		pad := unsafe.Pointer(&f.pads[i*padBytes])
		switch s.kind {
		case ofStore:
			s := &p.stores[s.index]
			if s.isPlaced() {
				p.put(s, pad, at+done, n, b)
				continue
			}
			size := s.typ.ByteSize()
			copyBytes(element(b.Out(s.out), at+done, size), pad, n*size)
		case ofResult:
			size := p.widths[s.index]
			copyBytes(unsafe.Add(f.ptr[s.index], done*size), pad, n*size)
		}
	}
}
