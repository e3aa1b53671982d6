package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// reduces reports whether in is a reduction that can compute its operand as it goes: of one array, by one op, along axes that are
// neighbours.
func (f *fuser) reduces(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduce || in.NumOperands() != 2 || !in.Shape().IsArray() || !in.Shape().IsStatic() ||
		in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return false
	}
	operand, t := in.OperandInstr(0).Shape(), in.Shape().Type()
	if !operand.IsStatic() || operand.NumElements() == 0 || operand.Type() != t || in.OperandInstr(1).Shape().Type() != t || t.IsComplex() {
		return false
	}
	return f.isOneOp(in) && isOnePiece(operand.Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)
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

// isOnePiece reports whether the axes, without those of one element, are neighbours.
func isOnePiece(dims, axes []int64) bool {
	pieces, inside := 0, false
	for i, d := range dims {
		if d == 1 {
			continue
		}
		reduced := slices.Contains(axes, int64(i))
		if reduced && !inside {
			pieces++
		}
		inside = reduced
	}
	return pieces == 1
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
		depth = max(depth, f.depth[user.ID()])
	}
	const deepest, most = 3, 4
	if arrays > 1 || depth >= deepest || len(f.groupsOfUsers(in)) > most {
		return false
	}
	f.depth[in.ID()] = depth + 1
	return true
}
