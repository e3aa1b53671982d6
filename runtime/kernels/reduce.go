package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// reduce serves reductions of one array by one recognised op. Narrow floats are reduced in f32.
func reduce(s *site) (runtime.Bound, bool) {
	return reduceOp(s, operandsOf(s.in))
}

// fusedReduce serves fusions that end in such a reduction: what it reduces is computed tile by tile.
func fusedReduce(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || c.Root().Opcode() != hlo.OpReduce {
		return runtime.Bound{}, false
	}
	return reduceOp(&site{m: s.m, in: c.Root(), b: s.b, reg: s.reg}, arrayParameters)
}

// foldOp is the op that a reduction of one array applies, and the type that it computes in; narrow floats are reduced in f32.
func (s *site) foldOp() (op hlo.Opcode, t hlo.PrimitiveType, ok bool) {
	if s.in.NumOperands() != 2 || !s.in.Shape().IsArray() {
		return 0, 0, false
	}
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return 0, 0, false
	}
	op, ok = binaryOf(c)
	t = s.in.Shape().Type()
	if !ok || s.shape(0).Type() != t || s.shape(1).Type() != t || c.Root().Shape().Type() != t {
		return 0, 0, false
	}
	if t.IsFloat() && t.Bits() < 32 {
		t = hlo.F32
	}
	return op, t, true
}

// reduceOp compiles the reduction s.in, whose operands are computed from the inputs that leaf tells.
func reduceOp(s *site, leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	op, t, ok := s.foldOp()
	if !ok {
		return runtime.Bound{}, false
	}
	if b, ok := truthCounts(s, op, leaf); ok {
		return b, true
	}
	x := s.in.OperandInstr(0)
	switch t {
	case hlo.F32:
		if b, ok := narrowRuns(s, op, leaf); ok {
			return b, true
		}
		return reduceAs(s, x, t, foldOf[float32](op), leaf)
	case hlo.F64:
		return reduceAs(s, x, t, foldOf[float64](op), leaf)
	case hlo.PRED:
		return reduceAs(s, x, t, predFoldOf(op), leaf)
	case hlo.S8:
		return reduceAs(s, x, t, integerFoldOf[int8](op), leaf)
	case hlo.U8:
		return reduceAs(s, x, t, integerFoldOf[uint8](op), leaf)
	case hlo.S16:
		return reduceAs(s, x, t, integerFoldOf[int16](op), leaf)
	case hlo.U16:
		return reduceAs(s, x, t, integerFoldOf[uint16](op), leaf)
	case hlo.S32:
		return reduceAs(s, x, t, integerFoldOf[int32](op), leaf)
	case hlo.U32:
		return reduceAs(s, x, t, integerFoldOf[uint32](op), leaf)
	case hlo.S64:
		return reduceAs(s, x, t, integerFoldOf[int64](op), leaf)
	case hlo.U64:
		return reduceAs(s, x, t, integerFoldOf[uint64](op), leaf)
	case hlo.C64:
		if b, ok := complexColumns[float32](s, op, leaf); ok {
			return b, true
		}
		return reduceAs(s, x, t, complexFoldOf[complex64](op), leaf)
	case hlo.C128:
		if b, ok := complexColumns[float64](s, op, leaf); ok {
			return b, true
		}
		return reduceAs(s, x, t, complexFoldOf[complex128](op), leaf)
	}
	return runtime.Bound{}, false
}

// reduction folds an array, which lies in memory as it is, or is computed by a producer. What is folded for one element of the result,
// or for one run of it, are strips; a long list of strips is divided into parts with a result of their own.
type reduction[T foldedNumber] struct {
	reduceLayout
	fold *fold[T]
	in   place
	// producer computes the operand, if it is not at in.
	producer  *tile.Program
	whole     wholeRows // or this does, and folds it to parts
	init, out place
	partial   section
	source    listSource[T] // of rows in memory

	loop, finish *parallelLoop
	rows         sync.Pool // of buffers for sums of rows
	heads        sync.Pool // of heads for the list loop
	visits       sync.Pool // of visitors, if there is a producer
}

// reduceColumns bounds the columns that are folded together: their sums stay in the nearest cache.
const reduceColumns = 1024

