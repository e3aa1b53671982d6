package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// dotRules are about dot: a batch of products, of which the contracted axes are summed.
func dotRules(o *options) []*pass.RewriteRule {
	// dense is a rule about dots of two operands of which one is of some kinds, or anything if there are none.
	dense := func(fp pass.FP, id, doc string, rewrite func(in hlo.Instruction, d dotAxes) (pass.Expr, bool), either ...hlo.Opcode) *pass.RewriteRule {
		return loosely(fp, rule(id, doc, func(in hlo.Instruction) (pass.Expr, bool) {
			if in.NumOperands() != 2 || len(either) > 0 && !slices.Contains(either, in.OperandInstr(0).Opcode()) && !slices.Contains(either, in.OperandInstr(1).Opcode()) ||
				unreduced(in) {
				return no()
			}
			return rewrite(in, dotAxes{DotAttrs: in.Attrs().(*hlo.DotAttrs)})
		}, hlo.OpDot))
	}
	return []*pass.RewriteRule{
		rule("H01", "dot without elements in an operand → 0", func(in hlo.Instruction) (pass.Expr, bool) {
			x, y := in.OperandInstr(0), in.OperandInstr(1)
			if x.Shape().NumElements() != 0 && y.Shape().NumElements() != 0 || in.Shape().Type().IsComplex() {
				return no()
			}
			return fill(in.Shape(), 0), true
		}, hlo.OpDot),
		dense(pass.Overflow, "H10", "dot(dot(a, b), c) → dot(a, dot(b, c)), if that is cheaper", func(in hlo.Instruction, d dotAxes) (pass.Expr, bool) { return reassociated(in, d, o.reorderThreshold) }, hlo.OpDot),
		dense(pass.Overflow, "H11", "dot of a reversed, padded or repeated array → the same of the other operand, if that is smaller", func(in hlo.Instruction, d dotAxes) (pass.Expr, bool) { return moveAcross(in, d, o.reorderThreshold) }, hlo.OpReverse, hlo.OpPad, hlo.OpBroadcast),
		dense(pass.Exact, "H08", "dot(dynamic-slice(constant), constant) → dynamic-slice(dot of constants)", dotOfGather, hlo.OpDynamicSlice),
		dense(pass.Overflow, "H09", "dot(reshape(transpose(x)), constant) → dot(reshape(x), constant with its rows moved), if the contracted axes alone move", contractReordered, hlo.OpReshape),
		dense(pass.Overflow, "H07", "dot(concatenate, constant) → sum of dots", dotOfConcatenate, hlo.OpConcatenate),
		dense(pass.Overflow, "H05", "dot(transpose(a), transpose(b)) that exchange rows and columns → transpose(dot(b, a))", dotOfTransposes, hlo.OpTranspose),
		dense(pass.Exact, "H04", "dot with axes of size 1 → dot without", dropOnes),
		dense(pass.Exact, "H02", "dot of integers without contraction → product of broadcasts", func(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
			if len(d.LHSContracting) > 0 || in.Shape().Type().IsFloat() || in.Shape().Type().IsComplex() {
				return no()
			}
			return done(productOf(in, d.of(in)))
		}),
		// A sum of one product begins at +0, so that -0 becomes +0.
		dense(pass.ZeroSign, "H02z", "dot without contraction → product of broadcasts", func(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
			if len(d.LHSContracting) > 0 {
				return no()
			}
			return done(productOf(in, d.of(in)))
		}),
		dense(pass.Exact, "H02p", "dot without contraction that only scales, or is large → 0 + product of broadcasts", scaled),
		dense(pass.Overflow, "H03", "dot of vectors, in batches → Σ of products", func(in hlo.Instruction, d dotAxes) (pass.Expr, bool) { return sumOfProducts(in, d, o.onCPU) }),
		dense(pass.Overflow, "H06", "dot(parameter, x) → transpose(dot(x, parameter))", parameterRight),
		over(rule("E14", "transpose(dot(a, b)) → dot(b, a)", transposeOfDot, hlo.OpTranspose), []hlo.Opcode{hlo.OpDot}),
		over(rule("F08", "slice(dot(a, b)) → dot of slices", func(in hlo.Instruction) (pass.Expr, bool) { return sliceOfDot(in, o) }, hlo.OpSlice), []hlo.Opcode{hlo.OpDot}),
	}
}

// dotAxes are the axes of a dot, by operand: 0 left, 1 right.
type dotAxes struct {
	*hlo.DotAttrs
	batch, contracting, free [2][]int64
}

