package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// reshapeRules are about reshape, and about what transposes do beside it.
var reshapeRules = []*pass.RewriteRule{
	over(rule("E05", "reshape(iota) → iota, or a sum of iotas times strides", reshapeOfIota, hlo.OpReshape), iotas),
	over(rule("E08", "transposes and reshapes of axes of size 1 that undo each other → the first operand", identityChain, hlo.OpReshape, hlo.OpTranspose, hlo.OpBitcast),
		[]hlo.Opcode{hlo.OpReshape, hlo.OpTranspose, hlo.OpBitcast}),
	over(rule("E04s", "reshape(broadcast(x)) → broadcast(reshape(x)), if axes of x of size 1 go", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		x := b.OperandInstr(0)
		var dims, at []int64
		ones := false
		to := axesAcross(b.Shape().Dimensions(), in.Shape().Dimensions())
		for i, a := range broadcastAxes(b) {
			if x.Shape().Dim(i) == 1 {
				ones = true
				continue
			}
			if to[a] < 0 {
				return no()
			}
			dims, at = append(dims, x.Shape().Dim(i)), append(at, int64(to[a]))
		}
		if !ones || in.Shape().NumElements() == 0 {
			return no()
		}
		return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: at}, reshaped(pass.Use(x), dims...)))
	}, hlo.OpReshape), broadcasts),
	over(rule("E07", "reshape or transpose of a random array → a random array of the shape", func(in hlo.Instruction) (pass.Expr, bool) {
		r := in.OperandInstr(0)
		if !oneUse(r) || r.IsRoot() || r.NumControlPredecessors() > 0 || r.NumControlSuccessors() > 0 {
			return no()
		}
		return pass.New(hlo.OpRng, in.Shape(), r.Attrs(), pass.Use(r.OperandInstr(0)), pass.Use(r.OperandInstr(1))).InsteadOfOperand(), true
	}, hlo.OpReshape, hlo.OpTranspose), []hlo.Opcode{hlo.OpRng}),
	over(rule("E09", "reshape(transpose(reshape(x))) → transpose(reshape(x)), if each result axis is a run of moved axes", hoistTranspose, hlo.OpReshape), transposes),
	over(rule("E18", "depth to space: reshape(transpose(reshape(x))) → concatenate of slices", depthToSpace, hlo.OpReshape), transposes),
	over(rule("E25", "broadcast(x with axes of size 1) → broadcast(reshape(x))", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		var dims, at []int64
		for i, a := range broadcastAxes(in) {
			if x.Shape().Dim(i) != 1 {
				dims, at = append(dims, x.Shape().Dim(i)), append(at, a)
			}
		}
		if len(dims) == x.Shape().Rank() || is(x, hlo.OpReshape) && x.OperandInstr(0).Shape().Rank() > x.Shape().Rank() {
			return no()
		}
		return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: at}, reshaped(pass.Use(x), dims...)))
	}, hlo.OpBroadcast)),
	rule("E37", "reverse(op(x, repeated scalar)) → op(reverse(x), repeated scalar)", func(in hlo.Instruction) (pass.Expr, bool) {
		op := in.OperandInstr(0)
		traits := hlo.Info(op.Opcode()).Traits
		if !traits.Has(hlo.TraitElementwise) || traits.Has(hlo.TraitRandom) || op.NumOperands() != 2 || is(op, hlo.OpCompare) || op.NumCallees() > 0 {
			return no()
		}
		for i := range 2 {
			if _, ok := splat(op.OperandInstr(i)); !ok {
				continue
			}
			args := []pass.Expr{pass.Use(op.OperandInstr(0)), pass.Use(op.OperandInstr(1))}
			if x := op.OperandInstr(1 - i); x.Shape().Rank() == in.Shape().Rank() {
				args[1-i] = shaped(hlo.OpReverse, x.Shape(), in.Attrs(), args[1-i])
				return done(shaped(op.Opcode(), in.Shape(), op.Attrs(), args...))
			}
		}
		return no()
	}, hlo.OpReverse),
	over(rule("E38", "reverse(reshape that adds axes of size 1) → reshape(reverse)", func(in hlo.Instruction) (pass.Expr, bool) {
		r := in.OperandInstr(0)
		to, ok := insertsOnes(r)
		if !ok || r.OperandInstr(0).Shape().Rank() >= in.Shape().Rank() {
			return no()
		}
		var turned []int64
		for i, a := range to {
			if a >= 0 && slices.Contains(axes(in), int64(a)) {
				turned = append(turned, int64(i))
			}
		}
		x := pass.Use(r.OperandInstr(0))
		if len(turned) > 0 {
			x = shaped(hlo.OpReverse, r.OperandInstr(0).Shape(), &hlo.DimensionsAttrs{Dimensions: turned}, x)
		}
		return done(shaped(hlo.OpReshape, in.Shape(), nil, x))
	}, hlo.OpReverse), reshapes),
	over(rule("E42", "broadcast(reshape(broadcast(x))) → reshape(broadcast(x)), if the reshape joins axes", repeatTwice, hlo.OpBroadcast), reshapes),
}

