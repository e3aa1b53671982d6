package halocmd

import (
	"encoding/json"
	"math"
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

// TestPlausible: rates of a machine that was busy elsewhere are not used.
func TestPlausible(t *testing.T) {
	assert.True(t, plausible(analysis.OneCore))
	for _, spoil := range []func(r *analysis.Rates){
		func(r *analysis.Rates) { r.Flops = 0 },
		func(r *analysis.Rates) { r.Transcendentals = math.Inf(1) },
		func(r *analysis.Rates) { r.Bytes = 1.07e8 },
		func(r *analysis.Rates) { r.Bytes = math.NaN() },
		func(r *analysis.Rates) { r.Dispatch = 0 },
		func(r *analysis.Rates) { r.Dispatch = -1e-7 },
	} {
		r := analysis.OneCore
		spoil(&r)
		assert.False(t, plausible(r), "%+v", r)
	}
}
