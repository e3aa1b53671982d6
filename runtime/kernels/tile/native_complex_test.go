package tile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// complexFunctions are chains on arrays of c64; they return what is stored.
var complexFunctions = map[string]func(c *chain, x, y Value) []Value{
	"mandelbrot": func(c *chain, z, x Value) []Value {
		small := c.must("pred[1] compare(f32[1], f32[1]), direction=LT", c.must("f32[1] abs(c64[1])", z), c.number(2))
		next := c.must("c64[1] add(c64[1], c64[1])", c.must("c64[1] multiply(c64[1], c64[1])", z, z), x)
		return []Value{c.must("c64[1] select(pred[1], c64[1], c64[1])", small, next, z), c.must("s32[1] convert(pred[1])", small)}
	},
	"sums": func(c *chain, x, y Value) []Value {
		return []Value{c.must("c64[1] subtract(c64[1], c64[1])", c.must("c64[1] add(c64[1], c64[1])", x, y), c.must("c64[1] negate(c64[1])", y))}
	},
	"add":      func(c *chain, x, y Value) []Value { return []Value{c.must("c64[1] add(c64[1], c64[1])", x, y)} },
	"multiply": func(c *chain, x, y Value) []Value { return []Value{c.must("c64[1] multiply(c64[1], c64[1])", x, y)} },
	"divide":   func(c *chain, x, y Value) []Value { return []Value{c.must("c64[1] divide(c64[1], c64[1])", x, y)} },
	"abs":      func(c *chain, x, _ Value) []Value { return []Value{c.must("f32[1] abs(c64[1])", x)} },
	"power": func(c *chain, x, _ Value) []Value {
		re, im := c.must("f32[1] real(c64[1])", x), c.must("f32[1] imag(c64[1])", x)
		return []Value{c.do("add", c.do("multiply", re, re), c.do("multiply", im, im))}
	},
	"join": func(c *chain, x, y Value) []Value {
		return []Value{c.must("c64[1] complex(f32[1], f32[1])", c.must("f32[1] real(c64[1])", x), c.must("f32[1] imag(c64[1])", y))}
	},
}

func (c *chain) must(text string, args ...Value) Value {
	v, ok := c.op(text, args...)
	if !ok {
		c.t.Fatal(text)
	}
	return v
}

func complexFunction(t testing.TB, name string, n int64) (*Program, *raw) {
	s := Space{[]int64{n}}
	c := &chain{t: t, b: NewBuilder(s)}
	data := &raw{}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2 {
		data.in = append(data.in, randomBytes(r, hlo.C64, int(n)))
	}
	for i, v := range complexFunctions[name](c, c.b.Input(0, hlo.C64, s.RowMajor()), c.b.Input(1, hlo.C64, s.RowMajor())) {
		c.b.Store(i, v)
		data.out = append(data.out, make([]byte, 8*n))
	}
	p, _ := c.b.Build()
	return p, data
}

// BenchmarkNativeComplex is BenchmarkNative of complex numbers.
func BenchmarkNativeComplex(b *testing.B) {
	for name := range complexFunctions {
		for _, n := range []int64{1 << 12, 1 << 16, 1 << 21} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				benchmarkNative(b, n, func() (*Program, *raw) { return complexFunction(b, name, n) })
			})
		}
	}
}

// TestNativeComplex holds chains on complex numbers to one result, whatever instructions there are, and those that are worth it to machine code. Only the
// bits of NaN are the processor's.
func TestNativeComplex(t *testing.T) {
	const n = 1003
	_, here := function0(t).compile() // the system lets code be made
	for name := range complexFunctions {
		var want [][]float32
		for level := vectors.Portable; level <= vectors.Best(); level++ {
			restore := vectors.Use(level)
			p, data := complexFunction(t, name, n)
			p.native.work.Store(payingWork)
			p.Run(0, 100, data)
			p.Run(100, n, data)
			c := p.native.code.Load()
			assert.Equal(t, here && level > vectors.Portable && !p.isLight(), c != nil && c.Code != nil, "%s at level %v has code", name, level)
			var got [][]float32
			for _, out := range data.out {
				got = append(got, numbers(out))
			}
			if want == nil {
				want = got
			}
			for i := range want {
				for k, x := range want[i] {
					y := got[i][k]
					require.True(t, math.Float32bits(x) == math.Float32bits(y) || x != x && y != y, "%s at level %v: output %d, %d: %v, portable %v", name, level, i, k, y, x)
				}
			}
			assert.Zero(t, testing.AllocsPerRun(20, func() { p.Run(0, n, data) }), name)
			restore()
		}
	}
}

// TestNativeQuotient divides all complex numbers of such parts by all, by machine code and in Go.
func TestNativeQuotient(t *testing.T) {
	parts := []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, 1e-45, -1e-38, 3e38, -3.4e38, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	var x, y []byte
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				for _, d := range parts {
					x = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(x, math.Float32bits(a)), math.Float32bits(b))
					y = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(y, math.Float32bits(c)), math.Float32bits(d))
				}
			}
		}
	}
	n := len(x) / 8
	want := make([]byte, len(x))
	quotient(n, unsafe.Pointer(&want[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), nil)
	for level := vectors.AVX2; level <= vectors.Best(); level++ {
		restore := vectors.Use(level)
		p, _ := complexFunction(t, "divide", int64(n))
		got := make([]byte, len(x))
		p.native.work.Store(payingWork)
		p.Run(0, n, &raw{[][]byte{x, y}, [][]byte{got}})
		restore()
		w, g := numbers(want), numbers(got)
		for i := range w {
			if math.Float32bits(w[i]) != math.Float32bits(g[i]) && !(w[i] != w[i] && g[i] != g[i]) {
				require.Failf(t, "differs", "%v / %v at level %v: %v, in Go %v", numbers(x)[i&^1:][:2], numbers(y)[i&^1:][:2], level, g[i&^1:][:2], w[i&^1:][:2])
			}
		}
	}
}

// numbers reads f32.
func numbers(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return f
}
