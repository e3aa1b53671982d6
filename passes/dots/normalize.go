package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const normalizerDoc = `contract along one dimension

Several contracting dimensions become one: by a reshape where they stand next to each other in their order, else behind a transpose that moves
them to the end. normalize-noncontracting-dimensions also makes one of several others.`

// NewDimensionNormalizer makes the pass dot-dimension-normalizer.
func NewDimensionNormalizer(o pass.Options) (*pass.Pass, error) {
	const key = "normalize-noncontracting-dimensions"
	if err := o.Known(key); err != nil {
		return nil, err
	}
	free, err := o.Bool(key)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "dot-dimension-normalizer", Doc: normalizerDoc, Options: o, Params: []pass.Param{{Name: key, Doc: "make one dimension of those that are not contracted; false"}},
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			for in := range m.MustComputation(c.ID()).Instructions() {
				if !isPlain(in) || in.NumControlPredecessors() > 0 {
					continue
				}
				lhs, rhs := sidesOf(in)
				if len(lhs.contracting) < 2 && (!free || len(lhs.free) < 2 && len(rhs.free) < 2) || !ctx.Spend("dot") {
					continue
				}
				at, attrs := emit.Before(c, in), in.Attrs()
				operands := slices.Collect(c.At(in.ID()).OperandIDs())
				x, lhs := oneContracting(at, operands[0], lhs, free)
				y, rhs := oneContracting(at, operands[1], rhs, free)
				dot := at.Spec(hlo.InstrSpec{Opcode: hlo.OpDot, Attrs: withDims(attrs, lhs, rhs), Operands: []hlo.InstrID{x, y}, Shape: dotShape(at, in.Shape(), x, y, lhs, rhs)})
				if err := emit.Replace(c, in.ID(), at.Reshape(dot, in.Shape().Dimensions()...)); err != nil {
					return err
				}
				ctx.Count("dots", 1)
			}
			return nil
		}}, nil
}

// dotShape is the shape of a dot: that of s, where it has the same dimensions.
func dotShape(at emit.At, s hlo.Shape, x, y hlo.InstrID, lhs, rhs side) hlo.Shape {
	dims := append(append(sizes(at.Shape(x), lhs.batch), sizes(at.Shape(x), lhs.free)...), sizes(at.Shape(y), rhs.free)...)
	if slices.Equal(dims, s.Dimensions()) {
		return s
	}
	return hlo.MakeShape(s.Type(), dims...)
}

// oneContracting brings an operand into a form with one contracting dimension, and with one free one if wanted.
func oneContracting(at emit.At, x hlo.InstrID, s side, free bool) (hlo.InstrID, side) {
	many := len(s.contracting) > 1
	merge := free && len(s.free) > 1
	if !many && !merge {
		return x, s
	}
	if many && !consecutive(s.contracting) || merge && !consecutive(s.free) {
		perm := slices.Concat(s.batch, s.free, s.contracting)
		if !merge { // what is contracted goes to the end, and the others stay in their order
			perm = slices.DeleteFunc(iota(at.Shape(x).Rank()), func(d int64) bool { return slices.Contains(s.contracting, d) })
			perm = append(perm, s.contracting...)
		}
		x = at.OpOf(hlo.OpTranspose, permuted(at.Shape(x), perm), &hlo.DimensionsAttrs{Dimensions: perm}, x)
		move := func(dims []int64) (out []int64) {
			for _, d := range dims {
				out = append(out, int64(slices.Index(perm, d)))
			}
			return out
		}
		s = side{move(s.batch), move(s.contracting), move(s.free)}
	}
	var dims []int64
	var to side
	shape := at.Shape(x)
	place := make([]int64, shape.Rank())
	for d := int64(0); d < int64(shape.Rank()); {
		group := []int64{d}
		switch {
		case many && d == s.contracting[0]:
			group = s.contracting
		case merge && d == s.free[0]:
			group = s.free
		}
		place[d] = int64(len(dims))
		dims = append(dims, product(shape, group))
		d += int64(len(group))
	}
	for _, d := range s.batch {
		to.batch = append(to.batch, place[d])
	}
	to.contracting = []int64{place[s.contracting[0]]}
	if !many {
		to.contracting = nil
		for _, d := range s.contracting {
			to.contracting = append(to.contracting, place[d])
		}
	}
	for _, d := range s.free {
		if !merge || d == s.free[0] {
			to.free = append(to.free, place[d])
		}
	}
	return at.Reshape(x, dims...), to
}

// permuted is a transposed shape with the elements where they were in memory.
func permuted(s hlo.Shape, perm []int64) hlo.Shape {
	layout, ok := s.Layout()
	if !ok {
		layout = hlo.DefaultLayout(s.Rank())
	}
	moved := *layout
	moved.MinorToMajor = make([]int64, len(perm))
	for i, d := range layout.MinorToMajor {
		moved.MinorToMajor[i] = int64(slices.Index(perm, d))
	}
	return hlo.MakeArray(s.Type(), sizes(s, perm), nil, &moved)
}
