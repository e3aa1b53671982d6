package tile

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// The way to machine code takes longer than running it on a few vectors: a frame is found, and pointers for the code. Where memory is the same from one run to
// the next, all of that is known, and one call is left.

// leastForCode is the work of a run, in elements times weight and what calling the loops of steps costs, from which on a program that has run a thousand times
// and will go on is worth code.
const leastForCode = payingWork >> 10

// mostGathered is how many elements are gathered one by one at most: tiles have faster ways, which so many are worth.
const mostGathered = 512

// MayHaveCode reports whether [Program.CodeCalls] may have some, before any is made.
func (p *Program) MayHaveCode() bool {
	return p.Len() > 0 && len(p.stores) > 0 && len(p.folds)+len(p.tables) == 0 && p.stages == nil && native.Possible() &&
		!slices.ContainsFunc(p.steps, func(s step) bool { return s.vector == (vectors.Name{}) || isTurn(s.vector) })
}

// CodeCalls writes a program out as [Program.Calls] does, with machine code, which is made now, in place of its steps. It reports false where there is none, where that
// does not pay, and for programs that a run does not compute by one call.
func (p *Program) CodeCalls() (calls []Call, room int, ok bool) {
	n := p.Len()
	if !p.MayHaveCode() || n*p.weight+len(p.steps)*stepWork < leastForCode && !atOnce.Load() {
		return nil, 0, false
	}
	c := p.code()
	if c != nil && c.overlaps(p) {
		c = c.byTiles(p) // results may be where operands are
	}
	if c == nil || c.stages != nil {
		return nil, 0, false
	}
	w := callWriter{p: p, code: c, call: codeCall{code: c, bundles: 1, rows: 1, n: n}, regs: make(map[int]Place)}
	if c.rows > 0 && c.rows < n {
		w.call.n = c.rows
		w.call.bundles, w.call.rows = p.regular(0, n/c.rows)
	}
	if x := &w.call; n > c.Most || x.bundles*x.rows*x.n != n || !c.Masked && x.n%c.Lanes != 0 || !w.write() {
		return nil, 0, false
	}
	return w.calls, w.room, true
}

// callWriter writes a program with machine code.
type callWriter struct {
	p     *Program
	code  *nativeSteps
	call  codeCall
	calls []Call
	regs  map[int]Place // where registers are
	room  int
	// gathered is how many elements calls bring together.
	gathered int
}

// codeCall is one call of machine code.
type codeCall struct {
	code             *nativeSteps
	bundles, rows, n int
	strides          []int64
}

// run finds at d the addresses of the code's memory and of what its slots point to, and as much room for the slots.
func (c *codeCall) run(_ int, d, _, _, _ unsafe.Pointer) {
	k := len(c.code.slots)
	table := vec[unsafe.Pointer](d, 1+2*k)
	c.code.RunAgain(c.bundles, c.rows, c.n, table[1:1+k], table[1+k:], c.strides, vec[byte](table[0], c.code.Memory))
}

func (w *callWriter) write() bool {
	k := len(w.code.slots)
	table := make([]Place, 1+2*k)
	w.call.strides = make([]int64, 2*k)
	for i, s := range w.code.slots {
		var ok bool
		if table[1+i], ok = w.slot(i, s); !ok {
			return false
		}
	}
	table[0] = w.take(w.code.Memory)
	call := &w.call
	w.calls = append(w.calls, Call{Loop: call.run, N: call.n, D: Place{Kind: InTable, Table: table}})
	return true
}

// take is room for so many bytes.
func (w *callWriter) take(bytes int) Place {
	const line = 64
	at := w.room
	w.room += (bytes + line - 1) &^ (line - 1)
	return Place{Kind: InRegister, Offset: at}
}

// input is an element of what a load reads.
func (w *callWriter) input(l *load, at int) Place {
	offset := at * l.typ.ByteSize()
	if l.arg < 0 {
		return Place{Kind: InConstant, Value: w.p.arrays[-1-l.arg], Offset: offset}
	}
	return Place{Kind: InInput, Index: l.arg, Offset: offset}
}

