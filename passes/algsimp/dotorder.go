package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// dotOfConcatenate contracts each part with its rows of the constant.
func dotOfConcatenate(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	d = d.of(in)
	if len(d.LHSBatch) > 0 || len(d.LHSContracting) != 1 || in.Shape().Rank() != 2 {
		return no()
	}
	for side := range 2 {
		c, k := in.OperandInstr(side), in.OperandInstr(1-side)
		if !is(c, hlo.OpConcatenate) || !isConstant(k) || hlo.AttrsOf[hlo.AxisAttrs](c).Dimensions[0] != d.contracting[side][0] || !oneUse(c) {
			continue
		}
		axis, from := d.contracting[1-side][0], int64(0)
		var sum pass.Expr
		for i := range c.NumOperands() {
			part := c.OperandInstr(i)
			n := part.Shape().Dim(int(d.contracting[side][0]))
			ranges := []hlo.SliceDim{{Limit: k.Shape().Dim(0), Stride: 1}, {Limit: k.Shape().Dim(1), Stride: 1}}
			ranges[axis] = hlo.SliceDim{Start: from, Limit: from + n, Stride: 1}
			from += n
			pair := [2]pass.Expr{}
			pair[side], pair[1-side] = pass.Use(part), makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, pass.Use(k))
			dot := shaped(hlo.OpDot, in.Shape(), in.Attrs(), pair[0], pair[1])
			if i == 0 {
				sum = dot
			} else {
				sum = shaped(hlo.OpAdd, in.Shape(), nil, sum, dot)
			}
		}
		return done(sum)
	}
	return no()
}

// dotOfGather computes with the whole constant, once, and takes the rows out of the result.
func dotOfGather(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	d = d.of(in)
	if len(d.LHSBatch) > 0 || len(d.LHSContracting) != 1 || in.Shape().Rank() != 2 {
		return no()
	}
	for side := range 2 {
		g, k := in.OperandInstr(side), in.OperandInstr(1-side)
		if !is(g, hlo.OpDynamicSlice) || !isConstant(k) || !isConstant(g.OperandInstr(0)) || g.Shape().Rank() != 2 || !splitIndices(g, 1) {
			continue
		}
		c := g.OperandInstr(0)
		inner := int(d.contracting[side][0])
		if g.Shape().Dim(inner) != c.Shape().Dim(inner) || g.Shape().Dim(1-inner) != 1 {
			continue
		}
		pair := [2]pass.Expr{}
		pair[side], pair[1-side] = pass.Use(c), pass.Use(k)
		whole := makeDot(in, d.DotAttrs, pair[0], pair[1])
		if !valid(whole) {
			return no()
		}
		row := pass.Use(g.OperandInstr(1 + 1 - inner))
		zero := zeroLike(g.OperandInstr(1 + 1 - inner))
		at := []pass.Expr{row, zero}
		if side == 1 {
			at = []pass.Expr{zero, row}
		}
		return done(shaped(hlo.OpDynamicSlice, in.Shape(), &hlo.DynamicSliceAttrs{Sizes: in.Shape().Dimensions()}, whole, at[0], at[1]))
	}
	return no()
}