// reduceAs compiles a reduction of an operand in type t. A predicate is a number then.
func reduceAs[T foldedNumber](s *site, operand hlo.Instruction, t hlo.PrimitiveType, f *fold[T], leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	if f == nil {
		return runtime.Bound{}, false
	}
	r := &reduction[T]{fold: f}
	r.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	arg, isInput := leaf(operand)
	isInput = isInput && (operand.Shape().Type() == t || operand.Shape().Type() == hlo.PRED && t == hlo.U8)
	e := &reduceEnds{t: t}
	ok := e.plan(s, leaf)
	if !ok {
		return runtime.Bound{}, false
	}
	r.init, r.out = e.init, e.out
	if s.shape(0).NumElements() == 0 {
		return r.empty(e), true
	}
	list, size := f.list, t.ByteSize()
	if from, ok := r.narrowRows(s, f, leaf); ok {
		arg, isInput, list, size = from.arg, true, from.list, narrowSize
	}
	if op, _, _ := s.foldOp(); !isInput && r.takeWholeRows(s, operand, op, t, leaf) {
		return r.bound(e, int(s.shape(0).NumElements())), true
	}
	r.keepTail(!isInput)
	var axes []int
	if !isInput {
		axes = r.turn(s)
	}
	r.divide()
	if isInput {
		r.takeRows(list, size)
		r.in = place{kind: inInput, index: arg}
	} else if r.producer, ok = compileResult(s.m, operand, t, axes, r.rowLength(), leaf); !ok || !r.isContiguous() {
		return runtime.Bound{}, false
	} else if r.smallUnits() && r.run >= shortRun {
		r.takeRows(f.list, t.ByteSize())
	}
	return r.bound(e, int(s.shape(0).NumElements())), true
}

// bound is the reduction of so many elements as a kernel, once it is known how they are folded.
func (r *reduction[T]) bound(e *reduceEnds, elements int) runtime.Bound {
	if r.isPartial() {
		r.partial = e.scratch.take(int64(r.units*r.parts*r.width()) * int64(sizeOf(*new(T))))
	}
	r.rows.New = func() any { b := make([]T, r.block); return &b }
	r.heads.New = func() any { return new(foldHead[T]) }
	r.visits.New = func() any { return &reduceVisit[T]{r: r} }
	r.loop = newParallelLoop(r.tasks)
	weight := 1
	if r.producer != nil {
		r.loop, weight = newParallelLoop(r.visitTasks), r.producer.Weight()
	}
	if p := r.whole.program; p != nil {
		r.loop, weight = newParallelLoop(r.wholeTasks), p.Weight()
	}
	r.finish = newParallelLoop(r.merge)
	tasks := r.units * r.blocks * r.parts
	work := len(r.strips) * r.run / (r.blocks * r.parts) * weight
	small := r.small(e, elements)
	grain, mergeGrain := 1+reduceGrain/(1+work), 1+reduceGrain/(r.parts*r.width())
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		r.loop.run(f, tasks, grain)
		if r.isPartial() {
			r.finish.run(f, r.units, mergeGrain)
		}
		e.after(f)
		return nil
	}, Small: small, Scratch: e.scratch.size}
}

// reduceGrain is the work, in additions, that is worth handing over.
const reduceGrain = 1 << 17

// empty is the reduction of an array without elements.
func (r *reduction[T]) empty(e *reduceEnds) runtime.Bound {
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		init := elems[T](r.init.of(f))[0]
		out := elems[T](r.out.of(f))
		for i := range out {
			out[i] = init
		}
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}
}

// tasks computes blocks of columns of parts of units, in that order.
func (r *reduction[T]) tasks(f *runtime.TensorFrame, lo, hi int) {
	out := elems[T](r.out.of(f))
	init := elems[T](r.init.of(f))[0]
	if r.isPartial() {
		out = elems[T](r.partial.of(f))
	}
	if r.source.list != nil {
		r.listedTasks(r.in.of(f), out, init, lo, hi)
		return
	}
	in := elems[T](r.in.of(f))
	if r.isShort() && !r.fold.takesRuns(r.run) {
		y := out[lo:hi]
		for i := range y {
			y[i] = init
		}
		r.fold.short(y, in[lo*r.run:hi*r.run], r.run)
		return
	}
	if r.inner && r.parts == 1 && r.isContiguous() {
		r.fold.each(out[lo:hi], in[lo*r.run:hi*r.run], r.run, &elems[T](r.init.of(f))[0])
		return
	}
	buffer := r.rows.Get().(*[]T)
	sums := r.rows.Get().(*[]T) // of rows, where they are no part of the result
	for task := lo; task < hi; task++ {
		up, b := task/r.blocks, task%r.blocks
		x := in[r.offset(up/r.parts):]
		part := up % r.parts * r.split
		if r.inner {
			v := r.foldRuns(x, part)
			if r.parts == 1 {
				v = r.fold.pair(init, v)
			}
			out[up] = v
			continue
		}
		cols := min(r.block, r.run-b*r.block)
		at := up*r.run + b*r.block
		ends := r.tail > 1 && !r.isPartial()
		y := (*sums)[:cols]
		if !ends {
			y = out[at:][:cols]
		}
		r.foldRows(y, x[b*r.block:], r.strips[part:min(part+r.split, len(r.strips))], (*buffer)[:cols])
		switch {
		case ends:
			r.fold.each(out[at/r.tail:][:cols/r.tail], y, r.tail, &elems[T](r.init.of(f))[0])
		case !r.isPartial():
			r.fold.begin(y, init)
		}
	}
	r.rows.Put(sums)
	r.rows.Put(buffer)
}

