package algsimp

import (
	"math"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// dynamicSliceRules are about slices at indices that are computed. An index is clamped so that the slice lies within the array.
var dynamicSliceRules = []*pass.RewriteRule{
	rule("F13", "dynamic-slice of everything → operand", toOperand, hlo.OpDynamicSlice),
	rule("F18", "dynamic-slice at constant indices → slice", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		at, ok := constantIndices(in, 1, in.Shape())
		if isConstant(x) || !ok || memorySpace(x) != memorySpace(in) || slices.ContainsFunc(slices.Collect(in.Operands())[1:], belowZero) {
			return no()
		}
		var ranges []hlo.SliceDim
		for i, start := range at {
			ranges = append(ranges, hlo.SliceDim{Start: start, Limit: start + in.Shape().Dim(i), Stride: 1})
		}
		return slice(in.Shape(), x, ranges)
	}, hlo.OpDynamicSlice),
	rule("F14", "an index of dynamic-slice along an axis that is taken whole → 0", func(in hlo.Instruction) (pass.Expr, bool) {
		return zeroIndices(in, 1, in.Shape())
	}, hlo.OpDynamicSlice),
	rule("F22", "dynamic-update-slice of everything → update", func(in hlo.Instruction) (pass.Expr, bool) { return use(in.OperandInstr(1)) }, hlo.OpDynamicUpdateSlice),
	rule("F23", "an index of dynamic-update-slice along an axis that is replaced whole → 0", func(in hlo.Instruction) (pass.Expr, bool) {
		return zeroIndices(in, 2, in.OperandInstr(1).Shape())
	}, hlo.OpDynamicUpdateSlice),
	over(rule("F15", "dynamic-slice(broadcast(x)) → broadcast(dynamic-slice(x))", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		axes := broadcastAxes(b)
		x := pass.Use(b.OperandInstr(0))
		if len(axes) == 0 || !splitIndices(in, 1) {
			return no()
		}
		var at []pass.Expr
		var sizes []int64
		cuts := false
		for i, a := range axes {
			at = append(at, pass.Use(in.OperandInstr(1+int(a))))
			sizes = append(sizes, in.Shape().Dim(int(a)))
			cuts = cuts || sizes[i] != x.Shape().Dim(i)
		}
		if cuts {
			x = makeOp(hlo.OpDynamicSlice, &hlo.DynamicSliceAttrs{Sizes: sizes}, append([]pass.Expr{x}, at...)...)
		}
		return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: axes}, x))
	}, hlo.OpDynamicSlice), broadcasts),
	over(rule("F16", "dynamic-slice(reshape that adds or drops axes of size 1) → reshape(dynamic-slice)", func(in hlo.Instruction) (pass.Expr, bool) {
		r := in.OperandInstr(0)
		to, ok := insertsOnes(r)
		if !ok || !splitIndices(in, 1) {
			return no()
		}
		args, sizes := []pass.Expr{pass.Use(r.OperandInstr(0))}, []int64{}
		for _, axis := range to {
			if axis < 0 {
				args, sizes = append(args, zeroLike(in.OperandInstr(1))), append(sizes, 1)
				continue
			}
			args, sizes = append(args, pass.Use(in.OperandInstr(1+axis))), append(sizes, in.Shape().Dim(axis))
		}
		return done(shaped(hlo.OpReshape, in.Shape(), nil, makeOp(hlo.OpDynamicSlice, &hlo.DynamicSliceAttrs{Sizes: sizes}, args...)))
	}, hlo.OpDynamicSlice), reshapes),
	over(rule("F17", "dynamic-slice(transpose(x)) → transpose(dynamic-slice(x))", func(in hlo.Instruction) (pass.Expr, bool) {
		t := in.OperandInstr(0)
		if !splitIndices(in, 1) {
			return no()
		}
		n := in.Shape().Rank()
		args, sizes := make([]pass.Expr, 1+n), make([]int64, n)
		args[0] = pass.Use(t.OperandInstr(0))
		for i, a := range axes(t) {
			args[1+a], sizes[a] = pass.Use(in.OperandInstr(1+i)), in.Shape().Dim(i)
		}
		return done(shaped(hlo.OpTranspose, in.Shape(), t.Attrs(), makeOp(hlo.OpDynamicSlice, &hlo.DynamicSliceAttrs{Sizes: sizes}, args...)))
	}, hlo.OpDynamicSlice), transposes),
	rule("F19", "dynamic-slice of one element of iota·k → clamped index·k", sliceOfIota, hlo.OpDynamicSlice),
	over(rule("F20", "dynamic-slice(dynamic-slice(x, i), j) → dynamic-slice(x, clamp(i) + clamp(j))", func(in hlo.Instruction) (pass.Expr, bool) {
		inner := in.OperandInstr(0)
		x := inner.OperandInstr(0)
		if !splitIndices(in, 1) || !splitIndices(inner, 1) || !oneUse(inner) || in.Shape().Rank() == 0 ||
			in.OperandInstr(1).Shape().Type() != inner.OperandInstr(1).Shape().Type() {
			return no()
		}
		args := []pass.Expr{pass.Use(x)}
		for i := range in.Shape().Rank() {
			a := clamped(inner.OperandInstr(1+i), x.Shape().Dim(i)-inner.Shape().Dim(i))
			b := clamped(in.OperandInstr(1+i), inner.Shape().Dim(i)-in.Shape().Dim(i))
			args = append(args, makeOp(hlo.OpAdd, nil, a, b))
		}
		return done(shaped(hlo.OpDynamicSlice, in.Shape(), in.Attrs(), args...))
	}, hlo.OpDynamicSlice), []hlo.Opcode{hlo.OpDynamicSlice}),
	rule("F24", "dynamic-update-slice by nothing → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		if u := in.OperandInstr(1); static(u) && u.Shape().NumElements() == 0 {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpDynamicUpdateSlice),
	over(rule("F21", "dynamic-update-slice of a repeated scalar at constant indices → pad", func(in hlo.Instruction) (pass.Expr, bool) {
		b, u := in.OperandInstr(0), in.OperandInstr(1)
		at, ok := constantIndices(in, 2, u.Shape())
		if !ok || !b.OperandInstr(0).Shape().IsScalar() || hostOffloaded(u) {
			return no()
		}
		var pads []hlo.PaddingDim
		for i, start := range at {
			pads = append(pads, hlo.PaddingDim{Low: start, High: in.Shape().Dim(i) - start - u.Shape().Dim(i)})
		}
		return done(shaped(hlo.OpPad, in.Shape(), &hlo.PadAttrs{Padding: pads}, pass.Use(u), pass.Use(b.OperandInstr(0))))
	}, hlo.OpDynamicUpdateSlice), broadcasts),
	over(rule("F25", "update(x, update(slice(x, i), c, j), i) → update(x, c, clamp(i) + clamp(j))", func(in hlo.Instruction) (pass.Expr, bool) {
		x, inner := in.OperandInstr(0), in.OperandInstr(1)
		part := inner.OperandInstr(0)
		if !is(part, hlo.OpDynamicSlice) || part.Operand(0) != x.ID() || !splitIndices(in, 2) || !splitIndices(inner, 2) || !splitIndices(part, 1) ||
			in.NumOperands() == 2 || in.OperandInstr(2).Shape().Type() != inner.OperandInstr(2).Shape().Type() || !oneUse(inner) {
			return no()
		}
		args := []pass.Expr{pass.Use(x), pass.Use(inner.OperandInstr(1))}
		for i := range in.Shape().Rank() {
			if !sameValue(in.OperandInstr(2+i), part.OperandInstr(1+i)) {
				return no()
			}
			a := clamped(in.OperandInstr(2+i), x.Shape().Dim(i)-part.Shape().Dim(i))
			b := clamped(inner.OperandInstr(2+i), part.Shape().Dim(i)-inner.OperandInstr(1).Shape().Dim(i))
			args = append(args, makeOp(hlo.OpAdd, nil, a, b))
		}
		return done(shaped(hlo.OpDynamicUpdateSlice, in.Shape(), nil, args...))
	}, hlo.OpDynamicUpdateSlice), nil, []hlo.Opcode{hlo.OpDynamicUpdateSlice}),
	loosely(pass.ZeroSign, rule("A07", "x + update(0, u, i) → update(x, slice(x, i) + u, i)", addOfUpdate, hlo.OpAdd)),
	rule("D21", "select(p, x, update(x, u, i)) → update(x, select(p', slice(x, i), u), i), and mirrored", maskedUpdate, hlo.OpSelect),
	over(rule("E06", "reshape(update(x, u, i)) → update(reshape(x), reshape(u), i'), if only axes of size 1 come or go", func(in hlo.Instruction) (pass.Expr, bool) {
		d := in.OperandInstr(0)
		to, ok := insertsOnes(in)
		if !ok || !oneUse(d) || !splitIndices(d, 2) || d.NumOperands() == 2 || d.Common() != nil && d.Common().Sharding != nil {
			return no()
		}
		at, sizes := make([]pass.Expr, in.Shape().Rank()), slices.Repeat([]int64{1}, in.Shape().Rank())
		for i, axis := range to {
			if axis >= 0 {
				at[axis], sizes[axis] = pass.Use(d.OperandInstr(2+i)), d.OperandInstr(1).Shape().Dim(i)
			}
		}
		for i := range at {
			if !at[i].Shape().IsValid() {
				at[i] = zeroLike(d.OperandInstr(2))
			}
		}
		args := []pass.Expr{reshaped(pass.Use(d.OperandInstr(0)), in.Shape().Dimensions()...), reshaped(pass.Use(d.OperandInstr(1)), sizes...)}
		return done(shaped(hlo.OpDynamicUpdateSlice, in.Shape(), nil, append(args, at...)...))
	}, hlo.OpReshape), []hlo.Opcode{hlo.OpDynamicUpdateSlice}),
}