// slot is what slot i points to at first, and sets how that moves.
func (w *callWriter) slot(i int, s slot) (at Place, ok bool) {
	p, stride, jump := w.p, &w.call.strides[i], &w.call.strides[len(w.code.slots)+i]
	switch s.kind {
	case ofLoad:
		l := &p.loads[s.index]
		*stride = int64(w.call.n * l.typ.ByteSize())
		return w.input(l, int(l.view.Base)), true
	case ofRow:
		l := &p.loads[s.index]
		if last, size := len(l.view.Strides)-1, int64(l.typ.ByteSize()); last > 0 {
			*stride = l.view.Strides[last-1] * size
			if w.call.bundles > 1 {
				*jump = l.view.Strides[last-2]*size - int64(w.call.rows)**stride
			}
		}
		return w.input(l, p.offset(&l.view, 0)), true
	case ofKept:
		l := &p.loads[s.index]
		if l.period > p.rowLength() {
			*stride = int64(w.call.n * p.widths[l.reg])
		}
		if l.period == w.call.rows*w.call.n { // each bundle has the same
			*jump = -int64(w.call.rows) * *stride
		}
		return w.bring(l, l.period)
	case ofUniform:
		l := &p.loads[s.index]
		return w.input(l, int(l.view.Base)), true
	case ofRepeated:
		return w.repeat(s.index)
	case ofRegister:
		return w.register(s.index)
	case ofColumns:
		return Place{Kind: InConstant, Value: w.code.tables[s.index]}, true
	case ofRows:
		*stride = int64(p.widths[p.counters[s.index].reg])
		return Place{Kind: InConstant, Value: w.code.tables[s.index]}, true
	case ofStore:
		s := &p.stores[s.index]
		*stride = int64(w.call.n * s.typ.ByteSize())
		return Place{Kind: InOutput, Index: s.out}, true
	}
	return at, false
}

// register is what the program brings into a register itself.
func (w *callWriter) register(reg int) (at Place, ok bool) {
	if at, ok = w.regs[reg]; ok {
		return at, true
	}
	for i := range w.p.loads {
		if l := &w.p.loads[i]; l.reg == reg {
			at, ok = w.bring(l, w.p.Len())
			w.regs[reg] = at
			return at, ok
		}
	}
	for i := range w.p.counters {
		if o := &w.p.counters[i]; o.reg == reg {
			at = w.p.numbers(o)
			w.regs[reg] = at
			return at, true
		}
	}
	return at, false
}

// bring calls what brings the first n elements of a load together, unless they are.
func (w *callWriter) bring(l *load, n int) (at Place, ok bool) {
	if l.mode != gathered || l.widen != nil {
		return at, false
	}
	loop, first, whole := w.p.gathering(l, n)
	switch {
	case loop == nil:
		return at, false
	case whole:
		return w.input(l, first), true
	}
	if w.gathered += n; w.gathered > mostGathered {
		return at, false
	}
	at = w.take(n * l.typ.ByteSize())
	w.calls = append(w.calls, Call{Loop: loop, N: n, D: at, A: w.input(l, 0)})
	return at, true
}

// repeat calls what repeats the only element of the load into a register.
func (w *callWriter) repeat(reg int) (at Place, ok bool) {
	if at, ok = w.regs[reg]; ok {
		return at, true
	}
	for i := range w.p.loads {
		l := &w.p.loads[i]
		fill := fillLoop(w.p.widths[reg])
		if l.reg != reg || l.mode != uniform || fill == nil {
			continue
		}
		at = w.take(w.p.Len() * w.p.widths[reg])
		from := w.input(l, int(l.view.Base))
		if l.widen != nil {
			w.calls = append(w.calls, Call{Loop: l.widen, N: 1, D: at, A: from})
			from = at
		}
		w.calls = append(w.calls, Call{Loop: fill, N: w.p.Len(), D: at, A: from})
		w.regs[reg] = at
		return at, true
	}
	return at, false
}
