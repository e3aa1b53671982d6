package passes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/passcases"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
)

// decides are the passes that decide about asynchronous work.
var decides = []string{"all-gather-combiner", "all-reduce-combiner", "all-reduce-splitter", "async-collective-creator", "async-collective-custom-call-rewriter",
	"async-collective-replacer", "async-to-sync", "async-unwrapper", "async-wrapper", "collective-permute-combiner", "collective-pipeliner",
	"collectives-schedule-linearizer", "convert-async-collectives-to-sync", "cpu-all-reduce-combiner", "host-memory-transfer-asyncifier", "loop-async-carrier",
	"reduce-scatter-combiner", "scheduler-memory-fencing", "sync-useless-pairs"}

// TestDecisionsLeaveRemarks: of the passes that decide about asynchronous work, none changes one of its test programs without a word.
func TestDecisionsLeaveRemarks(t *testing.T) {
	for _, name := range decides {
		archives, err := filepath.Glob("../testdata/passes/" + name + "/*.txtar")
		require.NoError(t, err)
		require.NotEmpty(t, archives, name)
		said := 0
		for _, path := range archives {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, c := range passcases.Cases(path, data, passes.Parse) {
				p, err := passes.Parse(c.Pipeline)
				require.NoError(t, err)
				m, err := parser.Parse(c.Name, c.Text)
				require.NoError(t, err)
				remarks := 0
				r := &pass.Runner{Instruments: []pass.Instrument{{Remark: func(pass.Remark) { remarks++ }}}}
				after, err := r.Run(t.Context(), p, m)
				if err != nil {
					continue
				}
				said += remarks
				if printer.String(after) != printer.String(m) {
					assert.NotZero(t, remarks, c.Name)
				}
			}
		}
		assert.NotZero(t, said, name)
	}
}
