package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/workqueue"
)

// BenchmarkProducts compares products with what loops in registers multiply and add just before and after, on as many workers: the median of all rounds. It is
// acceptance figures P-3, P-4 and P-10.
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
	peakOf(f, workers) // wakes them
	peak := peakOf(f, workers)
	var rates, shares []float64
	for b.Loop() {
		start := time.Now()
		if err := bound.Run(f); err != nil {
			b.Fatal(err)
		}
		rate := float64(2*n*n*n) / float64(time.Since(start).Nanoseconds())
		after := peakOf(f, workers)
		if peak > 0 && after > 0 {
			rates, shares = append(rates, rate), append(shares, 200*rate/(peak+after))
		}
		peak = after
	}
	if len(shares) > 0 {
		b.ReportMetric(median(rates), "GFlop/s")
		b.ReportMetric(median(shares), "%peak")
	}
}

// peakOf is what loops in registers multiply and add at a time, one on each worker: the sum of their speeds. It is 0 if workers did not run together.
func peakOf(f *runtime.TensorFrame, workers int) float64 {
	const (
		window = time.Millisecond
		rounds = 2000
	)
	speeds := make([]float64, workers)
	begin := time.Now()
	f.ParallelFor(workers, 1, func(lo, hi int) {
		start, operations := time.Now(), 0
		if hi-lo > 1 || start.Sub(begin) > window/2 {
			return
		}
		for time.Since(begin) < window {
			operations += gemm.Peak(rounds)
		}
		speeds[lo] = float64(operations) / float64(time.Since(start).Nanoseconds())
	})
	sum := 0.0
	for _, s := range speeds {
		if s == 0 {
			return 0
		}
		sum += s
	}
	return sum
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }
