package hlo

import "slices"

// Shape rules of blocks at indices known at run time (shape-inference sections 8.1 and 9).

// startIndices checks the index operands from position at on: one integral scalar for each axis of x, all of one type, or a single vector
// with an entry for each.
func (c *ShapeContext) startIndices(x Shape, at int, rule, name string) error {
	indices := c.Operands[at:]
	if len(indices) == 0 {
		if x.Rank() == 0 {
			return nil
		}
		return c.errorf(rule, "%s start indices must be of rank %d, got none", name, x.Rank())
	}
	first := indices[0]
	if first.IsArray() && first.Rank() == 1 {
		if len(indices) != 1 || !sizesAgree(first.Dim(0), int64(x.Rank())) {
			return c.operand(at, rule, "%s start indices must have one entry for each dimension of %v, got %v", name, x, first)
		}
		if !first.Type().IsInteger() {
			return c.operand(at, rule, "%s start indices must be of integral type, got %v", name, first)
		}
		return nil
	}
	if len(indices) != x.Rank() {
		return c.errorf(rule, "%s start indices must be of rank %d: wrong number of operands, got %d indices for %v", name, x.Rank(), len(indices), x)
	}
	for i, s := range indices {
		if !s.IsScalar() {
			return c.operand(at+i, rule, "%s start indices must be scalars, got %v", name, s)
		}
		if !s.Type().IsInteger() {
			return c.operand(at+i, rule, "%s start indices must be of integral type, got %v", name, s)
		}
		if s.Type() != first.Type() {
			return c.operand(at+i, rule, "%s start indices must all have the same type, got %v and %v", name, first, s)
		}
	}
	return nil
}

func dynamicSliceShape(c *ShapeContext) (Shape, error) {
	const rule = "SHP-17"
	x, sizes := c.Operands[0], attrsAs[DynamicSliceAttrs](c).Sizes
	if err := c.array(0, rule, "dynamic slice"); err != nil {
		return Shape{}, err
	}
	if err := c.startIndices(x, 1, rule, "Dynamic slice"); err != nil {
		return Shape{}, err
	}
	if len(sizes) != x.Rank() {
		return Shape{}, c.attr("dynamic_slice_sizes", rule, "Dynamic slice sizes must have one entry for each dimension of %v, got {%s}", x, intsText(sizes))
	}
	dims := make([]dim, len(sizes))
	for i, n := range sizes {
		d := dimOf(x, i)
		if n < 0 {
			return Shape{}, c.attr("dynamic_slice_sizes", rule, "Negative size index to dynamic slice: %d", n)
		}
		if d.size != UnboundedSize && n > d.size {
			return Shape{}, c.attr("dynamic_slice_sizes", rule, "Slice dim size %d greater than dynamic slice dimension: %d", n, d.size)
		}
		dims[i] = dim{n, d.dyn && n == d.size && n > 1}
	}
	return makeDims(x.Type(), dims), nil
}

func dynamicUpdateSliceShape(c *ShapeContext) (Shape, error) {
	const rule = "SHP-18"
	result, u := c.Operands[0], c.Operands[1]
	x := result
	if x.IsBuffer() {
		x = x.Elem(0)
	}
	if !x.IsArray() {
		return Shape{}, c.operand(0, rule, "Expected array or buffer argument for operand of dynamic update slice, got %v", result)
	}
	if err := c.array(1, rule, "update of dynamic update slice"); err != nil {
		return Shape{}, err
	}
	if err := c.startIndices(x, 2, rule, "Dynamic update slice"); err != nil {
		return Shape{}, err
	}
	if u.Rank() != x.Rank() {
		return Shape{}, c.operand(1, rule, "Dynamic update slice update rank does not match argument rank: %v and %v", u, x)
	}
	if !SameTypeLenient(u.Type(), x.Type()) {
		return Shape{}, c.operand(1, rule, "Dynamic update slice update element type does not match argument: %v and %v", u, x)
	}
	var covered []int
	for i := range x.Rank() {
		n, m := dimOf(x, i), dimOf(u, i)
		if m.size != UnboundedSize && m.size < 0 {
			return Shape{}, c.operand(1, rule, "Size index %d to dynamic update slice must be >= 0", m.size)
		}
		if n.size != UnboundedSize && m.size > n.size {
			return Shape{}, c.operand(1, rule, "Update dim size %d greater than dynamic slice dimension: %d", m.size, n.size)
		}
		if m.dyn && !n.dyn && m.size == n.size {
			covered = append(covered, i)
		}
	}
	if result.IsArray() {
		for _, i := range covered {
			result = result.WithDynamicDimension(i, true)
		}
	}
	return result, nil
}

