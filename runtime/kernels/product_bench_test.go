package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/workqueue"
)

// BenchmarkProducts compares products with what a loop in registers multiplies and adds in the same moment, by as many workers: the best of all rounds of
// both. It is acceptance figures P-3, P-4 and P-10.
func BenchmarkProducts(b *testing.B) {
	for _, typ := range []string{"f32", "bf16"} {
		for _, n := range []int{128, 256, 512, 1024, 2048} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%d/workers=%d", typ, n, workers), func(b *testing.B) { benchmarkProduct(b, typ, n, workers) })
			}
		}
	}
}

func benchmarkProduct(b *testing.B, typ string, n, workers int) {
	text := fmt.Sprintf("T[%[1]d,%[1]d] dot(T[%[1]d,%[1]d], T[%[1]d,%[1]d]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", n)
	s := siteOf(b, replaceType(text, typ))
	bound, ok := chooseFast(s)
	if !ok {
		b.Fatal("no fast kernel")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var ins []*runtime.Buffer
	for _, t := range s.b.In {
		x := t.NewBuffer()
		for i := range int(t.Bytes) / 4 {
			elems[uint32](x.Data)[i] = rng.Uint32()&0x7FFF_7FFF | 0x3F00_3F00
			if hlo.PrimitiveType(t.Type) == hlo.F32 {
				elems[float32](x.Data)[i] = rng.Float32()
			}
		}
		ins = append(ins, &x)
	}
	out := s.b.Out[0].NewBuffer()
	queue := workqueue.NewMulti(workqueue.Config{Workers: workers})
	defer queue.Close()
	f := runtime.NewTensorFrame(&runtime.ExecContext{Queue: queue}, ins, []*runtime.Buffer{&out}, runtime.AlignedBytes(bound.Scratch))
	rate := func(operations int, run func()) float64 {
		start := time.Now()
		run()
		return float64(operations) / float64(time.Since(start).Nanoseconds())
	}
	const rounds = 500_000 // so many that workers have begun long before the end
	each := gemm.Peak(1)
	var best, peak float64
	for b.Loop() {
		peak = max(peak, rate(workers*rounds*each, func() {
			f.ParallelFor(workers, 1, func(lo, hi int) { gemm.Peak((hi - lo) * rounds) })
		}))
		best = max(best, rate(2*n*n*n, func() {
			if err := bound.Run(f); err != nil {
				b.Fatal(err)
			}
		}))
	}
	b.ReportMetric(best, "GFlop/s")
	if peak > 0 {
		b.ReportMetric(100*best/peak, "%peak")
	}
}
