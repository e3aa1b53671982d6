package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

func init() {
	factorsOfOp[hlo.OpScatter] = scatterFactors
	handlers[hlo.OpScatter] = scatter
}

// scatter writes into tiles where they are: indices are counted from the device's tile, and what is outside of it is dropped. Updates that are
// split are written into arrays of the identity by all devices but the first, and combined at the end.
func scatter(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	if err := hlo.CheckBatching(in); err != nil {
		return nil, &Error{in, err}
	}
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	n := in.NumOperands() / 2
	x := &indexing{d: s.d, vector: int(a.IndexVectorDim)}
	for _, k := range a.ScatterDimsToOperandDims {
		x.comps = append(x.comps, int(k))
	}
	for _, pair := range scatterDimsOf(in).windows {
		x.whole = append(x.whole, pair[0])
	}
	d := &details{}
	var id *hlo.Literal
	if op, ok := binaryOp(s.p.m.MustComputation(in.Callee(0))); ok && n == 1 && op != hlo.OpXor && !coarse(in, op) {
		if id, ok = emit.Identity(op, in.Shape().Type()); ok {
			d.combine = by(in.Callee(0))
		}
	}
	d.operands = func(p *plan, local []*value) {
		index := *local[n]
		index.copies = nil
		if len(p.result.Unreduced) > 0 {
			first := s.d.b.Compare(hlo.EQ, s.d.coordinate(p.result.Mesh, p.result.Unreduced), s.d.s32(0))
			dims := local[0].v.Shape().Dimensions()
			y := *local[0]
			y.v, y.copies = s.d.b.Select(s.d.splat(first, dims), y.v, s.d.splat(s.d.b.Constant(id), dims)), nil
			local[0] = &y
			for k := range index.t.Dims { // updates beyond the end of a part write nothing
				if !index.t.isEven(k, index.shape.Dim(k)) {
					index.v = x.widened(index.v)
					index.v = s.d.fillPadding(&index, k, s.d.scalar(index.v.Shape().Type(), -1))
				}
			}
		}
		if len(x.splitComponents(p.operands[0])) > 0 {
			index.v = x.widened(index.v)
			index.v = s.d.b.Subtract(index.v, x.offsets(p.operands[0], local[0].v.Shape(), index.v.Shape()))
		}
		local[n] = &index
	}
	return s.general(in, want, d)
}

// coarse reports whether combining sums of parts of the updates shows in the result: a float of 16 bits or less is rounded at each of perhaps
// thousands of additions to one element, and other orders differ by far more than a unit in the last place.
func coarse(in hlo.Instruction, op hlo.Opcode) bool {
	t := in.Shape().Type()
	exact := op == hlo.OpMaximum || op == hlo.OpMinimum || hlo.AttrsOf[hlo.ScatterAttrs](in).UniqueIndices
	return t.IsFloat() && t.Bits() < 32 && !exact
}

// scatterFactors: operands and updates of several arrays are tiled alike. Splitting the updates makes results that have to be combined.
func scatterFactors(in hlo.Instruction) (all []factor) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	n := in.NumOperands()
	arrays := n / 2
	if hlo.CheckBatching(in) != nil {
		return nil
	}
	g := scatterDimsOf(in)
	for _, d := range g.windows {
		f := along(n, passFactor, d[0])
		for i := range arrays {
			f.operands[i], f.operands[arrays+1+i] = d[0], d[1]
		}
		all = append(all, f)
	}
	for _, d := range g.batches {
		f := along(n, reduceFactor, -1, [2]int{arrays, d[0]})
		for i := range arrays {
			f.operands[arrays+1+i] = d[1]
		}
		for _, j := range g.joined {
			if j[1] != d[0] {
				continue
			}
			f.kind, f.result = passFactor, j[0]
			for i := range arrays {
				f.operands[i] = j[0]
			}
		}
		all = append(all, f)
	}
	for _, k := range a.ScatterDimsToOperandDims {
		if !slices.Contains(a.InsertedWindowDims, k) || g.isJoined(k) {
			continue
		}
		f := along(n, passFactor, int(k))
		for i := range arrays {
			f.operands[i] = int(k)
		}
		all = append(all, f)
	}
	return all
}
