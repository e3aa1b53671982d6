package factor

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSmall decomposes small matrices, one after another.
func BenchmarkSmall(b *testing.B) {
	for _, n := range []int{2, 3, 4, 8, 16, 32} {
		rng := rand.New(rand.NewPCG(3, 4))
		general, hermitian := make([]float32, n*n), make([]float32, n*n)
		for i := range general {
			general[i] = float32(rng.NormFloat64())
		}
		for i := range n {
			for j := range n {
				hermitian[i*n+j] = general[i*n+j] + general[j*n+i]
			}
		}
		u, v, values := make([]float32, n*n), make([]float32, n*n), make([]float32, n)
		var e Eigen[float32, float32]
		var s Singular[float32, float32]
		var q QR[float32]
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"eigen", func() { e.Factor(Dense(hermitian, n), n, values, v) }},
			{"eigenvalues", func() { e.Factor(Dense(hermitian, n), n, values, nil) }},
			{"singular", func() { s.Factor(Dense(general, n), n, n, values, u, n, v) }},
			{"singular values", func() { s.Factor(Dense(general, n), n, n, values, nil, 0, nil) }},
			{"qr", func() {
				copy(u, general)
				q.Factor(Dense(u, n), n, n, values)
				q.Expand(Dense(v, n), Dense(u, n), n, n, values)
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}
