package stablehlo

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// broadcastOp puts dimensions in front.
func (c *comp) broadcastOp(op *mlir.Op) {
	id, shape := c.operand(0), c.resultShape(0)
	rank := c.shape(id).Rank()
	if len(c.ints("broadcast_sizes"))+rank != shape.Rank() {
		c.fail(op, "'%s' of %v with %d sizes has the type %v", op.Name, op.Operands[0].Type, shape.Rank()-rank, op.Results[0].Type)
	}
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = int64(shape.Rank() - rank + i)
	}
	c.set(c.broadcast(id, shape, dims...))
}

func (c *comp) broadcastInDim(op *mlir.Op) {
	c.set(c.inDim(c.operand(0), c.resultShape(0), c.ints("broadcast_dimensions")))
}

// inDim broadcasts as StableHLO does, where dimensions of size 1 are repeated: they are reshaped away first, as XLA's builder does it.
func (c *comp) inDim(id hlo.InstrID, shape hlo.Shape, dims []int64) hlo.InstrID {
	s := c.shape(id)
	if len(dims) != s.Rank() {
		c.fail(c.op, "'%s' of %v with %d broadcast dimensions", c.op.Name, s, len(dims))
	}
	grows := false
	middle := shape.Dimensions()
	var kept, axes []int64
	for i, d := range dims {
		if d < 0 || int(d) >= shape.Rank() || slices.Contains(dims[:i], d) {
			c.fail(c.op, "the broadcast dimensions %v of '%s': want different dimensions of the result, which has %d", dims, c.op.Name, shape.Rank())
		}
		if s.Dim(i) != shape.Dim(int(d)) {
			if s.Dim(i) != 1 {
				c.fail(c.op, "dimension %d of %v becomes dimension %d of %v, which has another size", i, s, d, shape)
			}
			grows = true
		}
		middle[d] = s.Dim(i)
	}
	if !grows {
		return c.broadcast(id, shape, dims...)
	}
	first := c.broadcast(id, arrayShape(s.Type(), middle...), dims...)
	var rest []int64
	for i := range middle {
		if middle[i] == shape.Dim(i) {
			kept, axes = append(kept, middle[i]), append(axes, int64(i))
		}
	}
	rest = kept
	return c.broadcast(c.reshape(first, arrayShape(s.Type(), rest...)), shape, axes...)
}

func (c *comp) reshapeOp(op *mlir.Op) {
	if op.Operands[0].Type == op.Results[0].Type {
		c.identity(op)
		return
	}
	c.set(c.reshape(c.operand(0), c.resultShape(0)))
}

func (c *comp) transpose(op *mlir.Op) {
	c.set(c.transposed(c.operand(0), c.ints("permutation")))
}

// transposed makes a transpose. Its layout is that of the operand, as the elements stay where they are.
func (c *comp) transposed(id hlo.InstrID, perm []int64) hlo.InstrID {
	s := c.shape(id)
	dims := make([]int64, len(perm))
	inverse := make([]int64, len(perm))
	if len(perm) != s.Rank() {
		c.fail(c.op, "'%s' of %v with a permutation of %d dimensions", c.op.Name, s, len(perm))
	}
	for i, p := range perm {
		if p < 0 || int(p) >= len(perm) || slices.Contains(perm[:i], p) {
			c.fail(c.op, "%v is no permutation", perm)
		}
		dims[i], inverse[p] = s.Dim(int(p)), int64(i)
	}
	shape := arrayShape(s.Type(), dims...)
	if l, ok := s.Layout(); ok {
		layout := &hlo.Layout{MinorToMajor: make([]int64, len(perm))}
		for i, axis := range l.MinorToMajor {
			layout.MinorToMajor[i] = inverse[axis]
		}
		shape = shape.WithLayout(layout)
	}
	for i := range perm {
		if s.IsDynamicDimension(int(perm[i])) {
			shape = shape.WithDynamicDimension(i, true)
		}
	}
	return c.add(hlo.OpTranspose, shape, &hlo.DimensionsAttrs{Dimensions: perm}, id)
}

func (c *comp) reverse(op *mlir.Op) {
	c.set(c.add(hlo.OpReverse, c.resultShape(0), &hlo.DimensionsAttrs{Dimensions: c.ints("dimensions")}, c.operand(0)))
}

func (c *comp) concatenate(op *mlir.Op) {
	a := &hlo.AxisAttrs{Dimensions: []int64{c.int("dimension")}}
	c.set(c.add(hlo.OpConcatenate, c.resultShape(0), a, c.operands()...))
}

func (c *comp) slice(op *mlir.Op) {
	start, limit := c.ints("start_indices"), c.ints("limit_indices")
	strides := c.intsOr("strides", len(start), 1)
	if len(limit) != len(start) {
		c.fail(op, "'%s' with %d starts and %d limits", op.Name, len(start), len(limit))
	}
	a := &hlo.SliceAttrs{Slice: make([]hlo.SliceDim, len(start))}
	for i := range start {
		a.Slice[i] = hlo.SliceDim{Start: start[i], Limit: limit[i], Stride: strides[i]}
	}
	c.set(c.add(hlo.OpSlice, c.resultShape(0), a, c.operand(0)))
}

func (c *comp) dynamicSlice(op *mlir.Op) {
	c.set(c.add(hlo.OpDynamicSlice, c.resultShape(0), &hlo.DynamicSliceAttrs{Sizes: c.ints("slice_sizes")}, c.operands()...))
}

