package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const foldingDoc = `dot and convolution of a transposed operand → of the operand, along its own dimensions

In front of a dot of matrices, or of batches of them, those of rows and columns go; with any-dimensions others, too. Transposes that move batch dimensions of a dot stay, those that move nothing, and those that can run beside an
asynchronous chain where the dot cannot. With runs, those that move batch dimensions go, and stay do those of convolutions, and those without which neighbours in memory were neither neighbours in the product nor along the last contracting dimension: what packs them
reads runs.`

// NewTransposeFolding makes the pass transpose-folding, which contracts along other dimensions rather than transposing.
func NewTransposeFolding(o pass.Options) (*pass.Pass, error) {
	const keyRuns, keyAny = "runs", "any-dimensions"
	if err := o.Known(keyRuns, keyAny); err != nil {
		return nil, err
	}
	runs, err := o.Bool(keyRuns)
	if err != nil {
		return nil, err
	}
	anywhere, err := o.Bool(keyAny)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "transpose-folding", Doc: foldingDoc, Options: o, Params: []pass.Param{
		{Name: keyRuns, Doc: "any transposes before dots, those of batches, too, but only where runs of memory stay together; false"},
		{Name: keyAny, Doc: "transposes of more than rows and columns, too, and those next to a vector; false"}},
		About: []hlo.Opcode{hlo.OpDot, hlo.OpConvolution}, Lent: true, Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
			windows := analysis.FindWindows(c.View())
			for in := range pass.EachOf(c, hlo.OpDot, hlo.OpConvolution) {
				if in.Opcode() == hlo.OpConvolution && runs || in.NumOperands() != 2 {
					continue
				}
				for i := range 2 {
					if now := c.At(in.ID()); runs || anywhere || now.Opcode() != hlo.OpDot || ofMatrices(now, i) {
						foldTranspose(ctx, c, windows, now, i, runs)
					}
				}
			}
			return nil
		}}, nil
}

// ofMatrices reports whether a dot multiplies matrices, or batches of them, and operand i is one that is a batch of rows and columns.
func ofMatrices(dot hlo.Instruction, i int) bool {
	a := hlo.AttrsOf[hlo.DotAttrs](dot)
	batch, contracting := a.LHSBatch, a.LHSContracting
	if i == 1 {
		batch, contracting = a.RHSBatch, a.RHSContracting
	}
	return min(dot.OperandInstr(0).Shape().Rank(), dot.OperandInstr(1).Shape().Rank()) >= 2 &&
		len(contracting) == 1 && len(batch) == dot.OperandInstr(i).Shape().Rank()-2
}

// foldTranspose lets operand i of a contraction be what a transpose reads, if it is the result of one.
func foldTranspose(ctx *pass.Context, c hlo.CompEdit, windows *analysis.Windows, in hlo.Instruction, i int, runs bool) {
	t := in.OperandInstr(i)
	if t.Opcode() != hlo.OpTranspose || t.NumControlPredecessors() > 0 {
		return
	}
	perm := hlo.AttrsOf[hlo.DimensionsAttrs](t).Dimensions
	attrs, ok := through(in.Attrs(), i, perm, runs)
	if !ok || runs && !hasRuns(attrs, i, len(perm)) || slices.Equal(perm, iota(len(perm))) {
		return
	}
	if windows.Narrows(t.ID(), in.ID()) {
		ctx.Missed(t, "not folded into %%%s: it can run beside a chain, which that cannot", in.Name())
		return
	}
	if !ctx.Spend("transpose") {
		return
	}
	from, gone := t.Operand(0), t.ID()
	c.Instr(in.ID()).SetAttrs(attrs).SetOperand(i, from)
	pass.Release(c, gone, nil)
	ctx.Count("transposes", 1)
}

// hasRuns reports whether the last dimension of operand i of a dot is a free one, or the last contracting one.
func hasRuns(attrs hlo.OpAttrs, i, rank int) bool {
	a := attrs.(*hlo.DotAttrs)
	contracting := a.LHSContracting
	if i == 1 {
		contracting = a.RHSContracting
	}
	at := slices.Index(contracting, int64(rank-1))
	return at < 0 || at == len(contracting)-1
}

// through is the attributes of a contraction whose operand i is read as it is before a transpose, which may move batch dimensions if moves is set.
func through(attrs hlo.OpAttrs, i int, perm []int64, moves bool) (hlo.OpAttrs, bool) {
	at := func(dims []int64) (out []int64) {
		for _, d := range dims {
			out = append(out, perm[d])
		}
		return out
	}
	switch a := attrs.(type) {
	case *hlo.DotAttrs:
		b := *a
		batch, contracting := b.LHSBatch, b.LHSContracting
		if i == 1 {
			batch, contracting = b.RHSBatch, b.RHSContracting
		}
		if !moves && !slices.Equal(at(batch), batch) || !keepsOrder(perm, batch, contracting) {
			return nil, false
		}
		if i == 0 {
			b.LHSBatch, b.LHSContracting = at(batch), at(contracting)
		} else {
			b.RHSBatch, b.RHSContracting = at(batch), at(contracting)
		}
		return &b, true
	case *hlo.ConvolutionAttrs:
		b, d := *a, *a.DimLabels
		if i == 0 {
			d.InputBatch, d.InputFeature, d.InputSpatial = perm[d.InputBatch], perm[d.InputFeature], at(d.InputSpatial)
		} else {
			d.KernelInput, d.KernelOutput, d.KernelSpatial = perm[d.KernelInput], perm[d.KernelOutput], at(d.KernelSpatial)
		}
		b.DimLabels = &d
		return &b, len(d.InputUnknown) == 0 && len(d.KernelUnknown) == 0
	}
	return nil, false
}

// keepsOrder reports whether the dimensions that come out of the operand stand in the same order before the transpose: the result names
// them by their order alone.
func keepsOrder(perm, batch, contracting []int64) bool {
	last := int64(-1)
	for d := range int64(len(perm)) {
		if slices.Contains(batch, d) || slices.Contains(contracting, d) {
			continue
		}
		if perm[d] < last {
			return false
		}
		last = perm[d]
	}
	return true
}