// contractReordered undoes, on the side of a constant, a movement among axes that a reshape then joins into the contracted one.
func contractReordered(in hlo.Instruction, d dotAxes) (pass.Expr, bool) {
	d = d.of(in)
	if len(d.LHSContracting) != 1 {
		return no()
	}
	for side := range 2 {
		r, k := in.OperandInstr(side), in.OperandInstr(1-side)
		if !is(r, hlo.OpReshape) || !is(r.OperandInstr(0), hlo.OpTranspose) || !isConstant(k) {
			continue
		}
		t := r.OperandInstr(0)
		x := t.OperandInstr(0)
		axis := int(d.contracting[side][0])
		// The run of axes of t that became the contracted axis.
		runs := runsOf(r.Shape().Dimensions(), t.Shape().Dimensions())
		if runs == nil {
			continue
		}
		run := leadingOnes(runs, t.Shape(), axis)
		from, to := run[0], run[1]
		perm := axes(t)
		// All other axes stay where they are, and those of the run are moved among themselves.
		moved := false
		ok := true
		for i, a := range perm {
			inside := i >= from && i < to
			if inside {
				ok = ok && int(a) >= from && int(a) < to
				moved = moved || int(a) != i && t.Shape().Dim(i) != 1
			} else {
				ok = ok && int(a) == i
			}
		}
		if !ok || !moved || to-from < 2 {
			continue
		}
		other := int(d.contracting[1-side][0])
		// The constant's rows in the axes of t, moved to those of x, joined again.
		split := slices.Concat(k.Shape().Dimensions()[:other], t.Shape().Dimensions()[from:to], k.Shape().Dimensions()[other+1:])
		back := axisRange(len(split))
		for i := from; i < to; i++ {
			back[other+int(perm[i])-from] = int64(other + i - from)
		}
		rows := reshaped(transposed(reshaped(pass.Use(k), split...), back...), k.Shape().Dimensions()...)
		pair := [2]pass.Expr{}
		pair[side], pair[1-side] = shaped(hlo.OpReshape, r.Shape(), nil, pass.Use(x)), rows
		return done(shaped(hlo.OpDot, in.Shape(), in.Attrs(), pair[0], pair[1]))
	}
	return no()
}

// leadingOnes is the run of an axis; the first axis takes all axes of size 1 in front too.
func leadingOnes(runs [][2]int, parts hlo.Shape, axis int) [2]int {
	run := runs[axis]
	if axis == 0 {
		run[0] = 0
	}
	// Axes of size 1 right behind belong to whichever run needs them.
	for run[1] < parts.Rank() && parts.Dim(run[1]) == 1 && (axis+1 == len(runs) || runs[axis+1][0] > run[1]) {
		run[1]++
	}
	return run
}

// reassociated makes dot(a, dot(b, c)) of dot(dot(a, b), c), and the other way round, if that takes fewer products.
func reassociated(in hlo.Instruction, d dotAxes, threshold float64) (pass.Expr, bool) {
	d = d.of(in)
	for side := range 2 {
		inner := in.OperandInstr(side)
		if !is(inner, hlo.OpDot) || inner.NumOperands() != 2 || !oneUse(inner) || inner.Shape().Type() != in.Shape().Type() {
			continue
		}
		// Of the inner operands, the one beside the third operand is multiplied with that first: the right one of a left dot.
		if e, ok := chained(in, inner, d, side, threshold); ok {
			return e, true
		}
	}
	return no()
}

// letters names the axes of a product of three: axes that are multiplied with each other have one letter, its size among sizes.
type letters struct{ sizes []int64 }

func (l *letters) next(size int64) int {
	l.sizes = append(l.sizes, size)
	return len(l.sizes) - 1
}

// count is the number of products for the letters of some lists.
func (l *letters) count(lists ...[]int) float64 {
	n, seen := 1.0, map[int]bool{}
	for _, list := range lists {
		for _, a := range list {
			if !seen[a] {
				seen[a] = true
				n *= float64(l.sizes[a])
			}
		}
	}
	return n
}

