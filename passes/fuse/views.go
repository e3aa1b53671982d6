package fuse

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// A loop sees through what only says which elements its members read: slices, also of transposes, reshapes by dimensions of size 1, and the concatenation of columns to the index
// vectors of a gather. These are views: they come with the members, compute nothing, and begin no fusion.

// linePicked is the size in bytes from which on neighbours that a gather picks are better copied as lines. Those of fewer bytes are, too, if these are a power of two, since
// a line is as good as an element then.
const linePicked = 32

// picks reports whether in is a gather of elements, or of so few neighbours that these may as well be loaded one by one where a loop needs them.
func picks(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpGather || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || !in.Shape().IsStatic() || in.Shape().NumElements() < leastMerged {
		return false
	}
	p, ok := analysis.FindPoints(in)
	line := p.Run * int64(in.Shape().Type().ByteSize())
	return ok && (p.Run == 1 || line < linePicked && line&(line-1) != 0) && !isComplex(in) && !cheap(in.OperandInstr(0))
}

// isTable reports whether id is what a member of a fusion picks elements from, which has to be an array.
func isTable(member hlo.Instruction, id hlo.InstrID) bool {
	return member.Opcode() == hlo.OpGather && member.Operand(0) == id
}

// servesAsView reports whether in is a view of which nothing but members of fusions make use, and the roots of these.
func (f *fuser) servesAsView(in hlo.Instruction) (roots []hlo.InstrID, ok bool) {
	if !isView(in) || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || !in.Shape().IsStatic() || in.Shape().NumElements() == 0 || isComplex(in) {
		return nil, false
	}
	const most = 4 // each reads the array again
	for user := range in.Users() {
		groups := f.groups.of(user.ID())
		if len(groups) == 0 || !f.readsThrough(user, in) || f.intoReduction(groups) {
			return nil, false
		}
		roots = f.room.unite(roots, groups)
	}
	return roots, len(roots) > 0 && len(roots) <= most
}

// isView reports whether an op may be one.
func isView(in hlo.Instruction) bool {
	//halo:allow opswitch what is a view is this pass's own judgement
	switch in.Opcode() {
	case hlo.OpSlice, hlo.OpConcatenate, hlo.OpTranspose:
		return true
	case hlo.OpReshape:
		return equalButOnes(in.Shape(), in.OperandInstr(0).Shape())
	}
	return false
}

// equalButOnes reports whether arrays have the same dimensions without those of size 1.
func equalButOnes(a, b hlo.Shape) bool {
	i, k := 0, 0
	for {
		for i < a.Rank() && a.Dim(i) == 1 {
			i++
		}
		for k < b.Rank() && b.Dim(k) == 1 {
			k++
		}
		if i == a.Rank() || k == b.Rank() {
			return i == a.Rank() && k == b.Rank()
		}
		if a.Dim(i) != b.Dim(k) {
			return false
		}
		i, k = i+1, k+1
	}
}

// readsThrough reports whether a member of fusions sees through a view that it reads.
func (f *fuser) readsThrough(user, view hlo.Instruction) bool {
	switch {
	case user.Opcode() == hlo.OpGather:
		axis := int64(-1)
		if view.Opcode() == hlo.OpConcatenate {
			axis = hlo.AttrsOf[hlo.AxisAttrs](view).Dimensions[0]
		}
		return !isTable(user, view.ID()) && (axis < 0 || axis == hlo.AttrsOf[hlo.GatherAttrs](user).IndexVectorDim)
	case view.Opcode() == hlo.OpConcatenate:
		return false
	case stacks(user), joins(user):
		from := view.OperandInstr(0)
		return view.Opcode() == hlo.OpReshape && (from.Opcode() == hlo.OpSlice || from.Opcode() == hlo.OpReshape || fusible(from))
	case f.isView(user):
		return true
	}
	from := view.OperandInstr(0)
	return view.Opcode() == hlo.OpReshape && user.IsElementwise() && analysis.SameDimensions(user.Shape(), view.Shape()) &&
		(from.Opcode() == hlo.OpSlice || from.Opcode() == hlo.OpReshape || fusible(from))
}

// isView reports whether in has been found to be a view.
func (f *fuser) isView(in hlo.Instruction) bool {
	return isView(in) && f.views.Get(in.ID())
}

// sameButOnes reports whether arrays have the same dimensions but for those of size 1, so that loops over one can see the other through a reshape.
func sameButOnes(a, b hlo.Shape) bool {
	return analysis.SameDimensions(a, b) || equalButOnes(a, b)
}

// readsColumns reports whether fusions read a part of each of in's rows, or columns of it as rows: loops that do so meet in the same lines of memory, or read the same arrays.
func (f *fuser) readsColumns(in hlo.Instruction) bool {
	for user := range in.Users() {
		last := in.Shape().Rank() - 1
		switch {
		case len(f.groups.of(user.ID())) == 0:
		case user.Opcode() == hlo.OpSlice && user.Shape().Dim(last) < in.Shape().Dim(last), user.Opcode() == hlo.OpTranspose:
			return true
		}
	}
	return false
}
