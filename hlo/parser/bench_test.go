package parser_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// BenchmarkParse reads large dumps of the corpus: mixtral has many short instructions, gemma2 long metadata.
func BenchmarkParse(b *testing.B) {
	for name, path := range map[string]string{
		"mixtral": "hlo/tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo",
		"llama":   "hlo/tools/benchmarks/hlo/hlo_llama31_8b_bf16_1x8.hlo",
		"gemma2":  "hlo/backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo",
		"gemma4":  "hlo/tools/benchmarks/hlo/hlo_gemma4_2b_bf16.hlo",
	} {
		b.Run(name, func(b *testing.B) {
			needCorpus(b)
			data, err := os.ReadFile(filepath.Join(corpus, path))
			require.NoError(b, err)
			text := string(data)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				m, err := parser.Parse(path, text)
				require.NoError(b, err)
				n = m.NumInstructions()
			}
			b.ReportMetric(float64(n), "instructions")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/instruction")
		})
	}
}

// BenchmarkPlainRead reads the bytes of the same texts once, line by line: what memory bandwidth and a branch per line cost.
func BenchmarkPlainRead(b *testing.B) {
	needCorpus(b)
	path := filepath.Join(corpus, "hlo/tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo")
	for b.Loop() {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		b.SetBytes(int64(len(data)))
	}
}
