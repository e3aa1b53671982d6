package hlo

// Sums of products.
var contractionOps = []OpInfo{
	{Op: OpDot, Name: "dot", Arity: exactly(2), NewAttrs: attrs[DotAttrs], CanInfer: true, Traits: TraitMixesPrecision, Work: WorkContraction,
		Shape: dotShape, Doc: "sum of products over contracted axes, for each batch index"},
	{Op: OpRaggedDot, Name: "ragged-dot", Arity: exactly(3), NewAttrs: attrs[RaggedDotAttrs], CanInfer: true, Traits: TraitMixesPrecision, Work: WorkContraction,
		Shape: raggedDotShape, Doc: "dot whose ragged axis is cut into groups of given sizes"},
	{Op: OpScaledDot, Name: "scaled-dot", Arity: exactly(4), NewAttrs: attrs[DotAttrs], CanInfer: true, Traits: TraitMixesPrecision, Work: WorkContraction,
		Shape: scaledDotShape, Doc: "dot of operands with block scales"},
	{Op: OpConvolution, Name: "convolution", Arity: atLeast(2), NewAttrs: attrs[ConvolutionAttrs], CanInfer: true,
		Traits: TraitMixesPrecision, Work: WorkConvolution,
		Shape: convolutionShape, Doc: "windowed sum of products"},
}
