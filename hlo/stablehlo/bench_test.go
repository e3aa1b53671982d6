//go:build unix

package stablehlo_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// program is the file that the benchmarks read: HALO_STABLEHLO_BENCH, without its extension, .mlir and .mlirbc. The script
// testdata/reading_jaxlib.py makes such files.
func program(b *testing.B, ext string) []byte {
	b.Helper()
	name := os.Getenv("HALO_STABLEHLO_BENCH")
	if name == "" {
		b.Skip("HALO_STABLEHLO_BENCH names no program")
	}
	data, err := os.ReadFile(name + ext)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	return data
}

// processorTime is what this process has used, in all threads.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs f, and reports the processor time of the best run, and the mean with all that the collector does for it. These are
// the figures that testdata/reading_jaxlib.py sets beside jaxlib's.
func measure(b *testing.B, f func() error) {
	best, start := time.Hour, processorTime()
	n := 0
	for b.Loop() {
		before := processorTime()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		best = min(best, processorTime()-before)
		n++
	}
	b.ReportMetric(best.Seconds()*1e3, "best-ms")
	b.ReportMetric((processorTime()-start).Seconds()*1e3/float64(n), "mean-ms")
}

func BenchmarkText(b *testing.B) {
	text := string(program(b, ".mlir"))
	measure(b, func() error {
		_, err := mlir.Parse("bench.mlir", text)
		return err
	})
}

func BenchmarkBytecode(b *testing.B) {
	data := program(b, ".mlirbc")
	measure(b, func() error {
		_, err := bytecode.Decode("bench.mlirbc", data)
		return err
	})
}

func BenchmarkConvert(b *testing.B) {
	text := string(program(b, ".mlir"))
	for b.Loop() {
		b.StopTimer()
		p, err := mlir.Parse("bench.mlir", text)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := stablehlo.Convert(p, stablehlo.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
