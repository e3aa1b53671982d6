package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// TestComplexCosts: what is computed of complex numbers counts as what that takes of real ones.
func TestComplexCosts(t *testing.T) {
	m, err := parser.Parse("m.hlo", `sum {
  x = c64[] parameter(0)
  y = c64[] parameter(1)
  ROOT s = c64[] add(x, y)
}
ENTRY e {
  z = c64[10] parameter(0)
  zero = c64[] constant((0, 0))
  add = c64[10] add(z, z)
  multiply = c64[10] multiply(z, z)
  abs = f32[10] abs(z)
  equal = pred[10] compare(z, z), direction=EQ
  tanh = c64[10] tanh(z)
  real = f32[10] real(z)
  joined = c64[10] complex(real, abs)
  product = f32[10] multiply(real, abs)
  dot = c64[] dot(z, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  reduce = c64[] reduce(z, zero), dimensions={0}, to_apply=sum
  ROOT r = () tuple()
}`)
	require.NoError(t, err)
	costs := analysis.FindCosts(m)
	flops, functions := map[string]int64{}, map[string]int64{}
	for in := range m.Entry().Instructions() {
		if c := costs.Of(in); c.Flops+c.Transcendentals > 0 {
			flops[in.Name()], functions[in.Name()] = c.Flops, c.Transcendentals
		}
	}
	assert.Equal(t, map[string]int64{"add": 20, "multiply": 60, "abs": 30, "equal": 20, "tanh": 0, "real": 10, "joined": 10, "product": 10, "dot": 80, "reduce": 20}, flops)
	assert.Equal(t, map[string]int64{"add": 0, "multiply": 0, "abs": 10, "equal": 0, "tanh": 20, "real": 0, "joined": 0, "product": 0, "dot": 0, "reduce": 0}, functions)
}