// indexDims are the dimensions of gather and scatter indices, with the implied trailing 1.
func (c *ShapeContext) indexDims(at int, vector int64, op string) ([]dim, error) {
	idx := c.Operands[at]
	if !idx.IsArray() || !idx.Type().IsInteger() {
		return nil, c.operand(at, "SHP-20", "%s indices parameter must be an integral tensor; got %v", op, idx)
	}
	if vector < 0 || vector > int64(idx.Rank()) {
		return nil, c.attr("index_vector_dim", "SHP-20", "%s index leaf dimension must be within [0, rank(%v) + 1), got %d", op, idx, vector)
	}
	dims := dimsOf(idx)
	if int(vector) == len(dims) {
		dims = append(dims, dim{size: 1})
	}
	return dims, nil
}

// axisList checks that axes name distinct axes below rank, ascending where sorted is asked for.
func (c *ShapeContext) axisList(key AttrKey, axes []int64, rank int, sorted bool, op, unsortedText string) error {
	if sorted && !slices.IsSorted(axes) {
		return c.attr(key, "SHP-20", "%s in %s op must be %s; got: {%s}", key, op, unsortedText, intsText(axes))
	}
	seen := make([]bool, rank)
	for _, axis := range axes {
		if !inRange(axis, rank) {
			what := "set"
			if key == "scatter_dims_to_operand_dims" || key == "start_index_map" {
				what = "mapping"
			}
			return c.attr(key, "SHP-20", "Invalid %s %s in %s op; valid range is [0, %d), it is out of bounds: %d", key, what, op, rank, axis)
		}
		if seen[axis] {
			return c.attr(key, "SHP-20", "%s in %s op must not repeat. Repeated dimensions are not allowed in %s: {%s}", key, op, key, intsText(axes))
		}
		seen[axis] = true
	}
	return nil
}

