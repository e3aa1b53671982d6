package tile

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNativeUnderflow holds code that has met denormals to the bits of the steps, run after run: denormals are in some stretches, which move.
func TestNativeUnderflow(t *testing.T) {
	defer native.Assist()()
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		defer restore()
		for _, dims := range [][]int64{{1001}, {5000}, {1, 1040}, {40, 96}, {3, 704}, {64, 3, 20}} {
			for _, fold := range []bool{false, true} {
				if fold && len(dims) == 1 {
					continue
				}
				program := func() *Program { return underflowing(t, dims, fold) }
				n, rows := int(productOf(dims)), int(productOf(dims[:len(dims)-1]))
				p, judge := program(), program()
				p.native.work.Store(payingWork)
				judge.native.once.Do(func() {})
				judge.native.code.Store(&nativeSteps{})
				r := rand.New(rand.NewPCG(uint64(n), 1))
				for run := range 6 {
					in := partlyDenormal(r, n, run < 4)
					got, want := &raw{in: in}, &raw{in: in}
					for _, data := range []*raw{got, want} {
						for range 2 {
							data.out = append(data.out, make([]byte, 4*n))
						}
					}
					if fold {
						p.RunRows(0, rows, got)
						judge.RunRows(0, rows, want)
					} else {
						p.Run(0, n, got)
						judge.Run(0, n, want)
					}
					require.Equal(t, want.out, got.out, "%v %v fold %v run %d", level, dims, fold, run)
				}
				c := p.native.code.Load()
				require.NotNil(t, c.Code, "%v %v", level, dims)
				meets := partlyDenormal(r, n, true)
				for range 2 { // the first one tells
					data := &raw{in: meets, out: [][]byte{make([]byte, 4*n), make([]byte, 4*n)}}
					if fold {
						p.RunRows(0, rows, data)
					} else {
						p.Run(0, n, data)
					}
				}
				assert.True(t, c.Code.Underflows(), "%v %v fold %v", level, dims, fold)
			}
		}
	}
}

// underflowing has products and a quotient whose results may be denormal, and their operands.
func underflowing(t *testing.T, dims []int64, fold bool) *Program {
	s := Space{dims}
	c := &chain{t: t, b: NewBuilder(s)}
	x, y := c.b.Input(0, hlo.F32, s.RowMajor()), c.b.Input(1, hlo.F32, s.RowMajor())
	v := c.do("add", c.do("multiply", x, c.number(0.37)), c.do("multiply", y, y))
	w := c.do("multiply", c.do("divide", v, c.number(3)), y)
	if fold {
		for i, v := range []Value{v, w} {
			require.True(t, c.b.Fold(i, v, hlo.OpMaximum))
		}
	} else {
		c.b.Store(0, v)
		c.b.Store(1, w)
	}
	p, ok := c.b.Build()
	require.True(t, ok)
	return p
}

// partlyDenormal are two arrays of n numbers, which are of any size in some stretches if there are to be denormals, and near 1 elsewhere.
func partlyDenormal(r *rand.Rand, n int, some bool) [][]byte {
	arrays := [][]byte{make([]byte, 4*n), make([]byte, 4*n)}
	tiny := false
	for i := range n {
		if i%50 == 0 {
			tiny = some && (i == 0 || r.IntN(4) == 0)
		}
		for _, a := range arrays {
			x := float32(1 + r.Float64())
			if tiny {
				x = float32(math.Ldexp(1+r.Float64(), -r.IntN(150)))
			}
			binary.LittleEndian.PutUint32(a[4*i:], math.Float32bits(x))
		}
	}
	return arrays
}

// TestNativeUnderflowOfHalves has products become denormal f16, which is no reason to avoid denormal f32.
func TestNativeUnderflowOfHalves(t *testing.T) {
	defer native.Assist()()
	if vectors.Best() < vectors.AVX512 {
		t.Skip("without AVX-512, f16 is not made in code")
	}
	const n = 4096
	for _, multiplies := range []bool{false, true} {
		s := Space{[]int64{n}}
		c := &chain{t: t, b: NewBuilder(s)}
		v := c.do("multiply", c.b.Input(0, hlo.F32, s.RowMajor()), c.number(0.75))
		half, ok := c.op("f16[1] convert(f32[1])", v)
		require.True(t, ok)
		if multiplies {
			half, ok = c.op("f16[1] multiply(f16[1], f16[1])", half, half)
			require.True(t, ok)
		}
		c.b.Store(0, half)
		p, ok := c.b.Build()
		require.True(t, ok)
		p.native.work.Store(payingWork)
		in := make([]byte, 4*n)
		for i := range n {
			binary.LittleEndian.PutUint32(in[4*i:], math.Float32bits(float32(1+i)*0x1p-26))
		}
		for range 3 {
			p.Run(0, n, &raw{in: [][]byte{in}, out: [][]byte{make([]byte, 2*n)}})
		}
		code := p.native.code.Load()
		require.NotNil(t, code.Code)
		assert.False(t, code.Code.Underflows(), "f16 that is multiplied: %v", multiplies)
	}
}