// repeatTwice repeats x along all axes at once, where an array that has been repeated is seen with fewer axes and repeated again.
func repeatTwice(in hlo.Instruction) (pass.Expr, bool) {
	r := in.OperandInstr(0)
	b := r.OperandInstr(0)
	if !is(b, hlo.OpBroadcast) || !oneUse(r) || !oneUse(b) || !static(in, r, b) || in.Shape().NumElements() == 0 || !slices.IsSorted(broadcastAxes(in)) {
		return no()
	}
	inner := b.Shape().Dimensions()
	place := make([]int64, len(inner)) // of the axes of b among those of the result
	var dims []int64
	from := 0 // axes of b that have a place
	joined := broadcastAxes(in)
	for axis, size := range in.Shape().Dimensions() {
		if len(joined) == 0 || joined[0] != int64(axis) {
			dims = append(dims, size)
			continue
		}
		joined = joined[1:]
		for n := int64(1); n < size || from < len(inner) && inner[from] == 1; from++ {
			if from == len(inner) || size%(n*inner[from]) != 0 {
				return no()
			}
			n *= inner[from]
			place[from] = int64(len(dims))
			dims = append(dims, inner[from])
		}
	}
	if from < len(inner) || len(dims) == in.Shape().Rank() {
		return no()
	}
	var at []int64
	for _, a := range broadcastAxes(b) {
		at = append(at, place[a])
	}
	all := hlo.MakeShape(in.Shape().Type(), dims...).WithDefaultLayout()
	return done(shaped(hlo.OpReshape, in.Shape(), nil, shaped(hlo.OpBroadcast, all, &hlo.BroadcastAttrs{Dimensions: at}, pass.Use(b.OperandInstr(0)))))
}

// reshapeOfIota counts along the axes that the counting axis became: Σ iotaᵢ · stride.
func reshapeOfIota(in hlo.Instruction) (pass.Expr, bool) {
	x := in.OperandInstr(0)
	axis := int(hlo.AttrsOf[hlo.IotaAttrs](x).Dimension)
	t := in.Shape().Type()
	if in.Shape().NumElements() == 0 || t.IsComplex() || t == hlo.PRED {
		return no()
	}
	before := int64(1)
	for i := range axis {
		before *= x.Shape().Dim(i)
	}
	n, seen := x.Shape().Dim(axis), int64(1)
	first := 0
	for first < in.Shape().Rank() && seen < before {
		seen *= in.Shape().Dim(first)
		first++
	}
	if seen != before {
		return no()
	}
	last, size := first, int64(1)
	for last < in.Shape().Rank() && size < n {
		size *= in.Shape().Dim(last)
		last++
	}
	if size != n {
		return no()
	}
	if n == 1 { // nothing is counted
		return fill(in.Shape(), 0), true
	}
	var terms []pass.Expr
	stride := n
	for i := first; i < last; i++ {
		stride /= in.Shape().Dim(i)
		if in.Shape().Dim(i) == 1 {
			continue
		}
		term := shaped(hlo.OpIota, in.Shape(), &hlo.IotaAttrs{Dimension: int64(i)})
		if stride != 1 {
			k := number(t, float64(stride))
			if !valid(k) || !keepsCount(t, n) {
				return no()
			}
			term = shaped(hlo.OpMultiply, in.Shape(), nil, term, like(in.Shape(), k))
		}
		terms = append(terms, term)
	}
	sum := terms[len(terms)-1]
	for i := len(terms) - 2; i >= 0; i-- {
		sum = shaped(hlo.OpAdd, in.Shape(), nil, sum, terms[i])
	}
	return done(sum)
}

