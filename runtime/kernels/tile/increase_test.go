package tile

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestIncrease adds 1 to hyperbolic tangents: in one step where nothing else reads them and the space is not short, which is then right to the last digits.
func TestIncrease(t *testing.T) {
	inputs := []float32{0, -1, 1, -8, 8, -20, 20, 0.001, -0.3, -3, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 5, -5, -12, 0.7, -0.7, 100, -100}
	for _, c := range []struct {
		name    string
		n       int
		program func(c *chain, x Value) Value
		joined  bool
	}{
		{"alone", 20, func(c *chain, x Value) Value { return c.do("add", c.do("tanh", x), c.number(1)) }, true},
		{"the other way round", 20, func(c *chain, x Value) Value { return c.do("add", c.number(1), c.do("tanh", x)) }, true},
		{"twice", 20, func(c *chain, x Value) Value {
			return c.do("minimum", c.do("add", c.do("tanh", x), c.number(1)), c.do("add", c.do("tanh", c.do("abs", x)), c.number(1)))
		}, true},
		{"read elsewhere", 20, func(c *chain, x Value) Value {
			y := c.do("tanh", x)
			return c.do("maximum", c.do("add", y, c.number(1)), y)
		}, false},
		{"another number", 20, func(c *chain, x Value) Value {
			return c.do("add", c.do("tanh", x), c.number(math.Nextafter32(1, 2)))
		}, false},
		{"short", 16, func(c *chain, x Value) Value { return c.do("add", c.do("tanh", x), c.number(1)) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Space{[]int64{int64(c.n)}}
			ch := &chain{t: t, b: NewBuilder(s)}
			ch.b.Store(0, c.program(ch, ch.b.Input(0, hlo.F32, s.RowMajor())))
			p, ok := ch.b.Build()
			require.True(t, ok)
			data := &raw{out: [][]byte{make([]byte, 4*c.n)}, in: [][]byte{nil}}
			for _, x := range inputs[:c.n] {
				data.in[0] = binary.LittleEndian.AppendUint32(data.in[0], math.Float32bits(x))
			}
			p.Run(0, c.n, data)
			for i, x := range inputs[:c.n] {
				got := float64(math.Float32frombits(binary.LittleEndian.Uint32(data.out[0][4*i:])))
				want := 2 / (1 + math.Exp(-2*float64(x)))
				switch {
				case want != want:
					assert.True(t, got != got, "%v", x)
				case c.joined:
					assert.InDelta(t, want, got, 4.4*0x1p-23*want+0x1p-120, "%v", x)
				default:
					assert.InDelta(t, want, got, 0x1p-22, "%v", x)
				}
			}
			tanhs := 0
			for _, st := range p.steps {
				if st.vector.Op == hlo.OpTanh && st.vector.Mode == 0 {
					tanhs++
				}
			}
			assert.Equal(t, !c.joined, tanhs > 0 || c.n <= shortSpace, "steps of tanh alone: %d", tanhs)
		})
	}
}