var (
	broadcasts = []hlo.Opcode{hlo.OpBroadcast}
	reshapes   = []hlo.Opcode{hlo.OpReshape}
	transposes = []hlo.Opcode{hlo.OpTranspose}
)

// splitIndices reports whether the indices, from operand first on, are scalars.
func splitIndices(in hlo.Instruction, first int) bool {
	return in.NumOperands() == first+in.Shape().Rank()
}

// constantIndices are the indices, clamped so that a part of the shape fits in.
func constantIndices(in hlo.Instruction, first int, part hlo.Shape) (at []int64, ok bool) {
	if !splitIndices(in, first) {
		return nil, false
	}
	for i := range in.Shape().Rank() {
		l, ok := splat(in.OperandInstr(first + i))
		if !ok {
			return nil, false
		}
		v, ok := l.ScalarInt()
		if !ok {
			return nil, false
		}
		at = append(at, max(0, min(v, in.OperandInstr(0).Shape().Dim(i)-part.Dim(i))))
	}
	return at, true
}

// belowZero reports a constant index that clamping changes: XLA leaves it to the run.
func belowZero(x hlo.Instruction) bool {
	v, ok := splatInt(x)
	return !ok || v < 0
}

func zeroLike(x hlo.Instruction) pass.Expr { return fill(x.Shape(), 0) }

