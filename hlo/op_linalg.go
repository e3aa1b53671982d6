package hlo

// Linear algebra, normalisation and transforms.
var linalgOps = []OpInfo{
	{Op: OpBatchNormGrad, Name: "batch-norm-grad", Arity: exactly(5), NewAttrs: attrs[BatchNormAttrs], CanInfer: true,
		Shape: batchNormGradShape, Doc: "gradients of batch normalisation"},
	{Op: OpBatchNormInference, Name: "batch-norm-inference", Arity: exactly(5), NewAttrs: attrs[BatchNormAttrs], CanInfer: true,
		Shape: batchNormInferenceShape, Doc: "normalise with given mean and variance"},
	{Op: OpBatchNormTraining, Name: "batch-norm-training", Arity: exactly(3), NewAttrs: attrs[BatchNormAttrs], CanInfer: true,
		Shape: batchNormTrainingShape, Doc: "normalise, giving the batch mean and variance too"},
	{Op: OpCholesky, Name: "cholesky", Arity: exactly(1), NewAttrs: attrs[CholeskyAttrs], CanInfer: true, Traits: TraitKeepsLayout, Work: WorkSolve,
		Shape: choleskyShape, Doc: "Cholesky factor"},
	{Op: OpTriangularSolve, Name: "triangular-solve", Arity: exactly(2), NewAttrs: attrs[TriangularSolveAttrs], CanInfer: true,
		Traits: TraitKeepsLayout, Work: WorkSolve,
		Shape: triangularSolveShape, Doc: "solve a triangular system"},
	{Op: OpFft, Name: "fft", Arity: exactly(1), NewAttrs: attrs[FFTAttrs], CanInfer: true, Traits: TraitKeepsLayout | TraitStays, Work: WorkFourier,
		Shape: fftShape, Doc: "fast Fourier transform of the last axes"},
}
