package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// gatherRules are about gather and scatter.
func gatherRules(o *options) []*pass.RewriteRule {
	return []*pass.RewriteRule{
		rule("G01", "gather from nothing → 0", func(in hlo.Instruction) (pass.Expr, bool) {
			if in.OperandInstr(0).Shape().NumElements() != 0 || in.Shape().Type().IsComplex() {
				return no()
			}
			return fill(in.Shape(), 0), true
		}, hlo.OpGather),
		rule("G02", "gather from one element → broadcast", func(in hlo.Instruction) (pass.Expr, bool) {
			x, a := in.OperandInstr(0), hlo.AttrsOf[hlo.GatherAttrs](in)
			if x.Shape().NumElements() != 1 || a.PicksNothing() {
				return no()
			}
			return done(likeShape(in.Shape(), reshaped(pass.Use(x))))
		}, hlo.OpGather),
		rule("G03", "gather of elements from a short array → selects", func(in hlo.Instruction) (pass.Expr, bool) { return gatherFromFew(in, o.smallGather) }, hlo.OpGather),
		over(rule("G04", "gather(pad(x)) → pad(gather(x)), if the padding passes through", gatherOfPad, hlo.OpGather), []hlo.Opcode{hlo.OpPad}),
		over(rule("G05", "gather(reshape(pad(x))) → pad(gather(reshape(x))), if the padding passes through", gatherOfReshapeOfPad, hlo.OpGather), reshapes),
		rule("G06", "scatter of no updates → operands", func(in hlo.Instruction) (pass.Expr, bool) {
			n := in.NumOperands() / 2
			for i := n + 1; i < in.NumOperands(); i++ {
				if in.OperandInstr(i).Shape().NumElements() != 0 {
					return no()
				}
			}
			if n == 1 && in.Shape().IsArray() {
				return use(in.OperandInstr(0))
			}
			return tupleOf(in, func(i int) pass.Expr { return pass.Use(in.OperandInstr(i)) })
		}, hlo.OpScatter),
		{ID: "G07", Doc: "scatter of one update of everything, at no index → op(operand, update)", Root: []hlo.Opcode{hlo.OpScatter}, RewriteAt: scatterOfAll},
		{ID: "G07u", Doc: "scatter that replaces one window at constant places → dynamic-update-slice", Root: []hlo.Opcode{hlo.OpScatter},
			Operands: [][]hlo.Opcode{nil, {hlo.OpConstant, hlo.OpBroadcast}}, RewriteAt: scatterOfOneWindow},
		over(rule("E19", "transpose(scatter(x, i, u)) → scatter(transpose(x), i, transpose(u)), if u is windows of whole rank", transposeOfScatter, hlo.OpTranspose), []hlo.Opcode{hlo.OpScatter}),
		loosely(pass.Overflow, &pass.RewriteRule{ID: "A09", Doc: "scatter-add(a, i, u) + scatter-add(b, j, v) → scatter-add(a + b, i ++ j, u ++ v)", Root: []hlo.Opcode{hlo.OpAdd},
			Operands: [][]hlo.Opcode{{hlo.OpScatter}, {hlo.OpScatter}}, RewriteAt: sumOfScatters}),
		loosely(pass.Overflow, &pass.RewriteRule{ID: "A08", Doc: "scatter-add(a, i, u) + y → scatter-add(a + y, i, u)", Root: []hlo.Opcode{hlo.OpAdd}, RewriteAt: addToScatter}),
	}
}

func gatherFromFew(in hlo.Instruction, most int64) (pass.Expr, bool) {
	x, i := in.OperandInstr(0), in.OperandInstr(1)
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	t := i.Shape().Type()
	if x.Shape().Rank() != 1 || x.Shape().Dim(0) > most || x.Shape().Dim(0) < 1 || a.PicksNothing() || len(a.OffsetDims) > 0 || len(a.OperandBatchingDims) > 0 ||
		!slices.Equal(a.CollapsedSliceDims, []int64{0}) || a.IndexVectorDim != int64(i.Shape().Rank()) || !slices.Equal(i.Shape().Dimensions(), in.Shape().Dimensions()) {
		return no()
	}
	element := func(k int64) pass.Expr {
		e := makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: []hlo.SliceDim{{Start: k, Limit: k + 1, Stride: 1}}}, pass.Use(x))
		return likeShape(in.Shape(), reshaped(e))
	}
	e := element(0)
	for k := range x.Shape().Dim(0) {
		bound := integerOf(t, k)
		reached := shaped(hlo.OpCompare, in.Shape().WithType(hlo.PRED), &hlo.CompareAttrs{Direction: hlo.GE}, pass.Use(i), like(i.Shape(), bound))
		e = shaped(hlo.OpSelect, in.Shape(), nil, reached, element(k), e)
	}
	return done(e)
}

