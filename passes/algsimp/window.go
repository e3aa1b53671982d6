package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// windowRules are about reduce-window.
func windowRules(o *options) []*pass.RewriteRule {
	single := func(id, doc string, rewrite func(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool)) *pass.RewriteRule {
		return &pass.RewriteRule{ID: id, Doc: doc, Root: []hlo.Opcode{hlo.OpReduceWindow}, RewriteAt: func(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
			w := windowOf(in)
			if in.NumOperands() != 2 || len(w) != in.Shape().Rank() || slices.ContainsFunc(w, func(d hlo.WindowDim) bool { return d.Reversal }) {
				return no()
			}
			by, ok := combinerOf(s, in)
			if !ok {
				return no()
			}
			return rewrite(in, w, by)
		}}
	}
	return []*pass.RewriteRule{
		rule("G25", "reduce-window of nothing → broadcast of the initial values", reduceOfNothing, hlo.OpReduceWindow),
		single("G25s", "reduce-window of a scalar → op(initial value, scalar)", func(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
			if len(w) > 0 {
				return no()
			}
			return same(in, by.op, pass.Use(in.OperandInstr(0)), pass.Use(in.OperandInstr(1)))
		}),
		single("G27", "reduce-window with a window of one element → op(x, initial value), padded", windowOfOne),
		loosely(pass.Overflow, single("G26", "running sum of a repeated number → number·(iota + 1)", runningSum)),
		loosely(pass.Overflow, single("G28", "reduce-window over whole axes → reshape(reduce)", windowOfAll)),
		rule("G28w", "reduce-window whose windows divide the arrays into equal long parts → reduce of reshapes, on CPUs and where layouts are not final", windowsOfParts, hlo.OpReduceWindow),
		single("G30", "reduce-window(pad(x)) that sees one element of x and padding in every window → broadcast of x", func(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
			return effectiveBroadcast(in, w, by.neutral(in.OperandInstr(1)))
		}),
		loosely(pass.ZeroSign, single("G30z", "the same where the initial value changes the sign of zeros alone", func(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
			return effectiveBroadcast(in, w, by.neutralUpToSign(in.OperandInstr(1)))
		})),
		single("G29", "reduce-window(pad(x)) → reduce-window with padding, if x is padded with the initial value", func(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
			if !by.idempotent() && !by.neutralUpToSign(in.OperandInstr(1)) {
				return no() // each padded element counts, and a window's own padding does not
			}
			return foldPad(in, w, by, o)
		}),
		loosely(pass.Overflow, single("G29o", "the same where each padded element counts: XLA takes the initial value for neutral", func(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
			return foldPad(in, w, by, o)
		})),
		loosely(pass.Overflow, over(rule("F09", "the last element of a running reduce → reduce", lastOfRunning, hlo.OpSlice), []hlo.Opcode{hlo.OpReduceWindow})),
	}
}

func windowOf(in hlo.Instruction) []hlo.WindowDim {
	if w := hlo.AttrsOf[hlo.WindowAttrs](in).Window; w != nil {
		return w.Dims
	}
	return nil
}

// steady reports whether a window moves by one over the array as it is.
func steady(d hlo.WindowDim) bool {
	return d.Stride == 1 && d.BaseDilation == 1 && d.WindowDilation == 1
}

// windowOfOne applies the op to each element and the initial value; where the window lies in padding, there is the initial value alone.
func windowOfOne(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
	pads, padded := make([]hlo.PaddingDim, len(w)), false
	for i, d := range w {
		if d.Size != 1 || d.Stride != 1 || d.BaseDilation != 1 {
			return no()
		}
		pads[i] = hlo.PaddingDim{Low: d.PadLow, High: d.PadHigh}
		padded = padded || d.PadLow != 0 || d.PadHigh != 0
	}
	if by.op != hlo.OpAdd && by.op != hlo.OpMinimum && by.op != hlo.OpMaximum {
		return no()
	}
	x, init := in.OperandInstr(0), pass.Use(in.OperandInstr(1))
	e := shaped(by.op, x.Shape(), nil, pass.Use(x), like(x.Shape(), init))
	if !padded {
		return done(e)
	}
	return done(shaped(hlo.OpPad, in.Shape(), &hlo.PadAttrs{Padding: pads}, e, init))
}

