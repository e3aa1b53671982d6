package legalize

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// Descheduler takes the schedule away.
var Descheduler = &pass.Pass{
	Name: "hlo-descheduler",
	Doc:  "remove the schedule of a module",
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		if !m.Config().IsScheduled || !ctx.Spend("schedule") {
			return m, nil
		}
		e := ctx.Edit(m)
		config := *m.Config()
		config.IsScheduled = false
		e.SetConfig(&config)
		for c := range m.Computations() {
			if c.IsScheduled() {
				e.Computation(c.ID()).ClearSchedule()
			}
		}
		ctx.Count("computations", int64(m.NumComputations()))
		return e.Freeze(), nil
	},
}

// NewDespecializer makes the pass despecializer.
func NewDespecializer(o pass.Options) (*pass.Pass, error) {
	const windows = "add-reduce-window-to-reduce-broadcast-deconstruct"
	if err := o.Known(windows); err != nil {
		return nil, err
	}
	deconstruct, err := o.Bool(windows)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "despecializer",
		Doc: `undo machine-specific decisions: the schedule, fusions, and control dependencies

Control dependencies between instructions with effects stay: they say in which order these happen.`,
		Options: o,
		Params:  []pass.Param{{Name: windows, Doc: "write a reduce-window whose windows all see the whole axis as a reduce and a broadcast; false"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			steps := []func(*pass.Context, hlo.Module) (hlo.Module, error){Descheduler.Run, withoutControl, control.FusionInliner.Run}
			if deconstruct {
				steps = append(steps, wholeWindows)
			}
			for _, step := range steps {
				var err error
				if m, err = step(ctx, m); err != nil {
					return m, err
				}
			}
			return m, nil
		},
	}, nil
}

// wholeWindows replaces reduce-windows all of whose windows hold the whole of some axes, and one element of the others.
func wholeWindows(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			axes := wholeAxes(in)
			if len(axes) == 0 || !ctx.Spend("window") {
				continue
			}
			ce := e.Computation(c.ID())
			at := emit.Before(ce, in)
			now := emit.Again(ce.At(in.ID()))
			var kept []int64
			for d := range int64(in.Shape().Rank()) {
				if !slices.Contains(axes, d) {
					kept = append(kept, d)
				}
			}
			folded := at.Reduce(now.Operands[0], now.Operands[1], in.Callee(0), axes...)
			if err := emit.Replace(ce, in.ID(), at.Broadcast(folded, kept, in.Shape().Dimensions()...)); err != nil {
				return m, err
			}
			ctx.Count("windows", 1)
		}
	}
	return e.Freeze(), nil
}

// wholeAxes lists the axes that every window of a reduce-window holds whole; none if the others are more than single elements.
func wholeAxes(in hlo.Instruction) (axes []int64) {
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	if in.Opcode() != hlo.OpReduceWindow || in.NumOperands() != 2 || w == nil || !in.OperandInstr(0).Shape().IsStatic() || in.Shape().NumElements() == 0 {
		return nil
	}
	for d, dim := range w.Dims {
		n, out := in.OperandInstr(0).Shape().Dim(d), in.Shape().Dim(d)
		switch {
		case dim.Stride != 1 || dim.BaseDilation != 1 || dim.WindowDilation != 1 || dim.Reversal:
			return nil
		case dim.Size == 1 && dim.PadLow == 0 && dim.PadHigh == 0:
		case dim.PadLow >= out-1 && dim.Size >= n+dim.PadLow:
			axes = append(axes, int64(d))
		default:
			return nil
		}
	}
	return axes
}
