package tile

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// collector keeps what it is shown.
type collector struct{ elements []float32 }

func (c *collector) Tile(at, n int, elements unsafe.Pointer) {
	copy(c.elements[at:], vec[float32](elements, n))
}

// TestKeptLoads: arrays that repeat themselves after some rows, and are not along them, are brought into registers once, whether results are stored or shown.
func TestKeptLoads(t *testing.T) {
	for _, dims := range [][]int64{{50, 3, 24}, {9, 2, 20}, {30, 16}, {2, 5, 40}, {4, 5, 3, 24}, {3, 2, 2, 3, 17}} {
		for _, shown := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 2))
			n := 1
			for _, d := range dims {
				n *= int(d)
			}
			data := &raw{in: [][]byte{randomBytes(r, hlo.F32, n), randomBytes(r, hlo.BF16, n), randomBytes(r, hlo.F32, n)}, out: [][]byte{make([]byte, 4*n)}}
			build := func() *Program {
				c := &chain{t: t, r: r, b: NewBuilder(Space{dims})}
				b := c.b
				across, further, along := View{Strides: make([]int64, len(dims))}, View{Strides: make([]int64, len(dims))}, View{Strides: make([]int64, len(dims))}
				last := len(dims) - 1
				across.Strides[last] = 3
				if last > 1 {
					across.Strides[last-1] = 1
				}
				copy(further.Strides, across.Strides)
				if last > 2 {
					further.Strides[last-2] = 2
				}
				along.Strides[0] = 1
				v := b.Input(0, hlo.F32, across)
				wide, ok := b.Convert(hlo.F32, b.Input(1, hlo.BF16, across))
				require.True(t, ok)
				for _, o := range []Value{wide, b.Input(0, hlo.F32, further), b.Input(2, hlo.F32, along), b.Input(2, hlo.F32, b.space.RowMajor())} {
					v, ok = c.op("f32[1] add(f32[1], f32[1])", v, o)
					require.True(t, ok)
				}
				if shown {
					b.Result(v, int(dims[last]))
				} else {
					b.Store(0, v)
				}
				p, ok := b.Build()
				require.True(t, ok)
				return p
			}
			run := func(p *Program, lo, hi int) []float32 {
				c := &collector{make([]float32, n)}
				if shown {
					p.Visit(lo, hi, data, c)
				} else {
					p.Run(lo, hi, data)
					copy(c.elements[lo:hi], vec[float32](unsafe.Pointer(&data.out[0][0]), n)[lo:hi])
				}
				return c.elements[lo:hi]
			}
			want := run(build(), 0, n) // by steps
			p := build()
			p.native.work.Store(payingWork)
			cut := n/3/int(dims[len(dims)-1])*int(dims[len(dims)-1]) + 5
			require.Equal(t, bitsOf32(want[:cut]), bitsOf32(run(p, 0, cut)), "%v shown: %v", dims, shown)
			require.Equal(t, bitsOf32(want[cut:]), bitsOf32(run(p, cut, n)), "%v shown: %v", dims, shown)
		}
	}
}

func bitsOf32(x []float32) []uint32 { return vec[uint32](unsafe.Pointer(unsafe.SliceData(x)), len(x)) }

// TestTabulatedCounters: numbers along a dimension are the same in all rows, or all along a row, and machine code for rows finds them in a table.
func TestTabulatedCounters(t *testing.T) {
	for _, dims := range [][]int64{{50, 24}, {9, 3, 40}, {4, 5, 3, 17}, {3, 700}, {1, 90}, {70000, 2}} {
		for axis := range len(dims) + 1 {
			for _, typ := range []hlo.PrimitiveType{hlo.S32, hlo.S64, hlo.U8, hlo.F32, hlo.BF16} {
				r := rand.New(rand.NewPCG(3, 4))
				n := 1
				for _, d := range dims {
					n *= int(d)
				}
				data := &raw{in: [][]byte{randomBytes(r, hlo.F32, n)}, out: [][]byte{make([]byte, 4*n)}}
				view := View{Base: 3, Strides: make([]int64, len(dims))}
				if axis < len(dims) {
					view.Strides[axis] = 2
				} else { // of no use
					space := Space{dims}
					copy(view.Strides, space.RowMajor().Strides)
				}
				for _, shown := range []bool{false, true} {
					build := func() *Program {
						c := &chain{t: t, r: r, b: NewBuilder(Space{dims})}
						o, ok := c.b.Iota(typ, View{view.Base, append([]int64(nil), view.Strides...), nil})
						require.True(t, ok)
						number, ok := c.b.Convert(hlo.F32, o)
						require.True(t, ok)
						v, ok := c.op("f32[1] multiply(f32[1], f32[1])", number, c.b.Input(0, hlo.F32, c.b.space.RowMajor()))
						require.True(t, ok)
						if shown {
							c.b.Result(v, int(dims[len(dims)-1]))
						} else {
							c.b.Store(0, v)
						}
						p, ok := c.b.Build()
						require.True(t, ok)
						return p
					}
					run := func(p *Program, lo, hi int) []uint32 {
						c := &collector{make([]float32, n)}
						if shown {
							p.Visit(lo, hi, data, c)
						} else {
							p.Run(lo, hi, data)
							copy(c.elements[lo:hi], vec[float32](unsafe.Pointer(&data.out[0][0]), n)[lo:hi])
						}
						return bitsOf32(c.elements[lo:hi])
					}
					want := run(build(), 0, n) // by steps
					p := build()
					p.native.work.Store(payingWork)
					cut := n/3/int(dims[len(dims)-1])*int(dims[len(dims)-1]) + 1
					require.Equal(t, want[:cut], run(p, 0, cut), "%v along %d, %v, shown: %v", dims, axis, typ, shown)
					require.Equal(t, want[cut:], run(p, cut, n), "%v along %d, %v, shown: %v", dims, axis, typ, shown)
				}
			}
		}
	}
}