func gatherShape(c *ShapeContext) (Shape, error) {
	const rule = "SHP-20"
	a, x := attrsAs[GatherAttrs](c), c.Operands[0]
	if err := c.array(0, rule, "gather operand"); err != nil {
		return Shape{}, err
	}
	index, err := c.indexDims(1, a.IndexVectorDim, "Gather")
	if err != nil {
		return Shape{}, err
	}
	n := len(a.OffsetDims) + len(index) - 1
	vector := index[a.IndexVectorDim].size
	if err := c.axisList("offset_dims", a.OffsetDims, n, true, "gather", "ascending"); err != nil {
		return Shape{}, err
	}
	if !sizesAgree(vector, int64(len(a.StartIndexMap))) {
		return Shape{}, c.attr("start_index_map", rule, "Gather op has %d elements in start_index_map and the bound of dimension index_vector_dim=%d of start_indices is %d. These two numbers must be equal",
			len(a.StartIndexMap), a.IndexVectorDim, vector)
	}
	if err := c.axisList("start_index_map", a.StartIndexMap, x.Rank(), false, "gather", ""); err != nil {
		return Shape{}, err
	}
	if err := c.axisList("collapsed_slice_dims", a.CollapsedSliceDims, x.Rank(), true, "gather", "sorted"); err != nil {
		return Shape{}, err
	}
	if len(a.OperandBatchingDims) != len(a.StartIndicesBatchingDims) {
		return Shape{}, c.attr("operand_batching_dims", rule, "operand_batching_dims and start_indices_batching_dims must be of the same size; got %d and %d",
			len(a.OperandBatchingDims), len(a.StartIndicesBatchingDims))
	}
	if err := c.axisList("operand_batching_dims", a.OperandBatchingDims, x.Rank(), true, "gather", "sorted"); err != nil {
		return Shape{}, err
	}
	if err := c.axisList("start_indices_batching_dims", a.StartIndicesBatchingDims, len(index), false, "gather", ""); err != nil {
		return Shape{}, err
	}
	if len(a.SliceSizes) != x.Rank() {
		return Shape{}, c.attr("slice_sizes", rule, "Gather op must have one slice size for every input dimension; got: {%s} for %v", intsText(a.SliceSizes), x)
	}
	if len(a.SliceSizes) != len(a.OffsetDims)+len(a.CollapsedSliceDims)+len(a.OperandBatchingDims) {
		return Shape{}, c.attr("slice_sizes", rule, "All components of the offset index in a gather op must either be a offset dimension or explicitly collapsed or batching; got %d slice sizes, offset_dims {%s}, collapsed_slice_dims {%s}, operand_batching_dims {%s}",
			len(a.SliceSizes), intsText(a.OffsetDims), intsText(a.CollapsedSliceDims), intsText(a.OperandBatchingDims))
	}
	var window []dim
	for i, size := range a.SliceSizes {
		d := dimOf(x, i)
		if size < 0 || d.size != UnboundedSize && size > d.size {
			return Shape{}, c.attr("slice_sizes", rule, "Slice size at index %d in gather op is out of range, must be within [0, %d), got %d", i, d.size+1, size)
		}
		collapsed, batching := slices.Contains(a.CollapsedSliceDims, int64(i)), slices.Contains(a.OperandBatchingDims, int64(i))
		switch {
		case collapsed && size > 1:
			return Shape{}, c.attr("slice_sizes", rule, "Gather op can only collapse slice dims with bound 1 or 0, but bound is %d for index %d", size, i)
		case batching && size > 1:
			return Shape{}, c.attr("slice_sizes", rule, "Gather op can only have operand_batching_dims with bound 1 or 0, but bound is %d for index %d", size, i)
		case !collapsed && !batching:
			window = append(window, dim{size, d.dyn && size == d.size})
		}
	}
	batch := slices.Delete(index, int(a.IndexVectorDim), int(a.IndexVectorDim)+1)
	dims := make([]dim, 0, n)
	for i := range n {
		if slices.Contains(a.OffsetDims, int64(i)) {
			dims, window = append(dims, window[0]), window[1:]
		} else {
			dims, batch = append(dims, batch[0]), batch[1:]
		}
	}
	return makeDims(x.Type(), dims), nil
}

func scatterShape(c *ShapeContext) (Shape, error) {
	const rule = "SHP-20"
	if len(c.Operands)%2 != 1 {
		return Shape{}, c.errorf(rule, "Invalid argument count of scatter op: Expected an odd number of operands, got %d", len(c.Operands))
	}
	n := len(c.Operands) / 2
	a, inputs, updates := attrsAs[ScatterAttrs](c), c.Operands[:n], c.Operands[n+1:]
	for i := range c.Operands {
		if err := c.array(i, rule, "operand of scatter"); err != nil {
			return Shape{}, err
		}
	}
	index, err := c.indexDims(n, a.IndexVectorDim, "Scatter")
	if err != nil {
		return Shape{}, err
	}
	vector := index[a.IndexVectorDim].size
	batch := slices.Delete(slices.Clone(index), int(a.IndexVectorDim), int(a.IndexVectorDim)+1)
	for i, x := range inputs {
		if err := c.scatterUpdate(a, x, updates[i], index, batch, vector); err != nil {
			return Shape{}, err
		}
		if c.Defined && !(sameDims(x, inputs[0]) && sameDims(updates[i], updates[0])) {
			return Shape{}, c.operand(i, "HALO-DEFINED", "scatter combines arrays element by element, so all operands are of one size, and so are all updates; got %v with %v, and %v with %v",
				inputs[0], x, updates[0], updates[i])
		}
	}
	inits := make([]Shape, n)
	for i, x := range inputs {
		inits[i] = MakeShape(x.Type())
	}
	if err := c.reducer(c.Callees[0], inits, updates); err != nil {
		return Shape{}, err
	}
	if n == 1 {
		return inputs[0], nil
	}
	return MakeTuple(inputs...), nil
}