// repeatedNumber looks through what leaves all elements the same.
func repeatedNumber(x hlo.Instruction) (pass.Expr, bool) {
	for is(x, hlo.OpBitcast) || is(x, hlo.OpReshape) && !x.Shape().IsScalar() {
		x = x.OperandInstr(0)
	}
	if is(x, hlo.OpBroadcast) && x.OperandInstr(0).Shape().IsScalar() {
		n := x.OperandInstr(0)
		for is(n, hlo.OpReshape) {
			n = n.OperandInstr(0)
		}
		if isConstant(n) {
			return pass.Use(x.OperandInstr(0)), true
		}
	}
	return no()
}

func runningSum(in hlo.Instruction, w []hlo.WindowDim, by combiner) (pass.Expr, bool) {
	x, ok := repeatedNumber(in.OperandInstr(0))
	if !ok || by.op != hlo.OpAdd || !splatIs(in.OperandInstr(1), isAnyZero) || x.Shape().Type() != in.Shape().Type() || in.Shape().Type().IsComplex() {
		return no()
	}
	axis := -1
	for i, d := range w {
		n := in.Shape().Dim(i)
		switch {
		case !steady(d):
			return no()
		case d.Size == 1 && d.PadLow == 0 && d.PadHigh == 0:
		case axis < 0 && d.Size == n && d.PadLow == n-1 && d.PadHigh == 0:
			axis = i
		default:
			return no()
		}
	}
	if axis < 0 {
		return no()
	}
	t := in.Shape().Type()
	place := in.Shape().WithType(hlo.S32)
	count := shaped(hlo.OpAdd, place, nil, shaped(hlo.OpIota, place, &hlo.IotaAttrs{Dimension: int64(axis)}), like(place, number(hlo.S32, 1)))
	if t != hlo.S32 {
		count = shaped(hlo.OpConvert, in.Shape(), nil, count)
	}
	return same(in, hlo.OpMultiply, like(in.Shape(), x), count)
}

func windowOfAll(in hlo.Instruction, w []hlo.WindowDim, _ combiner) (pass.Expr, bool) {
	x := in.OperandInstr(0)
	var gone []int64
	for i, d := range w {
		switch {
		case !steady(d) || d.PadLow != 0 || d.PadHigh != 0:
			return no()
		case d.Size == 1:
		case d.Size == x.Shape().Dim(i):
			gone = append(gone, int64(i))
		default:
			return no()
		}
	}
	if len(gone) == 0 {
		return no()
	}
	return done(shaped(hlo.OpReshape, in.Shape(), nil, reduced(in, pass.Use(x), pass.Use(in.OperandInstr(1)), gone)))
}

// leastPart is the smallest window along an axis that is worth axes of its own: XLA's trees of reductions have 32, pooling has few.
const leastPart = 16

// windowsOfParts gives each window axes of its own. Elements are combined in the same order as before.
func windowsOfParts(in hlo.Instruction) (pass.Expr, bool) {
	n, x := in.NumOperands()/2, in.OperandInstr(0).Shape()
	var dims, gone []int64
	for i, d := range windowOf(in) {
		size := x.Dim(i)
		if d.Stride != d.Size || d.Size > 1 && (d.BaseDilation != 1 || d.WindowDilation != 1) || d.PadLow != 0 || d.PadHigh != 0 || d.Reversal || size%d.Size != 0 || d.Size > 1 && d.Size < leastPart {
			return no()
		}
		if dims = append(dims, size/d.Size); d.Size > 1 {
			gone, dims = append(gone, int64(len(dims))), append(dims, d.Size)
		}
	}
	if len(gone) == 0 {
		return no()
	}
	var operands []pass.Expr
	for i := range n {
		operands = append(operands, reshaped(pass.Use(in.OperandInstr(i)), dims...))
	}
	for i := range n {
		operands = append(operands, pass.Use(in.OperandInstr(n+i)))
	}
	return done(shaped(hlo.OpReduce, in.Shape(), &hlo.DimensionsAttrs{Dimensions: gone}, operands...).Calling(in.Callee(0)))
}

// padBelow finds the pad that an array comes from, perhaps converted after, and the padding as the reduce-window sees it.
func padBelow(x hlo.Instruction) (pad hlo.Instruction, converted, ok bool) {
	if is(x, hlo.OpConvert) {
		x, converted = x.OperandInstr(0), true
	}
	return x, converted, is(x, hlo.OpPad)
}

// sameNumber reports whether two repeated numbers are one, after a conversion that keeps it.
func sameNumber(a, b hlo.Instruction) bool {
	x, okX := splat(a)
	y, okY := splat(b)
	if a.ID() == b.ID() {
		return true
	}
	if !okX || !okY {
		return false
	}
	if x.Shape().Type() == y.Shape().Type() {
		return x.Equal(y)
	}
	f, okF := scalar.Float(x)
	g, okG := scalar.Float(y)
	return okF && okG && f == g && scalar.IsMinusZero(x) == scalar.IsMinusZero(y)
}

