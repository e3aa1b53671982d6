package stablehlo_test

import (
	"os"
	"testing"

	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// program is the file that the benchmarks read: HALO_STABLEHLO_BENCH, without its extension, .mlir and .mlirbc.
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

func BenchmarkText(b *testing.B) {
	text := string(program(b, ".mlir"))
	for b.Loop() {
		if _, err := mlir.Parse("bench.mlir", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBytecode(b *testing.B) {
	data := program(b, ".mlirbc")
	for b.Loop() {
		if _, err := bytecode.Decode("bench.mlirbc", data); err != nil {
			b.Fatal(err)
		}
	}
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