// passing maps the axes of a gather's operand that are taken whole, and neither collapsed, indexed nor batched, to those of the result.
func passing(a hlo.GatherAttrs, x, result hlo.Shape) map[int]int {
	through := map[int]int{}
	k := 0
	for i := range x.Rank() {
		if slices.Contains(a.CollapsedSliceDims, int64(i)) || slices.Contains(a.OperandBatchingDims, int64(i)) {
			continue
		}
		if !slices.Contains(a.StartIndexMap, int64(i)) && a.SliceSizes[i] == x.Dim(i) && k < len(a.OffsetDims) {
			through[i] = int(a.OffsetDims[k])
		}
		k++
	}
	return through
}

// batchAxis is the axis of the result that axis i of the indices becomes.
func batchAxis(a hlo.GatherAttrs, result hlo.Shape, i int64) int {
	if i > a.IndexVectorDim {
		i--
	}
	for axis := range result.Rank() {
		if slices.Contains(a.OffsetDims, int64(axis)) {
			continue
		}
		if i == 0 {
			return axis
		}
		i--
	}
	return -1
}

// gatherOfPad gathers before it pads. Batch axes must be padded alike on operand and indices: the gathered padding of one index batch is then
// the padding of the operand's.
func gatherOfPad(in hlo.Instruction) (pass.Expr, bool) {
	p, idx := in.OperandInstr(0), in.OperandInstr(1)
	if hlo.CheckBatching(in) != nil {
		return no()
	}
	x := p.OperandInstr(0)
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	through := passing(a, p.Shape(), in.Shape())
	pads := make([]hlo.PaddingDim, in.Shape().Rank())
	sizes := slices.Clone(a.SliceSizes)
	indexPads := make([]hlo.PaddingDim, idx.Shape().Rank())
	indices := idx
	if is(idx, hlo.OpPad) {
		copy(indexPads, padding(idx))
		indices = idx.OperandInstr(0)
	}
	used := make([]bool, idx.Shape().Rank())
	for i, d := range padding(p) {
		if d == (hlo.PaddingDim{}) {
			if k := slices.Index(a.OperandBatchingDims, int64(i)); k >= 0 && indexPads[a.StartIndicesBatchingDims[k]] != d {
				return no()
			}
			continue
		}
		if to, ok := through[i]; ok {
			pads[to], sizes[i] = d, x.Shape().Dim(i)
			continue
		}
		k := slices.Index(a.OperandBatchingDims, int64(i))
		if k < 0 || indexPads[a.StartIndicesBatchingDims[k]] != d {
			return no()
		}
		used[a.StartIndicesBatchingDims[k]] = true
		to := batchAxis(a, in.Shape(), a.StartIndicesBatchingDims[k])
		if to < 0 {
			return no()
		}
		pads[to] = d
	}
	for i, d := range indexPads {
		if d != (hlo.PaddingDim{}) && !used[i] {
			indices = idx // the padding of the indices has nothing to do with that of the operand
			if slices.Contains(used, true) {
				return no()
			}
		}
	}
	if !slices.ContainsFunc(pads, func(d hlo.PaddingDim) bool { return d != hlo.PaddingDim{} }) {
		return no()
	}
	a.SliceSizes = sizes
	g := makeOp(hlo.OpGather, &a, pass.Use(x), pass.Use(indices))
	return done(shaped(hlo.OpPad, in.Shape(), &hlo.PadAttrs{Padding: pads}, g, pass.Use(p.OperandInstr(1))))
}

