// Package types holds the passes that change element types: they compute in wider types what a backend cannot compute in narrow ones, and
// fold conversions into what stands around them.
package types

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{
		ConvertOperandFolding,
		ConvolutionTypeCanonicalizer,
		OperandUpcaster,
		ResultCaster,
		SubByteCollectiveNormalization,
	},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"bfloat16-fold":          NewConversionFolding,
		"bfloat16-propagation":   NewPropagation,
		"change-op-data-type":    NewChange,
		"element-type-converter": NewElementTypeConverter,
		"float-normalization":    NewFloatNormalization,
	},
	Aliases: map[string]string{
		"ConvolutionTypeCanonicalizer": "convolution-type-canonicalizer",
		"b-float16-propagation":        "bfloat16-propagation",
		"b-float16-conversion-folding": "bfloat16-fold",
		"bfloat16-conversion-folding":  "bfloat16-fold",
	},
}
