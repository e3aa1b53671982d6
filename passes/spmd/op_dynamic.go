package spmd

import "github.com/gohalo/halo/hlo"

func init() {
	factorsOfOp[hlo.OpDynamicSlice] = dynamicSliceFactors
	factorsOfOp[hlo.OpDynamicUpdateSlice] = dynamicUpdateFactors
	handlers[hlo.OpDynamicSlice] = dynamicSlice
	handlers[hlo.OpDynamicUpdateSlice] = dynamicUpdate
}

// dynamicSliceFactors: a split dimension of which the slice is a part is read where it is, each device contributing what it has.
func dynamicSliceFactors(in hlo.Instruction) (all []factor) {
	x := in.OperandInstr(0).Shape()
	for k := range x.Rank() {
		switch {
		case in.Shape().Dim(k) == x.Dim(k):
			all = append(all, along(in.NumOperands(), passFactor, k, [2]int{0, k}))
		case brings(x.Type()) && hasScalarIndices(in, 1):
			all = append(all, along(in.NumOperands(), reduceFactor, -1, [2]int{0, k}))
		default:
			all = append(all, along(in.NumOperands(), wholeFactor, k, [2]int{0, k}))
		}
	}
	return all
}

// dynamicUpdateFactors: a split dimension of which the update is a part is updated where it is; all devices need the update.
func dynamicUpdateFactors(in hlo.Instruction) (all []factor) {
	x, u := in.Shape(), in.OperandInstr(1).Shape()
	for k := range x.Rank() {
		if u.Dim(k) == x.Dim(k) {
			all = append(all, along(in.NumOperands(), passFactor, k, [2]int{0, k}, [2]int{1, k}))
			continue
		}
		if !hasScalarIndices(in, 2) {
			all = append(all, along(in.NumOperands(), wholeFactor, k, [2]int{0, k}, [2]int{1, k}))
			continue
		}
		all = append(all, along(in.NumOperands(), passFactor, k, [2]int{0, k}), along(in.NumOperands(), wholeFactor, -1, [2]int{1, k}))
	}
	return all
}

// hasScalarIndices reports whether the start indices are operands of their own, from some operand on; programs of old have them in one array.
func hasScalarIndices(in hlo.Instruction, first int) bool {
	return in.NumOperands() == first || in.OperandInstr(first).Shape().IsScalar()
}

// dynamicSlice reads split dimensions where they are, or gathers them, whichever is cheaper.
func dynamicSlice(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	d := &details{attrs: func(in hlo.Instruction, p *plan, _ []*value) hlo.OpAttrs {
		return &hlo.DynamicSliceAttrs{Sizes: p.result.shard(in.Shape()).Dimensions()}
	}}
	if !brings(in.Shape().Type()) || !hasScalarIndices(in, 1) {
		return s.general(in, want, d)
	}
	d.combine = by(s.p.binary(bringing(in.Shape().Type())))
	d.operands = func(p *plan, local []*value) {
		y := *local[0]
		y.copies = nil
		for k := range in.Shape().Rank() {
			if n := in.Shape().Dim(k); n != y.shape.Dim(k) && len(p.operands[0].Dims[k]) > 0 {
				y.v = s.d.ownPart(&y, k, s.d.index(local[1+k].v, y.shape.Dim(k)-n), n)
				zero := *local[1+k]
				zero.v, zero.copies = s.d.scalar(zero.shape.Type(), 0), nil
				local[1+k] = &zero
			}
		}
		local[0] = &y
	}
	return s.general(in, want, d)
}

// index is a start index as the op understands it, between 0 and the last that is possible: s32[].
func (d *device) index(v hlo.Value, last int64) hlo.Value {
	if t := v.Shape().Type(); t.IsUnsigned() && t.Bits() >= 32 {
		v = d.b.Binary(hlo.OpMinimum, v, d.scalar(t, last))
	} else if t.Bits() > 32 {
		v = d.b.Clamp(d.scalar(t, 0), v, d.scalar(t, last))
	}
	if v.Shape().Type() != hlo.S32 {
		v = d.b.Convert(v, hlo.S32)
	}
	return d.b.Clamp(d.s32(0), v, d.s32(last))
}

// dynamicUpdate updates split dimensions where they are: each device overwrites a window of its tile that is as large as the update, or as the tile, with what
// of the update lies in it.
func dynamicUpdate(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	if !hasScalarIndices(in, 2) {
		return s.general(in, want, nil)
	}
	return s.general(in, want, &details{operands: func(p *plan, local []*value) {
		x, u := local[0], local[1].v
		var at []hlo.Value
		for i := range in.Shape().Rank() {
			at = append(at, local[2+i].v)
		}
		var hits []func(dims []int64) hlo.Value
		split := false
		for k := range in.Shape().Rank() {
			n := in.OperandInstr(1).Shape().Dim(k)
			if n == x.shape.Dim(k) || len(p.operands[0].Dims[k]) == 0 {
				continue
			}
			split = true
			tile := x.v.Shape().Dim(k)
			window := min(n, tile)
			// Where the update begins from the beginning of the tile, and where the window does.
			begin := s.d.b.Subtract(s.d.index(at[k], x.shape.Dim(k)-n), s.d.offset(x.t, k, tile))
			from := s.d.b.Clamp(s.d.s32(0), begin, s.d.s32(tile-window))
			shift := s.d.b.Subtract(from, begin)
			u = s.d.padded(u, k, hlo.PaddingDim{Low: window, High: window})
			u = s.d.sliceAt(u, k, s.d.b.Add(shift, s.d.s32(window)), window)
			hits = append(hits, func(dims []int64) hlo.Value { return s.d.within(dims, k, shift, n) })
			at[k] = from
		}
		if !split {
			return
		}
		for k := range at { // indices of a dynamic-slice have one type
			if at[k].Shape().Type() != hlo.S32 {
				at[k] = s.d.index(at[k], x.v.Shape().Dim(k)-u.Shape().Dim(k))
			}
		}
		dims := u.Shape().Dimensions()
		var hit hlo.Value
		for i, h := range hits {
			if i == 0 {
				hit = h(dims)
			} else {
				hit = s.d.b.Binary(hlo.OpAnd, hit, h(dims))
			}
		}
		old := s.d.b.DynamicSlice(x.v, at, dims...)
		update := *local[1]
		update.v, update.copies = s.d.b.Select(hit, u, old), nil
		local[1] = &update
		for k := range at {
			i := *local[2+k]
			i.v, i.copies = at[k], nil
			local[2+k] = &i
		}
	}})
}

// within says which elements of an array lie, along dimension k and from some place on, among the first n.
func (d *device) within(dims []int64, k int, from hlo.Value, n int64) hlo.Value {
	index := d.b.Add(d.b.Iota(hlo.MakeShape(hlo.S32, dims...).WithDefaultLayout(), int64(k)), d.splat(from, dims))
	return d.b.Binary(hlo.OpAnd, d.b.Compare(hlo.GE, index, d.splat(d.s32(0), dims)), d.b.Compare(hlo.LT, index, d.splat(d.s32(n), dims)))
}
