package kernels

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// acrossReduction folds one axis of what a program computes, of which neighbours along the last axis that is kept are neighbours in memory, or the same element. Where the
// folded axis is the last one, the two change places: neighbours of the result are computed together, and nothing is folded within a vector.
type acrossReduction[T realNumber] struct {
	fold           *fold[T]
	program        *tile.Program
	init, out      place
	columns, block int // of the result, and of a task
	visits         sync.Pool
}

// fusedAcross serves fusions that end in such a reduction.
func fusedAcross(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || c.Root().Opcode() != hlo.OpReduce {
		return runtime.Bound{}, false
	}
	s = &site{m: s.m, in: c.Root(), b: s.b, reg: s.reg}
	op, t, ok := s.foldOp()
	if !ok || s.in.Shape().Type() != t {
		return runtime.Bound{}, false
	}
	//halo:allow opswitch the types of which there are folds of chains
	switch t {
	case hlo.F32:
		return acrossAs(s, op, foldOf[float32](op))
	case hlo.F64:
		return acrossAs(s, op, foldOf[float64](op))
	case hlo.PRED:
		return acrossAs(s, op, predFoldOf(op))
	case hlo.S32:
		return acrossAs(s, op, integerFoldOf[int32](op))
	case hlo.U32:
		return acrossAs(s, op, integerFoldOf[uint32](op))
	case hlo.S64:
		return acrossAs(s, op, integerFoldOf[int64](op))
	case hlo.U64:
		return acrossAs(s, op, integerFoldOf[uint64](op))
	}
	return runtime.Bound{}, false
}

// acrossAxes are the axes of the operand of a reduction with the one that alone is folded, but for those of one element, in front of the last that is kept.
func acrossAxes(in hlo.Instruction) (axes []int, ok bool) {
	s, reduced, kept := in.OperandInstr(0).Shape(), -1, -1
	list := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	for axis := range s.Rank() {
		switch isReduced := slices.Contains(list, int64(axis)); {
		case s.Dim(axis) == 1 && isReduced:
			return nil, false
		case isReduced && reduced >= 0:
			return nil, false
		case isReduced:
			reduced = axis
		case s.Dim(axis) != 1:
			kept = axis
		}
	}
	if reduced < 0 || kept < 0 {
		return nil, false
	}
	for axis := range s.Rank() {
		if axis != reduced && axis != kept {
			axes = append(axes, axis)
		}
	}
	return append(axes, reduced, kept), true
}

func acrossAs[T realNumber](s *site, op hlo.Opcode, fold *fold[T]) (runtime.Bound, bool) {
	axes, ok := acrossAxes(s.in)
	if !ok || fold == nil {
		return runtime.Bound{}, false
	}
	operand := s.in.OperandInstr(0)
	rank, t := operand.Shape().Rank(), operand.Shape().Type()
	rows, columns := int(operand.Shape().Dim(axes[rank-2])), int(operand.Shape().Dim(axes[rank-1]))
	least, inFront := tile.LeastAcross, axes[rank-2] < axes[rank-1]
	if inFront {
		least /= t.ByteSize() // one chain each
	}
	if columns < least || operand.Shape().NumElements() == 0 || inFront && operand.Shape().NumElements() <= tile.MostInCalls {
		return runtime.Bound{}, false
	}
	dims := make([]int64, rank)
	for k, axis := range axes {
		dims[k] = operand.Shape().Dim(axis)
	}
	space := tile.Space{Dims: dims}
	c := &compiler{m: s.m, space: space, b: tile.NewBuilder(space), leaf: arrayParameters, budget: maxProgram}
	at, natural := make(access, rank), identity(space)
	for k, axis := range axes {
		at[axis] = natural[k]
	}
	v, ok := c.value(operand, at)
	if !ok || c.b.Type(v) != t || !c.b.FoldAcross(v, op) {
		return runtime.Bound{}, false
	}
	r := &acrossReduction[T]{fold: fold, columns: columns}
	if r.program, ok = c.b.Build(); !ok || !r.program.IsAcross() {
		return runtime.Bound{}, false
	}
	e := &reduceEnds{t: t}
	if !e.plan(s, arrayParameters) {
		return runtime.Bound{}, false
	}
	r.init, r.out = e.init, e.out
	r.block = tile.Size
	for r.block > tile.LeastAcross && columns < 4*r.block {
		r.block /= 2
	}
	tasks := int(s.in.Shape().NumElements()) / columns * r.blocks()
	if inFront && dividesUnits(tasks, rows*columns) {
		return runtime.Bound{}, false // rows that lie one behind the other may be parts
	}
	r.visits.New = func() any { return new(acrossVisit[T]) }
	loop := newParallelLoop(r.run)
	grain := 1 + reduceGrain/(1+rows*min(columns, r.block)*r.program.Weight())
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		loop.run(f, tasks, grain)
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

// blocks is how many tasks the columns of a unit are.
func (r *acrossReduction[T]) blocks() int { return (r.columns-1)/r.block + 1 }

// run computes tasks, block after block of unit after unit.
func (r *acrossReduction[T]) run(f *runtime.TensorFrame, lo, hi int) {
	v := r.visits.Get().(*acrossVisit[T])
	out, first := elems[T](r.out.of(f)), r.init.of(f)
	v.fold = r.fold
	for task := lo; task < hi; task++ {
		unit, column := task/r.blocks(), task%r.blocks()*r.block
		n := min(r.block, r.columns-column)
		v.out, v.some = out[unit*r.columns+column:][:n], false
		r.program.RunAcross(unit, column, n, first, (*frameBuffers)(f), v)
	}
	v.out = nil
	r.visits.Put(v)
}

// acrossVisit joins the results of stretches of rows.
type acrossVisit[T realNumber] struct {
	fold *fold[T]
	out  []T
	some bool // there has been a stretch
}

// Tile implements tile.Visitor.
func (v *acrossVisit[T]) Tile(_, n int, elements unsafe.Pointer) {
	x := unsafe.Slice((*T)(elements), n)
	if v.some {
		v.fold.rows(v.out, x)
	} else {
		copy(v.out, x)
	}
	v.some = true
}
