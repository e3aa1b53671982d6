package tile

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
)

// usual writes ops that a few instructions compute for most operands; others are left to the op's loop. It reports false for other ops, and where there may be no branch.
func (w *scalarWriter) usual(s *step, name scalar.Name, args []scalar.Value) (scalar.Value, bool) {
	if w.b.InCondition() {
		return scalar.None, false
	}
	var v, other scalar.Value // the result, and whether it is not that
	width := 8
	switch name {
	case scalar.Name{Op: "remainder", Type: scalar.F32}:
		v, other = w.remainder32(args[0], args[1])
		width = 4
	case scalar.Name{Op: "remainder", Type: scalar.F64}:
		v, other = w.remainder64(args[0], args[1])
	case scalar.Name{Op: "divide", Type: scalar.C64}:
		v, other = w.quotient(args[0], args[1])
	default:
		return scalar.None, false
	}
	results := w.b.If(other, []int{width}, func() []scalar.Value {
		return []scalar.Value{w.b.Call(scalar.Loop(s.fn), nil, width, args...)}
	}, func() []scalar.Value { return []scalar.Value{v} })
	return results[0], true
}

// named is an op of package scalar that there is.
func (w *scalarWriter) named(op string, t scalar.Type, args ...scalar.Value) scalar.Value {
	v, _ := w.b.Named(scalar.Name{Op: op, Type: t}, args...)
	return v
}

func (w *scalarWriter) converted(from, to scalar.Type, v scalar.Value) scalar.Value {
	v, _ = w.b.Named(scalar.Name{Op: "convert", Type: from, To: to}, v)
	return v
}

// remainder32 is what the function of that name does.
func (w *scalarWriter) remainder32(x, y scalar.Value) (v, other scalar.Value) {
	wide := w.converted(scalar.F32, scalar.F64, x)
	ax, ay, q := w.wholeQuotient(wide, w.converted(scalar.F32, scalar.F64, y))
	r := w.named("subtract", scalar.F64, ax, w.named("multiply", scalar.F64, q, ay))
	return w.converted(scalar.F64, scalar.F32, w.signedRest(r, ax, ay, wide)), w.isLarge(q, exactQuotient, r)
}

// remainder64 multiplies the whole quotient by the upper and the lower half of the divisor, so that both products are exact, and so are the differences.
func (w *scalarWriter) remainder64(x, y scalar.Value) (v, other scalar.Value) {
	const bits, lower = 25, 27
	ax, ay, q := w.wholeQuotient(x, y)
	high := w.named("and", scalar.U64, ay, w.b.Const(8, ^uint64(1<<lower-1)))
	low := w.named("subtract", scalar.F64, ay, high)
	r := w.named("subtract", scalar.F64, ax, w.named("multiply", scalar.F64, q, high))
	r = w.named("subtract", scalar.F64, r, w.named("multiply", scalar.F64, q, low))
	rounded := w.named("subtract", scalar.F64, ax, w.named("multiply", scalar.F64, q, ay))
	return w.signedRest(r, ax, ay, x), w.isLarge(q, 1<<bits, rounded)
}

// wholeQuotient is that of the magnitudes of x and y.
func (w *scalarWriter) wholeQuotient(x, y scalar.Value) (ax, ay, q scalar.Value) {
	ax, ay = w.named("abs", scalar.F64, x), w.named("abs", scalar.F64, y)
	return ax, ay, w.named("floor", scalar.F64, w.named("divide", scalar.F64, ax, ay))
}

// signedRest is the rest r with the sign of x. It is below 0 where the quotient was rounded up to a whole number, and no number where the divisor is infinite.
func (w *scalarWriter) signedRest(r, ax, ay, x scalar.Value) scalar.Value {
	negative := w.named("lt", scalar.F64, r, w.b.Const(8, 0))
	r = w.named("select", scalar.U64, negative, w.named("add", scalar.F64, r, ay), r)
	r = w.named("select", scalar.U64, w.named("lt", scalar.F64, ax, ay), ax, r)
	return w.named("or", scalar.U64, r, w.named("and", scalar.U64, x, w.b.Const(8, 1<<63)))
}

// isLarge reports whether a quotient is not below a limit, though the rest is a number.
func (w *scalarWriter) isLarge(q scalar.Value, limit float64, rest scalar.Value) scalar.Value {
	return w.named("and", scalar.Pred, w.named("le", scalar.F64, w.b.ConstFloat64(limit), q), w.named("eq", scalar.F64, rest, rest))
}

// quotient is what the function of that name does where no infinities and zeros have to be recovered.
func (w *scalarWriter) quotient(x, y scalar.Value) (v, other scalar.Value) {
	parts := func(v scalar.Value) (re, im scalar.Value) {
		re, im = w.b.Parts(v)
		return w.converted(scalar.F32, scalar.F64, re), w.converted(scalar.F32, scalar.F64, im)
	}
	op := func(op string, x, y scalar.Value) scalar.Value { return w.named(op, scalar.F64, x, y) }
	a, b := parts(x)
	c, d := parts(y)
	inverse := op("divide", w.b.ConstFloat64(1), op("add", op("multiply", c, c), op("multiply", d, d)))
	single := func(v scalar.Value) scalar.Value {
		return w.converted(scalar.F64, scalar.F32, op("multiply", v, inverse))
	}
	re := single(op("add", op("multiply", a, c), op("multiply", b, d)))
	im := single(op("subtract", op("multiply", b, c), op("multiply", a, d)))
	isNaN := func(v scalar.Value) scalar.Value { return w.named("ne", scalar.F32, v, v) }
	return w.b.Pair(re, im), w.named("and", scalar.Pred, isNaN(re), isNaN(im))
}

// widened is an element of an input as registers hold it.
func (w *scalarWriter) widened(l *load, v scalar.Value) scalar.Value {
	switch {
	case l.typ == hlo.BF16:
		return w.converted(scalar.BF16, scalar.F32, v)
	case l.widen != nil:
		return w.b.Call(scalar.Loop(l.widen), inlined(native.NewConversion(vectors.Of(hlo.OpConvert, l.typ, hlo.F32))), 4, v)
	}
	return v
}

// narrowed is an element of an output as memory holds it.
func (w *scalarWriter) narrowed(s *store, v scalar.Value) scalar.Value {
	switch {
	case s.narrow == nil:
		return v
	case s.typ == hlo.BF16:
		v = w.b.Call(scalar.Loop(roundLoop(s.typ)), inlined(native.NewElement(roundName(s.typ), 0)), 4, v)
		return w.named("shift-right-logical", scalar.U32, v, w.b.Const(4, 16))
	}
	return w.b.Call(scalar.Loop(s.narrow), inlined(native.NewConversion(vectors.Of(hlo.OpConvert, hlo.F32, s.typ))), s.typ.ByteSize(), v)
}

// inlined is x if there is one.
func inlined[T scalar.Inline](x T, ok bool) scalar.Inline {
	if !ok {
		return nil
	}
	return x
}
