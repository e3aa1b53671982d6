package dynamic

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/simplify"
)

// NewPadder makes dynamic-padder.
func NewPadder(opts pass.Options) (*pass.Pass, error) {
	if err := opts.Known("slice-dynamic-output", "shape-check-mode", "checked"); err != nil {
		return nil, err
	}
	slice, err := opts.BoolOr("slice-dynamic-output", true)
	if err != nil {
		return nil, err
	}
	checked, err := opts.BoolOr("checked", false)
	if err != nil {
		return nil, err
	}
	mode := opts.Text("shape-check-mode", "ignore")
	if mode != "ignore" && mode != "compile-time" {
		return nil, fmt.Errorf("shape-check-mode %q: want ignore or compile-time", mode)
	}
	return &pass.Pass{
		Name:    "dynamic-padder",
		Options: opts,
		Params: []pass.Param{
			{Name: "slice-dynamic-output", Doc: "results of the program keep their dynamic shapes; else they have the shapes of their bounds; true"},
			{Name: "shape-check-mode", Doc: "compile-time refuses elementwise ops on sizes that are not known to be equal; ignore does not: the default"},
			{Name: "checked", Doc: "errors of sizes at run time stay: the program as it was runs on the evaluator where a size is not as it should be. Programs of which that cannot be told are left alone; false"},
		},
		Doc: `write arrays of dynamic size as arrays of their bounds

What an array has beyond its size is written over before elements of different positions meet: by 0 in a sum, by what is below all others in a maximum. Sizes become scalars that are computed beside the arrays: get-dimension-size reads
one, set-dimension-size replaces one. Where the program itself takes or returns such an array, PadToStatic and SliceToDynamic stand between the two forms. So they do around ops that are written for dynamic shapes, as custom calls are, and
around those for which there is no static form, about which a remark is made.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			p := &padding{ctx: ctx, m: m, slice: slice, check: mode == "compile-time"}
			if checked {
				if !hasDynamic(m) {
					return m, nil
				}
				p.checked, p.flow = true, p.findFlow()
				return p.runChecked()
			}
			p.flow = p.findFlow()
			if p.flow.idle() || !ctx.Spend("pad") {
				return m, nil
			}
			p.e = ctx.Edit(m)
			reachable := analysis.Reachable(m)
			for c := range m.PostOrder() {
				if !reachable[c.ID()] || p.flow.outside[c.ID()] {
					continue
				}
				if err := p.rewrite(c); err != nil {
					return m, err
				}
			}
			if err := simplify.RemoveDead(ctx, p.e); err != nil {
				return m, err
			}
			return p.e.Freeze(), nil
		},
	}, nil
}

// padding is a run of the pass.
type padding struct {
	ctx   *pass.Context
	m     hlo.Module
	e     *hlo.Editor
	flow  *flow
	slice bool // results of the program keep their shapes
	check bool // sizes that meet must be known to be equal

	checked    bool          // see runChecked
	conditions []hlo.InstrID // of the entry: under all of these its filled form does what it does
	arguments  []hlo.InstrID // of the program as it was
}

// filled is a shape without dynamic dimensions.
func filled(s hlo.Shape) hlo.Shape {
	return s.Map(func(leaf hlo.Shape) hlo.Shape {
		if !leaf.IsArray() || leaf.IsStatic() || !leaf.IsBounded() {
			return leaf
		}
		for i := range leaf.Rank() {
			leaf = leaf.WithDynamicDimension(i, false)
		}
		return leaf
	})
}

// hasDynamic reports whether the entry has arrays of dynamic size.
func hasDynamic(m hlo.Module) bool {
	for in := range m.Entry().Instructions() {
		if !in.Shape().IsStatic() {
			return true
		}
	}
	return false
}
