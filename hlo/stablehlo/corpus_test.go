package stablehlo_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/export"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/moddiff"
	"github.com/gohalo/halo/verifier"
)

const reference = "../../../shared/corpus/reference/"

// programRow is a program of the corpus, in all its forms.
type programRow struct {
	ID       string
	MLIR     string
	MLIRLoc  string `json:"mlir_loc"`
	Bytecode map[string][]byte
	Export   []byte
}

// referenceHLO is what XLA's converter makes of the programs of the corpus, by id.
func referenceHLO(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(reference + "stablehlo.jsonl")
	if os.IsNotExist(err) {
		t.Skip("the corpus is not there: ../shared/corpus/reference")
	}
	require.NoError(t, err)
	defer file.Close()
	all := make(map[string]string)
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<28)
	for s.Scan() {
		var row struct{ ID, HLO string }
		require.NoError(t, json.Unmarshal(s.Bytes(), &row))
		all[row.ID] = row.HLO
	}
	require.NoError(t, s.Err())
	dirs, err := filepath.Glob(reference + "programs/*/prog.hlo")
	require.NoError(t, err)
	for _, path := range dirs {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all[filepath.Base(filepath.Dir(path))] = string(text)
	}
	return all
}

// differ are the programs whose HLO is not XLA's, and in what; what they compute is the same.
var differ = map[string]string{
	"assoc_scan_ssm":     "a pad of nothing",
	"neural_ode_diffrax": "operands of branches that nothing uses",
}

// TestPrograms compares the HLO of every program of the corpus with XLA's, instruction by instruction, from text and from bytecode; and
// reads back what is written as StableHLO.
func TestPrograms(t *testing.T) {
	want := referenceHLO(t)
	for _, table := range []string{"tests", "programs"} {
		rows(t, table, func(r programRow) {
			t.Run(r.ID, func(t *testing.T) {
				p, err := mlir.Parse(r.ID, r.MLIR)
				require.NoError(t, err)
				m := converted(t, p)
				if text := want[r.ID]; text != "" {
					theirs, err := parser.Parse(r.ID, text)
					require.NoError(t, err)
					d := moddiff.Find(theirs, m)
					d.Header = slices.DeleteFunc(d.Header, func(h string) bool { return h == "num_partitions" || h == "replica_count" })
					if why, ok := differ[r.ID]; ok {
						require.False(t, d.Equal(), why)
					} else {
						require.True(t, d.Equal(), "%s", describe(d))
					}
				}
				for version, data := range r.Bytecode {
					p, err := bytecode.Decode(r.ID+"@"+version, data)
					require.NoError(t, err)
					converted(t, p)
				}
				written, err := stablehlo.Write(m)
				if err != nil {
					require.ErrorContains(t, err, "cannot be written")
					return
				}
				back, err := mlir.Parse(r.ID, string(written))
				require.NoError(t, err)
				converted(t, back)
			})
		})
	}
}

func converted(t *testing.T, p *mlir.Module) hlo.Module {
	t.Helper()
	m, err := stablehlo.Convert(p, stablehlo.Options{})
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err())
	return m
}

// TestExport reads the leaves of a file of jax.export by name.
func TestExport(t *testing.T) {
	data, err := os.ReadFile("../../testdata/run/from_jax/model.jax_export")
	require.NoError(t, err)
	f, err := export.Open("model.jax_export", data)
	require.NoError(t, err)
	require.Equal(t, "model", f.Name)
	require.Equal(t, []string{"cpu"}, f.Platforms)
	var names []string
	for _, l := range f.Arguments {
		names = append(names, l.Name+" "+l.String())
	}
	require.Equal(t, []string{"args[0]['b1'] f32[8]", "args[0]['w1'] f32[4,8]", "args[0]['w2'] f32[8,3]", "args[1] f32[b,4]"}, names)
	require.Equal(t, []int64{0, 1, 2, 3}, f.Kept)

	_, err = f.Convert("model.jax_export", stablehlo.Options{})
	require.ErrorContains(t, err, "argument 3 of @main is tensor<?x4xf32>")
	shapes := []hlo.Shape{hlo.MakeShape(hlo.F32, 8), hlo.MakeShape(hlo.F32, 4, 8), hlo.MakeShape(hlo.F32, 8, 3), hlo.MakeShape(hlo.F32, 2, 4)}
	m, err := f.Convert("model.jax_export", stablehlo.Options{Shapes: shapes})
	require.NoError(t, err)
	require.Equal(t, "f32[2,3]{1,0}", m.Entry().Root().Shape().String())
	shapes[3] = hlo.MakeShape(hlo.F32, 0, 4)
	_, err = f.Convert("model.jax_export", stablehlo.Options{Shapes: shapes})
	require.ErrorContains(t, err, "Expected value >= 1 for dimension variable 'b'")
}
