// Package expand holds the passes that write an instruction that a backend does not have as several that it has.
package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		BatchedGatherScatterNormalizer,
		BitcastDtypes,
		Comparison,
		ComplexFunctions,
		Convolution4D,
		ConvolutionCanonicalization,
		ConvolutionPred,
		DynamicDimensionSimplifier,
		DynamicIndexSplitter,
		Logistic,
		PermutationSort,
		RealImag,
		ScatterDeterminism,
		ScatterSimplifier,
		ScatterSliceSimplifier,
		SelectAndScatter,
		StableSort,
		StackedReduce,
		StochasticConvert,
		TopKDecomposer,
		TopKRewriter,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"associative-scan-rewriter":   NewAssociativeScan,
		"batchnorm-expander":          NewBatchNorm,
		"conv-operand-swapper":        NewConvOperandSwapper,
		"convolution-group-converter": NewConvolutionGroups,
		"gather-expander":             NewGatherExpander,
		"ragged-dot-rewriter":         NewRaggedDotRewriter,
		"reduce-window-rewriter":      NewReduceWindowRewriter,
		"reduce-decomposer":           NewReduceDecomposer,
		"scatter-expander":            NewScatterExpander,
		"rng-bit-generator-expander":  NewRngBitGenerator,
		"rng-expander":                NewRng,
		"scan-expander":               NewScan,
		"tree-reduction-rewriter":     NewTreeReduction,
	},
	Aliases: map[string]string{
		"conv-canonicalization":       "convolution-canonicalization",
		"permutation-sort-simplifier": "permutation-sort-expander",
	},
}

// backward lists the instructions of a computation, users before operands: when an instruction is replaced, its operands are still the ones that
// it has in the module as it was.
func backward(c hlo.Computation) []hlo.Instruction {
	all := slices.Collect(c.OperandsFirst())
	slices.Reverse(all)
	return all
}

// expander is the pass that replaces each instruction that want accepts by what write emits before it.
func expander(name, doc string, want func(hlo.Instruction) bool, write func(emit.At, hlo.Instruction) hlo.InstrID) *pass.Pass {
	return &pass.Pass{Name: name, Doc: doc, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		was := m.MustComputation(c.ID())
		if !someInstruction(was, want) {
			return nil
		}
		for _, in := range backward(was) {
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

// someInstruction reports whether something is true of an instruction of c: most programs have nothing to expand, and that needs no order.
func someInstruction(c hlo.Computation, is func(hlo.Instruction) bool) bool {
	for in := range c.Instructions() {
		if is(in) {
			return true
		}
	}
	return false
}