// scatterUpdate checks one pair of input and update.
func (c *ShapeContext) scatterUpdate(a *ScatterAttrs, x, u Shape, index, batch []dim, vector int64) error {
	const rule = "SHP-20"
	if u.Rank() != len(index)-1+len(a.UpdateWindowDims) {
		return c.errorf(rule, "Updates tensor must be of rank %d; got %v", len(index)-1+len(a.UpdateWindowDims), u)
	}
	if err := c.axisList("update_window_dims", a.UpdateWindowDims, u.Rank(), true, "scatter", "sorted"); err != nil {
		return err
	}
	if err := c.axisList("inserted_window_dims", a.InsertedWindowDims, x.Rank(), true, "scatter", "sorted"); err != nil {
		return err
	}
	if w := len(a.UpdateWindowDims) + len(a.InsertedWindowDims) + len(a.InputBatchingDims); w != x.Rank() {
		return c.errorf(rule, "Scatter op has window of size %d; doesn't match operand of rank %d", w, x.Rank())
	}
	if !sizesAgree(vector, int64(len(a.ScatterDimsToOperandDims))) {
		return c.attr("scatter_dims_to_operand_dims", rule, "Scatter op has %d elements in scatter_dims_to_operand_dims and the bound of dimension index_vector_dim=%d of scatter_indices is %d. These two numbers must be equal",
			len(a.ScatterDimsToOperandDims), a.IndexVectorDim, vector)
	}
	if err := c.axisList("scatter_dims_to_operand_dims", a.ScatterDimsToOperandDims, x.Rank(), false, "scatter", ""); err != nil {
		return err
	}
	if len(a.InputBatchingDims) != len(a.ScatterIndicesBatchingDims) {
		return c.attr("input_batching_dims", rule, "input_batching_dims and scatter_indices_batching_dims must be of the same size; got %d and %d",
			len(a.InputBatchingDims), len(a.ScatterIndicesBatchingDims))
	}
	if err := c.axisList("input_batching_dims", a.InputBatchingDims, x.Rank(), true, "scatter", "sorted"); err != nil {
		return err
	}
	if err := c.axisList("scatter_indices_batching_dims", a.ScatterIndicesBatchingDims, len(index), false, "scatter", ""); err != nil {
		return err
	}
	window := freeAxes(x.Rank(), a.InsertedWindowDims, a.InputBatchingDims)
	for k, axis := range a.UpdateWindowDims {
		if k >= len(window) {
			return c.attr("inserted_window_dims", rule, "Scatter op has window of size %d; inserted and batching dimensions overlap", len(window))
		}
		if n, m := x.Dim(int(window[k])), u.Dim(int(axis)); n != UnboundedSize && m != UnboundedSize && m > n {
			return c.errorf(rule, "Bounds of the window dimensions of updates must not exceed the bounds of the corresponding dimensions of operand. For dimension %d, updates bound is %d, operand bound is %d", axis, m, n)
		}
	}
	k := 0
	for i := range u.Rank() {
		if slices.Contains(a.UpdateWindowDims, int64(i)) {
			continue
		}
		if !sizesAgree(u.Dim(i), batch[k].size) {
			return c.errorf(rule, "Bounds of the scatter dimensions of updates must be same as the bounds of the corresponding dimensions of scatter indices. For scatter dimension %d, updates bound is %d, scatter_indices bound is %d", i, u.Dim(i), batch[k].size)
		}
		k++
	}
	return nil
}