// effectiveBroadcast is about an axis of size 1 padded on both sides so much that every window has exactly its element.
func effectiveBroadcast(in hlo.Instruction, w []hlo.WindowDim, neutral bool) (pass.Expr, bool) {
	pad, converted, ok := padBelow(in.OperandInstr(0))
	if !ok || converted || !sameNumber(pad.OperandInstr(1), in.OperandInstr(1)) || !neutral {
		return no()
	}
	x := pad.OperandInstr(0)
	var at []int64
	var dims []int64
	grows := false
	for i, d := range w {
		p := padding(pad)[i]
		if !steady(d) || p.Interior != 0 || d.PadLow != 0 || d.PadHigh != 0 {
			return no()
		}
		switch {
		case d.Size == 1 && p == (hlo.PaddingDim{}):
			at, dims = append(at, int64(i)), append(dims, x.Shape().Dim(i))
		case x.Shape().Dim(i) == 1 && p.Low == p.High && p.Low == d.Size-1:
			grows = true
		default:
			return no()
		}
	}
	if !grows {
		return no()
	}
	return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: at}, reshaped(pass.Use(x), dims...)))
}

// foldPad gives the padding of the array to the window.
func foldPad(in hlo.Instruction, w []hlo.WindowDim, _ combiner, _ *options) (pass.Expr, bool) {
	pad, converted, ok := padBelow(in.OperandInstr(0))
	if !ok || !sameNumber(pad.OperandInstr(1), in.OperandInstr(1)) {
		return no()
	}
	x := pad.OperandInstr(0)
	dims := slices.Clone(w)
	reach, padded := 0, 0
	var ratio float64
	for i := range dims {
		p := padding(pad)[i]
		d := &dims[i]
		if p.Low < 0 || p.High < 0 {
			return no()
		}
		if p.Interior != 0 {
			if d.BaseDilation != 1 || d.PadLow != 0 || d.PadHigh != 0 {
				return no()
			}
			d.BaseDilation = p.Interior + 1
		} else if (p.Low != 0 || p.High != 0) && d.BaseDilation != 1 {
			return no()
		}
		if d.Size != 1 {
			reach++
		}
		if p != (hlo.PaddingDim{}) {
			padded++
			ratio = float64(p.Low+p.High) / float64(max(pad.Shape().Dim(i), 1))
		}
		d.PadLow += p.Low
		d.PadHigh += p.High
	}
	if reach <= 1 && padded == 1 && ratio < 0.1 {
		return no() // a little padding of a long scan: the window would look at more than it saves
	}
	v := pass.Use(x)
	if converted {
		v = shaped(hlo.OpConvert, x.Shape().WithType(in.OperandInstr(0).Shape().Type()), nil, v)
	}
	e := pass.Again(in, v, pass.Use(in.OperandInstr(1)))
	e = shaped(hlo.OpReduceWindow, in.Shape(), &hlo.WindowAttrs{Window: &hlo.Window{Dims: dims}}, e.Operands()...).Calling(in.Callee(0))
	return e.Settled(), true
}

// lastOfRunning reads the last element of a running reduce, which is the reduce of all.
func lastOfRunning(in hlo.Instruction) (pass.Expr, bool) {
	r := in.OperandInstr(0)
	if r.NumOperands() != 2 || !oneUse(r) || !r.Shape().IsArray() {
		return no()
	}
	axis := -1
	for i, d := range windowOf(r) {
		n := r.Shape().Dim(i)
		switch {
		case !steady(d) || d.Reversal:
			return no()
		case d.Size == 1 && d.PadLow == 0 && d.PadHigh == 0:
		case axis < 0 && d.Size == n && d.PadLow == n-1 && d.PadHigh == 0:
			axis = i
		default:
			return no()
		}
	}
	if axis < 0 || cut(in)[axis] != (hlo.SliceDim{Start: r.Shape().Dim(axis) - 1, Limit: r.Shape().Dim(axis), Stride: 1}) {
		return no()
	}
	ranges := slices.Clone(cut(in))
	ranges[axis] = hlo.SliceDim{Limit: r.OperandInstr(0).Shape().Dim(axis), Stride: 1}
	all := reduced(r, sliced(pass.Use(r.OperandInstr(0)), ranges), pass.Use(r.OperandInstr(1)), []int64{int64(axis)})
	return done(shaped(hlo.OpReshape, in.Shape(), nil, all))
}