func (c *comp) pad(op *mlir.Op) {
	low, high := c.ints("edge_padding_low"), c.ints("edge_padding_high")
	interior := c.intsOr("interior_padding", len(low), 0)
	if len(high) != len(low) {
		c.fail(op, "'%s' with %d low and %d high paddings", op.Name, len(low), len(high))
	}
	a := &hlo.PadAttrs{Padding: make([]hlo.PaddingDim, len(low))}
	for i := range low {
		a.Padding[i] = hlo.PaddingDim{Low: low[i], High: high[i], Interior: interior[i]}
	}
	c.set(c.add(hlo.OpPad, c.resultShape(0), a, c.operands()...))
}

func (c *comp) gather(op *mlir.Op) {
	d := c.record("dimension_numbers")
	c.set(c.add(hlo.OpGather, c.resultShape(0), &hlo.GatherAttrs{
		OffsetDims: c.field(d, "offset_dims"), CollapsedSliceDims: c.field(d, "collapsed_slice_dims"),
		StartIndexMap: c.field(d, "start_index_map"), OperandBatchingDims: c.field(d, "operand_batching_dims"),
		StartIndicesBatchingDims: c.field(d, "start_indices_batching_dims"), IndexVectorDim: c.fieldInt(d, "index_vector_dim"),
		SliceSizes: c.ints("slice_sizes"), IndicesAreSorted: c.flag("indices_are_sorted"),
	}, c.operands()...))
}

// torchIndexSelect takes slices of dimension dim, one for each index; the first batch_dims dimensions of operand and index go together.
func (c *comp) torchIndexSelect(op *mlir.Op) {
	ids := c.operands()
	operand, index := c.shape(ids[0]), c.shape(ids[1])
	dim, batch := c.int("dim"), c.intOr("batch_dims", 0)
	if dim < 0 {
		dim += int64(operand.Rank())
	}
	if batch < 0 {
		batch += int64(index.Rank())
	}
	if dim < 0 || dim >= int64(operand.Rank()) || batch < 0 || batch > dim || batch > int64(index.Rank()) {
		c.fail(op, "'%s' of dimension %d with %d batch dimensions for %v and %v", op.Name, dim, batch, operand, index)
	}
	a := &hlo.GatherAttrs{OffsetDims: []int64{}, CollapsedSliceDims: []int64{}, StartIndexMap: []int64{}}
	at := ids[1]
	n := int64(index.Rank())
	a.IndexVectorDim = n
	sizes := operand.Dimensions()
	if batch > 0 {
		// Each index is preceded by its place in the batch dimensions.
		parts := make([]hlo.InstrID, 0, batch+1)
		full := append(index.Dimensions(), 1)
		shape := arrayShape(index.Type(), full...)
		for b := range batch {
			line := c.add(hlo.OpIota, arrayShape(index.Type(), index.Dim(int(b))), &hlo.IotaAttrs{})
			parts = append(parts, c.broadcast(line, shape, b))
			a.StartIndexMap, a.CollapsedSliceDims = append(a.StartIndexMap, b), append(a.CollapsedSliceDims, b)
			sizes[b] = 1
		}
		parts = append(parts, c.reshape(at, shape))
		full[n] = batch + 1
		at = c.add(hlo.OpConcatenate, arrayShape(index.Type(), full...), &hlo.AxisAttrs{Dimensions: []int64{n}}, parts...)
	}
	a.StartIndexMap, a.CollapsedSliceDims = append(a.StartIndexMap, dim), append(a.CollapsedSliceDims, dim)
	sizes[dim] = 1
	a.SliceSizes = sizes
	// The dimensions of the index stand where dim was, but for those of the batch.
	for i := range int64(operand.Rank()) {
		switch {
		case i < dim && i >= batch:
			a.OffsetDims = append(a.OffsetDims, i)
		case i > dim:
			a.OffsetDims = append(a.OffsetDims, i+n-batch-1)
		}
	}
	c.set(c.add(hlo.OpGather, c.resultShape(0), a, ids[0], at))
}

// getDimensionSize is a constant when the size is known.
func (c *comp) getDimensionSize(op *mlir.Op) {
	id, dim := c.operand(0), c.int("dimension")
	s := c.shape(id)
	if dim < 0 || dim >= int64(s.Rank()) {
		c.fail(op, "'%s' of dimension %d of %v", op.Name, dim, op.Operands[0].Type)
	}
	if !s.IsDynamicDimension(int(dim)) {
		l, err := hlo.LiteralOf(arrayShape(hlo.S32), int32(s.Dim(int(dim))))
		if err != nil {
			c.fail(op, "%v", err)
		}
		c.set(c.scalar(l))
		return
	}
	c.set(c.add(hlo.OpGetDimensionSize, c.resultShape(0), &hlo.AxisAttrs{Dimensions: []int64{dim}}, id))
}

func (c *comp) setDimensionSize(op *mlir.Op) {
	a := &hlo.AxisAttrs{Dimensions: []int64{c.int("dimension")}}
	c.set(c.add(hlo.OpSetDimensionSize, c.resultShape(0), a, c.operands()...))
}

// dynamicReshape to a type without `?` is a reshape, whatever the shape operand is.
func (c *comp) dynamicReshape(op *mlir.Op) {
	if !op.Results[0].Type.IsStatic() {
		c.notRefined(op)
	}
	c.set(c.reshape(c.operand(0), c.resultShape(0)))
}

// notRefined refuses an operation whose shape depends on a value that is not known.
func (c *comp) notRefined(op *mlir.Op) {
	c.failHint(op, "a shape may depend on the shapes of the arguments, not on their values",
		"'%s' has a shape that depends on values: it must be known before the program runs", op.Name)
}