func axesOfDot(in hlo.Instruction) dotAxes {
	return dotAxes{DotAttrs: in.Attrs().(*hlo.DotAttrs)}.of(in)
}

// of fills in the axes by operand.
func (d dotAxes) of(in hlo.Instruction) dotAxes {
	a := d.DotAttrs
	d.batch, d.contracting = [2][]int64{a.LHSBatch, a.RHSBatch}, [2][]int64{a.LHSContracting, a.RHSContracting}
	for side := range 2 {
		for i := range int64(in.OperandInstr(side).Shape().Rank()) {
			if !slices.Contains(d.batch[side], i) && !slices.Contains(d.contracting[side], i) {
				d.free[side] = append(d.free[side], i)
			}
		}
	}
	return d
}

// attrs is a dot of other axes with the precision of this one.
func (d dotAxes) attrs(lb, lc, rb, rc []int64) *hlo.DotAttrs {
	return &hlo.DotAttrs{LHSBatch: lb, LHSContracting: lc, RHSBatch: rb, RHSContracting: rc, Precision: d.Precision, Algorithm: d.Algorithm}
}

// swapped is the precision with the operands exchanged.
func (d dotAxes) swapped() hlo.PrecisionConfig {
	p := slices.Clone(d.Precision)
	if len(p) == 2 {
		p[0], p[1] = p[1], p[0]
	}
	return p
}

// plainPrecision reports whether products may be computed as multiply computes them.
func (d dotAxes) plainPrecision() bool { return d.Algorithm == hlo.DotAlgorithm(0) }

// unreduced reports a sharding that keeps partial sums on each device: the dot must stay.
func unreduced(in hlo.Instruction) bool {
	if in.UserCount() == 0 {
		return false
	}
	for u := range in.Users() {
		if c := u.Common(); c != nil && c.Sharding != nil && is(u, hlo.OpCustomCall) {
			return true
		}
	}
	return false
}

// makeDot is a dot of the element type of in.
func makeDot(in hlo.Instruction, attrs *hlo.DotAttrs, x, y pass.Expr) pass.Expr {
	e := makeOp(hlo.OpDot, attrs, x, y)
	if !valid(e) {
		return e
	}
	return e.WithShape(e.Shape().WithType(in.Shape().Type()))
}

func dimsAt(s hlo.Shape, axes []int64) (dims []int64) {
	for _, a := range axes {
		dims = append(dims, s.Dim(int(a)))
	}
	return dims
}

// dropOnes takes axes of size 1 out of both operands.
func dropOnes(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	if !hasOne(in.OperandInstr(0).Shape()) && !hasOne(in.OperandInstr(1).Shape()) {
		return no()
	}
	d = d.of(in)
	var x [2]pass.Expr
	var kept [2][2][]int64 // by operand: batch, contracting
	changed := false
	for side := range 2 {
		v := in.OperandInstr(side)
		var dims []int64
		place := map[int64]int64{}
		for i, size := range v.Shape().Dimensions() {
			if size == 1 {
				changed = true
				continue
			}
			place[int64(i)] = int64(len(dims))
			dims = append(dims, size)
		}
		x[side] = reshaped(pass.Use(v), dims...)
		for k, list := range [][]int64{d.batch[side], d.contracting[side]} {
			for _, a := range list {
				if p, ok := place[a]; ok {
					kept[side][k] = append(kept[side][k], p)
				}
			}
		}
	}
	if !changed {
		return no()
	}
	dot := makeDot(in, d.attrs(kept[0][0], kept[0][1], kept[1][0], kept[1][1]), x[0], x[1])
	if !valid(dot) || slices.Equal(dot.Shape().Dimensions(), in.Shape().Dimensions()) {
		return done(dot)
	}
	return done(shaped(hlo.OpReshape, in.Shape(), nil, dot))
}

func hasOne(s hlo.Shape) bool {
	for i := range s.Rank() {
		if s.Dim(i) == 1 {
			return true
		}
	}
	return false
}

// converted is x in another element type.
func converted(x pass.Expr, t hlo.PrimitiveType) pass.Expr {
	if !valid(x) || x.Shape().Type() == t {
		return x
	}
	return shaped(hlo.OpConvert, x.Shape().WithType(t), nil, x)
}

