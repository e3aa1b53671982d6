package tile

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
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

// nativeWriter hands a program to package native.
type nativeWriter struct {
	*native.Builder
	p     *Program
	regs  []native.Value // what registers hold
	code  nativeSteps
	known []bool
	// imaginary, if not nil, are the imaginary parts of the complex numbers that registers hold: regs are the real ones.
	imaginary []native.Value
	// repeats says that elements which are the same everywhere are operands with as many copies in registers, as ops take them that work on wider lanes.
	repeats bool
}

func (w *nativeWriter) set(reg int, v native.Value) { w.regs[reg], w.known[reg] = v, true }

// input makes an operand of a size in memory the contents of a register.
func (w *nativeWriter) input(reg, size int, truth bool, along native.Along) {
	if w.isSplit(reg) {
		re, im := w.Pair(size/2, along)
		w.setParts(reg, re, im)
	} else {
		w.set(reg, w.Input(size, truth, along))
	}
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

// compileFor makes code for rows of a length, or for tiles if that is 0. Complex numbers are split into their parts only if something is computed of
// them: what moves them does not tell them from other elements of 64 bits.
func (p *Program) compileFor(rows int) (*nativeSteps, bool) {
	c, ok := p.writer().compile(rows)
	if !ok && slices.ContainsFunc(p.loads, func(l load) bool { return l.mode == uniform }) {
		w := p.writer()
		w.repeats = true
		c, ok = w.compile(rows)
	}
	if !ok && slices.Contains(p.pairs, true) {
		w := p.writer()
		w.imaginary = make([]native.Value, len(p.regs))
		c, ok = w.compile(rows)
	}
	return c, ok
}

func (p *Program) writer() *nativeWriter {
	return &nativeWriter{Builder: native.NewBuilder(), p: p, regs: make([]native.Value, len(p.regs)), known: make([]bool, len(p.regs))}
}

func (w *nativeWriter) compile(rows int) (*nativeSteps, bool) {
	p := w.p
	w.code.rows = rows
	for i := range p.loads {
		w.load(i, rows)
	}
	for i := range p.counters {
		if rows > 0 && !p.across {
			w.tabulate(i)
		} else {
			w.fromRegister(p.counters[i].reg, native.Neighbours)
		}
	}
	for i := range p.splats {
		s := &p.splats[i]
		w.constant(s)
	}
	for i := range p.steps {
		if !w.step(i) {
			return nil, false
		}
	}
	for i := range p.stores {
		w.storeOutput(i)
	}
	for i := range p.folds {
		o := &p.folds[i]
		if p.byRuns {
			w.showFolded(i)
			continue
		}
		if w.isSplit(o.reg) {
			return nil, false
		}
		if o.truth {
			w.FoldTruth(w.regs[o.reg], o.vector.Op)
		} else {
			w.Fold(w.regs[o.reg], o.vector, o.identity)
		}
		w.code.slots = append(w.code.slots, slot{ofFold, i})
	}
	if p.across {
		w.Across()
	}
	if len(p.stores)+len(p.folds) == 0 {
		w.store(p.result, vectors.Name{})
		w.code.slots = append(w.code.slots, slot{ofResult, p.result})
	}
	if p.isFar() {
		w.Far()
	}
	var ok bool
	if w.code.Code, ok = w.Compile(); !ok {
		return nil, false
	}
	return &w.code, true
}

// leastFar is how many bytes results have that are stored past the caches. From there on, a loop and one behind it that reads what it has stored take less time together, with half of that the same,
// with less more.
const leastFar = 16 << 20

// isFar reports whether results are so large.
func (p *Program) isFar() bool {
	size := 0
	for i := range p.stores {
		if p.stores[i].isPlaced() {
			return false
		}
		size += p.stores[i].typ.ByteSize()
	}
	return size*p.Len() >= leastFar
}

// storeOutput stores what output i gets.
func (w *nativeWriter) storeOutput(i int) {
	s := &w.p.stores[i]
	var convert vectors.Name
	if s.narrow != nil {
		convert = vectors.Of(hlo.OpConvert, hlo.F32, s.typ)
	}
	if s.rounded {
		w.StoreRounded(w.regs[s.reg], convert)
	} else {
		w.store(s.reg, convert)
	}
	w.code.slots = append(w.code.slots, slot{ofStore, i})
}

func (w *nativeWriter) load(i, rows int) {
	l := &w.p.loads[i]
	kind := ofLoad
	switch {
	case l.mode == uniform && (w.repeats || l.widen != nil || l.typ.IsComplex()):
		w.fromRegister(l.reg, native.Repeated)
		return
	case l.mode == uniform:
		w.code.slots = append(w.code.slots, slot{ofUniform, i})
		w.input(l.reg, l.typ.ByteSize(), l.typ == hlo.PRED, native.Single)
		return
	case l.mode == gathered && rows == 0:
		w.fromRegister(l.reg, native.Neighbours)
		return
	case l.isKept():
		w.code.slots = append(w.code.slots, slot{ofKept, i})
		w.input(l.reg, w.p.widths[l.reg], w.p.truth[l.reg], native.Neighbours)
		return
	case l.mode == gathered:
		kind = ofRow
		if l.view.Strides[len(l.view.Strides)-1] == 0 {
			w.code.slots = append(w.code.slots, slot{kind, i})
			w.input(l.reg, l.typ.ByteSize(), l.typ == hlo.PRED, native.Single)
			return
		}
	}
	w.code.slots = append(w.code.slots, slot{kind, i})
	if l.widen != nil {
		w.set(l.reg, w.Op(vectors.Of(hlo.OpConvert, l.typ, hlo.F32), false, w.Input(l.typ.ByteSize(), false, native.Neighbours)))
		return
	}
	w.input(l.reg, l.typ.ByteSize(), l.typ == hlo.PRED, native.Neighbours)
}

// fromRegister makes an operand of what the program itself brings into a register.
func (w *nativeWriter) fromRegister(reg int, along native.Along) {
	kind := ofRegister
	if along == native.Repeated {
		kind, w.code.repeats = ofRepeated, true
	}
	w.code.slots = append(w.code.slots, slot{kind, reg})
	w.input(reg, w.p.widths[reg], w.p.truth[reg], along)
}

func (w *nativeWriter) step(i int) bool {
	s := &w.p.steps[i]
	if s.vector == (vectors.Name{}) || isTurn(s.vector) {
		return false
	}
	var args []native.Value
	for _, r := range []int{s.a, s.b, s.c}[:w.p.arity[i]] {
		if !w.known[r] {
			return false
		}
		args = append(args, w.regs[r])
	}
	if w.hasParts(s, w.p.arity[i]) {
		return w.onParts(s)
	}
	if s.exchanged {
		args[0], args[1] = args[1], args[0]
	}
	name := s.vector
	if s.stored != (vectors.Name{}) {
		name = s.stored
	}
	if s.quotient && len(args) == 2 {
		w.set(s.d, w.Quotient(w.rowLength(), name, args[0], args[1]))
		return true
	}
	w.set(s.d, w.Op(name, w.p.truth[s.d], args...))
	return true
}

// rowLength is the number of elements for which what belongs to a row is brought into registers once.
func (w *nativeWriter) rowLength() int {
	if w.code.rows > 0 {
		return w.code.rows
	}
	return w.p.Len()
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
