package hlo

import "math"

// Shape rules of collectives (shape-inference section 12).

// one is the result of an op that keeps its operands' shapes: the only one, or a tuple.
func one(shapes []Shape) Shape {
	if len(shapes) == 1 {
		return shapes[0]
	}
	return MakeTuple(shapes...)
}

// parts is the inverse of one for a stated shape.
func parts(s Shape, n int) ([]Shape, bool) {
	if n == 1 {
		return []Shape{s}, true
	}
	if !s.IsTuple() || s.NumElems() != n {
		return nil, false
	}
	return s.d.elems, true
}

// ceilDiv is a/b rounded up; sizes that say nothing about the ratio give 1.
func ceilDiv(a, b int64) int64 {
	if a == UnboundedSize || b <= 0 || a <= 0 {
		return 1
	}
	return (a-1)/b + 1
}

// collectiveAxis checks the axis along which operands and results are cut or joined.
func (c *ShapeContext) collectiveAxis(axes []int64, results []Shape, rule string) (int, error) {
	axis, err := c.oneAxis(axes, rule)
	if err != nil {
		return 0, err
	}
	if len(c.Operands) == 0 {
		return 0, c.errorf(rule, "%v dimension %d: there must be at least one operand", c.Op, axis)
	}
	for i, x := range c.Operands {
		if !x.IsArray() {
			condition := "" // in XLA's words, where it prints them
			if c.Op == OpAllGather || c.Op == OpAllGatherStart {
				condition = " (ag->operand(i)->shape().IsArray())"
			}
			return 0, c.operand(i, rule, "%v dimension %d: operand %d must be an array, got %v%s", c.Op, axis, i, x, condition)
		}
		if !inRange(axis, x.Rank()) {
			return 0, c.operand(i, rule, "%v dimension %d is out of range for operand %d, %v", c.Op, axis, i, x)
		}
	}
	for i, r := range results {
		if !r.IsArray() || !inRange(axis, r.Rank()) {
			return 0, c.attr("dimensions", rule, "%v dimension %d is out of range for result %d, %v", c.Op, axis, i, r)
		}
	}
	return int(axis), nil
}

// shardCount compares the number of shards that the shapes say with that of the replica groups.
func (c *ShapeContext) shardCount(shards int64, rule string) error {
	if g := c.GroupSize; g > 1 && shards != g {
		return c.errorf(rule, "shard_count = %d, subgroup_size = %d, %v", shards, g, c.Op)
	}
	return nil
}

func allGatherResults(c *ShapeContext, stated Shape) ([]Shape, error) {
	results, ok := parts(stated, len(c.Operands))
	if !ok {
		return nil, c.errorf("COLL-03", "all-gather result tuple must have one element per operand, got %v for %d operands", stated, len(c.Operands))
	}
	axis, err := c.collectiveAxis(attrsAs[AllGatherAttrs](c).Dimensions, results, "COLL-02")
	if err != nil {
		return nil, err
	}
	shards := ceilDiv(results[0].Dim(axis), c.Operands[0].Dim(axis))
	if !c.Operands[0].IsUnboundedDimension(axis) && !results[0].IsUnboundedDimension(axis) {
		if err := c.shardCount(shards, "COLL-05"); err != nil {
			return nil, err
		}
	}
	made := make([]Shape, len(results))
	for i, x := range c.Operands {
		dims := dimsOf(x)
		if d := &dims[axis]; d.size != UnboundedSize {
			if d.size > 0 && shards > math.MaxInt64/d.size {
				return nil, c.operand(i, "COLL-06", "the gathered dimension overflows")
			}
			*d = dim{size: d.size * shards}
		}
		made[i] = makeDims(x.Type(), dims)
	}
	return made, nil
}

func allGatherShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	made, err := allGatherResults(c, out)
	if err != nil {
		return Shape{}, err
	}
	return one(made), nil
}

func allGatherStartShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	if !out.IsTuple() || out.NumElems() != 2 || len(c.Operands) > 1 && (!out.Elem(0).IsTuple() || !out.Elem(1).IsTuple()) {
		return Shape{}, c.errorf("COLL-04", "all-gather-start result tuple must be (inputs, outputs), got %v", out)
	}
	made, err := allGatherResults(c, out.Elem(1))
	if err != nil {
		return Shape{}, err
	}
	return MakeTuple(one(c.Operands), one(made)), nil
}

