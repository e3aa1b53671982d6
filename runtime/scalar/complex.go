package scalar

// Complex numbers of two f32 are one value of 64 bits, as in memory: the real part is the lower half. Builders remember the parts of what they have joined, so that
// a chain of ops works on parts alone.

// Pair joins the parts of a complex number.
func (b *Builder) Pair(re, im Value) Value {
	low := b.op(opExtU32, 8, re)
	v := b.op(opOr, 8, low, b.op(opShl64, 8, im, b.Const(8, 32)))
	b.parts[v] = [2]Value{re, im}
	return v
}

// Parts are the real and the imaginary part of a complex number.
func (b *Builder) Parts(v Value) (re, im Value) {
	if p, ok := b.parts[v]; ok {
		return p[0], p[1]
	}
	return v, b.op(opShr64, 8, v, b.Const(8, 32))
}

// defineComplex computes products and magnitudes in f64, where products of f32 are exact, and rounds once.
func (r recipes) defineComplex() {
	name := func(op string) Name { return Name{Op: op, Type: C64} }
	partwise := func(op string, o op) {
		r[name(op)] = func(b *Builder, x []Value) Value {
			var re, im []Value
			for _, v := range x {
				p, q := b.Parts(v)
				re, im = append(re, p), append(im, q)
			}
			return b.Pair(b.op(o, 4, re...), b.op(o, 4, im...))
		}
	}
	partwise("add", opAddF32)
	partwise("subtract", opSubF32)
	partwise("negate", opNegF32)
	double := func(b *Builder, v Value) (re, im Value) {
		re, im = b.Parts(v)
		return b.op(opF32ToF64, 8, re), b.op(opF32ToF64, 8, im)
	}
	r[name("multiply")] = func(b *Builder, x []Value) Value {
		p, q := double(b, x[0])
		s, t := double(b, x[1])
		re := b.op(opSubF64, 8, b.op(opMulF64, 8, p, s), b.op(opMulF64, 8, q, t))
		im := b.op(opAddF64, 8, b.op(opMulF64, 8, p, t), b.op(opMulF64, 8, q, s))
		return b.Pair(b.op(opF64ToF32, 4, re), b.op(opF64ToF32, 4, im))
	}
	r[name("abs")] = func(b *Builder, x []Value) Value {
		re, im := double(b, x[0])
		squares := b.op(opAddF64, 8, b.op(opMulF64, 8, re, re), b.op(opMulF64, 8, im, im))
		return b.op(opF64ToF32, 4, b.op(opSqrtF64, 8, squares))
	}
	r[name("real")] = func(b *Builder, x []Value) Value { re, _ := b.Parts(x[0]); return re }
	r[name("imag")] = func(b *Builder, x []Value) Value { _, im := b.Parts(x[0]); return im }
	r[name("complex")] = func(b *Builder, x []Value) Value { return b.Pair(x[0], x[1]) }
	r[Name{Op: "convert", Type: F32, To: C64}] = func(b *Builder, x []Value) Value { return b.Pair(x[0], b.Const(4, 0)) }
	for op, o := range map[string][2]op{"eq": {opEqF32, opAnd}, "ne": {opNeF32, opOr}} {
		r[name(op)] = func(b *Builder, x []Value) Value {
			p, q := b.Parts(x[0])
			s, t := b.Parts(x[1])
			return b.op(o[1], 1, b.op(o[0], 1, p, s), b.op(o[0], 1, q, t))
		}
	}
}
