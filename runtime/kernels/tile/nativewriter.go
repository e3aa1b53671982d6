package tile

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

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
