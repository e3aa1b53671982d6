package tile

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
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

// TestOverlappingRows: without masks, the last vector of a row computes some elements again, but not where the result is in an operand's place.
func TestOverlappingRows(t *testing.T) {
	if !native.Possible() {
		t.Skip("no machine code here")
	}
	defer vectors.Use(vectors.AVX2)()
	for _, dims := range [][]int64{{50, 23}, {7, 1023}, {4, 5, 33}, {300, 16}, {40, 17}} {
		for _, typ := range []hlo.PrimitiveType{hlo.F32, hlo.F64, hlo.S16, hlo.S8} {
			last := dims[len(dims)-1]
			n := int(productOf(dims))
			data := &raw{in: [][]byte{randomBytes(rand.New(rand.NewPCG(5, 6)), typ, n), randomBytes(rand.New(rand.NewPCG(7, 8)), typ, n*int(last+3)/int(last))}}
			build := func() *Program {
				c := &chain{t: t, b: NewBuilder(Space{dims})}
				inside, step := View{Base: 2, Strides: make([]int64, len(dims))}, last+3 // columns of longer rows
				inside.Strides[len(dims)-1] = 1
				for i := len(dims) - 2; i >= 0; i-- {
					inside.Strides[i], step = step, step*dims[i]
				}
				x := c.b.Input(0, typ, c.b.space.RowMajor())
				name := typ.String() + "[1]"
				v, ok := c.op(name+" add("+name+", "+name+")", x, c.b.Input(1, typ, inside))
				require.True(t, ok)
				v, ok = c.op(name+" add("+name+", "+name+")", v, x)
				require.True(t, ok)
				c.b.Store(0, v)
				p, ok := c.b.Build()
				require.True(t, ok)
				return p
			}
			run := func(p *Program, inPlace bool) []byte {
				own := &raw{in: slices.Clone(data.in), out: [][]byte{make([]byte, n*typ.ByteSize())}}
				if inPlace {
					own.in[0] = slices.Clone(data.in[0])
					own.out[0] = own.in[0]
				}
				for cut := range 2 {
					p.Run(cut*n/3, n/3+cut*(n-n/3), own)
				}
				return own.out[0]
			}
			steps := build()
			steps.native.once.Do(func() {})
			steps.native.code.Store(&nativeSteps{})
			want := run(steps, false)
			p := build()
			p.native.work.Store(payingWork)
			require.Equal(t, want, run(p, false), "%v %v", dims, typ)
			require.Equal(t, want, run(p, true), "%v %v in place", dims, typ)
			code := p.native.code.Load()
			require.NotNil(t, code.Code)
			if lanes := 32 / typ.ByteSize(); int(last) >= lanes && int(last)%lanes != 0 {
				require.True(t, code.overlaps(p), "%v %v", dims, typ)
			}
		}
	}
}
