package tile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// complexFunctions are chains on arrays of complex numbers, of c64 as they are spelled; they return what is stored.
var complexFunctions = map[string]func(c *chain, x, y Value) []Value{
	"mandelbrot": func(c *chain, z, x Value) []Value {
		small := c.must("pred[1] compare(f32[1], f32[1]), direction=LT", c.must("f32[1] abs(c64[1])", z), c.must("f32[1] abs(c64[1])", x))
		next := c.must("c64[1] add(c64[1], c64[1])", c.must("c64[1] multiply(c64[1], c64[1])", z, z), x)
		return []Value{c.must("c64[1] select(pred[1], c64[1], c64[1])", small, next, z), small}
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
		square := func(x Value) Value { return c.must("f32[1] multiply(f32[1], f32[1])", x, x) }
		return []Value{c.must("f32[1] add(f32[1], f32[1])", square(re), square(im))}
	},
	"join": func(c *chain, x, y Value) []Value {
		return []Value{c.must("c64[1] complex(f32[1], f32[1])", c.must("f32[1] real(c64[1])", x), c.must("f32[1] imag(c64[1])", y))}
	},
	"conjugate": func(c *chain, x, _ Value) []Value {
		re, im := c.must("f32[1] real(c64[1])", x), c.must("f32[1] imag(c64[1])", x)
		return []Value{c.must("c64[1] complex(f32[1], f32[1])", re, c.must("f32[1] negate(f32[1])", im))}
	},
	"parts": func(c *chain, x, y Value) []Value {
		re, im := c.must("f32[1] real(c64[1])", x), c.must("f32[1] imag(c64[1])", x)
		return []Value{re, im, c.must("c64[1] convert(f32[1])", im), c.must("pred[1] compare(c64[1], c64[1]), direction=EQ", x, y), c.must("pred[1] compare(c64[1], c64[1]), direction=NE", x, x)}
	},
}

// must appends an instruction; on a chain of c128, that of the types which are twice as wide.
func (c *chain) must(text string, args ...Value) Value {
	if c.double {
		text = strings.NewReplacer("c64", "c128", "f32", "f64").Replace(text)
	}
	v, ok := c.op(text, args...)
	if !ok {
		c.t.Fatal(text)
	}
	return v
}

func complexFunction(t testing.TB, name string, typ hlo.PrimitiveType, n int64) (*Program, *raw) {
	s := Space{[]int64{n}}
	c := &chain{t: t, b: NewBuilder(s), double: typ == hlo.C128}
	data := &raw{}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2 {
		data.in = append(data.in, randomBytes(r, typ, int(n)))
	}
	for i, v := range complexFunctions[name](c, c.b.Input(0, typ, s.RowMajor()), c.b.Input(1, typ, s.RowMajor())) {
		c.b.Store(i, v)
		data.out = append(data.out, make([]byte, 16*n))
	}
	p, _ := c.b.Build()
	return p, data
}

// BenchmarkNativeComplex is BenchmarkNative of complex numbers.
func BenchmarkNativeComplex(b *testing.B) {
	for name := range complexFunctions {
		for _, typ := range complexTypes {
			for _, n := range []int64{1 << 12, 1 << 16, 1 << 20} {
				b.Run(fmt.Sprintf("%s/%v/%d", name, typ, n), func(b *testing.B) {
					benchmarkNative(b, n, func() (*Program, *raw) { return complexFunction(b, name, typ, n) })
				})
			}
		}
	}
}

var complexTypes = []hlo.PrimitiveType{hlo.C64, hlo.C128}

