package proto_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
)

// eachLarge runs a benchmark on the large programs of the corpus.
func eachLarge(b *testing.B, run func(b *testing.B, m hlo.Module)) {
	base := filepath.Join("..", "..", "..", "shared", "corpus", "hlo")
	for _, file := range []string{
		"tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo",
		"backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo",
	} {
		text, err := os.ReadFile(filepath.Join(base, filepath.FromSlash(file)))
		if err != nil {
			b.Skip("no corpus beside the repository")
		}
		m, err := parser.ParseBytes(file, text)
		require.NoError(b, err)
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), "hlo_"), "_")
		b.Run(name, func(b *testing.B) { run(b, m) })
	}
}

func BenchmarkDecode(b *testing.B) {
	eachLarge(b, func(b *testing.B, m hlo.Module) {
		data := proto.Encode(m)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := proto.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(instructionsPerSecond(b, m), "instrs/s")
	})
}

func BenchmarkEncode(b *testing.B) {
	eachLarge(b, func(b *testing.B, m hlo.Module) {
		b.SetBytes(int64(len(proto.Encode(m))))
		b.ReportAllocs()
		for b.Loop() {
			proto.Encode(m)
		}
		b.ReportMetric(instructionsPerSecond(b, m), "instrs/s")
	})
}

func instructionsPerSecond(b *testing.B, m hlo.Module) float64 {
	n := 0
	for c := range m.Computations() {
		n += c.NumInstructions()
	}
	return float64(n) * float64(b.N) / b.Elapsed().Seconds()
}
