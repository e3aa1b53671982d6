package mlir_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

const corpus = "../../../../shared/corpus/stablehlo/"

// TestCorpus reads every program of the corpus: StableHLO's own tests and programs of JAX, with and without locations.
func TestCorpus(t *testing.T) {
	for _, table := range []string{"tests", "programs", "poly", "spmd"} {
		t.Run(table, func(t *testing.T) {
			file, err := os.Open(corpus + table + ".jsonl.gz")
			if os.IsNotExist(err) {
				t.Skip("the corpus is not there: ../shared/corpus/stablehlo")
			}
			require.NoError(t, err)
			defer file.Close()
			z, err := gzip.NewReader(file)
			require.NoError(t, err)
			s := bufio.NewScanner(z)
			s.Buffer(nil, 1<<28)
			for s.Scan() {
				var row struct {
					ID      string
					MLIR    string
					MLIRLoc string `json:"mlir_loc"`
				}
				require.NoError(t, json.Unmarshal(s.Bytes(), &row))
				for _, text := range []string{row.MLIR, row.MLIRLoc} {
					if text == "" {
						continue
					}
					m, err := mlir.Parse(row.ID, text)
					require.NoError(t, err)
					require.NotEmpty(t, m.Ops)
				}
			}
			require.NoError(t, s.Err())
		})
	}
}
