package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// TestCustomCallCosts: calls to LAPACK cost what their routines do, unless they declare it; of others only the bytes are known.
func TestCustomCallCosts(t *testing.T) {
	m, err := parser.Parse("m.hlo", `ENTRY e {
  a = f64[3,16,16] parameter(0)
  b = f64[3,16,5] parameter(1)
  factor = (f64[3,16,16], s32[3]) custom-call(a), custom_call_target="lapack_dpotrf_ffi"
  solve = f64[3,16,5] custom-call(a, b), custom_call_target="lapack_dtrsm_ffi"
  values = (f64[3,16,16], f64[3,16], s32[3]) custom-call(a), custom_call_target="lapack_dsyevd_ffi"
  declared = f64[3,16,16] custom-call(a), custom_call_target="lapack_dpotrf_ffi", backend_config="{\"cost_estimate\":{\"flops\":\"7\"}}"
  other = f64[3,16,16] custom-call(a), custom_call_target="lapack_dnone_ffi"
  ROOT r = () tuple()
}`)
	require.NoError(t, err)
	costs := analysis.FindCosts(m)
	got := map[string]int64{}
	for in := range m.Entry().Instructions() {
		c := costs.Of(in)
		got[in.Name()] = c.Flops
		assert.Equal(t, in.Name() == "other", c.Unknown, in.Name())
	}
	assert.Equal(t, map[string]int64{"a": 0, "b": 0, "factor": 3 * 16 * 16 * 16, "solve": 3 * 16 * 5 * 16, "values": 10 * 3 * 16 * 16 * 16, "declared": 7, "other": 0, "r": 0}, got)
}
