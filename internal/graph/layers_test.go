package graph

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// TestLayers holds arrows to leading down, and what reads nothing to standing just above what reads it.
func TestLayers(t *testing.T) {
	m, err := parser.Parse("", `HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] tanh(a)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  c = f32[4] add(b, ones)
  late = f32[4] parameter(1)
  d = f32[4] multiply(c, late)
  ROOT t = (f32[4], f32[4]) tuple(d, x), control-predecessors={b}
}`)
	require.NoError(t, err)
	sections, err := pick(m, Config{})
	require.NoError(t, err)
	require.Len(t, sections, 1)
	at := map[string]int{}
	ids := map[hlo.InstrID]int{}
	for i, layer := range sections[0].layers() {
		for _, in := range layer {
			at[in.Name()], ids[in.ID()] = i, i
		}
	}
	for in := range m.Entry().Instructions() {
		for id := range concat(in.OperandIDs(), in.ControlPredecessors()) {
			assert.Less(t, ids[id], ids[in.ID()], "%s stands above what it reads", in.Name())
		}
	}
	assert.Equal(t, map[string]int{"x": 0, "a": 1, "b": 2, "one": 1, "ones": 2, "c": 3, "late": 3, "d": 4, "t": 5}, at)
}