// gatherOfReshapeOfPad is gatherOfPad with a reshape between that leaves the padded axes alone.
func gatherOfReshapeOfPad(in hlo.Instruction) (pass.Expr, bool) {
	r := in.OperandInstr(0)
	p := r.OperandInstr(0)
	if !is(p, hlo.OpPad) {
		return no()
	}
	x := p.OperandInstr(0)
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	through := passing(a, r.Shape(), in.Shape())
	pads := make([]hlo.PaddingDim, in.Shape().Rank())
	dims, sizes := slices.Clone(r.Shape().Dimensions()), slices.Clone(a.SliceSizes)
	to := axesAcross(p.Shape().Dimensions(), r.Shape().Dimensions())
	padded := false
	for i, d := range padding(p) {
		if d == (hlo.PaddingDim{}) {
			continue
		}
		axis := to[i]
		if axis < 0 {
			return no()
		}
		result, ok := through[axis]
		if !ok {
			return no()
		}
		pads[result], padded = d, true
		dims[axis], sizes[axis] = x.Shape().Dim(i), x.Shape().Dim(i)
	}
	if !padded {
		return no()
	}
	a.SliceSizes = sizes
	g := makeOp(hlo.OpGather, &a, reshaped(pass.Use(x), dims...), pass.Use(in.OperandInstr(1)))
	return done(shaped(hlo.OpPad, in.Shape(), &hlo.PadAttrs{Padding: pads}, g, pass.Use(p.OperandInstr(1))))
}

// scatterOfAll has an index of no components: the update covers the operand.
func scatterOfAll(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	if in.NumOperands() != 3 || len(a.ScatterDimsToOperandDims) > 0 || len(a.InsertedWindowDims) > 0 || len(a.InputBatchingDims) > 0 {
		return no()
	}
	x, u := in.OperandInstr(0), in.OperandInstr(2)
	if !slices.Equal(x.Shape().Dimensions(), u.Shape().Dimensions()) || len(a.UpdateWindowDims) != u.Shape().Rank() {
		return no()
	}
	by, ok := combinerOf(s, in)
	if !ok {
		return no()
	}
	return same(in, by.op, pass.Use(x), pass.Use(u))
}

// scatterOfOneWindow writes one update over a part of the operand that lies inside: JAX's x.at[1:3, 2].set(u).
func scatterOfOneWindow(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	if in.NumOperands() != 3 || !in.Shape().IsArray() || len(a.InputBatchingDims) > 0 || !takesUpdate(s, in) {
		return no()
	}
	x, i, u := in.OperandInstr(0), in.OperandInstr(1), in.OperandInstr(2)
	at, ok := integersOf(i)
	if !ok || len(at) != len(a.ScatterDimsToOperandDims) || x.Shape().Type() != u.Shape().Type() {
		return no()
	}
	starts, window, k := make([]int64, x.Shape().Rank()), make([]int64, x.Shape().Rank()), 0
	for j, d := range a.ScatterDimsToOperandDims {
		starts[d] = at[j]
	}
	for d := range window {
		if window[d] = 1; !slices.Contains(a.InsertedWindowDims, int64(d)) {
			window[d] = u.Shape().Dim(int(a.UpdateWindowDims[k]))
			k++
		}
		if starts[d] < 0 || starts[d] > x.Shape().Dim(d)-window[d] { // nothing is written then
			return no()
		}
	}
	args, places := []pass.Expr{pass.Use(x), reshaped(pass.Use(u), window...)}, map[int64]pass.Expr{}
	for _, start := range starts {
		if _, ok := places[start]; !ok {
			places[start] = integerOf(i.Shape().Type(), start)
		}
		args = append(args, places[start])
	}
	return done(shaped(hlo.OpDynamicUpdateSlice, in.Shape(), nil, args...))
}

// takesUpdate reports a scatter whose computation is its second parameter.
func takesUpdate(s pass.Site, in hlo.Instruction) bool {
	c, ok := s.Computation(in.Callee(0))
	if !ok {
		return false
	}
	n, ok := c.Root().ParameterNumber()
	return ok && n == 1
}

// addsUp reports a scatter that adds updates to its only operand.
func addsUp(s pass.Site, x hlo.Instruction) bool {
	if !is(x, hlo.OpScatter) || x.NumOperands() != 3 || !oneUse(x) || !x.Shape().IsArray() {
		return false
	}
	by, ok := combinerOf(s, x)
	return ok && by.op == hlo.OpAdd
}

func addToScatter(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	for i := range 2 {
		x, y := in.OperandInstr(i), in.OperandInstr(1-i)
		if !addsUp(s, x) {
			continue
		}
		sum := shaped(hlo.OpAdd, in.Shape(), nil, pass.Use(x.OperandInstr(0)), pass.Use(y))
		return done(pass.Again(x, sum, pass.Use(x.OperandInstr(1)), pass.Use(x.OperandInstr(2))))
	}
	return no()
}