// chained multiplies b, the operand of the inner dot that is next to c, with c first.
func chained(in, inner hlo.Instruction, d dotAxes, side int, threshold float64) (pass.Expr, bool) {
	e := axesOfDot(inner)
	near := 1 - side // of the inner dot: the right operand if it stands on the left
	a, b, c := inner.OperandInstr(1-near), inner.OperandInstr(near), in.OperandInstr(1-side)
	var l letters
	named := [2][]int{make([]int, inner.OperandInstr(0).Shape().Rank()), make([]int, inner.OperandInstr(1).Shape().Rank())}
	var ofInner []int // letters of the inner result
	for i, p := range e.LHSBatch {
		n := l.next(inner.OperandInstr(0).Shape().Dim(int(p)))
		named[0][p], named[1][e.RHSBatch[i]] = n, n
		ofInner = append(ofInner, n)
	}
	batches := len(ofInner)
	for i, p := range e.LHSContracting {
		n := l.next(inner.OperandInstr(0).Shape().Dim(int(p)))
		named[0][p], named[1][e.RHSContracting[i]] = n, n
	}
	for k := range 2 {
		for _, p := range e.free[k] {
			named[k][p] = l.next(inner.OperandInstr(k).Shape().Dim(int(p)))
			ofInner = append(ofInner, named[k][p])
		}
	}
	inA, inB, inC := named[1-near], named[near], make([]int, c.Shape().Rank())
	for i, p := range d.batch[side] {
		inC[d.batch[1-side][i]] = ofInner[p]
	}
	for i, p := range d.contracting[side] {
		if int(p) < batches { // each of the three has it, and two of the dots would sum over it
			return no()
		}
		inC[d.contracting[1-side][i]] = ofInner[p]
	}
	for _, p := range d.free[1-side] {
		inC[p] = l.next(c.Shape().Dim(int(p)))
	}
	// The result, as it is.
	var result []int
	for _, p := range d.batch[side] {
		result = append(result, ofInner[p])
	}
	for k := range 2 {
		for _, p := range d.free[k] {
			if k == side {
				result = append(result, ofInner[p])
			} else {
				result = append(result, inC[p])
			}
		}
	}
	// b and c, with what a or the result need of them; then a.
	needed := slices.Concat(inA, result)
	if !slices.ContainsFunc(inB, func(n int) bool { return slices.Contains(inC, n) }) {
		return no()
	}
	bc, ofBC := dotOfLetters(in, d, inB, inC, needed, pass.Use(b), pass.Use(c), side == 1)
	whole, ofWhole := dotOfLetters(in, d, inA, ofBC, result, pass.Use(a), bc, side == 1)
	before := l.count(named[0], named[1]) + l.count(ofInner, inC)
	after := l.count(inB, inC) + l.count(inA, ofBC)
	if !valid(whole) || before < threshold*after {
		return no()
	}
	perm := make([]int64, len(result))
	for i, n := range result {
		perm[i] = int64(slices.Index(ofWhole, n))
	}
	return done(transposed(whole, perm...))
}

// dotOfLetters multiplies two arrays by the letters of their axes: those of both that are needed are batches, and the others are summed. Swapped
// has the second one on the left.
func dotOfLetters(in hlo.Instruction, d dotAxes, inX, inY, needed []int, x, y pass.Expr, swapped bool) (pass.Expr, []int) {
	if !valid(x) || !valid(y) {
		return pass.Expr{}, nil
	}
	if swapped {
		inX, inY, x, y = inY, inX, y, x
	}
	var lists [2][2][]int64 // batch, contracting; left, right
	var result, left, right []int
	for i, n := range inX {
		k := slices.Index(inY, n)
		switch {
		case k < 0:
			left = append(left, n)
			continue
		case slices.Contains(needed, n):
			lists[0][0], lists[0][1] = append(lists[0][0], int64(i)), append(lists[0][1], int64(k))
			result = append(result, n)
		default:
			lists[1][0], lists[1][1] = append(lists[1][0], int64(i)), append(lists[1][1], int64(k))
		}
	}
	for _, n := range inY {
		if !slices.Contains(inX, n) {
			right = append(right, n)
		}
	}
	return makeDot(in, d.attrs(lists[0][0], lists[1][0], lists[0][1], lists[1][1]), x, y), slices.Concat(result, left, right)
}

// moveAcross mirrors what happens to the contracted axes of one operand on the other one.
func moveAcross(in hlo.Instruction, d dotAxes, threshold float64) (pass.Expr, bool) {
	d = d.of(in)
	for side := range 2 {
		x, y := in.OperandInstr(side), in.OperandInstr(1-side)
		if !oneUse(x) {
			continue
		}
		var v, w pass.Expr
		mine, theirs := d.contracting[side], d.contracting[1-side]
		attrs := d.DotAttrs
		switch x.Opcode() {
		case hlo.OpReverse:
			v, w = reverseAcross(x, y, mine, theirs, threshold)
		case hlo.OpPad:
			v, w = padAcross(x, y, mine, theirs, threshold)
		case hlo.OpBroadcast:
			v, w, attrs = broadcastAcross(x, y, d, side, threshold)
		}
		if !valid(v) || !valid(w) {
			continue
		}
		pair := [2]pass.Expr{}
		pair[side], pair[1-side] = v, w
		return done(shaped(hlo.OpDot, in.Shape(), attrs, pair[0], pair[1]))
	}
	return no()
}