// secondElement makes the rule of a done op whose start gives (inputs, outputs, ...).
func secondElement(rule string) ShapeRule {
	return func(c *ShapeContext) (Shape, error) {
		x := c.Operands[0]
		if !x.IsTuple() || x.NumElems() < 2 {
			return Shape{}, c.operand(0, rule, "Expected the operand of %v to be a tuple of inputs and outputs, got %v", c.Op, x)
		}
		return x.Elem(1), nil
	}
}

func allReduceShape(c *ShapeContext) (Shape, error) {
	if err := c.arrays("COLL-08", "operand of cross replica sum"); err != nil {
		return Shape{}, err
	}
	return one(c.Operands), nil
}

func reduceScatterShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	results, ok := parts(out, len(c.Operands))
	if !ok {
		return Shape{}, c.errorf("COLL-11", "reduce-scatter dimension: the result must be a tuple with one element per operand, got %v for %d operands", out, len(c.Operands))
	}
	axis, err := c.collectiveAxis(attrsAs[ReduceScatterAttrs](c).Dimensions, results, "COLL-11")
	if err != nil {
		return Shape{}, err
	}
	shards := ceilDiv(c.Operands[0].Dim(axis), results[0].Dim(axis))
	if !c.Operands[0].IsUnboundedDimension(axis) && !results[0].IsUnboundedDimension(axis) {
		if err := c.shardCount(shards, "COLL-12"); err != nil {
			return Shape{}, err
		}
	}
	made := make([]Shape, len(results))
	for i, x := range c.Operands {
		dims := dimsOf(x)
		switch d := &dims[axis]; {
		case d.dyn:
			*d = dim{UnboundedSize, true}
		case d.size%shards != 0:
			return Shape{}, c.operand(i, "COLL-13", "The scatter dimension of %v must be dividable by shard_count %d", x, shards)
		default:
			d.size /= shards
		}
		made[i] = makeDims(x.Type(), dims)
	}
	return one(made), nil
}

func allToAllShape(c *ShapeContext) (Shape, error) {
	a := attrsAs[AllToAllAttrs](c)
	if len(a.Dimensions) == 0 {
		return c.allToAllTuple()
	}
	const rule = "COLL-14"
	if len(c.Operands) != 1 {
		return Shape{}, c.errorf(rule, "all-to-all of an array takes one operand, got %d", len(c.Operands))
	}
	axis, err := c.collectiveAxis(a.Dimensions, nil, rule)
	if err != nil {
		return Shape{}, err
	}
	x := c.Operands[0]
	for i := range x.Rank() {
		if x.IsDynamicDimension(i) && !x.IsUnboundedDimension(i) {
			return Shape{}, c.operand(0, rule, "all-to-all does not support bounded dynamic shapes, got %v", x)
		}
	}
	if g := c.GroupSize; g > 0 && !x.IsUnboundedDimension(axis) && x.Dim(axis)%g != 0 {
		return Shape{}, c.operand(0, rule, "AllToAll split dimension size %d must be dividable by split_count %d", x.Dim(axis), g)
	}
	return x, nil
}

func (c *ShapeContext) allToAllTuple() (Shape, error) {
	if len(c.Operands) == 0 {
		return Shape{}, c.errorf("COLL-15", "all-to-all operand count must not be zero")
	}
	for i, x := range c.Operands {
		if !x.EqualExcept(c.Operands[0], IgnoreMemorySpace) || !x.IsArray() {
			return Shape{}, c.operand(i, "COLL-16", "HLO all-to-all has operands with different shapes: the 0th operand shape %v, but the %dth operand has shape %v", c.Operands[0], i, x)
		}
	}
	if g := c.GroupSize; g > 0 && int64(len(c.Operands)) != g {
		return Shape{}, c.errorf("COLL-15", "all-to-all operand count %d must be the size of a replica group, %d", len(c.Operands), g)
	}
	return MakeTuple(c.Operands...), nil
}

func raggedAllToAllShape(c *ShapeContext) (Shape, error) {
	if len(c.Operands) != 6 {
		return Shape{}, c.errorf("COLL-17", "Expected 6 operands for ragged-all-to-all instruction, found %d", len(c.Operands))
	}
	if !c.Operands[1].IsArray() {
		return Shape{}, c.operand(1, "COLL-17", "Expected array argument for the output operand of ragged-all-to-all, got %v", c.Operands[1])
	}
	for i, x := range c.Operands[2:] {
		if !x.IsArray() || x.Rank() != 1 && x.Rank() != 2 {
			return Shape{}, c.operand(i+2, "COLL-18", "RaggedAllToAll operand %d must be rank 1 or 2: %v", i+2, x)
		}
		if !x.EqualExcept(c.Operands[2], IgnoreMemorySpace) {
			return Shape{}, c.operand(i+2, "COLL-19", "RaggedAllToAll operands have different shapes: %v and %v", c.Operands[2], x)
		}
	}
	return c.Operands[1], nil
}

