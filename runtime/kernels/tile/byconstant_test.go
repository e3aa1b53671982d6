package tile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// byConstantProgram stores the quotient and the remainder of its input by a constant.
func byConstantProgram(t *testing.T, typ hlo.PrimitiveType, constant uint64, n int) *Program {
	c := &chain{t: t, b: NewBuilder(Space{[]int64{int64(n)}})}
	x := c.b.Input(0, typ, c.b.space.RowMajor())
	y := c.b.Constant(typ, binary.LittleEndian.AppendUint64(nil, constant))
	for i, op := range []string{"divide", "remainder"} {
		v, ok := c.op(fmt.Sprintf("%s[1] %s(%[1]s[1], %[1]s[1])", typ, op), x, y)
		require.True(t, ok)
		c.b.Store(i, v)
	}
	p, ok := c.b.Build()
	require.True(t, ok)
	return p
}

// byConstant runs the program by steps, or by machine code.
func byConstant(t *testing.T, typ hlo.PrimitiveType, constant uint64, in []byte, native bool) [][]byte {
	n := len(in) / typ.ByteSize()
	p := byConstantProgram(t, typ, constant, n)
	data := &raw{in: [][]byte{in}, out: [][]byte{make([]byte, len(in)), make([]byte, len(in))}}
	if !native {
		withSteps(p, 0, n, data)
		return data.out
	}
	p.native.work.Store(payingWork)
	p.Run(0, n, data)
	return data.out
}

// atLevels calls f with the vectors of each level.
func atLevels(f func(vectors.Level)) {
	for level := vectors.Portable; level <= vectors.Best(); level++ {
		restore := vectors.Use(level)
		f(level)
		restore()
	}
}

// TestIntegersByConstants compares all numbers divided by constants with what Go makes of them: by all that there are of 8 bits, and of 16 by those around powers of two and others.
func TestIntegersByConstants(t *testing.T) {
	for _, typ := range []hlo.PrimitiveType{hlo.U8, hlo.S8, hlo.U16, hlo.S16} {
		width, size := typ.Bits(), typ.ByteSize()
		number := func(code uint64) int64 {
			if typ.IsSigned() {
				return int64(code) << (64 - width) >> (64 - width)
			}
			return int64(code)
		}
		var constants []uint64
		if width == 8 {
			for c := range uint64(255) {
				constants = append(constants, c+1)
			}
		} else {
			r := rand.New(rand.NewPCG(1, 2))
			for k := range 16 {
				constants = append(constants, 1<<k, 1<<k+1, 1<<16-1<<k, 1<<16-1-1<<k|1, 1+r.Uint64N(1<<16-1), 1+r.Uint64N(1000))
			}
		}
		var in []byte
		for x := range 1 << width {
			in = append(in, binary.LittleEndian.AppendUint16(nil, uint16(x))[:size]...)
		}
		atLevels(func(level vectors.Level) {
			for _, c := range constants {
				for _, native := range []bool{false, true} {
					out := byConstant(t, typ, c, in, native)
					for x := range uint64(1) << width {
						q, rest := number(x)/number(c), number(x)%number(c)
						for i, want := range []int64{q, rest} {
							var code [8]byte
							copy(code[:], out[i][int(x)*size:][:size])
							if got := number(binary.LittleEndian.Uint64(code[:])); got != number(uint64(want)&(1<<width-1)) {
								require.Failf(t, "differs", "%v, %v, native %v: %d by %d: %d, not %d", level, typ, native, number(x), number(c), got, want)
							}
						}
					}
				}
			}
		})
	}
}

// TestReciprocals checks products with the reciprocals of all constants of 16 bits where they are closest to the next whole number: next to multiples.
func TestReciprocals(t *testing.T) {
	for _, most := range []uint64{1<<16 - 1, 1 << 15} {
		for y := uint64(2); y <= most; y++ {
			factor, shift := reciprocal(16, most, y)
			if y&(y-1) != 0 {
				require.Less(t, factor, uint64(1<<17), "by %d", y)
			}
			for _, k := range []uint64{1, 2, 3, most / y / 2, most/y - 1, most / y, most/y + 1} {
				for _, x := range []uint64{k * y, k*y - 1, most} {
					if x <= most && x*factor>>(16+shift) != x/y {
						require.Failf(t, "differs", "%d by %d: %d·%d>>%d", x, y, x, factor, 16+shift)
					}
				}
			}
		}
	}
}

// TestRemainderByPower compares remainders of floats by powers of two, which may be negative, with those of any numbers, bit for bit.
func TestRemainderByPower(t *testing.T) {
	const n = 1021
	for _, typ := range []hlo.PrimitiveType{hlo.F32, hlo.F64, hlo.BF16, hlo.F16} {
		code := func(x float64) uint64 {
			switch typ {
			case hlo.F64:
				return math.Float64bits(x)
			case hlo.F32:
				return uint64(math.Float32bits(float32(x)))
			case hlo.BF16:
				return uint64(minifloat.BF16FromFloat32(float32(x)))
			}
			return map[float64]uint64{0.5: 0x3800, 1: 0x3c00, -1: 0xbc00, 2: 0x4000, 256: 0x5c00, 3: 0x4200}[x]
		}
		for _, c := range []float64{0.5, 1, -1, 2, 256, 3} {
			r := rand.New(rand.NewPCG(uint64(c*2), 1))
			in := randomBytes(r, typ, n)
			for at := 0; at < len(in)/2; at++ { // any bits
				in[at] = byte(r.Uint32())
			}
			restore := vectors.Use(vectors.Portable)
			want := byConstant(t, typ, code(c), in, false)[1]
			restore()
			atLevels(func(level vectors.Level) {
				for _, native := range []bool{false, true} {
					got := byConstant(t, typ, code(c), in, native)[1]
					size := typ.ByteSize()
					for i := range n {
						a, b := want[i*size:][:size], got[i*size:][:size]
						if string(a) != string(b) && !(isNaN(typ, a) && isNaN(typ, b)) {
							require.Failf(t, "differs", "%v, %v, native %v: %x by %v: %x, not %x", level, typ, native, in[i*size:][:size], c, b, a)
						}
					}
				}
			})
		}
	}
}

// isNaN reports whether an element is no number.
func isNaN(typ hlo.PrimitiveType, element []byte) bool {
	var code [8]byte
	copy(code[:], element)
	x := binary.LittleEndian.Uint64(code[:])
	infinity := map[hlo.PrimitiveType]uint64{hlo.F64: 0x7ff << 52, hlo.F32: 0x7f800000, hlo.BF16: 0x7f80, hlo.F16: 0x7c00}[typ]
	return x&(1<<(typ.Bits()-1)-1) > infinity
}
