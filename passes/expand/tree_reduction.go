package expand

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewTreeReduction makes the pass that reduces in two steps.
func NewTreeReduction(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("reduce-window-size", "fp"); err != nil {
		return nil, err
	}
	policy, err := o.FP()
	if err != nil {
		return nil, err
	}
	size, err := o.Int("reduce-window-size", 32)
	if err == nil && size < 2 {
		err = fmt.Errorf("reduce-window-size=%d: want 2 or more", size)
	}
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "tree-reduction-rewriter",
		Doc: `reduce long axes window by window, and then the results of the windows

One run makes one level; in fix(…) there are as many as the axes are long, and rounding errors of a sum grow with their number. Floating-point sums and products round otherwise, so they
need a policy that allows it.`,
		Options: o,
		Params: []pass.Param{{Name: "reduce-window-size", Doc: "elements of a window along each axis; 32"},
			{Name: "fp", Doc: "what it may change: strict, xla or fast; the policy of the run"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for c := range m.PostOrder() {
				for _, in := range backward(c) {
					w, class, why := reductionWindows(m, in, int64(size))
					switch {
					case w == nil && why != "":
						ctx.Missed(in, "not reduced in steps: %s", why)
						continue
					case w == nil || !ctx.SpendUnder(policy, "window", class):
						continue
					}
					ce := e.Computation(c.ID())
					at, spec := emit.Before(ce, ce.At(in.ID())), emit.Again(in)
					parts := at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduceWindow, Operands: spec.Operands, Callees: spec.Callees, Attrs: &hlo.WindowAttrs{Window: w}})
					spec.Operands, spec.Name = []hlo.InstrID{parts, spec.Operands[1]}, ""
					if err := emit.Replace(ce, in.ID(), at.Spec(spec)); err != nil {
						return m, err
					}
					ctx.Count("rewritten", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// reductionWindows is windows next to each other along the axes that a reduce folds, so that the last is padded as the first, and what reducing them first may change. It is nil where
// all axes are short, and where that would be wrong, with the reason.
func reductionWindows(m hlo.Module, in hlo.Instruction, size int64) (w *hlo.Window, class pass.FP, why string) {
	if in.Opcode() != hlo.OpReduce || !in.OperandInstr(0).Shape().IsArray() {
		return nil, class, ""
	}
	s, axes := in.OperandInstr(0).Shape(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	if !slices.ContainsFunc(axes, func(a int64) bool { return s.Dim(int(a)) > size }) || s.NumElements() == 0 {
		return nil, class, ""
	}
	if in.NumOperands() != 2 || in.Shape().IsTuple() {
		return nil, class, "it reduces several arrays"
	}
	if !s.IsStatic() {
		return nil, class, "sizes are known at run time"
	}
	f := m.MustComputation(in.Callee(0))
	if root := f.Root(); f.NumInstructions() != 3 || root.NumOperands() != 2 || root.Operand(0) == root.Operand(1) {
		return nil, class, "what it folds with is not one op"
	}
	rounds, ok := foldable(f.Root().Opcode(), in.OperandInstr(1))
	if !ok || in.OperandInstr(1).Shape().Type() != s.Type() || in.Shape().Type() != s.Type() {
		return nil, class, "the initial value is not neutral, and would count in every window"
	}
	if rounds {
		class = pass.Rounding
	}
	w = &hlo.Window{}
	for i := range s.Rank() {
		d := hlo.DefaultWindowDim(1)
		if slices.Contains(axes, int64(i)) {
			n := min(s.Dim(i), size)
			missing := (s.Dim(i)+n-1)/n*n - s.Dim(i)
			d.Size, d.Stride, d.PadLow, d.PadHigh = n, n, missing/2, missing-missing/2
		}
		w.Dims = append(w.Dims, d)
	}
	return w, class, ""
}
