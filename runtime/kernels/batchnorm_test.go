package kernels

import (
	"strings"
	"testing"
)

// TestBatchNorm holds the expansion to the evaluator, which computes in f64.
func TestBatchNorm(t *testing.T) {
	for typ, tol := range map[string]float64{"f32": 1e-5, "f64": 1e-12, "bf16": 0.008, "f16": 0.001} {
		for _, shape := range []struct{ dims, feature, n string }{
			{"4,5,6,8", "3", "8"}, {"4,8,5,6", "1", "8"}, {"7,33", "0", "7"}, {"64", "0", "64"}, {"600,3", "1", "3"}, {"1,1", "1", "1"},
		} {
			for _, text := range []string{
				"(T[D], T[N], T[N]) batch-norm-training(T[D], T[N], T[N]), epsilon=0.01, feature_index=F",
				"T[D] batch-norm-inference(T[D], T[N], T[N], T[N], T[N]), epsilon=20, feature_index=F",
				"(T[D], T[N], T[N]) batch-norm-grad(T[D], T[N], T[N], T[N], T[D]), epsilon=20, feature_index=F",
			} {
				text = strings.NewReplacer("T[D]", typ+"["+shape.dims+"]", "T[N]", typ+"["+shape.n+"]", "=F", "="+shape.feature).Replace(text)
				kernelCase{text: text, tol: tol * 4}.check(t)
			}
		}
	}
}