// productOf multiplies operands that are repeated to batch, left and right axes.
func productOf(in hlo.Instruction, d dotAxes) pass.Expr {
	var x [2]pass.Expr
	b := len(d.LHSBatch)
	for side := range 2 {
		v := in.OperandInstr(side)
		at := make([]int64, v.Shape().Rank())
		for i, a := range d.batch[side] {
			at[a] = int64(i)
		}
		from := b
		if side == 1 {
			from += len(d.free[0])
		}
		for i, a := range d.free[side] {
			at[a] = int64(from + i)
		}
		e := converted(pass.Use(v), in.Shape().Type())
		if in.Shape().Rank() == v.Shape().Rank() && slices.IsSorted(at) {
			x[side] = e
			continue
		}
		x[side] = repeatedTo(e, in.Shape().Dimensions(), at)
	}
	return shaped(hlo.OpMultiply, in.Shape(), nil, x[0], x[1])
}

// manyProducts is the number of elements from which a product of vectors takes longer as a dot than as a loop, which writes its results and nothing else.
const manyProducts = 1 << 16

// scaled is for floats of one type, whose product is rounded as the sum of one product is; adding 0 makes +0 of -0, as such a sum does.
func scaled(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	t := in.Shape().Type()
	if len(d.LHSContracting) > 0 || !t.IsFloat() || t.Bits() < 16 || in.OperandInstr(0).Shape().Type() != t || in.OperandInstr(1).Shape().Type() != t || !d.plainPrecision() {
		return no()
	}
	d = d.of(in)
	if len(d.free[0]) > 0 && len(d.free[1]) > 0 && in.Shape().NumElements() < manyProducts {
		return no()
	}
	return done(shaped(hlo.OpAdd, in.Shape(), nil, productOf(in, d), fill(in.Shape(), 0)))
}

// sumOfProducts is for operands of batch and contracted axes alone; on processors without wide products for one such operand too.
func sumOfProducts(in hlo.Instruction, d dotAxes, both bool) (pass.Expr, bool) {
	if known := len(d.LHSBatch) + len(d.LHSContracting); in.OperandInstr(0).Shape().Rank() > known && in.OperandInstr(1).Shape().Rank() > known {
		return no()
	}
	d = d.of(in)
	if len(d.free[0]) > 0 && len(d.free[1]) > 0 || both && len(d.free[0])+len(d.free[1]) > 0 || len(d.LHSContracting) == 0 || !d.plainPrecision() {
		return no()
	}
	t := in.Shape().Type()
	wide := t
	if t.IsFloat() && t.Bits() < 32 {
		wide = hlo.F32
	}
	// Axes of the product: batch, free, contracted.
	var dims []int64
	b := len(d.LHSBatch)
	dims = append(dims, dimsAt(in.OperandInstr(0).Shape(), d.LHSBatch)...)
	for side := range 2 {
		dims = append(dims, dimsAt(in.OperandInstr(side).Shape(), d.free[side])...)
	}
	first := len(dims)
	dims = append(dims, dimsAt(in.OperandInstr(0).Shape(), d.LHSContracting)...)
	var x [2]pass.Expr
	for side := range 2 {
		v := in.OperandInstr(side)
		order := slices.Concat(d.batch[side], d.free[side], d.contracting[side])
		e := converted(transposed(pass.Use(v), order...), wide)
		var at []int64
		at = append(at, axisRange(b)...)
		for i := range d.free[side] {
			at = append(at, int64(b+i))
		}
		for i := range d.contracting[side] {
			at = append(at, int64(first+i))
		}
		if len(at) != len(dims) {
			e = repeatedTo(e, dims, at)
		}
		x[side] = e
	}
	var gone []int64
	for i := first; i < len(dims); i++ {
		gone = append(gone, int64(i))
	}
	p := makeOp(hlo.OpMultiply, nil, x[0], x[1])
	sum := converted(reducedBy(hlo.OpAdd, p, number(wide, 0), gone), t)
	if !valid(sum) {
		return no()
	}
	return done(sum)
}

// dotOfTransposes needs one contracted and one free axis on each side, behind the batch axes.
func dotOfTransposes(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	x, y := in.OperandInstr(0), in.OperandInstr(1)
	n := x.Shape().Rank()
	if !is(x, hlo.OpTranspose) || !is(y, hlo.OpTranspose) || n != y.Shape().Rank() || n != len(d.LHSBatch)+2 || len(d.LHSContracting) != 1 ||
		!slices.Equal(axes(x), axes(y)) || !slices.Equal(d.LHSBatch, axisRange(n-2)) || !slices.Equal(d.RHSBatch, axisRange(n-2)) ||
		d.LHSContracting[0] != int64(n-1) || d.RHSContracting[0] != int64(n-2) {
		return no()
	}
	d = d.of(in)
	swap := append(axisRange(n-2), int64(n-1), int64(n-2))
	if !slices.Equal(axes(x), swap) {
		return no()
	}
	attrs := d.attrs(d.LHSBatch, []int64{int64(n - 1)}, d.RHSBatch, []int64{int64(n - 2)})
	attrs.Precision = d.swapped()
	dot := makeDot(in, attrs, pass.Use(y.OperandInstr(0)), pass.Use(x.OperandInstr(0)))
	return done(shaped(hlo.OpTranspose, in.Shape(), &hlo.DimensionsAttrs{Dimensions: swap}, dot))
}

