package expand

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const raggedDotDoc = `write ragged-dot as a dot of all groups, in which what is not of a group is masked

	ragged dimension   dot
	free               of the rows, repeated for each group and 0 outside of it, over groups and contracted dimensions
	contracted         of both operands, repeated and 0 outside of the group, with the groups as a batch
	batch              of the operands; entries that no group has are 0

Where a zero must not meet an infinity, the rows of the first are multiplied with all groups, and their own product is picked. Sizes that are known at run time only, and ragged-dots without groups, stay.`

// NewRaggedDotRewriter makes the pass ragged-dot-rewriter.
func NewRaggedDotRewriter(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{{Name: "fp", Doc: "what it may change beside roundings: strict, xla or fast; the policy of the run"}}
	if err := o.Known(params[0].Name); err != nil {
		return nil, err
	}
	policy, err := o.FP()
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "ragged-dot-rewriter", Doc: raggedDotDoc, Options: o, Params: params, About: []hlo.Opcode{hlo.OpRaggedDot}, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for _, in := range backward(m.MustComputation(c.ID())) {
			if in.Opcode() != hlo.OpRaggedDot || !staticArrays(in) || len(hlo.AttrsOf[hlo.RaggedDotAttrs](in).LHSRagged) != 1 || in.OperandInstr(2).Shape().NumElements() == 0 {
				continue
			}
			r := newRagged(in)
			write, class := r.picked, pass.Rounding
			switch {
			case slices.Contains(r.LHSBatch, r.axis):
				write = r.batched
			case slices.Contains(r.LHSContracting, r.axis):
				write = r.contracted
			case in.Shape().Type().IsInteger() || max(ctx.FP(), policy) >= pass.NotANumber:
				write, class = r.masked, pass.NotANumber
			}
			if in.Shape().Type().IsInteger() {
				class = pass.Exact
			}
			if !ctx.SpendUnder(max(policy, pass.Rounding), "ragged-dot", class) {
				continue
			}
			if err := emit.Replace(c, in.ID(), write(emit.Before(c, in))); err != nil {
				return err
			}
			ctx.Count("expanded", 1)
		}
		return nil
	}}, nil
}

// ragged is a ragged-dot.
type ragged struct {
	hlo.RaggedDotAttrs
	in       hlo.Instruction
	lhs, rhs hlo.Shape
	axis     int64   // of the left operand: the ragged one
	free     []int64 // axes of the left operand
	prefix   []int64 // axes of the left operand for each index of which there are sizes of groups
	n        int64   // groups
}

func newRagged(in hlo.Instruction) *ragged {
	r := &ragged{RaggedDotAttrs: hlo.AttrsOf[hlo.RaggedDotAttrs](in), in: in, lhs: in.OperandInstr(0).Shape(), rhs: in.OperandInstr(1).Shape()}
	sizes := in.OperandInstr(2).Shape()
	r.axis, r.n = r.LHSRagged[0], sizes.Dim(sizes.Rank()-1)
	r.free = others(r.lhs.Rank(), slices.Concat(r.LHSBatch, r.LHSContracting))
	if sizes.Rank() > 1 { // what comes before the ragged axis in the order batch, free or contracted
		role := slices.Concat(r.LHSBatch, r.free)
		if slices.Contains(r.LHSContracting, r.axis) {
			role = slices.Concat(r.LHSBatch, r.LHSContracting)
		}
		r.prefix = role[:slices.Index(role, r.axis)]
	}
	return r
}

// mask is true for each group where an index along the ragged axis is its own: an array over the groups, the prefix and the ragged axis.
func (r *ragged) mask(at emit.At) hlo.InstrID {
	sizes := at.Convert(r.in.Operand(2), hlo.S64)
	last := len(r.prefix)
	w := &hlo.Window{}
	for range last + 1 {
		w.Dims = append(w.Dims, hlo.DefaultWindowDim(1))
	}
	w.Dims[last].Size, w.Dims[last].PadLow = r.n, r.n-1
	ends := at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduceWindow, Operands: []hlo.InstrID{sizes, at.Int(hlo.S64, 0)},
		Callees: []hlo.CompID{emit.BinaryComputation(at.C.Editor(), hlo.OpAdd, hlo.S64)}, Attrs: &hlo.WindowAttrs{Window: w}})
	starts := at.Binary(hlo.OpSubtract, ends, sizes)
	dims := []int64{r.n}
	for _, axis := range r.maskAxes() {
		dims = append(dims, r.lhs.Dim(int(axis)))
	}
	groupFirst := []int64{int64(last)}
	axes := []int64{0}
	for i := range last {
		groupFirst, axes = append(groupFirst, int64(i)), append(axes, int64(i)+1)
	}
	over := func(x hlo.InstrID) hlo.InstrID { return at.Broadcast(at.Transpose(x, groupFirst...), axes, dims...) }
	i := at.Iota(hlo.S64, int64(last)+1, dims...)
	return at.Binary(hlo.OpAnd, at.Compare(hlo.GE, i, over(starts)), at.Compare(hlo.LT, i, over(ends)))
}

// maskAxes are the axes of the left operand along the mask, after that of the groups.
func (r *ragged) maskAxes() []int64 { return append(slices.Clone(r.prefix), r.axis) }

// anyGroup is the mask without the axis of the groups.
func (r *ragged) anyGroup(at emit.At, mask hlo.InstrID) hlo.InstrID {
	return at.Reduce(mask, at.Int(hlo.PRED, 0), emit.BinaryComputation(at.C.Editor(), hlo.OpOr, hlo.PRED), 0)
}

