// Package dots holds the passes about contractions: they merge them, bring them into fewer dimensions, and fold what stands around them in.
package dots

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		BatchDotSimplification,
		Decomposer,
		DimensionMerger,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"dot-dimension-normalizer": NewDimensionNormalizer,
		"dot-merger":               NewMerger,
		"gemv-rewriter":            NewGemvRewriter,
		"transpose-folding":        NewTransposeFolding,
	},
}
