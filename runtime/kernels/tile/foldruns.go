package tile

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// Chains are more than the elements of a short row, and joining them takes longer than folding it. Short rows are folded many at a time instead, by the loops for runs, which
// find them where a tile of the program is: in registers, where they have just been stored, or where they were loaded from.

// hasChains reports whether the code folds, into chains.
func (p *Program) hasChains() bool { return len(p.folds) > 0 && !p.byRuns }

// foldRuns is a loop for runs, and the length up to which it takes them.
func foldRuns(op hlo.Opcode, t hlo.PrimitiveType, identity []byte) (func(n int, d, a unsafe.Pointer, length int), int) {
	switch t {
	case hlo.F32:
		return foldRunsOf[float32](op, t, identity)
	case hlo.F64:
		return foldRunsOf[float64](op, t, identity)
	}
	return nil, 0
}

func foldRunsOf[T float32 | float64](op hlo.Opcode, t hlo.PrimitiveType, identity []byte) (func(n int, d, a unsafe.Pointer, length int), int) {
	pair := func(x, y T) T { return x + y }
	//halo:allow opswitch the ops of Fold
	switch op {
	case hlo.OpMaximum:
		pair = func(x, y T) T { return max(x, y) }
	case hlo.OpMinimum:
		pair = func(x, y T) T { return min(x, y) }
	}
	short := func(y, x []T, run int) {
		for i := range y {
			for _, v := range x[i*run:][:run] {
				y[i] = pair(y[i], v)
			}
		}
	}
	name := vectors.Of(op, t)
	if op == hlo.OpAdd {
		name = vectors.Of(op, vectors.Unsigned(t))
	}
	fold, longest := vectors.FindFoldRuns(name, pair, short)
	if fold == nil {
		return nil, 0
	}
	first := (*T)(unsafe.Pointer(&identity[0]))
	return func(n int, d, a unsafe.Pointer, length int) { fold(vec[T](d, n), vec[T](a, n*length), length, first) }, longest
}

// chooseFolds lets short rows be folded by runs, if all that is folded is in a register of a step, or memory as it is.
func (p *Program) chooseFolds() {
	n := p.rowLength()
	if len(p.folds) == 0 || p.across || p.stages != nil {
		return
	}
	for i := range p.folds {
		o := &p.folds[i]
		if o.runs == nil || n > o.longest || !p.isAtHand(o) {
			return
		}
	}
	p.byRuns, p.row = true, n
}

// isAtHand notes where the elements of a fold are, and reports whether they lie together.
func (p *Program) isAtHand(o *rowFold) bool {
	for i := range p.loads {
		if l := &p.loads[i]; l.reg == o.reg {
			if l.widen == nil {
				o.loaded = i
			}
			return l.mode == linear && l.columns == 0 && !l.raw && l.direct < 0
		}
	}
	for i := range p.stores {
		if s := &p.stores[i]; s.reg == o.reg && s.direct {
			o.stored = i
			return true
		}
	}
	return p.regs[o.reg].slot >= 0 && p.isComputed(o.reg)
}

// isComputed reports whether a step writes a register.
func (p *Program) isComputed(reg int) bool {
	for i := range p.steps {
		if p.steps[i].d == reg {
			return true
		}
	}
	return false
}

// showFolded lets the code leave what fold i folds in its register.
func (w *nativeWriter) showFolded(i int) {
	o := &w.p.folds[i]
	if o.stored >= 0 || o.loaded >= 0 {
		return
	}
	for k := range w.p.folds[:i] {
		if w.p.folds[k].reg == o.reg {
			return
		}
	}
	w.store(o.reg, vectors.Name{})
	w.code.slots = append(w.code.slots, slot{ofResult, o.reg})
}

// foldShort computes rows [lo, hi) and what they fold to.
func (p *Program) foldShort(c *nativeSteps, f *frame, lo, hi int, b Buffers) {
	n := p.rowLength()
	most := max(1, Size/n)
	for row := lo; row < hi; row += most {
		k := min(most, hi-row)
		p.piece(c, f, row*n, k*n, b)
		for i := range p.folds {
			o := &p.folds[i]
			elements := f.ptr[o.reg]
			switch {
			case o.loaded >= 0:
				l := &p.loads[o.loaded]
				elements = element(p.in(b, l.arg), int(l.view.Base)+row*n, o.width)
			case o.stored >= 0:
				elements = element(b.Out(p.stores[o.stored].out), row*n, o.width)
			}
			o.runs(k, element(b.Out(o.out), row, o.width), elements, n)
		}
	}
}
