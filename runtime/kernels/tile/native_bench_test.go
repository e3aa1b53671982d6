package tile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gohalo/halo/hlo"
)

// functions are chains on one array of f32.
var functions = map[string]func(c *chain, x Value) Value{
	"sigmoid": func(c *chain, x Value) Value { return c.do("logistic", x) },
	"exp2+1": func(c *chain, x Value) Value {
		return c.do("add", c.do("multiply", c.do("exponential", x), c.number(2)), c.number(1))
	},
	"x2+1": func(c *chain, x Value) Value { return c.do("add", c.do("multiply", x, c.number(2)), c.number(1)) },
	"gelu": func(c *chain, x Value) Value {
		cube := c.do("multiply", c.do("multiply", x, x), x)
		in := c.do("multiply", c.number(0.797884583), c.do("add", x, c.do("multiply", c.number(0.044715), cube)))
		half := c.do("multiply", c.number(0.5), c.do("add", c.number(1), c.do("tanh", in)))
		return c.do("multiply", x, half)
	},
}

func (c *chain) do(name string, args ...Value) Value {
	text := "f32[1] " + name + "(f32[1])"
	if len(args) == 2 {
		text = "f32[1] " + name + "(f32[1], f32[1])"
	}
	v, _ := c.op(text, args...)
	return v
}

func (c *chain) number(x float32) Value {
	bits := math.Float32bits(x)
	return c.b.Constant(hlo.F32, []byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
}

func function(t testing.TB, name string, n int64) (*Program, *raw) {
	s := Space{[]int64{n}}
	c := &chain{t: t, b: NewBuilder(s)}
	c.b.Store(0, functions[name](c, c.b.Input(0, hlo.F32, s.RowMajor())))
	p, _ := c.b.Build()
	r, in := rand.New(rand.NewPCG(1, 1)), make([]byte, 0, 4*n)
	for range n {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(float32(r.NormFloat64())))
	}
	return p, &raw{in: [][]byte{in}, out: [][]byte{make([]byte, 4*n)}}
}

// BenchmarkNative shows how long the steps of a chain take, as a multiple of what its code takes, run by run in turn.
func BenchmarkNative(b *testing.B) {
	for name := range functions {
		for _, n := range []int64{1 << 16, 1 << 22} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { benchmarkNative(b, n, func() (*Program, *raw) { return function(b, name, n) }) })
		}
	}
}

func benchmarkNative(b *testing.B, n int64, program func() (*Program, *raw)) {
	steps, data := program()
	withSteps(steps, 0, int(n), data)
	code, data := program()
	code.native.work.Store(payingWork)
	b.ReportAllocs()
	best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for b.Loop() {
		for i, p := range []*Program{steps, code} {
			start := time.Now()
			p.Run(0, int(n), data)
			best[i] = min(best[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(best[0])/float64(best[1]), "steps÷code")
	b.ReportMetric(float64(best[1])/float64(n), "ns/element")
}
