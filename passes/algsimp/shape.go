package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

var shapeRules = []*pass.RewriteRule{
	rule("E01", "reshape to the same shape → operand", toOperand, hlo.OpReshape),
	rule("E02", "reshape(reshape(x)) → reshape(x)", func(in hlo.Instruction) (pass.Expr, bool) {
		if r := in.OperandInstr(0); r.Opcode() == hlo.OpReshape && static(in, r, r.OperandInstr(0)) {
			return reshape(r.OperandInstr(0), in.Shape())
		}
		return no()
	}, hlo.OpReshape),
	rule("E03", "a reshape without elements → empty constant", func(in hlo.Instruction) (pass.Expr, bool) {
		if !static(in) || in.Shape().NumElements() != 0 {
			return no()
		}
		l, err := hlo.NewLiteral(in.Shape(), nil)
		return pass.Constant(l), err == nil
	}, hlo.OpReshape),
	rule("E04", "reshape(broadcast(x)) → broadcast(x), if the axes of x stay whole", reshapeOfBroadcast, hlo.OpReshape),
	rule("E15", "transpose that moves only axes of size 1 → reshape", func(in hlo.Instruction) (pass.Expr, bool) {
		last := int64(-1)
		for i, a := range axes(in) {
			if in.Shape().Dim(i) != 1 {
				if a < last {
					return no()
				}
				last = a
			}
		}
		if !static(in) || slices.IsSorted(axes(in)) {
			return no()
		}
		return reshape(in.OperandInstr(0), in.Shape())
	}, hlo.OpTranspose),
	rule("E17", "transpose(broadcast(x)) → broadcast(x), if the axes of x stay in order", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		if b.Opcode() != hlo.OpBroadcast {
			return no()
		}
		dims := slices.Clone(broadcastAxes(b))
		for i, d := range dims {
			dims[i] = int64(slices.Index(axes(in), d))
		}
		if !slices.IsSorted(dims) {
			return no()
		}
		return broadcast(pass.Use(b.OperandInstr(0)), in.Shape(), dims)
	}, hlo.OpTranspose),
	rule("E20", "broadcast without growth → reshape", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		if !static(in, x) || x.Shape().NumElements() != in.Shape().NumElements() || !slices.IsSorted(broadcastAxes(in)) ||
			in.Shape().NumElements() == 0 {
			return no()
		}
		return reshape(x, in.Shape())
	}, hlo.OpBroadcast),
	rule("E21", "broadcast to the same rank in another order → transpose", func(in hlo.Instruction) (pass.Expr, bool) {
		d := broadcastAxes(in)
		if len(d) != in.Shape().Rank() || slices.IsSorted(d) {
			return no()
		}
		perm := make([]int64, len(d))
		for i, to := range d {
			perm[to] = int64(i)
		}
		return pass.New(hlo.OpTranspose, in.Shape(), &hlo.DimensionsAttrs{Dimensions: perm}, pass.Use(in.OperandInstr(0))), true
	}, hlo.OpBroadcast),
	rule("E22", "broadcast(reshape that inserts axes of size 1) → broadcast", func(in hlo.Instruction) (pass.Expr, bool) {
		r := in.OperandInstr(0)
		if r.Opcode() != hlo.OpReshape || !static(r, r.OperandInstr(0)) {
			return no()
		}
		x, dims := r.OperandInstr(0), []int64{}
		for i, d := range broadcastAxes(in) {
			if k := len(dims); k < x.Shape().Rank() && x.Shape().Dim(k) == r.Shape().Dim(i) {
				dims = append(dims, d)
			} else if r.Shape().Dim(i) != 1 {
				return no()
			}
		}
		if len(dims) != x.Shape().Rank() || len(dims) == r.Shape().Rank() {
			return no()
		}
		return broadcast(pass.Use(x), in.Shape(), dims)
	}, hlo.OpBroadcast),
	rule("E26", "data movement of a broadcast scalar → broadcast of the result shape", ofRepeatedScalar, hlo.OpReshape, hlo.OpReverse, hlo.OpTranspose, hlo.OpSlice, hlo.OpDynamicSlice),
	rule("E26s", "sort of a broadcast scalar → broadcast of the scalar", ofRepeatedScalar, hlo.OpSort),
	{ID: "E27", Doc: "op(broadcast(x), broadcast(y), …) → broadcast(op(x, y, …)), elementwise", Root: elementwiseOps(), Operands: [][]hlo.Opcode{broadcasts, broadcasts, broadcasts}, Rewrite: sinkBroadcast},
	rule("E29", "copy that keeps the layout → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		if x := in.OperandInstr(0); x.Shape().Equal(in.Shape()) && (in.Shape().IsArray() || in.Shape().IsTuple()) {
			return use(x)
		}
		return no()
	}, hlo.OpCopy),
	rule("E35", "reverse along axes of size 1 → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		for _, a := range axes(in) {
			if in.Shape().Dim(int(a)) != 1 {
				return no()
			}
		}
		return use(in.OperandInstr(0))
	}, hlo.OpReverse),
}

