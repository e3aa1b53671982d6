package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// mostWholeRow bounds the rows of which whole folds are made: several rows of up to as many elements are one call of their code. Multiples of wholeVectors are whole vectors, of
// whatever type.
const mostWholeRow, wholeVectors = 4096, 32

// wholeRows is what folds the operand of a reduction with few results, as a loss over all elements: the operand is taken for rows, all of one length, which a program computes and
// folds in registers. The rows of a result are its parts, which are folded in the end. What is computed in tiles, which are folded then, goes through the nearest cache once more.
type wholeRows struct{ program *tile.Program }

// takeWholeRows finds the rows of operand, in type t, and the program for them, and reports whether there are any. The layout is not divided yet.
func (r *reduction[T]) takeWholeRows(s *site, operand hlo.Instruction, op hlo.Opcode, t hlo.PrimitiveType, leaf func(hlo.Instruction) (int, bool)) bool {
	if !r.inner || !r.isContiguous() || r.units*r.run <= tile.MostInCalls {
		return false
	}
	flat, inCode := wholeOperand(operand, t, leaf)
	run := r.run
	if !flat { // dimensions that matter are not to be cut across
		for _, d := range operand.Shape().Dimensions() {
			if d != 1 {
				run = int(d)
			}
		}
	}
	row := wholeRow(run)
	if !inCode || !isWholeRow(row) {
		return false
	}
	p, ok := compileOver(s.m, []int64{int64(r.units * r.run / row), int64(row)}, leaf, func(c *compiler) bool {
		at, ok := flatAccess(c.space, operand.Shape().Rank()), true
		if !flat {
			if at, ok = c.start(operand.Shape().Dimensions()); !ok {
				return false
			}
		}
		v, ok := c.value(operand, at)
		if !ok || c.b.Type(v) != operand.Shape().Type() {
			return false
		}
		if v, ok = c.b.Convert(t, v); !ok {
			return false
		}
		row = int(c.space.Dims[len(c.space.Dims)-1]) // it may have been split
		return isWholeRow(row) && c.b.Fold(0, v, op)
	})
	if !ok {
		return false
	}
	r.whole.program = p
	r.block, r.blocks, r.stack = 1, 1, 1
	r.split, r.parts, r.staged = row, r.run/row, true
	return true
}

// wholeRow is the length of rows into which run elements are cut: as long as may be, and of whole vectors if possible. It is 1 if there is none.
func wholeRow(run int) int {
	for _, step := range []int{wholeVectors, 1} {
		for n := mostWholeRow; n >= leastFoldedRow; n -= step {
			if run%n == 0 {
				return n
			}
		}
	}
	return 1
}

// isWholeRow reports whether code folds rows of a length, and they are long enough. Without masks it takes whole vectors.
func isWholeRow(row int) bool {
	return row >= leastFoldedRow && (row%wholeVectors == 0 || vec.InUse() == vec.AVX512)
}

// wholeOperand reports whether element i of an array, in memory's order, depends on the elements i of inputs of its dimensions alone, so that it does not matter what these are; and
// whether all it is made of has types that code takes to a fold in type t, where the fold by steps would be slower than that of tiles.
func wholeOperand(in hlo.Instruction, t hlo.PrimitiveType, leaf func(hlo.Instruction) (int, bool)) (flat, inCode bool) {
	dims, seen := in.Shape().Dimensions(), map[hlo.InstrID]bool{in.ID(): true}
	flat, inCode = true, true
	for todo := []hlo.Instruction{in}; len(todo) > 0; {
		in, todo = todo[len(todo)-1], todo[:len(todo)-1]
		inCode = inCode && isFoldedInCode(in.Shape().Type(), t)
		_, isInput := leaf(in)
		if !slices.Equal(in.Shape().Dimensions(), dims) || !isInput && in.Opcode() != hlo.OpConstant && !isOfScalar(in) && (!in.IsElementwise() || in.NumOperands() == 0) {
			flat = false
		}
		if isInput {
			continue
		}
		for o := range in.Operands() {
			if o.Shape().Rank() > 0 && !seen[o.ID()] {
				seen[o.ID()] = true
				todo = append(todo, o)
			}
		}
	}
	return flat, inCode
}

func isOfScalar(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpBroadcast && in.OperandInstr(0).Shape().Rank() == 0
}

// isFoldedInCode reports whether code takes elements of a type to a fold in type to: there is none that makes integers of 64 bits of narrower ones, and, without AVX-512, none that
// multiplies them or decodes f16.
func isFoldedInCode(t, to hlo.PrimitiveType) bool {
	level := vec.InUse()
	switch {
	case level != vec.AVX2 && level != vec.AVX512:
		return false
	case t == hlo.PRED:
		return true
	case to == hlo.F64:
		return t == hlo.F64 || t == hlo.F32
	case to.Bits() == 64:
		return t.Bits() == 64 && level == vec.AVX512
	}
	return t.Bits() <= 32 && (t != hlo.F16 || level == vec.AVX512)
}

// flatAccess is the access to all elements of an array of a rank in memory's order: as if its last dimension were all of them.
func flatAccess(s tile.Space, rank int) access {
	at := make(access, rank)
	for i := range at {
		at[i].factors = make([]int64, len(s.Dims))
	}
	step := int64(1)
	for k := len(s.Dims) - 1; k >= 0; k-- {
		at[rank-1].factors[k] = step
		step *= s.Dims[k]
	}
	return at
}

// wholeTasks folds rows [lo, hi), each to a part of its result.
func (r *reduction[T]) wholeTasks(f *runtime.TensorFrame, lo, hi int) {
	b := r.visits.Get().(*reduceVisit[T])
	b.f = f //halo:allow framecapture it is forgotten below
	r.whole.program.RunRows(lo, hi, b)
	b.f = nil
	r.visits.Put(b)
}

// In is an input, as the program of [wholeRows] sees it; Out is where its rows are folded to.
func (v *reduceVisit[T]) In(i int) []byte { return v.f.In(i).Data }
func (v *reduceVisit[T]) Out(int) []byte  { return v.r.partial.of(v.f) }
