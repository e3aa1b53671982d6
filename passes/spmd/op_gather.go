package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

func init() {
	factorsOfOp[hlo.OpGather] = gatherFactors
	handlers[hlo.OpGather] = gather
}

// gather reads rows of split dimensions where they are: each device takes those that it has, and a sum over devices, of which all but one
// have nothing, brings them together.
func gather(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	if err := hlo.CheckBatching(in); err != nil {
		return nil, &Error{in, err}
	}
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	op := hlo.OpAdd
	if in.Shape().Type() == hlo.PRED {
		op = hlo.OpOr
	}
	d := &details{attrs: func(in hlo.Instruction, _ *plan, operands []*value) hlo.OpAttrs {
		local := a
		local.SliceSizes = slices.Clone(a.SliceSizes)
		for k, n := range a.SliceSizes {
			if n == in.OperandInstr(0).Shape().Dim(k) {
				local.SliceSizes[k] = operands[0].v.Shape().Dim(k)
			}
		}
		return &local
	}}
	id, ok := emit.Identity(op, in.Shape().Type())
	if !ok || in.Shape().Type().IsComplex() {
		return s.general(in, want, d)
	}
	d.combine = by(s.p.binary(op, in.Shape().Type()))
	x := &indexing{d: s.d, vector: int(a.IndexVectorDim)}
	for _, k := range a.StartIndexMap {
		x.comps = append(x.comps, int(k))
		if a.SliceSizes[k] == in.OperandInstr(0).Shape().Dim(int(k)) && !slices.Contains(a.CollapsedSliceDims, k) {
			x.whole = append(x.whole, int(k))
		}
	}
	var valid hlo.Value
	d.operands = func(p *plan, local []*value) {
		split := x.splitComponents(p.operands[0])
		if len(split) == 0 {
			return
		}
		v := x.widened(local[1].v)
		whole, part := local[0].shape, local[0].v.Shape()
		like := v.Shape()
		zero := s.d.splat(s.d.scalar(like.Type(), 0), like.Dimensions())
		v = s.d.b.Clamp(zero, v, x.vectorOf(func(k int) hlo.Value { return s.d.s32(whole.Dim(k) - a.SliceSizes[k]) }, like))
		v = s.d.b.Subtract(v, x.offsets(p.operands[0], part, like))
		for _, k := range split {
			c := x.component(v, k)
			dims := c.Shape().Dimensions()
			own := s.d.b.Binary(hlo.OpAnd, s.d.b.Compare(hlo.GE, c, s.d.splat(s.d.scalar(like.Type(), 0), dims)),
				s.d.b.Compare(hlo.LT, c, s.d.splat(s.d.scalar(like.Type(), part.Dim(k)), dims)))
			if (valid == hlo.Value{}) {
				valid = own
			} else {
				valid = s.d.b.Binary(hlo.OpAnd, valid, own)
			}
		}
		y := *local[1]
		y.v, y.copies = v, nil
		local[1] = &y
	}
	d.result = func(_ *plan, v hlo.Value) hlo.Value {
		if (valid == hlo.Value{}) {
			return v
		}
		var batch []int64
		for k := range v.Shape().Rank() {
			if !slices.Contains(a.OffsetDims, int64(k)) {
				batch = append(batch, int64(k))
			}
		}
		dims := v.Shape().Dimensions()
		return s.d.b.Select(s.d.b.Broadcast(valid, batch, dims...), v, s.d.splat(s.d.b.Constant(id), dims))
	}
	return s.general(in, want, d)
}

func gatherFactors(in hlo.Instruction) (all []factor) {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	if hlo.CheckBatching(in) != nil {
		return nil
	}
	g := gatherDimsOf(in)
	for _, d := range g.windows {
		all = append(all, along(2, passFactor, d[1], [2]int{0, d[0]}))
	}
	for _, d := range g.batches {
		f := along(2, passFactor, d[1], [2]int{1, d[0]})
		for _, j := range g.joined {
			if j[1] == d[0] {
				f.operands[0] = j[0]
			}
		}
		all = append(all, f)
	}
	for _, k := range a.StartIndexMap {
		if a.SliceSizes[k] == 1 && slices.Contains(a.CollapsedSliceDims, k) && !g.isJoined(k) {
			all = append(all, along(2, reduceFactor, -1, [2]int{0, int(k)}))
		}
	}
	return all
}