// reverseAcross turns the contracted axes of y in the place of those of x.
func reverseAcross(x, y hlo.Instruction, mine, theirs []int64, threshold float64) (v, w pass.Expr) {
	var turned, stay []int64
	for _, a := range axes(x) {
		if i := slices.Index(mine, a); i >= 0 {
			turned = append(turned, theirs[i])
		} else {
			stay = append(stay, a)
		}
	}
	if len(turned) == 0 || float64(x.Shape().NumElements()) < threshold*float64(y.Shape().NumElements()) {
		return v, w
	}
	v = pass.Use(x.OperandInstr(0))
	if len(stay) > 0 {
		v = makeOp(hlo.OpReverse, &hlo.DimensionsAttrs{Dimensions: stay}, v)
	}
	return v, makeOp(hlo.OpReverse, &hlo.DimensionsAttrs{Dimensions: turned}, pass.Use(y))
}

// padAcross leaves out the rows of y that meet zeros.
func padAcross(x, y hlo.Instruction, mine, theirs []int64, threshold float64) (v, w pass.Expr) {
	if !splatIs(x.OperandInstr(1), isAnyZero) {
		return v, w
	}
	ranges := make([]hlo.SliceDim, y.Shape().Rank())
	for i := range ranges {
		ranges[i] = hlo.SliceDim{Limit: y.Shape().Dim(i), Stride: 1}
	}
	rest, cuts, left := slices.Clone(padding(x)), false, false
	for i, p := range rest {
		k := slices.Index(mine, int64(i))
		if p == (hlo.PaddingDim{}) {
			continue
		}
		if k < 0 || p.Low < 0 || p.High < 0 || p.Interior < 0 {
			left = true
			continue
		}
		n := x.OperandInstr(0).Shape().Dim(i)
		if n == 0 {
			return v, w
		}
		ranges[theirs[k]] = hlo.SliceDim{Start: p.Low, Limit: p.Low + (n-1)*(p.Interior+1) + 1, Stride: p.Interior + 1}
		rest[i], cuts = hlo.PaddingDim{}, true
	}
	if !cuts {
		return v, w
	}
	v = pass.Use(x.OperandInstr(0))
	if left {
		v = makeOp(hlo.OpPad, &hlo.PadAttrs{Padding: rest}, v, pass.Use(x.OperandInstr(1)))
	}
	w = makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, pass.Use(y))
	if !valid(v) || !valid(w) || float64(x.Shape().NumElements()) < threshold*float64(x.OperandInstr(0).Shape().NumElements()) {
		return pass.Expr{}, pass.Expr{}
	}
	return v, w
}

// broadcastAcross sums y over the contracted axes along which x repeats itself.
func broadcastAcross(x, y hlo.Instruction, d dotAxes, side int, threshold float64) (v, w pass.Expr, attrs *hlo.DotAttrs) {
	var gone, dropped []int64
	for i, a := range d.contracting[side] {
		if !slices.Contains(broadcastAxes(x), a) {
			gone, dropped = append(gone, d.contracting[1-side][i]), append(dropped, a)
		}
	}
	if len(gone) == 0 || !slices.IsSorted(broadcastAxes(x)) || float64(x.Shape().NumElements()) < threshold*float64(x.OperandInstr(0).Shape().NumElements()) {
		return v, w, nil
	}
	var dims, at []int64
	for i, size := range x.Shape().Dimensions() {
		if slices.Contains(dropped, int64(i)) {
			continue
		}
		if slices.Contains(broadcastAxes(x), int64(i)) {
			at = append(at, int64(len(dims)))
		}
		dims = append(dims, size)
	}
	v = pass.Use(x.OperandInstr(0))
	if len(at) != len(dims) {
		v = repeatedTo(v, dims, at)
	}
	slices.Sort(gone)
	t := y.Shape().Type()
	w = reducedBy(hlo.OpAdd, pass.Use(y), number(t, 0), gone)
	lists := [2][2][]int64{}
	lists[side] = [2][]int64{hlo.AxesWithout(d.batch[side], dropped), hlo.AxesWithout(d.contracting[side], dropped)}
	lists[1-side] = [2][]int64{hlo.AxesWithout(d.batch[1-side], gone), hlo.AxesWithout(d.contracting[1-side], gone)}
	return v, w, d.attrs(lists[0][0], lists[0][1], lists[1][0], lists[1][1])
}