func toOperand(in hlo.Instruction) (pass.Expr, bool) { return use(in.OperandInstr(0)) }

// ofRepeatedScalar repeats the scalar that the operand repeats.
func ofRepeatedScalar(in hlo.Instruction) (pass.Expr, bool) {
	b := in.OperandInstr(0)
	if b.Opcode() != hlo.OpBroadcast || !b.OperandInstr(0).Shape().IsScalar() || !static(in) {
		return no()
	}
	return broadcast(pass.Use(b.OperandInstr(0)), in.Shape(), nil)
}

// static reports whether shapes have no dynamic dimensions.
func static(all ...hlo.Instruction) bool {
	return !slices.ContainsFunc(all, func(in hlo.Instruction) bool { return !in.Shape().IsArray() || !in.Shape().IsStatic() })
}

// axes are the dimensions of a transpose or reverse.
func axes(in hlo.Instruction) []int64 { return hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions }

func broadcastAxes(in hlo.Instruction) []int64 { return hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions }

func reshape(x hlo.Instruction, s hlo.Shape) (pass.Expr, bool) {
	return pass.New(hlo.OpReshape, s, nil, pass.Use(x)), true
}

func broadcast(x pass.Expr, s hlo.Shape, dims []int64) (pass.Expr, bool) {
	return pass.New(hlo.OpBroadcast, s, &hlo.BroadcastAttrs{Dimensions: dims}, x), true
}

// reshapeOfBroadcast finds each axis of the broadcast operand again in the result: same size, same number of elements before it.
func reshapeOfBroadcast(in hlo.Instruction) (pass.Expr, bool) {
	b := in.OperandInstr(0)
	if b.Opcode() != hlo.OpBroadcast || !static(in, b) || b.OperandInstr(0).Shape().Rank() == 0 || in.Shape().NumElements() == 0 {
		return no()
	}
	before := func(s hlo.Shape, axis int) (n int64) {
		n = 1
		for i := range axis {
			n *= s.Dim(i)
		}
		return n
	}
	dims, next := []int64{}, 0
	for _, d := range broadcastAxes(b) {
		for next < in.Shape().Rank() && (in.Shape().Dim(next) != b.Shape().Dim(int(d)) || before(in.Shape(), next) != before(b.Shape(), int(d))) {
			next++
		}
		if next == in.Shape().Rank() {
			return no()
		}
		dims = append(dims, int64(next))
		next++
	}
	return broadcast(pass.Use(b.OperandInstr(0)), in.Shape(), dims)
}

func elementwiseOps() (ops []hlo.Opcode) {
	for op := range hlo.Opcodes {
		if info := hlo.Info(op); info.Traits.Has(hlo.TraitElementwise) && info.Arity.Min > 0 && len(info.Callees) == 0 {
			ops = append(ops, op)
		}
	}
	return ops
}

// sinkBroadcast computes on the small arrays that all operands are broadcasts of, along the same axes; scalars are repeated less.
func sinkBroadcast(in hlo.Instruction) (pass.Expr, bool) {
	if c := in.Common(); c != nil && c.ResultAccuracy != nil {
		return no()
	}
	var like hlo.Instruction // the broadcast whose axes all have
	for i := range in.NumOperands() {
		b := in.OperandInstr(i)
		if !is(b, hlo.OpBroadcast) || !b.Shape().IsStatic() {
			return no()
		}
		if like.IsZero() || like.OperandInstr(0).Shape().IsScalar() {
			like = b
		}
	}
	x := like.OperandInstr(0).Shape()
	small := make([]pass.Expr, in.NumOperands())
	for i := range small {
		b := in.OperandInstr(i)
		v := b.OperandInstr(0)
		switch {
		case v.Shape().IsScalar() && !x.IsScalar() && b.Shape().Rank() == in.Shape().Rank():
			small[i] = pass.New(hlo.OpBroadcast, x.WithType(v.Shape().Type()), &hlo.BroadcastAttrs{}, pass.Use(v))
		case slices.Equal(broadcastAxes(b), broadcastAxes(like)) && v.Shape().WithType(x.Type()).EqualIgnoringLayout(x):
			small[i] = pass.Use(v)
		default:
			return no()
		}
	}
	return broadcast(pass.New(in.Opcode(), x.WithType(in.Shape().Type()), in.Attrs(), small...), in.Shape(), broadcastAxes(like))
}