// along repeats an array, whose axis i is axis axes[i] of the result.
func along(at emit.At, x hlo.InstrID, axes []int64, dims ...int64) hlo.InstrID {
	perm := others(len(axes), nil)
	slices.SortFunc(perm, func(a, b int64) int { return int(axes[a] - axes[b]) })
	if x = at.Transpose(x, perm...); len(axes) == len(dims) {
		return x
	}
	return at.Broadcast(x, slices.Sorted(slices.Values(axes)), dims...)
}

// perGroup repeats an operand for each group, in front, and makes it 0 outside of the group. axes are those of the operand along the mask.
func (r *ragged) perGroup(at emit.At, operand int, mask hlo.InstrID, axes []int64) hlo.InstrID {
	s := r.in.OperandInstr(operand).Shape()
	dims := append([]int64{r.n}, s.Dimensions()...)
	x := at.Broadcast(r.in.Operand(operand), after(others(s.Rank(), nil)), dims...)
	zero := at.Fill(at.Constant(emit.Zero(s.Type())), dims...)
	return at.Select(along(at, mask, append([]int64{0}, after(axes)...), dims...), x, zero)
}

// after numbers axes as they are behind one in front.
func after(axes []int64) []int64 {
	moved := make([]int64, len(axes))
	for i, a := range axes {
		moved[i] = a + 1
	}
	return moved
}

func (r *ragged) dot(at emit.At, s hlo.Shape, a *hlo.DotAttrs, x, y hlo.InstrID) hlo.InstrID {
	a.Precision = r.Precision
	return at.OpOf(hlo.OpDot, s, a, x, y)
}

// masked contracts over the groups, too: rows are 0 in all but their own.
func (r *ragged) masked(at emit.At) hlo.InstrID {
	x := r.perGroup(at, 0, r.mask(at), r.maskAxes())
	return r.dot(at, r.in.Shape().WithoutLayout(), &hlo.DotAttrs{
		LHSBatch: after(r.LHSBatch), LHSContracting: append([]int64{0}, after(r.LHSContracting)...),
		RHSBatch: r.RHSBatch, RHSContracting: append([]int64{r.RHSGroup[0]}, r.RHSContracting...),
	}, x, r.in.Operand(1))
}

// picked multiplies rows with all groups, and adds up the product of their own and zeros that leave it as it is.
func (r *ragged) picked(at emit.At) hlo.InstrID {
	t := r.in.Shape().Type()
	free := others(r.rhs.Rank(), slices.Concat(r.RHSBatch, r.RHSContracting))
	place := int64(len(r.LHSBatch) + len(r.free) + slices.Index(free, r.RHSGroup[0])) // of the groups in the product
	dims := slices.Insert(r.in.Shape().Dimensions(), int(place), r.n)
	all := r.dot(at, hlo.MakeShape(t, dims...), &hlo.DotAttrs{LHSBatch: r.LHSBatch, LHSContracting: r.LHSContracting, RHSBatch: r.RHSBatch, RHSContracting: r.RHSContracting},
		r.in.Operand(0), r.in.Operand(1))
	mask := r.mask(at)
	var rows []int64 // the axes of the result along the mask
	for _, axis := range r.maskAxes() {
		rows = append(rows, int64(slices.Index(slices.Concat(r.LHSBatch, r.free), axis)))
	}
	none := at.Constant(emit.Zero(t))
	if t.IsFloat() {
		none = at.Float(t, math.Copysign(0, -1))
	}
	own := at.Select(along(at, mask, append([]int64{place}, rows...), dims...), all, at.Fill(none, dims...))
	sum := at.Reduce(own, none, emit.BinaryComputation(at.C.Editor(), hlo.OpAdd, t), place)
	return r.where(at, r.anyGroup(at, mask), rows, sum)
}

// contracted makes the groups a batch.
func (r *ragged) contracted(at emit.At) hlo.InstrID {
	mask := r.mask(at)
	var right []int64 // the axes of the right operand along the mask
	for _, axis := range r.maskAxes() {
		if i := slices.Index(r.LHSBatch, axis); i >= 0 {
			right = append(right, r.RHSBatch[i])
		} else {
			right = append(right, r.RHSContracting[slices.Index(r.LHSContracting, axis)])
		}
	}
	return r.dot(at, r.in.Shape().WithoutLayout(), &hlo.DotAttrs{
		LHSBatch: append([]int64{0}, after(r.LHSBatch)...), LHSContracting: after(r.LHSContracting),
		RHSBatch: append([]int64{0}, after(r.RHSBatch)...), RHSContracting: after(r.RHSContracting),
	}, r.perGroup(at, 0, mask, r.maskAxes()), r.perGroup(at, 1, mask, right))
}

// batched is a dot, but for entries that are in no group.
func (r *ragged) batched(at emit.At) hlo.InstrID {
	all := r.dot(at, r.in.Shape().WithoutLayout(), &hlo.DotAttrs{LHSBatch: r.LHSBatch, LHSContracting: r.LHSContracting, RHSBatch: r.RHSBatch, RHSContracting: r.RHSContracting},
		r.in.Operand(0), r.in.Operand(1))
	var rows []int64
	for _, axis := range r.maskAxes() {
		rows = append(rows, int64(slices.Index(r.LHSBatch, axis)))
	}
	return r.where(at, r.anyGroup(at, r.mask(at)), rows, all)
}

// where is a value where a mask along some axes holds, and 0 elsewhere.
func (r *ragged) where(at emit.At, mask hlo.InstrID, axes []int64, x hlo.InstrID) hlo.InstrID {
	dims := at.Shape(x).Dimensions()
	return at.Select(along(at, mask, axes, dims...), x, at.Fill(at.Constant(emit.Zero(at.Shape(x).Type())), dims...))
}
