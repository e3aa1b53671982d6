package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// SliceHoister computes on parts of arrays rather than on the whole ones.
var SliceHoister = &pass.Pass{
	Name: "slice-hoister",
	Doc: `slice(op(x, y)) → op(slice(x), slice(y)), and slice(transpose(x)) → transpose(slice(x))

It is done for ops that only slices use, which together have no more elements than the whole. A transpose is turned around if there is a concatenation of what the slices take
behind it. For elementwise ops it is the opposite of slice-sinker.`,
	About: []hlo.Opcode{hlo.OpSlice},
	Lent:  true,
	Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		work, tried := []hlo.InstrID{}, map[hlo.InstrID]int{} // with how many users
		for in := range pass.EachOf(c, hlo.OpSlice) {
			work = append(work, in.ID())
		}
		for len(work) > 0 {
			id := work[len(work)-1]
			work = work[:len(work)-1]
			if !c.Has(id) {
				continue
			}
			whole := c.At(id).OperandInstr(0)
			if tried[whole.ID()] == whole.UserCount() {
				continue
			}
			tried[whole.ID()] = whole.UserCount()
			parts, ok := slicesOf(whole)
			if !ok || !ctx.Spend("hoist") {
				continue
			}
			ctx.Count("ops", 1)
			made, err := takeApart(c, whole.ID(), parts)
			if err != nil {
				return err
			}
			work = append(work, made...)
		}
		return nil
	},
}

// slicesOf lists the users of a value that may be computed in the parts that they take.
func slicesOf(whole hlo.Instruction) (parts []hlo.InstrID, ok bool) {
	turns := whole.Opcode() == hlo.OpTranspose
	if !whole.IsElementwise() && !turns || whole.NumOperands() == 0 || whole.NumCallees() > 0 || whole.IsRoot() || !whole.Shape().IsArray() || !whole.Shape().IsStatic() || !isFree(whole) {
		return nil, false
	}
	for o := range whole.Operands() {
		if !o.Shape().IsArray() || !o.Shape().IsStatic() || !turns && o.Shape().Rank() > 0 && !slices.Equal(o.Shape().Dimensions(), whole.Shape().Dimensions()) {
			return nil, false
		}
	}
	var n int64
	for u := range whole.Users() {
		if n += u.Shape().NumElements(); u.Opcode() != hlo.OpSlice || n > whole.Shape().NumElements() || !isFree(u) {
			return nil, false
		}
		parts = append(parts, u.ID())
	}
	return parts, !turns || partsAreConcatenated(whole)
}

// partsAreConcatenated reports whether the slices of a transpose cut it along one axis, along which there is a concatenation behind it. Otherwise it is better to turn an
// array once than in parts, as the heads of attention are.
func partsAreConcatenated(whole hlo.Instruction) bool {
	axis := -1
	for u := range whole.Users() {
		for i, r := range hlo.AttrsOf[hlo.SliceAttrs](u).Slice {
			isCut := r != hlo.SliceDim{Limit: whole.Shape().Dim(i), Stride: 1}
			if isCut && axis >= 0 && axis != i {
				return false
			}
			if isCut {
				axis = i
			}
		}
	}
	return axis >= 0 && isConcatenated(whole, int64(axis), mostBehind)
}

// mostBehind is how many ops are looked through for a concatenation.
const mostBehind = 8

// isConcatenated reports whether an array is a concatenation along an axis, or computed of one by ops that a slice goes in front of.
func isConcatenated(in hlo.Instruction, axis int64, depth int) bool {
	switch {
	case in.Opcode() == hlo.OpConcatenate:
		return hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0] == axis
	case depth == 0:
		return false
	case in.Opcode() == hlo.OpTranspose:
		return isConcatenated(in.OperandInstr(0), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions[axis], depth-1)
	case in.IsElementwise() && in.UserCount() == 1:
		for o := range in.Operands() {
			if o.Shape().IsArray() && o.Shape().Rank() == in.Shape().Rank() && isConcatenated(o, axis, depth-1) {
				return true
			}
		}
	}
	return false
}

// isFree reports an instruction that may be made again elsewhere: no control dependency, and no sharding, which would be that of another shape.
func isFree(in hlo.Instruction) bool {
	return in.NumControlPredecessors()+in.NumControlSuccessors() == 0 && (in.Common() == nil || in.Common().Sharding == nil)
}

// ofOperand is what a slice of a transpose takes of its operand: an array of a shape.
func ofOperand(whole, part hlo.Instruction) (attrs hlo.OpAttrs, dims []int64) {
	ranges := hlo.AttrsOf[hlo.SliceAttrs](part).Slice
	dims = slices.Clone(part.Shape().Dimensions())
	turned := slices.Clone(ranges)
	for i, a := range hlo.AttrsOf[hlo.DimensionsAttrs](whole).Dimensions {
		turned[a], dims[a] = ranges[i], part.Shape().Dim(i)
	}
	return &hlo.SliceAttrs{Slice: turned}, dims
}

// takeApart computes an op in parts, and lists the slices that it has made.
func takeApart(c hlo.CompEdit, whole hlo.InstrID, parts []hlo.InstrID) (made []hlo.InstrID, err error) {
	spec := emit.Again(c.At(whole))
	spec.Name = ""
	operands := spec.Operands
	for _, part := range parts {
		in := c.At(part)
		at, attrs, dims := emit.Before(c, in), in.Attrs(), in.Shape().Dimensions()
		if spec.Opcode == hlo.OpTranspose {
			attrs, dims = ofOperand(c.At(whole), in)
		}
		spec.Shape = in.Shape().WithType(spec.Shape.Type())
		spec.Operands = slices.Clone(operands)
		for i, o := range operands {
			s := at.Shape(o)
			if s.Rank() == 0 && spec.Shape.Rank() > 0 {
				continue // one value for all elements
			}
			if k := slices.Index(operands[:i], o); k >= 0 {
				spec.Operands[i] = spec.Operands[k]
				continue
			}
			l, _ := s.Layout()
			spec.Operands[i] = at.OpOf(hlo.OpSlice, hlo.MakeShape(s.Type(), dims...).WithLayout(l), attrs, o)
			made = append(made, spec.Operands[i])
		}
		if err := emit.Replace(c, part, at.Spec(spec)); err != nil {
			return nil, err
		}
	}
	return made, nil
}