func collectiveBroadcastShape(c *ShapeContext) (Shape, error) {
	if len(c.Operands) == 0 || !c.Operands[0].IsArray() {
		return Shape{}, c.errorf("COLL-20", "Expected array argument for operand of collective-broadcast")
	}
	return c.Operands[0], nil
}

func collectivePermuteShape(c *ShapeContext) (Shape, error) {
	if attrsAs[CollectivePermuteAttrs](c).SliceSizes != nil {
		if err := c.inPlacePermute(); err != nil {
			return Shape{}, err
		}
		return c.Operands[1], nil
	}
	if err := c.arrays("CPERM-07", "operand of collective-permute"); err != nil {
		return Shape{}, err
	}
	return one(c.Operands), nil
}

// collectivePermuteStartShape takes the elements after inputs and outputs as they are written.
func collectivePermuteStartShape(c *ShapeContext) (Shape, error) {
	in, out := c.Operands, c.Operands
	if attrsAs[CollectivePermuteAttrs](c).SliceSizes != nil {
		if err := c.inPlacePermute(); err != nil {
			return Shape{}, err
		}
		in, out = c.Operands[:1], c.Operands[1:2]
	} else if c.Defined { // XLA lets tuples through here, though not in collective-permute
		if err := c.arrays("HALO-DEFINED", "operand of collective-permute-start"); err != nil {
			return Shape{}, err
		}
	}
	elems := []Shape{one(in), one(out)}
	if c.Stated.IsTuple() && c.Stated.NumElems() > 2 {
		elems = append(elems, c.Stated.d.elems[2:]...)
	}
	return MakeTuple(elems...), nil
}

// inPlacePermute checks the form with slice sizes: inputs, outputs, offsets of each; all of them alone or as tuples.
func (c *ShapeContext) inPlacePermute() error {
	if len(c.Operands) != 4 {
		return c.errorf("CPERM-05", "collective-permute with slice_sizes takes 4 operands, got %d", len(c.Operands))
	}
	in, out, inAt, outAt := c.Operands[0], c.Operands[1], c.Operands[2], c.Operands[3]
	if in.IsArray() && out.IsArray() {
		if err := c.bufferOffset(2, inAt, in); err != nil {
			return err
		}
		return c.bufferOffset(3, outAt, out)
	}
	if !in.IsTuple() || !out.IsTuple() || in.NumElems() != out.NumElems() {
		return c.errorf("CPERM-05", "Unmatching input buffers and output buffers: %v and %v", in, out)
	}
	if !inAt.IsTuple() || inAt.NumElems() != in.NumElems() {
		return c.operand(2, "CPERM-05", "Unmatching input buffers and input offset: %v and %v", in, inAt)
	}
	if !outAt.IsTuple() || outAt.NumElems() != out.NumElems() {
		return c.operand(3, "CPERM-05", "Unmatching output buffers and output offset: %v and %v", out, outAt)
	}
	for i := range in.NumElems() {
		if err := c.bufferOffset(2, inAt.Elem(i), in.Elem(i)); err != nil {
			return err
		}
		if err := c.bufferOffset(3, outAt.Elem(i), out.Elem(i)); err != nil {
			return err
		}
	}
	return nil
}

// bufferOffset checks an offset: a tuple with an index for each axis of the buffer, or a tuple of such tuples.
func (c *ShapeContext) bufferOffset(operand int, offset, buffer Shape) error {
	if !offset.IsTuple() {
		return c.operand(operand, "CPERM-06", "Buffer offset is not tuple: %v", offset)
	}
	if offset.NumElems() > 0 && offset.Elem(0).IsTuple() {
		for _, e := range offset.d.elems {
			if !e.IsTuple() {
				return c.operand(operand, "CPERM-06", "Buffer offset is not tuple: %v", e)
			}
			if e.NumElems() != buffer.Rank() {
				return c.operand(operand, "CPERM-06", "Buffer offset %v should have the same number of elements as the buffer's rank, %v", e, buffer)
			}
		}
		return nil
	}
	if offset.NumElems() != buffer.Rank() {
		return c.operand(operand, "CPERM-06", "Buffer offset %v should have the same number of elements as the buffer's rank, %v", offset, buffer)
	}
	return nil
}
