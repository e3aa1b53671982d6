// Package expand holds the passes that write an instruction that a backend does not have as several that it has.
package expand

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		BatchedGatherScatterNormalizer,
		BitcastDtypes,
		ConvolutionPred,
		DynamicDimensionSimplifier,
		DynamicIndexSplitter,
		Logistic,
		TopKDecomposer,
		TopKRewriter,
	},
}

// expander is the pass that replaces each instruction that want accepts by what write emits before it.
func expander(name, doc string, want func(hlo.Instruction) bool, write func(emit.At, hlo.Instruction) hlo.InstrID) *pass.Pass {
	return &pass.Pass{Name: name, Doc: doc, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if !c.Has(in.ID()) || !want(in) || !ctx.Spend("expand") {
				continue
			}
			if err := emit.Replace(c, in.ID(), write(emit.Before(c, in), in)); err != nil {
				return err
			}
			ctx.Count("expanded", 1)
		}
		return nil
	}}
}
