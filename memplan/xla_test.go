package memplan_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/memplan"
)

// TestXLA reads what XLA dumps: a buffer assignment adds up to the total that the memory usage report of the same module states.
func TestXLA(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/xla.txtar")
	require.NoError(t, err)
	stated := regexp.MustCompile(`Total bytes: (\d+)`)
	const assignment, usage = "-buffer-assignment.txt", "-memory-usage-report.txt"
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	for name, data := range files {
		program, ok := strings.CutSuffix(name, assignment)
		if !ok {
			continue
		}
		t.Run(program, func(t *testing.T) {
			report := files[program+usage]
			m := stated.FindSubmatch(report)
			require.NotNil(t, m)
			want, err := strconv.ParseInt(string(m[1]), 10, 64)
			require.NoError(t, err)
			byName, err := memplan.ParseXLA(name, data)
			require.NoError(t, err)
			assert.Equal(t, want, byName.Total)
			byShape, err := memplan.ParseXLA(program+usage, report)
			require.NoError(t, err)
			assert.Equal(t, want, byShape.Total)
			assert.NotEmpty(t, byShape.Allocations)
			sum := int64(0)
			for _, kind := range []string{"parameter", "output", "constant", "thread-local", memplan.Temporary} {
				sum += byName.Of(kind)
			}
			assert.Equal(t, want, sum, "each allocation is of a kind")
			assert.Positive(t, byName.Of("parameter"))
			for _, a := range byName.Allocations {
				assert.NotEmpty(t, a.Values)
			}
		})
	}
}