// TestNativeComplex holds chains on complex numbers to one result, whatever instructions there are, and those that are worth it to machine code. Only the
// bits of NaN are the processor's.
func TestNativeComplex(t *testing.T) {
	const n = 1003
	_, here := function0(t).compile() // the system lets code be made
	for name := range complexFunctions {
		for _, typ := range complexTypes {
			var want [][]byte
			for level := vectors.Portable; level <= vectors.Best(); level++ {
				restore := vectors.Use(level)
				p, data := complexFunction(t, name, typ, n)
				p.native.work.Store(payingWork)
				p.Run(0, 100, data)
				p.Run(100, n, data)
				c := p.native.code.Load()
				assert.Equal(t, here && level > vectors.Portable && !p.isLight(), c != nil && c.Code != nil, "%s of %v at level %v has code", name, typ, level)
				if want == nil {
					want = data.out
				}
				for i := range want {
					require.Equal(t, -1, firstDifference(typ, p.stores[i].typ, want[i], data.out[i]), "%s of %v at level %v: output %d", name, typ, level, i)
				}
				assert.Zero(t, testing.AllocsPerRun(20, func() { p.Run(0, n, data) }), name)
				restore()
			}
		}
	}
}

// firstDifference is the first number of two arrays, read as parts of complex numbers of a type, or as bytes if out is an integer, whose bits differ, unless both are NaN; or -1.
func firstDifference(typ, out hlo.PrimitiveType, x, y []byte) int {
	if !out.IsFloat() && !out.IsComplex() {
		if bytes.Equal(x, y) {
			return -1
		}
		return 0
	}
	a, b := numbers(typ, x), numbers(typ, y)
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && (a[i] == a[i] || b[i] == b[i]) {
			return i
		}
	}
	return -1
}

// TestNativeQuotient divides all complex numbers of such parts by all, by machine code and in Go, and takes their absolute values.
func TestNativeQuotient(t *testing.T) {
	for _, typ := range complexTypes {
		single := []float64{0, math.Copysign(0, -1), 1, -2.5, 1e-45, -1e-38, 3e38, -3.4e38, math.Inf(1), math.Inf(-1), math.NaN()}
		double := []float64{0, math.Copysign(0, -1), 1, -2.5, 5e-324, -1e-308, 1e308, -1.7e308, math.Inf(1), math.Inf(-1), math.NaN()}
		parts := map[hlo.PrimitiveType][]float64{hlo.C64: single, hlo.C128: double}[typ]
		var x, y []byte
		for _, a := range parts {
			for _, b := range parts {
				for _, c := range parts {
					for _, d := range parts {
						x, y = appendNumber(typ, appendNumber(typ, x, a), b), appendNumber(typ, appendNumber(typ, y, c), d)
					}
				}
			}
		}
		n := len(x) / typ.ByteSize()
		for name, loop := range map[string]loop{"divide": map[hlo.PrimitiveType]loop{hlo.C64: quotient, hlo.C128: quotient128()}[typ], "abs": magnitudeLoop(typ)} {
			want := make([]byte, len(x))
			loop(n, unsafe.Pointer(&want[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), nil)
			for level := vectors.AVX2; level <= vectors.Best(); level++ {
				restore := vectors.Use(level)
				p, _ := complexFunction(t, name, typ, int64(n))
				got := make([]byte, len(x))
				p.native.work.Store(payingWork)
				p.Run(0, n, &raw{[][]byte{x, y}, [][]byte{got}})
				restore()
				if i := firstDifference(typ, typ, want, got); i >= 0 {
					k := i
					if name == "divide" {
						k /= 2
					}
					u, v := numbers(typ, x)[2*k:][:2], numbers(typ, y)[2*k:][:2]
					require.Failf(t, "differs", "%s of %v at level %v: %v, %v: %v, in Go %v", name, typ, level, u, v, numbers(typ, got)[i], numbers(typ, want)[i])
				}
			}
		}
	}
}

// appendNumber appends a part of a complex number of a type.
func appendNumber(typ hlo.PrimitiveType, to []byte, x float64) []byte {
	if typ == hlo.C64 {
		return binary.LittleEndian.AppendUint32(to, math.Float32bits(float32(x)))
	}
	return binary.LittleEndian.AppendUint64(to, math.Float64bits(x))
}

// numbers reads parts of complex numbers of a type.
func numbers(typ hlo.PrimitiveType, b []byte) []float64 {
	f := make([]float64, len(b)/(typ.ByteSize()/2))
	for i := range f {
		if typ == hlo.C64 {
			f[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			f[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return f
}