// zeroIndices replaces the indices that clamping makes zero.
func zeroIndices(in hlo.Instruction, first int, part hlo.Shape) (pass.Expr, bool) {
	if !splitIndices(in, first) {
		return no()
	}
	wanted := false
	for axis := range part.Rank() {
		wanted = wanted || part.Dim(axis) == in.OperandInstr(0).Shape().Dim(axis) && !splatIs(in.OperandInstr(first+axis), scalar.IsZero)
	}
	if !wanted {
		return no()
	}
	var args []pass.Expr
	changed := false
	for i := range in.NumOperands() {
		x := in.OperandInstr(i)
		if axis := i - first; axis >= 0 && part.Dim(axis) == in.OperandInstr(0).Shape().Dim(axis) && !splatIs(x, scalar.IsZero) {
			args, changed = append(args, zeroLike(x)), true
			continue
		}
		args = append(args, pass.Use(x))
	}
	return pass.Again(in, args...), changed
}

// clamped is an index held between 0 and most.
func clamped(i hlo.Instruction, most int64) pass.Expr {
	if v, ok := splatInt(i); ok {
		return integerOf(i.Shape().Type(), max(0, min(v, most)))
	}
	if most == 0 {
		return zeroLike(i)
	}
	return makeOp(hlo.OpClamp, nil, zeroLike(i), pass.Use(i), integerOf(i.Shape().Type(), most))
}

// integerOf is a scalar; no expression if the type is too narrow for it.
func integerOf(t hlo.PrimitiveType, v int64) pass.Expr {
	if t.IsInteger() && t.Bits() < 63 && v > math.MaxInt64>>(64-t.Bits()) {
		return pass.Expr{}
	}
	return pass.Constant(scalar.FromBits(t, uint64(v)))
}

