package stablehlo

import (
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// setDims gives result i dimensions.
func (b *body) setDims(op *mlir.Op, i int, dims []int64) {
	for _, d := range dims {
		if d < 0 {
			b.fail(op, "the shape of '%s' is %s: a size cannot be negative", op.Name, sizeList(dims))
		}
	}
	op.Results[i].Type = b.m.Types.WithDims(op.Results[i].Type, dims)
}

// makeStatic turns an operation whose shape is an operand into the one whose shape is written, if the operand is known.
func (b *body) makeStatic(op *mlir.Op) {
	list := func(v ...int64) mlir.Attr {
		return mlir.DenseArray{Elem: b.m.Types.Scalar(hlo.S64), Values: append([]int64{}, v...)}
	}
	switch op.Name {
	case "stablehlo.dynamic_reshape", "stablehlo.dynamic_broadcast_in_dim":
		dims, ok := knownList(op.Operands[1])
		if !ok && !op.Results[0].Type.IsStatic() {
			return
		}
		if ok {
			b.setDims(op, 0, dims)
		}
		op.Name = strings.Replace(op.Name, "dynamic_", "", 1)
		op.Operands = op.Operands[:1]
		op.Attrs = op.Attrs.Without("known_expanding_dimensions").Without("known_nonexpanding_dimensions")
	case "stablehlo.dynamic_iota":
		dims, ok := knownList(op.Operands[0])
		if !ok && !op.Results[0].Type.IsStatic() {
			return
		}
		if ok {
			b.setDims(op, 0, dims)
		}
		op.Name, op.Operands = "stablehlo.iota", nil
	case "stablehlo.dynamic_pad":
		low, ok1 := knownList(op.Operands[2])
		high, ok2 := knownList(op.Operands[3])
		interior, ok3 := knownList(op.Operands[4])
		if ok1 && ok2 && ok3 {
			op.Name, op.Operands = "stablehlo.pad", op.Operands[:2]
			op.Attrs = op.Attrs.With("edge_padding_low", list(low...)).With("edge_padding_high", list(high...)).
				With("interior_padding", list(interior...))
		}
	case "stablehlo.real_dynamic_slice":
		b.realDynamicSlice(op, list)
	case "stablehlo.dynamic_gather":
		if sizes, ok := knownList(op.Operands[2]); ok {
			op.Name, op.Operands = "stablehlo.gather", op.Operands[:2]
			op.Attrs = op.Attrs.With("slice_sizes", list(sizes...))
		}
	case "stablehlo.dynamic_conv":
		if d, ok := known(op.Operands[2]); ok {
			op.Name, op.Operands = "stablehlo.convolution", op.Operands[:2]
			op.Attrs = op.Attrs.With("padding", d)
		}
	}
}

// realDynamicSlice with known limits is a slice; with a known size, a dynamic slice.
func (b *body) realDynamicSlice(op *mlir.Op, list func(...int64) mlir.Attr) {
	start, ok1 := knownList(op.Operands[1])
	limit, ok2 := knownList(op.Operands[2])
	strides, ok3 := knownList(op.Operands[3])
	if ok1 && ok2 && ok3 {
		op.Name, op.Operands = "stablehlo.slice", op.Operands[:1]
		op.Attrs = op.Attrs.With("start_indices", list(start...)).With("limit_indices", list(limit...)).With("strides", list(strides...))
		return
	}
	if sizes, ok := b.distance(op.Operands[1], op.Operands[2]); ok && len(sizes) == len(op.Results[0].Type.Dims) {
		b.setDims(op, 0, sizes)
	}
	if t := op.Results[0].Type; ok3 && t.IsStatic() && allOnes(strides) {
		// The size is that of the result: each start is an operand of its own.
		starts := op.Operands[1]
		next := []*mlir.Value{op.Operands[0]}
		scalar := b.m.Types.WithDims(starts.Type, nil)
		for i := range t.Dims {
			at := int64(i)
			cut := &mlir.Op{Name: "stablehlo.slice", Operands: []*mlir.Value{starts}, Loc: op.Loc, Pos: op.Pos, Attrs: mlir.Attrs{
				{Name: "start_indices", Value: list(at)}, {Name: "limit_indices", Value: list(at + 1)}, {Name: "strides", Value: list(1)},
			}}
			cut.Results = []mlir.Value{{Type: b.m.Types.WithDims(starts.Type, []int64{1}), Def: cut}}
			one := &mlir.Op{Name: "stablehlo.reshape", Operands: []*mlir.Value{&cut.Results[0]}, Loc: op.Loc, Pos: op.Pos}
			one.Results = []mlir.Value{{Type: scalar, Def: one}}
			b.out = append(b.out, cut, one)
			next = append(next, &one.Results[0])
		}
		op.Name, op.Operands = "stablehlo.dynamic_slice", next
		op.Attrs = op.Attrs.With("slice_sizes", list(t.Dims...))
	}
}

// distance is limit - start, if the limit is the start and something known.
func (b *body) distance(start, limit *mlir.Value) ([]int64, bool) {
	if !defined(limit, "stablehlo.add") {
		return nil, false
	}
	for i, v := range limit.Def.Operands {
		if v == start {
			return knownList(limit.Def.Operands[1-i])
		}
	}
	return nil, false
}

func allOnes(v []int64) bool {
	for _, x := range v {
		if x != 1 {
			return false
		}
	}
	return true
}

// knownList is the value of a list of integers.
func knownList(v *mlir.Value) ([]int64, bool) {
	d, ok := known(v)
	if !ok || !d.Type.IsStatic() || d.Type.NumElements() > maxKnown {
		return nil, false
	}
	list, ok := d.Ints()
	if !ok {
		return nil, false
	}
	for _, x := range list {
		if x < -1<<40 || x > 1<<40 {
			return nil, false
		}
	}
	return list, true
}

// inferTypes finds the dimensions of results from the operands.
func (b *body) inferTypes(op *mlir.Op) {
	for _, v := range op.Operands {
		if v.Type.IsUnbounded() {
			b.stillDynamic(op)
		}
	}
	switch op.Name {
	case "stablehlo.while":
		for i := range op.Results {
			op.Results[i].Type = op.Operands[i].Type
		}
		return
	case "stablehlo.if", "stablehlo.case":
		end := op.Regions[0].Block().Terminator()
		if len(end.Operands) == len(op.Results) {
			for i, v := range end.Operands {
				op.Results[i].Type = v.Type
			}
			return
		}
	case "stablehlo.optimization_barrier", "stablehlo.sort":
		for i := range op.Results {
			op.Results[i].Type = op.Operands[i].Type
		}
		return
	case "stablehlo.custom_call", "stablehlo.composite":
		if rest := b.standsFor(op); rest == "top_k" && len(op.Results) == 2 {
			b.topKTypes(op)
			return
		}
	case "chlo.top_k":
		b.topKTypes(op)
		return
	}
	if r := rowOf(op.Name); r != nil && r.expanded || strings.HasPrefix(op.Name, "chlo.") || b.standsFor(op) != "" {
		if len(op.Results) == 1 && len(op.Operands) > 0 {
			b.setDims(op, 0, b.joined(op))
			return
		}
	}
	b.inferByRule(op)
}

// joined are the dimensions that operands have when they are broadcast to one another.
func (b *body) joined(op *mlir.Op) []int64 {
	var dims []int64
	for _, v := range op.Operands {
		if len(v.Type.Dims) > len(dims) {
			dims = append([]int64{}, v.Type.Dims...)
		}
	}
	for _, v := range op.Operands {
		for i, d := range v.Type.Dims {
			if at := len(dims) - len(v.Type.Dims) + i; dims[at] == 1 {
				dims[at] = d
			}
		}
	}
	return dims
}

// standsFor is the operation of CHLO that a composite or custom call stands for, without its dialect; "" for none.
func (b *body) standsFor(op *mlir.Op) string {
	var o *mlir.Op
	switch op.Name {
	case "stablehlo.composite":
		o = b.compositeOf(op, stringOf(op.Attrs.Get("name")))
	case "stablehlo.custom_call":
		o = b.customOp(op, stringOf(op.Attrs.Get("call_target_name")))
	}
	if o == nil {
		return ""
	}
	return strings.TrimPrefix(o.Name, "chlo.")
}

// topKTypes: the last dimension is k.
func (b *body) topKTypes(op *mlir.Op) {
	attrs := op.Attrs
	for _, name := range []string{"composite_attributes", "mhlo.attributes"} {
		if d, ok := attrs.Get(name).(mlir.Dict); ok {
			attrs = mlir.Attrs(d)
		}
	}
	dims := append([]int64{}, op.Operands[0].Type.Dims...)
	k, ok := attrs.Get("k").(mlir.Int)
	if !ok || len(dims) == 0 {
		b.stillDynamic(op)
	}
	dims[len(dims)-1] = k.Value
	for i := range op.Results {
		b.setDims(op, i, dims)
	}
}

// inferByRule asks the shape rule of the HLO operation: the operation is converted by itself, and its last instruction looked at.
func (b *body) inferByRule(op *mlir.Op) {
	one := *b.converter
	one.e = hlo.NewModule("shapes")
	c := newComp(&one, "shapes")
	for i, v := range op.Operands {
		if c.values[v] == 0 {
			c.op = op
			if _, ok := c.values[v]; !ok {
				c.name = ""
				c.values[v] = c.add(hlo.OpParameter, c.shapeOf(op, v.Type), &hlo.ParameterAttrs{Number: int64(i)})
			}
		}
	}
	c.begin(op)
	r := rowOf(op.Name)
	if r == nil || r.emit == nil {
		b.stillDynamic(op)
	}
	r.emit(c, op)
	id := c.values[&op.Results[0]]
	if c.b.Opcode(id) == hlo.OpGetTupleElement {
		id = c.b.Operands(id)[0]
	}
	ctx := hlo.ShapeContext{Op: c.b.Opcode(id), Attrs: c.b.Attrs(id), MixedPrecision: true}
	for _, o := range c.b.Operands(id) {
		ctx.Operands = append(ctx.Operands, c.shape(o))
	}
	for _, callee := range c.b.Callees(id) {
		ctx.Callees = append(ctx.Callees, one.e.View(callee).Signature())
	}
	var shape hlo.Shape
	if info := hlo.Info(ctx.Op); info.CanInfer || info.Shape != nil && info.Traits&hlo.TraitMovesData != 0 {
		inferred, err := hlo.InferShape(&ctx)
		if err != nil {
			b.fail(op, "%v", err)
		}
		shape = inferred
	} else if len(ctx.Operands) > 0 && len(op.Results) == 1 { // convert, bitcast-convert: the dimensions of the operand
		shape = ctx.Operands[0]
	}
	parts := []hlo.Shape{shape}
	if shape.IsTuple() {
		parts = shape.Elems()
	}
	if len(parts) != len(op.Results) {
		b.stillDynamic(op)
	}
	for i, s := range parts {
		if !s.IsArray() || !s.IsStatic() {
			b.stillDynamic(op)
		}
		b.setDims(op, i, s.Dimensions())
	}
}

func (b *body) stillDynamic(op *mlir.Op) {
	b.failHint(op, "a shape may depend on the shapes of the arguments, not on their values",
		"the shape of '%s' depends on values that are not known before the program runs", op.Name)
}
