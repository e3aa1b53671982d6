package stablehlo_test

import (
	"os"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/export"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/verifier"
)

// seeds adds rows of the corpus to a target's own seeds. Where it is not there, the target runs on those.
func seeds[T any](f *testing.F, name string, add func(T)) {
	f.Helper()
	if _, err := os.Stat(corpus + name + ".jsonl.gz"); err == nil {
		rows(f, name, add)
	}
}

// FuzzConvert: any text is converted, or refused with an error.
func FuzzConvert(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/shape.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(string(file.Data))
	}
	seeds(f, "ops", func(r opRow) { f.Add(r.MLIR) })
	f.Fuzz(func(t *testing.T, text string) {
		p, err := mlir.Parse("fuzz.mlir", text)
		if err != nil {
			return
		}
		convert(t, p)
	})
}

// convert converts a program, and verifies what comes of it: rules must stand whatever they are given.
func convert(t *testing.T, p *mlir.Module) {
	t.Helper()
	shapes := []hlo.Shape{hlo.MakeShape(hlo.F32, 2, 3), hlo.MakeShape(hlo.F32, 2)}
	m, err := stablehlo.Convert(p, stablehlo.Options{Shapes: shapes})
	if err != nil {
		return
	}
	_ = verifier.Verify(m, verifier.Config{Profile: verifier.XLA})
}

// FuzzBytecode: any bytes are read or refused.
func FuzzBytecode(f *testing.F) {
	data, err := os.ReadFile("bytecode/testdata/sdy.mlirbc")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	n := 0
	seeds(f, "tests", func(r struct{ Bytecode map[string][]byte }) {
		if n++; n%40 == 0 {
			for _, b := range r.Bytecode {
				f.Add(b)
			}
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := bytecode.Decode("fuzz.mlirbc", data)
		if err != nil {
			return
		}
		convert(t, p)
	})
}

// FuzzExport: any bytes are read or refused.
func FuzzExport(f *testing.F) {
	for _, path := range []string{"export/testdata/version12.jax_export", "../../testdata/run/from_jax/model.jax_export"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	seeds(f, "poly", func(r struct{ Export []byte }) { f.Add(r.Export) })
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := export.Open("fuzz.jax_export", data)
		if err != nil {
			return
		}
		m, err := file.Convert("fuzz.jax_export", stablehlo.Options{})
		if err == nil && m == (hlo.Module{}) {
			t.Fatal("no module and no error")
		}
	})
}