// keepsCount reports whether a type has every number below n, so that sums of parts are exact.
func keepsCount(t hlo.PrimitiveType, n int64) bool {
	bits := map[hlo.PrimitiveType]int{hlo.F64: 53, hlo.F32: 24, hlo.F16: 11, hlo.BF16: 8}[t]
	if t.IsInteger() {
		bits = t.Bits() // wraps as the iota itself does
		return bits >= 8
	}
	return bits > 0 && n <= int64(1)<<bits
}

// identityChain follows transposes, and reshapes or bitcasts of axes of size 1, and answers with the value that the chain began with if every
// axis is back at its place.
func identityChain(in hlo.Instruction) (pass.Expr, bool) {
	// places[i] is the axis of in that axis i of the value at hand is, -1 for one of size 1 that went.
	x := in
	places := axisRange(in.Shape().Rank())
	steps := 0
	for depth := 0; depth < 8; depth++ {
		if x.NumOperands() != 1 {
			return no()
		}
		y := x.OperandInstr(0)
		if !y.Shape().IsArray() || y.Shape().Type() != in.Shape().Type() || countOnes(y.Shape()) > 1 || countOnes(x.Shape()) > 1 {
			return no()
		}
		next := make([]int64, y.Shape().Rank())
		switch x.Opcode() {
		case hlo.OpTranspose:
			for i, a := range axes(x) {
				next[a] = places[i]
			}
		case hlo.OpReshape, hlo.OpBitcast:
			if is(x, hlo.OpBitcast) && !(rowMajor(x) && rowMajor(y)) {
				return no()
			}
			to, ok := insertsOnes(x)
			if !ok {
				return no()
			}
			for i, a := range to {
				if next[i] = -1; a >= 0 {
					next[i] = places[a]
				}
			}
		default:
			return no()
		}
		steps++
		x, places = y, next
		if steps > 1 && sameShape(x, in) && backInPlace(places, in.Shape()) {
			return use(x)
		}
	}
	return no()
}

func countOnes(s hlo.Shape) (n int) {
	for _, d := range s.Dimensions() {
		if d == 1 {
			n++
		}
	}
	return n
}

// backInPlace reports whether every axis that is not of size 1 stands where it began.
func backInPlace(places []int64, s hlo.Shape) bool {
	for i, p := range places {
		if s.Dim(i) != 1 && p != int64(i) {
			return false
		}
	}
	return true
}

// rowMajor reports whether the axes lie in memory in their order, without tiles.
func rowMajor(x hlo.Instruction) bool {
	l, ok := x.Shape().Layout()
	return !ok || l.IsRowMajor() && len(l.Tiles) == 0
}

// hoistTranspose moves a transpose behind the reshape that joins axes which it left together.
func hoistTranspose(in hlo.Instruction) (pass.Expr, bool) {
	t := in.OperandInstr(0)
	r := t.OperandInstr(0)
	if !is(r, hlo.OpReshape) {
		return no()
	}
	x := r.OperandInstr(0)
	// Each axis of the result is a run of axes of t; each run must be axes of r that follow each other, and one axis of x.
	perm, next := make([]int64, 0, in.Shape().Rank()), 0
	toX := runsOf(x.Shape().Dimensions(), r.Shape().Dimensions())
	if toX == nil {
		return no()
	}
	for _, d := range in.Shape().Dimensions() {
		size, first := int64(1), next
		for next < t.Shape().Rank() && (size < d || next == first) {
			size *= t.Shape().Dim(next)
			next++
		}
		if size != d {
			return no()
		}
		run := axes(t)[first:next]
		owner := slices.IndexFunc(toX, func(o [2]int) bool { return o[0] == int(run[0]) && o[1] == int(run[len(run)-1])+1 })
		for i := 1; i < len(run); i++ {
			if run[i] != run[i-1]+1 {
				return no()
			}
		}
		if owner < 0 {
			return no()
		}
		perm = append(perm, int64(owner))
	}
	if next != t.Shape().Rank() || len(perm) != x.Shape().Rank() {
		return trailingOnes(in, x, perm, next)
	}
	if slices.IsSorted(perm) {
		return use(x)
	}
	return done(shaped(hlo.OpTranspose, in.Shape(), &hlo.DimensionsAttrs{Dimensions: perm}, pass.Use(x)))
}