// parameterLike reports whether a value is a parameter, or read from one.
func parameterLike(x hlo.Instruction) bool {
	for {
		//halo:allow opswitch what XLA looks through here is a choice of this rule
		switch x.Opcode() {
		case hlo.OpParameter:
			return true
		case hlo.OpCopy, hlo.OpBitcast, hlo.OpReshape, hlo.OpTranspose, hlo.OpGetTupleElement, hlo.OpConvert:
			x = x.OperandInstr(0)
		default:
			return false
		}
	}
}

func parameterRight(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	if !parameterLike(in.OperandInstr(0)) || parameterLike(in.OperandInstr(1)) {
		return no()
	}
	d = d.of(in)
	attrs := d.attrs(d.RHSBatch, d.RHSContracting, d.LHSBatch, d.LHSContracting)
	attrs.Precision = d.swapped()
	dot := makeDot(in, attrs, pass.Use(in.OperandInstr(1)), pass.Use(in.OperandInstr(0)))
	return done(shaped(hlo.OpTranspose, in.Shape(), &hlo.DimensionsAttrs{Dimensions: exchange(len(d.LHSBatch), len(d.free[0]), len(d.free[1]))}, dot))
}

// exchange is the transpose from batch, right, left axes to batch, left, right ones.
func exchange(batch, left, right int) []int64 {
	perm := axisRange(batch)
	for i := range left {
		perm = append(perm, int64(batch+right+i))
	}
	for i := range right {
		perm = append(perm, int64(batch+i))
	}
	return perm
}

// transposeOfDot exchanges the operands where the transpose exchanges their axes.
func transposeOfDot(in hlo.Instruction) (pass.Expr, bool) {
	dot := in.OperandInstr(0)
	if dot.NumOperands() != 2 || !oneUse(dot) {
		return no()
	}
	d := axesOfDot(dot)
	b := len(d.LHSBatch)
	// The transpose takes batch, left, right to batch (in some order), right, left.
	perm := exchange(b, len(d.free[0]), len(d.free[1]))
	inverse := make([]int64, len(perm))
	for i, p := range perm {
		inverse[p] = int64(i)
	}
	got := axes(in)
	batch := got[:min(b, len(got))]
	for _, a := range batch {
		if a >= int64(b) {
			return no()
		}
	}
	if !slices.Equal(got[len(batch):], inverse[len(batch):]) || len(d.free[0]) == 0 || len(d.free[1]) == 0 {
		return no()
	}
	var lb, rb []int64
	for _, a := range batch {
		lb, rb = append(lb, d.RHSBatch[a]), append(rb, d.LHSBatch[a])
	}
	attrs := d.attrs(lb, d.RHSContracting, rb, d.LHSContracting)
	attrs.Precision = d.swapped()
	return done(shaped(hlo.OpDot, in.Shape(), attrs, pass.Use(dot.OperandInstr(1)), pass.Use(dot.OperandInstr(0))))
}

// sliceOfDot cuts the operands along their free and batch axes.
func sliceOfDot(in hlo.Instruction, o *options) (pass.Expr, bool) {
	dot := in.OperandInstr(0)
	if dot.NumOperands() != 2 || !oneUse(dot) {
		return no()
	}
	d := axesOfDot(dot)
	var x [2]pass.Expr
	at := len(d.LHSBatch)
	for side := range 2 {
		v := dot.OperandInstr(side)
		ranges := make([]hlo.SliceDim, v.Shape().Rank())
		for i := range ranges {
			ranges[i] = hlo.SliceDim{Limit: v.Shape().Dim(i), Stride: 1}
		}
		for i, a := range d.batch[side] {
			ranges[a] = cut(in)[i]
		}
		for _, a := range d.free[side] {
			ranges[a] = cut(in)[at]
			at++
		}
		x[side] = sliced(pass.Use(v), ranges)
	}
	if !x[0].IsNew() && !x[1].IsNew() || float64(dot.Shape().NumElements()) < o.raiseThreshold*float64(in.Shape().NumElements()) {
		return no()
	}
	return done(shaped(hlo.OpDot, in.Shape(), dot.Attrs(), x[0], x[1]))
}
