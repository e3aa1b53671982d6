package expand

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/simplify"
)

// NewGatherExpander makes the pass gather-expander.
func NewGatherExpander(o pass.Options) (*pass.Pass, error) {
	p := *simplify.GatherExpander
	p.Options, p.Params = o, []pass.Param{{Name: "m", Doc: "which gathers: eliminate-simple-gathers, those of one window, or eliminate-all-gathers, the others by a loop; simple"}}
	if err := o.Known("m"); err != nil {
		return nil, err
	}
	switch mode := o.Text("m", "eliminate-simple-gathers"); mode {
	case "eliminate-simple-gathers":
		return &p, nil
	case "eliminate-all-gathers":
		simple := p.Local
		p.Lent = false // the loop is written while the gather is read
		p.Local = func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			if err := loops(ctx, m, c, func(in hlo.Instruction) bool { return loopsOverGather(in) }, gatherLoop); err != nil {
				return err
			}
			return simple(ctx, m, c)
		}
		return &p, nil
	default:
		return nil, fmt.Errorf("m: got %s, want eliminate-simple-gathers or eliminate-all-gathers", mode)
	}
}

// loops replaces the instructions that want accepts. Computations that belong to a fusion or an asynchronous op stay as they are: loops may not stand in them.
func loops(ctx *pass.Context, m hlo.Module, c hlo.CompEdit, want func(hlo.Instruction) bool, write func(emit.At, hlo.Instruction) hlo.InstrID) error {
	if pass.Fact(ctx, m, analysis.FindClosed).Has(c.ID()) {
		return nil
	}
	for _, in := range backward(m.MustComputation(c.ID())) {
		if !want(in) || !ctx.Spend("loop") {
			continue
		}
		if err := emit.Replace(c, in.ID(), write(emit.Before(c, in), in)); err != nil {
			return err
		}
		ctx.Count("loops", 1)
	}
	return nil
}

func loopsOverGather(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpGather && staticArrays(in) && hlo.CheckBatching(in) == nil && !simplify.OneWindow(in)
}

func gatherLoop(at emit.At, in hlo.Instruction) hlo.InstrID {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	result := in.Shape()
	if result.NumElements() == 0 || a.PicksNothing() {
		return at.Fill(at.Constant(emit.Zero(result.Type())), result.Dimensions()...)
	}
	w := &windowed{array: in.OperandInstr(0).Shape(), window: a.SliceSizes, vector: a.IndexVectorDim, mapped: a.StartIndexMap, batching: a.OperandBatchingDims, with: a.StartIndicesBatchingDims}
	w.fill(in.OperandInstr(1).Shape())
	list := w.list(at, in.Operand(1))
	window := make([]int64, 0, len(a.SliceSizes))
	for axis, size := range a.SliceSizes {
		if !slices.Contains(a.CollapsedSliceDims, int64(axis)) && !slices.Contains(a.OperandBatchingDims, int64(axis)) {
			window = append(window, size)
		}
	}
	rows := at.Fill(at.Constant(emit.Zero(result.Type())), append([]int64{w.n}, window...)...)
	after := w.loop(at, "gather", []hlo.InstrID{in.Operand(0), list, rows}, func(s *step, now []hlo.InstrID) []hlo.InstrID {
		at := s.at
		part := at.DynamicSlice(now[0], scalars(at, s.start(now[1])), a.SliceSizes...)
		part = at.Reshape(at.Reshape(part, window...), append([]int64{1}, window...)...)
		return []hlo.InstrID{now[0], now[1], at.DynamicUpdateSlice(now[2], part, s.row(1+len(window))...)}
	})
	// The dimensions of the batch again, and each at its place.
	whole := at.Reshape(after[2], append(slices.Clone(w.batch), window...)...)
	perm, next := make([]int64, result.Rank()), int64(0)
	for d := range perm {
		if k := slices.Index(a.OffsetDims, int64(d)); k >= 0 {
			perm[d] = int64(len(w.batch) + k)
			continue
		}
		perm[d] = next
		next++
	}
	return at.Transpose(whole, perm...)
}
