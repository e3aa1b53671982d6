package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// reduceOfReshape reduces before it reshapes. The axes fall into groups of equal size on either side, from the front; a group that is reduced
// whole, or not at all, can change sides.
func reduceOfReshape(in hlo.Instruction, always bool) (pass.Expr, bool) {
	r := in.OperandInstr(0)
	x := r.OperandInstr(0)
	from, to := x.Shape().Dimensions(), r.Shape().Dimensions()
	if r.Shape().NumElements() == 0 {
		return no()
	}
	var gone []int64
	keptChanged, i, k := false, 0, 0
	for i < len(from) || k < len(to) {
		a, b := int64(1), int64(1)
		fromAt, toAt := i, k
		// Smallest groups of the same size.
		for {
			if a == b && (i > fromAt || k > toAt) && !(i == fromAt && i < len(from) && from[i] == 1) {
				break
			}
			if a <= b && i < len(from) {
				a *= from[i]
				i++
			} else if k < len(to) {
				b *= to[k]
				k++
			} else if i < len(from) {
				a *= from[i]
				i++
			} else {
				break
			}
		}
		if a != b {
			return no()
		}
		whole, none := true, true
		for axis := toAt; axis < k; axis++ {
			if slices.Contains(axes(in), int64(axis)) {
				none = false
			} else if to[axis] != 1 {
				whole = false
			}
		}
		switch {
		case none:
			keptChanged = keptChanged || !slices.Equal(from[fromAt:i], to[toAt:k])
		case whole:
			keptChanged = keptChanged || !allReduced(axes(in), toAt, k)
			for axis := fromAt; axis < i; axis++ {
				gone = append(gone, int64(axis))
			}
		default:
			// Only axes of size 1 of the group are reduced, or only some of it.
			return no()
		}
	}
	if len(gone) == 0 || keptChanged && !always && !oneUse(r) {
		return no()
	}
	v := reduced(in, pass.Use(x), pass.Use(in.OperandInstr(1)), gone)
	if !valid(v) || slices.Equal(v.Shape().Dimensions(), in.Shape().Dimensions()) {
		return done(v)
	}
	return done(shaped(hlo.OpReshape, in.Shape(), nil, v))
}

func allReduced(axes []int64, from, to int) bool {
	for a := from; a < to; a++ {
		if !slices.Contains(axes, int64(a)) {
			return false
		}
	}
	return true
}

// reduceOfConcatenate reduces the parts; only the first begins with the initial value if it matters.
func reduceOfConcatenate(in hlo.Instruction, by combiner, unequal bool) (pass.Expr, bool) {
	c := in.OperandInstr(0)
	axis := hlo.AttrsOf[hlo.AxisAttrs](c).Dimensions[0]
	if !slices.Contains(axes(in), axis) || !by.neutralUpToSign(in.OperandInstr(1)) || !oneUse(c) {
		return no()
	}
	var sum pass.Expr
	for i := range c.NumOperands() {
		x := c.OperandInstr(i)
		if !unequal && !x.Shape().EqualIgnoringLayout(c.OperandInstr(0).Shape()) {
			return no()
		}
		part := reduced(in, pass.Use(x), pass.Use(in.OperandInstr(1)), axes(in))
		if i == 0 {
			sum = part
		} else if sum = shaped(by.op, in.Shape(), nil, sum, part); !valid(sum) {
			return no()
		}
	}
	return done(sum)
}

