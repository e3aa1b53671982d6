package lower

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
)

// TestUpdatesLast lowers a body whose counter comes first in the text and is read by what follows: each part of the state must still be
// computed in its place.
func TestUpdatesLast(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
body { s = (s32[], f32[3], f32[9,3]) parameter(0) i = s32[] get-tuple-element(s), index=0 a = f32[3] get-tuple-element(s), index=1 v = f32[9,3] get-tuple-element(s), index=2 one = s32[] constant(1) j = s32[] add(i, one) c = f32[] convert(i) d = f32[3] broadcast(c), dimensions={} b = f32[3] add(a, d) z = s32[] constant(0) e = f32[3] multiply(a, d) g = f32[1,3] reshape(e) w = f32[9,3] dynamic-update-slice(v, g, i, z) ROOT t = (s32[], f32[3], f32[9,3]) tuple(j, b, w) }
cond { s = (s32[], f32[3], f32[9,3]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(9) ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { a = f32[3] parameter(0) v = f32[9,3] parameter(1) z = s32[] constant(0) init = (s32[], f32[3], f32[9,3]) tuple(z, a, v) ROOT w = (s32[], f32[3], f32[9,3]) while(init), condition=cond, body=body }`)
	require.NoError(t, err)
	l := newLowering(m)
	_, err = l.function(t.Context(), m.Entry().ID(), plainCall, hlo.Shape{})
	require.NoError(t, err)
	for _, f := range l.order {
		if f.conv != loopBody {
			continue
		}
		for i, r := range f.roots {
			slot := f.stores[f.values[r].store].slot
			assert.Contains(t, []runtime.Slot{runtime.ArgSlot(i), runtime.OutSlot(i)}, slot, "part %d of the state", i)
		}
		return
	}
	t.Fatal("no body")
}