// foldRuns folds the runs of a part.
func (r *reduction[T]) foldRuns(x []T, part int) T {
	if len(r.strips) == 1 && r.parts > 1 {
		return r.fold.run(x[part:min(part+r.split, r.run)])
	}
	strips := r.strips[part:min(part+r.split, len(r.strips))]
	v := r.fold.run(x[strips[0]:][:r.run])
	for _, s := range strips[1:] {
		v = r.fold.pair(v, r.fold.run(x[s:][:r.run]))
	}
	return v
}

// rowBlock is how many rows are folded before their result is.
const rowBlock = 256

// foldRows folds rows of x that begin at strips into y; sum is as long as y.
func (r *reduction[T]) foldRows(y, x []T, strips []int, sum []T) {
	for at := 0; at < len(strips); at += rowBlock {
		to := sum
		if at == 0 {
			to = y
		}
		rows := strips[at:min(at+rowBlock, len(strips))]
		copy(to, x[rows[0]:])
		for _, s := range rows[1:] {
			r.fold.rows(to, x[s:][:len(to)])
		}
		if at > 0 {
			r.fold.rows(y, sum)
		}
	}
}

// merge folds the parts of units, then the rows that were stacked, and then the neighbours that are one element of the result.
func (r *reduction[T]) merge(f *runtime.TensorFrame, lo, hi int) {
	partial, out := elems[T](r.partial.of(f)), elems[T](r.out.of(f))
	init := elems[T](r.init.of(f))[0]
	wide := r.width()
	w := wide / r.stack
	h := r.heads.Get().(*foldHead[T])
	for u := lo; u < hi; u++ {
		sum := partial[u*r.parts*wide:][:wide]
		if r.whole.program != nil {
			sum[0] = r.fold.run(partial[u*r.parts:][:r.parts])
		} else {
			for p := 1; p < r.parts; p++ {
				r.fold.rows(sum, partial[(u*r.parts+p)*wide:][:wide])
			}
		}
		r.fold.below(sum[:w], sum[w:])
		if r.tail > 1 {
			r.fold.each(out[u*w/r.tail:][:w/r.tail], sum[:w], r.tail, &elems[T](r.init.of(f))[0])
			continue
		}
		y := out[u*w:][:w]
		copy(y, sum)
		r.fold.beginRow(y, h, init)
	}
	r.heads.Put(h)
}

// reduceEnds are where the initial value and the result of a reduction are, in the type in which it computes.
type reduceEnds struct {
	t         hlo.PrimitiveType
	init, out place
	scratch   scratchPlan

	constant []byte // the initial value, if it is one
	inConv   *conversion
	outConv  *conversion
}

func (e *reduceEnds) plan(s *site, leaf func(hlo.Instruction) (int, bool)) bool {
	size := int64(e.t.ByteSize())
	init := s.in.OperandInstr(1)
	arg, isInput := leaf(init)
	if !isInput {
		l := init.Literal()
		if init.Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
			return false
		}
		e.constant = l.Bytes()
	}
	from := init.Shape().Type()
	switch {
	case isInput && from == e.t:
		e.init = place{kind: inInput, index: arg}
	case isInput:
		e.init = place{kind: inScratch, section: e.scratch.take(size)}
		var ok bool
		if e.inConv, ok = newConversion(place{kind: inInput, index: arg}, e.init, from, e.t, 1); !ok {
			return false
		}
	case from == e.t:
		e.init = place{kind: inScratch, section: e.scratch.take(size)}
	default:
		// The constant is copied next to where it is converted to.
		raw := place{kind: inScratch, section: e.scratch.take(int64(len(e.constant)))}
		e.init = place{kind: inScratch, section: e.scratch.take(size)}
		var ok bool
		if e.inConv, ok = newConversion(raw, e.init, from, e.t, 1); !ok {
			return false
		}
	}
	e.out = place{kind: inOutput}
	if to := s.in.Shape().Type(); to != e.t {
		n := s.in.Shape().NumElements()
		e.out = place{kind: inScratch, section: e.scratch.take(n * size)}
		var ok bool
		if e.outConv, ok = newConversion(e.out, place{kind: inOutput}, e.t, to, n); !ok {
			return false
		}
	}
	return true
}

func (e *reduceEnds) before(f *runtime.TensorFrame) {
	if e.constant != nil {
		copy(f.Scratch(), e.constant) // the first section
	}
	e.inConv.run(f)
}

func (e *reduceEnds) after(f *runtime.TensorFrame) { e.outConv.run(f) }