// trailingOnes is hoistTranspose where axes of size 1 are left over: only the identity is seen.
func trailingOnes(in, x hlo.Instruction, perm []int64, next int) (pass.Expr, bool) {
	t := in.OperandInstr(0)
	for ; next < t.Shape().Rank(); next++ {
		if t.Shape().Dim(next) != 1 {
			return no()
		}
	}
	if slices.IsSorted(perm) && len(perm) == x.Shape().Rank() {
		return use(x)
	}
	return no()
}

// runsOf gives, for each axis of a shape, the run [from, to) of axes that a reshape split it into; nil if the reshape did something else.
func runsOf(whole, parts []int64) [][2]int {
	runs, next := [][2]int{}, 0
	for _, d := range whole {
		size, first := int64(1), next
		for next < len(parts) && (size < d || next == first) {
			size *= parts[next]
			next++
		}
		if size != d {
			return nil
		}
		runs = append(runs, [2]int{first, next})
	}
	if n := len(runs); n > 0 {
		for next < len(parts) && parts[next] == 1 {
			next++
			runs[n-1][1] = next
		}
	}
	if next != len(parts) {
		return nil
	}
	return runs
}

// maxChunks is how many slices depth to space may become.
const maxChunks = 5

// depthToSpace finds reshape(transpose(reshape(x))) in which one axis is split, its major part moves in front of another axis, and the two are
// joined: chunks of x stand beside each other in the result.
func depthToSpace(in hlo.Instruction) (pass.Expr, bool) {
	t := in.OperandInstr(0)
	r := t.OperandInstr(0)
	if !is(r, hlo.OpReshape) || !oneUse(t) || !oneUse(r) || is(r.OperandInstr(0), hlo.OpReshape) {
		return no()
	}
	x := r.OperandInstr(0)
	n := x.Shape().Rank()
	if r.Shape().Rank() != n+1 || in.Shape().Rank() != n {
		return no()
	}
	// The split axis of x is s: x[s] = r[s] · r[s+1].
	s := slices.IndexFunc(axisRange(n), func(i int64) bool { return x.Shape().Dim(int(i)) != r.Shape().Dim(int(i)) })
	if s < 0 || x.Shape().Dim(s) != r.Shape().Dim(s)*r.Shape().Dim(s+1) || !slices.Equal(x.Shape().Dimensions()[s+1:], r.Shape().Dimensions()[s+2:]) {
		return no()
	}
	chunks := r.Shape().Dim(s)
	if chunks < 2 || chunks > maxChunks {
		return no()
	}
	// The transpose moves axis s to place p, before the axis that it is joined with, or behind it.
	p := slices.Index(axes(t), int64(s))
	rest := slices.DeleteFunc(slices.Clone(axes(t)), func(a int64) bool { return a == int64(s) })
	if !slices.IsSorted(rest) || p >= s || p < 1 {
		return no()
	}
	// Joined with the axis in front, at p-1: result[p-1] = r[p-1] · chunks, chunks varying fastest.
	if in.Shape().Dim(p-1) != t.Shape().Dim(p-1)*chunks {
		return no()
	}
	var parts []pass.Expr
	width := r.Shape().Dim(s + 1)
	for i := range chunks {
		ranges := make([]hlo.SliceDim, n)
		for k := range ranges {
			ranges[k] = hlo.SliceDim{Limit: x.Shape().Dim(k), Stride: 1}
		}
		ranges[s] = hlo.SliceDim{Start: i * width, Limit: (i + 1) * width, Stride: 1}
		part := makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, pass.Use(x))
		dims := slices.Insert(slices.Clone(part.Shape().Dimensions()), p, 1)
		parts = append(parts, reshaped(part, dims...))
	}
	return done(shaped(hlo.OpReshape, in.Shape(), nil, makeOp(hlo.OpConcatenate, &hlo.AxisAttrs{Dimensions: []int64{int64(p)}}, parts...)))
}
