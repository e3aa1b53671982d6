package halocmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
)

// Tests compare times of the cost model: a machine that was measured would have others.
func init() { os.Setenv("HALO_RATES", os.DevNull) }

// TestCalibrate: what is measured is written, and is what a machine does.
func TestCalibrate(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs for a second")
	}
	path := filepath.Join(t.TempDir(), "rates.json")
	require.Equal(t, exitOK, run([]string{"calibrate", "-o", path}, os.Stdin, os.Stderr, os.Stderr))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var r analysis.Rates
	require.NoError(t, json.Unmarshal(text, &r))
	assert.Greater(t, min(r.Flops, r.Transcendentals, r.Bytes, r.Link), 1e6)
	assert.Less(t, r.Dispatch, 1e-3)
}