// sliceOfIota reads one element of iota, or of iota·k.
func sliceOfIota(in hlo.Instruction) (pass.Expr, bool) {
	x, k := in.OperandInstr(0), pass.Expr{}
	if is(x, hlo.OpMultiply) {
		for i := range 2 {
			if l, ok := splat(x.OperandInstr(1 - i)); ok && is(x.OperandInstr(i), hlo.OpIota) {
				x, k = x.OperandInstr(i), pass.Constant(l)
				break
			}
		}
	}
	if !is(x, hlo.OpIota) || in.Shape().Rank() != 1 || in.Shape().Dim(0) != 1 || !splitIndices(in, 1) || !in.Shape().Type().IsInteger() {
		return no()
	}
	i := in.OperandInstr(1)
	if t := i.Shape().Type(); t != hlo.S32 && t != hlo.U32 || in.Shape().Type().Bits() < 32 {
		return no()
	}
	v := makeOp(hlo.OpClamp, nil, zeroLike(i), pass.Use(i), integerOf(i.Shape().Type(), x.Shape().Dim(0)-1))
	if i.Shape().Type() != in.Shape().Type() {
		v = shaped(hlo.OpConvert, array(in.Shape().Type()), nil, v)
	}
	if valid(k) {
		v = makeOp(hlo.OpMultiply, nil, v, k)
	}
	return done(shaped(hlo.OpReshape, in.Shape(), nil, v))
}

// hostOffloaded reports whether a value comes from the custom call that sends it to the host, through what only forms it.
func hostOffloaded(x hlo.Instruction) bool {
	for {
		switch x.Opcode() {
		case hlo.OpReshape, hlo.OpBitcast, hlo.OpCopy:
			x = x.OperandInstr(0)
			continue
		}
		return is(x, hlo.OpCustomCall) && strings.Contains(hlo.AttrsOf[hlo.CustomCallAttrs](x).Target, "MoveToHost")
	}
}

// memorySpace is where a value lies.
func memorySpace(x hlo.Instruction) int64 {
	if l, ok := x.Shape().Layout(); ok {
		return int64(l.MemorySpace)
	}
	return 0
}

func addOfUpdate(in hlo.Instruction) (pass.Expr, bool) {
	for i := range 2 {
		d, x := in.OperandInstr(i), pass.Use(in.OperandInstr(1-i))
		if !is(d, hlo.OpDynamicUpdateSlice) || !splitIndices(d, 2) || !splatIs(d.OperandInstr(0), scalar.IsZero) || !oneUse(d) {
			continue
		}
		u := d.OperandInstr(1)
		at := []pass.Expr{x}
		for k := 2; k < d.NumOperands(); k++ {
			at = append(at, pass.Use(d.OperandInstr(k)))
		}
		part := makeOp(hlo.OpDynamicSlice, &hlo.DynamicSliceAttrs{Sizes: u.Shape().Dimensions()}, at...)
		args := append([]pass.Expr{x, makeOp(hlo.OpAdd, nil, part, pass.Use(u))}, at[1:]...)
		return done(shaped(hlo.OpDynamicUpdateSlice, in.Shape(), nil, args...))
	}
	return no()
}

// maskedUpdate moves the choice between an array and its update to the updated part.
func maskedUpdate(in hlo.Instruction) (pass.Expr, bool) {
	p := in.OperandInstr(0)
	for i := 1; i <= 2; i++ {
		x, d := in.OperandInstr(i), in.OperandInstr(3-i)
		if !is(d, hlo.OpDynamicUpdateSlice) || d.Operand(0) != x.ID() || !splitIndices(d, 2) || !oneUse(d) {
			continue
		}
		u := d.OperandInstr(1)
		at := []pass.Expr{}
		for k := 2; k < d.NumOperands(); k++ {
			at = append(at, pass.Use(d.OperandInstr(k)))
		}
		cutOut := func(v hlo.Instruction) pass.Expr {
			return makeOp(hlo.OpDynamicSlice, &hlo.DynamicSliceAttrs{Sizes: u.Shape().Dimensions()}, append([]pass.Expr{pass.Use(v)}, at...)...)
		}
		q := pass.Use(p)
		if !p.Shape().IsScalar() {
			q = cutOut(p)
		}
		choice := []pass.Expr{q, cutOut(x), pass.Use(u)}
		if i == 2 {
			choice[1], choice[2] = choice[2], choice[1]
		}
		args := append([]pass.Expr{pass.Use(x), makeOp(hlo.OpSelect, nil, choice...)}, at...)
		return done(shaped(hlo.OpDynamicUpdateSlice, in.Shape(), nil, args...))
	}
	return no()
}
