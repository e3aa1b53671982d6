package verifier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// TestDefined has what XLA's verifier takes although no engine can run it. Profile doc refuses it, and the option in profile xla.
func TestDefined(t *testing.T) {
	for name, text := range map[string]string{
		"minimum of complex numbers":   "ENTRY e { x = c64[4] parameter(0) ROOT r = c64[4] minimum(x, x) }",
		"maximum of complex numbers":   "ENTRY e { x = c128[4] parameter(0) ROOT r = c128[4] maximum(x, x) }",
		"remainder of complex numbers": "ENTRY e { x = c64[4] parameter(0) ROOT r = c64[4] remainder(x, x) }",
		"clamp of complex numbers":     "ENTRY e { x = c64[4] parameter(0) ROOT r = c64[4] clamp(x, x, x) }",
		"topk of complex numbers":      "ENTRY e { x = c64[4] parameter(0) ROOT r = (c64[2], s32[2]) topk(x), k=2, largest=true }",
		"scatter of two sizes": `f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) ROOT t = (s32[], s32[]) tuple(c, d) }
ENTRY e { x = s32[3] parameter(0) y = s32[2] parameter(1) i = s32[1] parameter(2) u = s32[1] parameter(3)
  ROOT r = (s32[3], s32[2]) scatter(x, y, i, u, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }`,
		"while that returns another shape": `c { p = (s32[], s32[1], s32[2]) parameter(0) ROOT r = pred[] constant(false) }
b { p = (s32[], s32[1], s32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = s32[2] get-tuple-element(p), index=2 ROOT r = (s32[], s32[2], s32[2]) tuple(i, x, x) }
ENTRY e { x = (s32[], s32[1], s32[2]) parameter(0) ROOT r = (s32[], s32[2], s32[2]) while(x), condition=c, body=b }`,
		"bitcast of shared bytes": "ENTRY e { x = s4[6] parameter(0) ROOT r = u8[6] bitcast(x) }",
		"bitcast to more nibbles": "ENTRY e { x = s4[2,3] parameter(0) ROOT r = s4[7] bitcast(x) }",
		"bitcast of a tuple":      "ENTRY e { x = (f32[2], f32[2]) parameter(0) ROOT r = ((f32[2]), f32[2]) bitcast(x) }",
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parser.Parse("", "HloModule m\n"+text)
			require.NoError(t, err)
			assert.True(t, verifier.Verify(m, verifier.Config{}).HasRule("HALO-DEFINED"))
			assert.True(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA, Defined: true}).HasRule("HALO-DEFINED"))
			assert.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err())
		})
	}
}
