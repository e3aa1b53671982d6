package passes_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/verifier"
)

// BenchmarkO1 is the time of -O1 for an instruction, on modules of growing size and on two large programs: it must not grow with the module.
func BenchmarkO1(b *testing.B) {
	measure := func(b *testing.B, m hlo.Module) {
		b.ReportAllocs()
		for b.Loop() {
			run(b, nil, "O1", m)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.NumInstructions()), "ns/instruction")
	}
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { measure(b, several(b, 4, n/4)) })
	}
	for name, file := range largePrograms {
		b.Run(name, func(b *testing.B) {
			text, err := os.ReadFile(hlotest.Shared(b, 1, "corpus", "hlo", file))
			require.NoError(b, err)
			m, err := parser.Parse(name, string(text))
			require.NoError(b, err)
			for _, k := range []int{1, 2, 4} {
				b.Run(fmt.Sprintf("%d-fold", k), func(b *testing.B) { measure(b, copies(m, k)) })
			}
		})
	}
}

// BenchmarkO2 is the time of -O2 for an instruction, of two large programs that are verified as the command does.
func BenchmarkO2(b *testing.B) {
	p, err := passes.Parse("O2")
	require.NoError(b, err)
	for name, file := range largePrograms {
		b.Run(name, func(b *testing.B) {
			text, err := os.ReadFile(hlotest.Shared(b, 1, "corpus", "hlo", file))
			require.NoError(b, err)
			m, err := parser.Parse(name, string(text))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, err := (&pass.Runner{Check: func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err() }}).Run(b.Context(), p, m)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.NumInstructions()), "ns/instruction")
		})
	}
}

// largePrograms are files of the corpus.
var largePrograms = map[string]string{
	"mixtral": "tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo", "gemma2": "backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo",
}

// copies is a module that calls k copies of the entry of m.
func copies(m hlo.Module, k int) hlo.Module {
	e := m.Edit()
	entry := m.Entry()
	b := e.NewComputation("outer")
	var args, results []hlo.InstrID
	for i := range entry.NumParameters() {
		p := entry.Parameter(i)
		args = append(args, b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Shape: p.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(i)}}))
	}
	shapes := make([]hlo.Shape, k)
	for i := range k {
		shapes[i] = entry.Root().Shape()
		callee := entry.ID()
		if i > 0 {
			callee = control.CloneComputation(e, callee)
		}
		results = append(results, b.Append(hlo.InstrSpec{Opcode: hlo.OpCall, Shape: shapes[i], Operands: args, Callees: []hlo.CompID{callee}}))
	}
	e.SetEntry(b.Finish(b.Append(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: hlo.MakeTuple(shapes...), Operands: results})))
	return e.Freeze()
}