// sumOfScatters joins indices and updates along the one axis in which they differ.
func sumOfScatters(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	x, y := in.OperandInstr(0), in.OperandInstr(1)
	if !addsUp(s, x) || !addsUp(s, y) || x.ID() == y.ID() {
		return no()
	}
	a, b := hlo.AttrsOf[hlo.ScatterAttrs](x), hlo.AttrsOf[hlo.ScatterAttrs](y)
	if !hlo.EqualAttrs(x.Attrs(), y.Attrs()) || a.IndicesAreSorted || a.UniqueIndices || b.IndicesAreSorted || b.UniqueIndices {
		return no()
	}
	i, j := x.OperandInstr(1), y.OperandInstr(1)
	u, v := x.OperandInstr(2), y.OperandInstr(2)
	if i.Shape().Type() != j.Shape().Type() || i.Shape().Rank() != j.Shape().Rank() || u.Shape().Rank() != v.Shape().Rank() ||
		u.Shape().NumElements()+v.Shape().NumElements() >= in.Shape().NumElements() {
		return no()
	}
	// The axis of the indices to join along: the one that differs, or the first that is neither the vector's nor a batch.
	axis := int64(-1)
	for k := range int64(i.Shape().Rank()) {
		if i.Shape().Dim(int(k)) != j.Shape().Dim(int(k)) {
			if axis >= 0 || k == a.IndexVectorDim || slices.Contains(a.ScatterIndicesBatchingDims, k) {
				return no()
			}
			axis = k
		}
	}
	for k := range int64(i.Shape().Rank()) {
		if axis < 0 && k != a.IndexVectorDim && !slices.Contains(a.ScatterIndicesBatchingDims, k) {
			axis = k
		}
	}
	if axis < 0 {
		return no()
	}
	// The axis of the updates that follows it.
	n := axis
	if axis > a.IndexVectorDim {
		n--
	}
	at := int64(-1)
	for k := range int64(u.Shape().Rank()) {
		if !slices.Contains(a.UpdateWindowDims, k) {
			if n == 0 {
				at = k
				break
			}
			n--
		}
	}
	if at < 0 {
		return no()
	}
	join := func(p, q hlo.Instruction, axis int64) pass.Expr {
		return makeOp(hlo.OpConcatenate, &hlo.AxisAttrs{Dimensions: []int64{axis}}, pass.Use(p), pass.Use(q))
	}
	sum := shaped(hlo.OpAdd, in.Shape(), nil, pass.Use(x.OperandInstr(0)), pass.Use(y.OperandInstr(0)))
	ids, ups := join(i, j, axis), join(u, v, at)
	if !valid(sum) || !valid(ids) || !valid(ups) {
		return no()
	}
	return pass.Again(x, sum, ids, ups), true
}

// transposeOfScatter moves the axes of operand and windows before the scatter. It is for scatters of one array whose updates are a list of
// windows.
func transposeOfScatter(in hlo.Instruction) (pass.Expr, bool) {
	s := in.OperandInstr(0)
	a := hlo.AttrsOf[hlo.ScatterAttrs](s)
	if s.NumOperands() != 3 || !oneUse(s) || len(a.InputBatchingDims)+len(a.InsertedWindowDims) > 0 {
		return no()
	}
	x, i, u := s.OperandInstr(0), s.OperandInstr(1), s.OperandInstr(2)
	perm := axes(in)
	if i.Shape().Rank() != 2 || a.IndexVectorDim != 1 || !slices.Equal(a.UpdateWindowDims, axisRange(len(perm) + 1)[1:]) {
		return no()
	}
	at := make([]int64, len(a.ScatterDimsToOperandDims))
	for k, d := range a.ScatterDimsToOperandDims {
		at[k] = int64(slices.Index(perm, d))
	}
	a.ScatterDimsToOperandDims = at
	windows := []int64{0}
	for _, p := range perm {
		windows = append(windows, p+1)
	}
	moved := shaped(hlo.OpScatter, in.Shape(), &a, transposed(pass.Use(x), perm...), pass.Use(i), transposed(pass.Use(u), windows...))
	if !valid(moved) {
		return no()
	}
	return moved.Calling(s.Callee(0)), true
}
