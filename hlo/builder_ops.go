package hlo

import "slices"

// The common ops of a Builder. Other ops are built with Op, OpOf or Emit.

// Parameter declares the next parameter.
func (b *Builder) Parameter(name string, shape Shape) Value {
	v := b.As(name).OpOf(OpParameter, shape, &ParameterAttrs{Number: b.s.params})
	b.s.params++
	return v
}

// Constant makes a constant of a literal.
func (b *Builder) Constant(l *Literal) Value {
	if s := l.Shape(); s.IsArray() && !s.HasLayout() {
		l, _ = l.WithShape(s.WithDefaultLayout()) // the same size
	}
	return b.Op(OpConstant, &ConstantAttrs{Literal: l})
}

// ConstantOf makes a constant from Go values; E must be of the size of the shape's elements.
func ConstantOf[E Element](b *Builder, shape Shape, values ...E) Value {
	l, err := LiteralOf(shape.WithDefaultLayout(), values...)
	if err != nil {
		return b.fail(err)
	}
	return b.Constant(l)
}

// Unary applies a unary op that keeps the shape.
func (b *Builder) Unary(op Opcode, x Value) Value { return b.Op(op, nil, x) }

// Binary applies a binary elementwise op. Scalars and dimensions of size 1 are repeated to fit the other operand, by broadcasts that are
// built too: HLO itself knows no implicit ones.
func (b *Builder) Binary(op Opcode, x, y Value) Value { return b.binary(op, nil, x, y) }

func (b *Builder) binary(op Opcode, attrs OpAttrs, x, y Value) Value {
	x, y = b.match(x, y)
	return b.Op(op, attrs, x, y)
}

// match broadcasts two values to common dimensions where that is possible.
func (b *Builder) match(x, y Value) (Value, Value) {
	s, t := x.Shape(), y.Shape()
	if !s.IsArray() || !t.IsArray() || sameDims(s, t) {
		return x, y
	}
	plain := &Builder{s: b.s}
	switch {
	case s.Rank() == 0:
		return plain.broadcastTo(x, t), y
	case t.Rank() == 0:
		return x, plain.broadcastTo(y, s)
	case s.Rank() != t.Rank():
		return x, y
	}
	dims := make([]int64, s.Rank())
	for i := range dims {
		if dims[i] = s.Dim(i); dims[i] == 1 {
			dims[i] = t.Dim(i)
		}
	}
	return plain.stretch(x, dims), plain.stretch(y, dims)
}

// broadcastTo repeats a scalar over the dimensions of like.
func (b *Builder) broadcastTo(x Value, like Shape) Value {
	return b.OpOf(OpBroadcast, MakeArray(x.Shape().Type(), like.Dimensions(), nil, nil), &BroadcastAttrs{}, x)
}

// stretch repeats dimensions of size 1: a reshape drops them, a broadcast brings them back.
func (b *Builder) stretch(x Value, dims []int64) Value {
	s := x.Shape()
	var kept, axes []int64
	for i := range s.Rank() {
		if s.Dim(i) == dims[i] {
			kept, axes = append(kept, dims[i]), append(axes, int64(i))
		} else if s.Dim(i) != 1 {
			return x
		}
	}
	if len(kept) == s.Rank() {
		return x
	}
	return b.Broadcast(b.Reshape(x, kept...), axes, dims...)
}

// The binary elementwise ops that everybody needs.
func (b *Builder) Add(x, y Value) Value       { return b.Binary(OpAdd, x, y) }
func (b *Builder) Subtract(x, y Value) Value  { return b.Binary(OpSubtract, x, y) }
func (b *Builder) Multiply(x, y Value) Value  { return b.Binary(OpMultiply, x, y) }
func (b *Builder) Divide(x, y Value) Value    { return b.Binary(OpDivide, x, y) }
func (b *Builder) Maximum(x, y Value) Value   { return b.Binary(OpMaximum, x, y) }
func (b *Builder) Minimum(x, y Value) Value   { return b.Binary(OpMinimum, x, y) }
func (b *Builder) Negate(x Value) Value       { return b.Unary(OpNegate, x) }
func (b *Builder) Exponential(x Value) Value  { return b.Unary(OpExponential, x) }
func (b *Builder) Tanh(x Value) Value         { return b.Unary(OpTanh, x) }
func (b *Builder) Copy(x Value) Value         { return b.Unary(OpCopy, x) }
func (b *Builder) Tuple(elems ...Value) Value { return b.Op(OpTuple, nil, elems...) }

// Element is element i of a tuple.
func (b *Builder) Element(x Value, i int) Value {
	return b.Op(OpGetTupleElement, &TupleElementAttrs{Index: int64(i)}, x)
}

// Compare relates two values; the operands match like those of [Builder.Binary].
func (b *Builder) Compare(d Direction, x, y Value) Value {
	return b.binary(OpCompare, &CompareAttrs{Direction: d}, x, y)
}

// Select takes elements of t where p holds, else of f.
func (b *Builder) Select(p, t, f Value) Value { return b.Op(OpSelect, nil, p, t, f) }

// Clamp brings x between lo and hi.
func (b *Builder) Clamp(lo, x, hi Value) Value { return b.Op(OpClamp, nil, lo, x, hi) }

