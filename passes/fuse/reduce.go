package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// reduces reports whether in is a reduction that can compute its operands as it goes: of one array by one op along axes that are neighbours, or are so but for the last ones, or of
// several arrays along the last axes, or of rows of very few elements, or over a few elements of windows.
func (f *fuser) reduces(in hlo.Instruction) bool {
	isWindows := in.Opcode() == hlo.OpReduceWindow && in.Shape().IsTuple() && analysis.FoldsFew(in)
	if in.Opcode() != hlo.OpReduce && !isWindows || !in.Shape().IsStatic() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return false
	}
	k := in.NumOperands() / 2
	for i := range k {
		s := in.OperandInstr(i).Shape()
		if !s.IsStatic() || s.NumElements() == 0 || s.Type().IsComplex() || in.OperandInstr(k+i).Shape().Type() != s.Type() {
			return false
		}
	}
	dims, axes := in.OperandInstr(0).Shape(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	if isWindows {
		return f.foldsRows(in, k) && !isNarrow(in.OperandInstr(0).Shape().Type())
	}
	if k > 1 {
		return f.foldsRows(in, k) && (isLastPiece(dims, axes) || analysis.FoldsColumns(f.m, in))
	}
	return in.Shape().IsArray() && in.OperandInstr(0).Shape().Type() == in.Shape().Type() && f.isOneOp(in) && isFewPieces(dims, axes)
}

// joinsFolding makes a reduction a member of the loop of its users, if that can have the few elements that it folds written out.
func (f *fuser) joinsFolding(in hlo.Instruction) bool {
	if !in.Shape().IsArray() || !analysis.FoldsFew(in) {
		return false
	}
	roots := f.groupsOfUsers(in)
	if len(roots) != 1 {
		return false
	}
	f.groups.set(in.ID(), roots)
	f.begun.joins(roots[0])
	f.folded.Set(roots[0], append(f.folded.Get(roots[0]), in.OperandInstr(0).Shape()))
	return true
}

// isFolded reports whether an instruction has the dimensions of what a group with this root folds.
func (f *fuser) isFolded(in hlo.Instruction, root hlo.InstrID) bool {
	return slices.ContainsFunc(f.folded.Get(root), func(s hlo.Shape) bool { return analysis.SameDimensions(s, in.Shape()) })
}

// foldsRows reports whether in folds arrays of numbers by a computation on scalars, element by element, for which tiles can be made.
func (f *fuser) foldsRows(in hlo.Instruction, arrays int) bool {
	c, ok := f.m.Computation(in.Callee(0))
	if !ok || in.Shape().NumLeaves() != arrays || c.Root().Opcode() != hlo.OpTuple {
		return false
	}
	for i := range arrays {
		t := in.OperandInstr(i).Shape().Type()
		if t.IsFloat() && t.Bits() < 16 || c.Parameter(i).Shape().Type() != t {
			return false
		}
	}
	for step := range c.Instructions() {
		op := step.Opcode()
		if op != hlo.OpParameter && op != hlo.OpTuple && op != hlo.OpConstant && !fusible(step) {
			return false
		}
	}
	return true
}

// isNarrow reports whether tiles hold elements of a type as f32.
func isNarrow(t hlo.PrimitiveType) bool { return t.IsFloat() && t.Bits() < 32 }

// spares reports whether an instruction alone saves an array that is repeated or counts: the positions of a reduction of several arrays, for example, or
// a row's sum by which each of its elements is divided, or the concatenation of the indices of a gather; or the slices of a rotation.
func (f *fuser) spares(in hlo.Instruction) bool {
	arrays := in.NumOperands()
	switch {
	case in.Opcode() == hlo.OpGather:
		return f.isView(in.OperandInstr(1)) && in.OperandInstr(1).Opcode() == hlo.OpConcatenate
	case stacks(in):
		for o := range in.Operands() {
			for f.isView(o) && o.Opcode() == hlo.OpReshape {
				o = o.OperandInstr(0)
			}
			if f.isView(o) {
				return true // a slice, which is no array then
			}
		}
	case f.reduces(in):
		if arrays /= 2; arrays == 1 {
			return false
		}
	case rolls(in):
		return in.Shape().NumElements() >= leastMerged // its slices
	case cheap(in) || in.Shape().NumElements() < leastMerged:
		return false
	}
	for i := range arrays {
		if o := in.OperandInstr(i); cheap(o) && !o.Shape().IsScalar() {
			return true
		}
	}
	return false
}

// isInit reports whether id is one of the values that a reduction begins with.
func isInit(reduction hlo.Instruction, id hlo.InstrID) bool {
	for i := reduction.NumOperands() / 2; i < reduction.NumOperands(); i++ {
		if reduction.Operand(i) == id {
			return true
		}
	}
	return false
}

// isOneOp reports whether in folds by a single commutative op.
func (f *fuser) isOneOp(in hlo.Instruction) bool {
	c, ok := f.m.Computation(in.Callee(0))
	if !ok {
		return false
	}
	root := c.Root()
	if !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitFolds) {
		return false
	}
	return root.Shape().IsScalar() && root.Shape().Type() == in.Shape().Type() && root.OperandInstr(0).Opcode() == hlo.OpParameter &&
		root.OperandInstr(1).Opcode() == hlo.OpParameter && root.Operand(0) != root.Operand(1)
}

// isFewPieces reports whether the axes of an array, without those of one element, are neighbours, or are two pieces and the second is the last axes.
func isFewPieces(dims hlo.Shape, axes []int64) bool {
	pieces, inside := 0, false
	for i := range dims.Rank() {
		if dims.Dim(i) == 1 {
			continue
		}
		reduced := slices.Contains(axes, int64(i))
		if reduced && !inside {
			pieces++
		}
		inside = reduced
	}
	return pieces == 1 || pieces == 2 && inside
}

// isLastPiece reports whether the axes of an array, without those of one element, are the last ones.
func isLastPiece(dims hlo.Shape, axes []int64) bool {
	inside, reduced := false, false
	for i := range dims.Rank() {
		if dims.Dim(i) == 1 {
			continue
		}
		reduced = slices.Contains(axes, int64(i))
		if inside && !reduced {
			return false
		}
		inside = reduced
	}
	return reduced
}

// mayCopy reports whether in is better computed in every fusion that uses it than once for all: it is simple and reads one array besides
// what is cheap anyway, so no fusion reads more than it would otherwise.
func (f *fuser) mayCopy(in hlo.Instruction) bool {
	//halo:allow opswitch what is simple enough to do twice is this pass's own judgement
	switch in.Opcode() {
	case hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply, hlo.OpNegate, hlo.OpAbs, hlo.OpMaximum, hlo.OpMinimum, hlo.OpConvert, hlo.OpCompare,
		hlo.OpAnd, hlo.OpOr, hlo.OpXor, hlo.OpNot, hlo.OpSlice:
	default:
		return false
	}
	arrays := 0
	for i := range in.NumOperands() {
		if o := in.OperandInstr(i); !cheap(o) && (i == 0 || o.ID() != in.Operand(0)) {
			arrays++
		}
	}
	depth := 0
	for user := range in.Users() {
		depth = max(depth, f.depth.Get(user.ID()))
	}
	const deepest, most = 3, 4
	if arrays > 1 || depth >= deepest || len(f.groupsOfUsers(in)) > most {
		return false
	}
	f.depth.Set(in.ID(), depth+1)
	return true
}