// sumOfDot contracts the batch axes that are summed. In the result of a dot, batch axes come first.
func sumOfDot(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
	d := in.OperandInstr(0)
	a := hlo.AttrsOf[hlo.DotAttrs](d)
	if by.op != hlo.OpAdd || !oneUse(d) || d.NumOperands() != 2 || !splatIs(in.OperandInstr(1), isAnyZero) || !d.OperandInstr(0).Shape().Type().IsFloat() {
		return no()
	}
	for _, axis := range axes(in) {
		if axis >= int64(len(a.LHSBatch)) {
			return no()
		}
	}
	attrs := &hlo.DotAttrs{LHSContracting: slices.Clone(a.LHSContracting), RHSContracting: slices.Clone(a.RHSContracting), Precision: a.Precision,
		Algorithm: a.Algorithm}
	for i := range a.LHSBatch {
		if slices.Contains(axes(in), int64(i)) {
			attrs.LHSContracting, attrs.RHSContracting = append(attrs.LHSContracting, a.LHSBatch[i]), append(attrs.RHSContracting, a.RHSBatch[i])
		} else {
			attrs.LHSBatch, attrs.RHSBatch = append(attrs.LHSBatch, a.LHSBatch[i]), append(attrs.RHSBatch, a.RHSBatch[i])
		}
	}
	return done(shaped(hlo.OpDot, in.Shape(), attrs, pass.Use(d.OperandInstr(0)), pass.Use(d.OperandInstr(1))))
}

// reduceBeforeBroadcast reduces the axes that x has before it repeats the others.
func reduceBeforeBroadcast(_ pass.Site, in hlo.Instruction, _ combiner) (pass.Expr, bool) {
	b := in.OperandInstr(0)
	x := b.OperandInstr(0)
	var gone, to []int64
	for i, a := range broadcastAxes(b) {
		if slices.Contains(axes(in), a) {
			gone = append(gone, int64(i))
			continue
		}
		before := int64(0)
		for _, r := range axes(in) {
			if r < a {
				before++
			}
		}
		to = append(to, a-before)
	}
	if len(gone) != len(axes(in)) || len(gone) == 0 || in.Shape().NumElements() == 0 {
		return no()
	}
	r := reduced(in, pass.Use(x), pass.Use(in.OperandInstr(1)), gone)
	return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: to}, r))
}

// argReduce is what a reduce of an array and its places looks for: GT the maximum, LT the minimum.
func argReduce(s pass.Site, in hlo.Instruction) (hlo.Direction, bool) {
	if in.NumOperands() != 4 || !in.Shape().IsTuple() || in.Shape().NumElems() != 2 {
		return 0, false
	}
	c, ok := s.Computation(in.Callee(0))
	if !ok || !is(c.Root(), hlo.OpTuple) {
		return 0, false
	}
	value := c.Root().OperandInstr(0)
	place := c.Root().OperandInstr(1)
	if is(value, hlo.OpMaximum) || is(value, hlo.OpMinimum) || !is(value, hlo.OpSelect) || !is(place, hlo.OpSelect) {
		return 0, false
	}
	a, okA := value.OperandInstr(1).ParameterNumber()
	b, okB := value.OperandInstr(2).ParameterNumber()
	if !okA || !okB || a != 0 || b != 2 {
		return 0, false
	}
	// p ∨ NaN, or the comparison itself.
	p := value.OperandInstr(0)
	if is(p, hlo.OpOr) {
		nan := p.OperandInstr(1)
		if !is(nan, hlo.OpCompare) || hlo.AttrsOf[hlo.CompareAttrs](nan).Direction != hlo.NE || nan.Operand(0) != nan.Operand(1) {
			return 0, false
		}
		if n, ok := nan.OperandInstr(0).ParameterNumber(); !ok || n != 0 {
			return 0, false
		}
		p = p.OperandInstr(0)
	} else if value.Shape().Type().IsFloat() {
		return 0, false // NaN is not handed on
	}
	if !is(p, hlo.OpCompare) {
		return 0, false
	}
	x, okX := p.OperandInstr(0).ParameterNumber()
	y, okY := p.OperandInstr(1).ParameterNumber()
	d := hlo.AttrsOf[hlo.CompareAttrs](p).Direction
	if !okX || !okY || x != 0 || y != 2 {
		return 0, false
	}
	switch d {
	case hlo.GT, hlo.GE:
		return hlo.GT, true
	case hlo.LT, hlo.LE:
		return hlo.LT, true
	}
	return 0, false
}