// Convert changes the element type by value.
func (b *Builder) Convert(x Value, t PrimitiveType) Value {
	s := x.Shape()
	if !s.IsArray() {
		return b.Op(OpConvert, nil, x)
	}
	return b.OpOf(OpConvert, s.WithType(t), nil, x)
}

// Reshape gives the elements other dimensions.
func (b *Builder) Reshape(x Value, dims ...int64) Value {
	return b.OpOf(OpReshape, MakeShape(x.Shape().Type(), dims...), nil, x)
}

// Broadcast repeats x: its axis i becomes axis axes[i] of a result of the given dimensions.
func (b *Builder) Broadcast(x Value, axes []int64, dims ...int64) Value {
	return b.OpOf(OpBroadcast, MakeShape(x.Shape().Type(), dims...), &BroadcastAttrs{Dimensions: slices.Clone(axes)}, x)
}

// Transpose makes axis perm[i] of x axis i of the result, in row-major layout.
func (b *Builder) Transpose(x Value, perm ...int64) Value {
	attrs := &DimensionsAttrs{Dimensions: perm}
	s, err := InferShape(&ShapeContext{Op: OpTranspose, Operands: []Shape{x.Shape()}, Attrs: attrs})
	if err != nil {
		return b.Op(OpTranspose, attrs, x)
	}
	return b.OpOf(OpTranspose, s.WithoutLayout(), attrs, x)
}

// Slice takes a block: one range for each axis.
func (b *Builder) Slice(x Value, ranges ...SliceDim) Value {
	attrs := &SliceAttrs{Slice: ranges}
	return b.Op(OpSlice, attrs, x)
}

// Concatenate puts arrays one after the other along axis.
func (b *Builder) Concatenate(axis int64, arrays ...Value) Value {
	return b.Op(OpConcatenate, &AxisAttrs{Dimensions: []int64{axis}}, arrays...)
}

// Iota counts along axis.
func (b *Builder) Iota(shape Shape, axis int64) Value {
	return b.OpOf(OpIota, shape, &IotaAttrs{Dimension: axis})
}

// Dot multiplies and sums along the contracting dimensions of attrs.
func (b *Builder) Dot(x, y Value, attrs DotAttrs) Value { return b.Op(OpDot, &attrs, x, y) }

// MatMul is the product of two matrices.
func (b *Builder) MatMul(x, y Value) Value {
	return b.Dot(x, y, DotAttrs{LHSContracting: []int64{1}, RHSContracting: []int64{0}})
}

// Reduce folds the given axes of x with a computation, beginning with init.
func (b *Builder) Reduce(x, init Value, f CompID, axes ...int64) Value {
	return b.Emit(OpSpec{Opcode: OpReduce, Attrs: &DimensionsAttrs{Dimensions: axes}, Operands: []Value{x, init}, Callees: []CompID{f}})
}

// DynamicSlice takes a block of the given sizes at indices known at run time.
func (b *Builder) DynamicSlice(x Value, indices []Value, sizes ...int64) Value {
	return b.Op(OpDynamicSlice, &DynamicSliceAttrs{Sizes: sizes}, append([]Value{x}, indices...)...)
}

// DynamicUpdateSlice overwrites a block of x at indices known at run time.
func (b *Builder) DynamicUpdateSlice(x, update Value, indices ...Value) Value {
	return b.Op(OpDynamicUpdateSlice, nil, append([]Value{x, update}, indices...)...)
}

// Call runs a computation.
func (b *Builder) Call(f CompID, operands ...Value) Value {
	return b.Emit(OpSpec{Opcode: OpCall, Operands: operands, Callees: []CompID{f}})
}

// While runs body, from init on, as long as condition holds.
func (b *Builder) While(condition, body CompID, init Value) Value {
	return b.Emit(OpSpec{Opcode: OpWhile, Operands: []Value{init}, Callees: []CompID{body, condition}})
}

// If runs one of two computations on an operand each.
func (b *Builder) If(p Value, yes CompID, x Value, no CompID, y Value) Value {
	return b.Emit(OpSpec{Opcode: OpConditional, Operands: []Value{p, x, y}, Callees: []CompID{yes, no}})
}

// Switch runs the computation that index, an s32 scalar, selects; branches[i] gets operands[i].
func (b *Builder) Switch(index Value, branches []CompID, operands ...Value) Value {
	return b.Emit(OpSpec{Opcode: OpConditional, Operands: append([]Value{index}, operands...), Callees: branches})
}

// Fusion runs a computation as one fused op.
func (b *Builder) Fusion(kind FusionKind, f CompID, operands ...Value) Value {
	spec := OpSpec{Opcode: OpFusion, Attrs: &FusionAttrs{Kind: kind}, Operands: operands, Callees: []CompID{f}}
	if b.s.m.ed.Has(f) {
		spec.Shape = b.s.m.ed.View(f).Root().Shape()
	}
	return b.Emit(spec)
}

// CustomCall calls code by name.
func (b *Builder) CustomCall(target string, shape Shape, operands ...Value) Value {
	attrs := Info(OpCustomCall).NewAttrs().(*CustomCallAttrs)
	attrs.Target = target
	return b.OpOf(OpCustomCall, shape, attrs, operands...)
}
