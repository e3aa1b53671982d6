package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// The functions below make parts of expressions. A part that cannot be made has no shape, and neither has what is made of it: such an expression
// fits no place.

// makeOp makes an op whose shape follows from its operands.
func makeOp(op hlo.Opcode, attrs hlo.OpAttrs, args ...pass.Expr) pass.Expr {
	ctx := hlo.ShapeContext{Op: op, Attrs: attrs, MixedPrecision: true}
	for _, a := range args {
		ctx.Operands = append(ctx.Operands, a.Shape())
	}
	s, err := hlo.InferShape(&ctx)
	if err != nil {
		return pass.Expr{}
	}
	return pass.New(op, laidOut(s, args...), attrs, args...)
}

// laidOut is a shape with the layout of the first operand of its rank, or the default one.
func laidOut(s hlo.Shape, args ...pass.Expr) hlo.Shape {
	if !s.IsArray() {
		return s
	}
	for _, a := range args {
		if l, ok := a.Shape().Layout(); ok && a.Shape().Rank() == s.Rank() {
			return s.WithLayout(l)
		}
	}
	return s.WithDefaultLayout()
}

// array is a static shape with the default layout.
func array(t hlo.PrimitiveType, dims ...int64) hlo.Shape {
	return hlo.MakeArray(t, dims, nil, hlo.DefaultLayout(len(dims)))
}

func valid(e pass.Expr) bool { return e.Shape().IsValid() }

// done is an expression as the answer of a rule.
func done(e pass.Expr) (pass.Expr, bool) { return e, valid(e) }

// shaped is an op whose shape is stated.
func shaped(op hlo.Opcode, s hlo.Shape, attrs hlo.OpAttrs, args ...pass.Expr) pass.Expr {
	for _, a := range args {
		if !valid(a) {
			return pass.Expr{}
		}
	}
	return pass.New(op, s, attrs, args...)
}

// reshaped is x in other dimensions: x itself if they are its own.
func reshaped(x pass.Expr, dims ...int64) pass.Expr {
	if !valid(x) || slices.Equal(x.Shape().Dimensions(), dims) {
		return x
	}
	s := array(x.Shape().Type(), dims...)
	if s.NumElements() != x.Shape().NumElements() {
		return pass.Expr{}
	}
	return shaped(hlo.OpReshape, s, nil, x)
}

// repeatedTo is x broadcast to dimensions, its axes becoming those of at.
func repeatedTo(x pass.Expr, dims []int64, at []int64) pass.Expr {
	if !valid(x) {
		return x
	}
	return shaped(hlo.OpBroadcast, array(x.Shape().Type(), dims...), &hlo.BroadcastAttrs{Dimensions: at}, x)
}

// transposed moves axes.
func transposed(x pass.Expr, perm ...int64) pass.Expr {
	if !valid(x) || slices.IsSorted(perm) {
		return x
	}
	return makeOp(hlo.OpTranspose, &hlo.DimensionsAttrs{Dimensions: perm}, x)
}

// sliced cuts ranges out.
func sliced(x pass.Expr, ranges []hlo.SliceDim) pass.Expr {
	whole := valid(x)
	for i, r := range ranges {
		whole = whole && r == hlo.SliceDim{Limit: x.Shape().Dim(i), Stride: 1}
	}
	if whole {
		return x
	}
	return makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, x)
}

// number is a scalar constant.
func number(t hlo.PrimitiveType, x float64) pass.Expr {
	l, ok := scalar.Of(t, x)
	if !ok {
		return pass.Expr{}
	}
	return pass.Constant(l)
}

// like repeats a scalar over a shape.
func like(s hlo.Shape, x pass.Expr) pass.Expr {
	if !valid(x) || s.Rank() == 0 {
		return x
	}
	return shaped(hlo.OpBroadcast, s.WithType(x.Shape().Type()), &hlo.BroadcastAttrs{}, x)
}

// reduced is a reduce of one array by the computation that another reduce calls.
func reduced(by hlo.Instruction, x, init pass.Expr, axes []int64) pass.Expr {
	if !valid(x) || !valid(init) {
		return pass.Expr{}
	}
	return shaped(hlo.OpReduce, without(x.Shape(), axes), &hlo.DimensionsAttrs{Dimensions: axes}, x, init).Calling(by.Callee(0))
}

// reducedBy is a reduce by an op.
func reducedBy(op hlo.Opcode, x, init pass.Expr, axes []int64) pass.Expr {
	if !valid(x) || !valid(init) {
		return pass.Expr{}
	}
	return shaped(hlo.OpReduce, without(x.Shape(), axes), &hlo.DimensionsAttrs{Dimensions: axes}, x, init).Making(scalarComputation(op, x.Shape().Type()))
}

// without is a shape that lacks some axes.
func without(s hlo.Shape, axes []int64) hlo.Shape {
	var dims []int64
	for i, d := range s.Dimensions() {
		if !slices.Contains(axes, int64(i)) {
			dims = append(dims, d)
		}
	}
	return array(s.Type(), dims...)
}

// scalarComputation is the computation of one op on two scalars.
func scalarComputation(op hlo.Opcode, t hlo.PrimitiveType) *pass.NewCallee {
	return &pass.NewCallee{Key: op.String() + "." + t.String(), Make: func(e *hlo.Editor) hlo.CompID {
		b := e.NewComputation(op.String() + "_" + t.String())
		b.SetScheduled(e.Config().IsScheduled)
		s := array(t)
		var params []hlo.InstrID
		for i := range int64(2) {
			params = append(params, b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Shape: s, Attrs: &hlo.ParameterAttrs{Number: i}}))
		}
		return b.Finish(b.Append(hlo.InstrSpec{Opcode: op, Shape: s, Operands: params}))
	}}
}

// axesAcross maps each axis of from to the axis of to that has the same elements before it and the same size, or -1. Axes of size 1 map
// where they can.
func axesAcross(from, to []int64) []int {
	m := make([]int, len(from))
	beforeFrom := int64(1)
	next, beforeTo := 0, int64(1)
	for i, d := range from {
		for next < len(to) && (beforeTo < beforeFrom || beforeTo == beforeFrom && to[next] != d && to[next] == 1) {
			beforeTo *= to[next]
			next++
		}
		m[i] = -1
		if next < len(to) && beforeTo == beforeFrom && to[next] == d {
			m[i] = next
			beforeTo *= d
			next++
		}
		beforeFrom *= d
	}
	return m
}

// insertsOnes returns, for a reshape that only adds or drops axes of size 1, the axis of the result that each axis of the operand became, -1
// for those that went.
func insertsOnes(in hlo.Instruction) (from []int, ok bool) {
	x, y := in.OperandInstr(0).Shape().Dimensions(), in.Shape().Dimensions()
	from = make([]int, len(x))
	next := 0
	for i, d := range x {
		if d == 1 {
			from[i] = -1
			if next < len(y) && y[next] == 1 {
				from[i] = next
				next++
			}
			continue
		}
		for next < len(y) && y[next] == 1 {
			next++
		}
		if next == len(y) || y[next] != d {
			return nil, false
		}
		from[i] = next
		next++
	}
	for ; next < len(y); next++ {
		if y[next] != 1 {
			return nil, false
		}
	}
	return from, true
}

// oneUse reports whether nothing but the instruction at hand uses x.
func oneUse(x hlo.Instruction) bool { return x.UserCount() == 1 && !x.IsRoot() }

func is(x hlo.Instruction, op hlo.Opcode) bool { return x.Opcode() == op }

// axisRange is 0, 1, … n-1.
func axisRange(n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i)
	}
	return all
}
