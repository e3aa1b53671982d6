package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestTurns computes logarithms of exponentials: of so many instructions vectors take turns, and all of them are written.
func TestTurns(t *testing.T) {
	exp, log := vec.Of(hlo.OpExponential, hlo.F32), vec.Of(hlo.OpLogPlusOne, hlo.F32)
	if vec.Best() < vec.AVX2 {
		t.Skip("this processor has no recipes")
	}
	defer vec.Use(vec.AVX2)()
	chain := func(ops ...vec.Name) *expansion {
		b := NewBuilder()
		x := b.Input(4, false, Neighbours)
		for _, op := range ops {
			x = b.Op(op, false, x)
		}
		b.Store(x, vec.Name{})
		e, err := expand(b, false, false)
		require.NoError(t, err)
		return e
	}
	require.False(t, chain(vec.Of(hlo.OpSqrt, hlo.F32)).takesTurns())
	e := chain(exp, log)
	require.True(t, e.takesTurns())
	all := e.all()
	c := &amd64.Code{}
	w := &wideLoop{e: e, n: turnVectors, body: all, labels: e.newLabels(c)}
	one := newAssigner(e, c, all, e.placesIn(all), nil)
	one.labels = w.labels
	one.write()
	single := len(c.Bytes())
	w.inTurns(c, nil)
	require.Greater(t, len(c.Bytes())-single, (turnVectors-1)*single)
}