// besideArgMax finds the maximum in a reduce that looks for its place as well.
func besideArgMax(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	if in.NumOperands() != 2 || in.OperandInstr(0).UserCount() < 2 {
		return no()
	}
	by, ok := combinerOf(s, in)
	want := map[hlo.Opcode]hlo.Direction{hlo.OpMaximum: hlo.GT, hlo.OpMinimum: hlo.LT}[by.op]
	if !ok || want == 0 || !by.neutral(in.OperandInstr(1)) {
		return no()
	}
	for u := range in.OperandInstr(0).Users() {
		if !is(u, hlo.OpReduce) || u.ID() == in.ID() || u.NumOperands() != 4 || u.Operand(0) != in.Operand(0) || !slices.Equal(axes(u), axes(in)) ||
			!sameValue(u.OperandInstr(2), in.OperandInstr(1)) {
			continue
		}
		if d, ok := argReduce(s, u); ok && d == want {
			return done(shaped(hlo.OpGetTupleElement, in.Shape(), &hlo.TupleElementAttrs{Index: 0}, pass.Use(u)))
		}
	}
	return no()
}

// argMaxOfSplat knows that the first of equal numbers is found.
func argMaxOfSplat(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	if in.NumOperands() != 4 {
		return no()
	}
	x, places := in.OperandInstr(0), in.OperandInstr(1)
	l, ok := splat(x)
	_, dir := argReduce(s, in)
	if !ok || !dir || !is(x, hlo.OpBroadcast) || !is(places, hlo.OpIota) || len(axes(in)) != 1 ||
		hlo.AttrsOf[hlo.IotaAttrs](places).Dimension != axes(in)[0] || !splatIs(in.OperandInstr(3), isAnyZero) || in.Shape().Elem(0).NumElements() == 0 {
		return no()
	}
	d, _ := argReduce(s, in)
	// The initial value must lose against the number, and so must be the least there is.
	by := combiner{map[hlo.Direction]hlo.Opcode{hlo.GT: hlo.OpMaximum, hlo.LT: hlo.OpMinimum}[d], x.Shape().Type()}
	if !by.neutral(in.OperandInstr(2)) || by.neutralSoFar(l) || x.Shape().Dim(int(axes(in)[0])) == 0 {
		return no()
	}
	return tupleOf(in, func(i int) pass.Expr {
		if i == 0 {
			return likeShape(in.Shape().Elem(0), pass.Constant(l))
		}
		return fill(in.Shape().Elem(1), 0)
	})
}

// dotOfSums takes sums over free axes of a dot before the dot.
func dotOfSums(in hlo.Instruction, by combiner, threshold float64) (pass.Expr, bool) {
	dot, init := in.OperandInstr(0), in.OperandInstr(1)
	if by.op != hlo.OpAdd || !splatIs(init, isAnyZero) || dot.NumOperands() != 2 || !oneUse(dot) || dot.Shape().Type() != in.Shape().Type() {
		return no()
	}
	d := axesOfDot(dot)
	if len(d.LHSBatch) > 0 {
		return no()
	}
	var x [2]pass.Expr
	var contracted [2][]int64
	at, sums := 0, int64(0)
	for side := range 2 {
		v := dot.OperandInstr(side)
		if v.Shape().Type() != in.Shape().Type() {
			return no()
		}
		var gone []int64
		for _, a := range d.free[side] {
			if slices.Contains(axes(in), int64(at)) {
				gone = append(gone, a)
			}
			at++
		}
		x[side], contracted[side] = pass.Use(v), hlo.AxesWithout(d.contracting[side], gone)
		if len(gone) > 0 {
			x[side] = reduced(in, x[side], pass.Use(init), gone)
			sums += v.Shape().NumElements()
		}
	}
	depth := int64(1)
	for _, a := range d.LHSContracting {
		depth *= dot.OperandInstr(0).Shape().Dim(int(a))
	}
	before := 2*depth*dot.Shape().NumElements() + dot.Shape().NumElements()
	after := 2*depth*in.Shape().NumElements() + sums
	if float64(before) < threshold*float64(after) {
		return no()
	}
	return done(makeDot(in, d.attrs(nil, contracted[0], nil, contracted[1]), x[0], x[1]))
}
