package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// DimensionMerger makes one batch dimension of several.
var DimensionMerger = &pass.Pass{
	Name: "dot-dimension-merger",
	Doc: `merge neighbouring batch dimensions of dots

They must stand next to each other in their order, in the shapes and in memory, in both operands and in the result: the reshapes then move nothing.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if !isPlain(in) || in.NumControlPredecessors() > 0 {
				continue
			}
			lhs, rhs := sidesOf(in)
			n := len(lhs.batch)
			now := c.At(in.ID())
			if n < 2 || !mergeable(now.OperandInstr(0).Shape(), lhs.batch) || !mergeable(now.OperandInstr(1).Shape(), rhs.batch) || !mergeable(in.Shape(), iota(n)) ||
				!ctx.Spend("batch") {
				continue
			}
			at, operands := emit.Before(c, in), slices.Collect(now.OperandIDs())
			for i, batch := range [][]int64{lhs.batch, rhs.batch} {
				operands[i] = at.OpOf(hlo.OpReshape, merged(at.Shape(operands[i]), batch[0], n), &hlo.ReshapeAttrs{InferredDimension: -1}, operands[i])
			}
			dot := at.OpOf(hlo.OpDot, merged(in.Shape(), 0, n), withDims(in.Attrs(), lhs.after(n), rhs.after(n)), operands...)
			if err := emit.Replace(c, in.ID(), at.OpOf(hlo.OpReshape, in.Shape(), &hlo.ReshapeAttrs{InferredDimension: -1}, dot)); err != nil {
				return err
			}
			ctx.Count("dots", 1)
		}
		return nil
	},
}

// mergeable reports whether dimensions are next to each other, in the shape and in memory.
func mergeable(s hlo.Shape, dims []int64) bool {
	layout, ok := s.Layout()
	if !ok {
		layout = hlo.DefaultLayout(s.Rank())
	}
	if !consecutive(dims) || len(layout.Tiles) > 0 {
		return false
	}
	at := slices.Index(layout.MinorToMajor, dims[len(dims)-1])
	for i := range dims {
		if at+i >= len(layout.MinorToMajor) || layout.MinorToMajor[at+i] != dims[len(dims)-1-i] {
			return false
		}
	}
	return true
}

// merged is a shape whose n dimensions from first on are one.
func merged(s hlo.Shape, first int64, n int) hlo.Shape {
	dims := s.Dimensions()
	size := int64(1)
	for _, d := range dims[first : first+int64(n)] {
		size *= d
	}
	dims = slices.Replace(dims, int(first), int(first)+n, size)
	layout, ok := s.Layout()
	if !ok {
		return hlo.MakeShape(s.Type(), dims...)
	}
	moved := *layout
	moved.MinorToMajor = nil
	for _, d := range layout.MinorToMajor {
		switch {
		case d < first:
			moved.MinorToMajor = append(moved.MinorToMajor, d)
		case d == first:
			moved.MinorToMajor = append(moved.MinorToMajor, d)
		case d >= first+int64(n):
			moved.MinorToMajor = append(moved.MinorToMajor, d-int64(n)+1)
		}
	}
	return hlo.MakeArray(s.Type(), dims, nil, &moved)
}

// after is the roles when the n batch dimensions have become one.
func (s side) after(n int) side {
	first := s.batch[0]
	move := func(dims []int64) (out []int64) {
		for _, d := range dims {
			if d > first {
				d -= int64(n) - 1
			}
			out = append(out, d)
		}
		return out
	}
	return side{[]int64{first}, move(s.contracting), move(s.free)}
}
