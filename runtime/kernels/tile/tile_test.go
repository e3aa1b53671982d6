package tile

import (
	"testing"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// arrays are buffers in a test.
type arrays struct{ in, out [][]float32 }

func (a *arrays) In(i int) []byte  { return bytesOf(a.in[i]) }
func (a *arrays) Out(i int) []byte { return bytesOf(a.out[i]) }

func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// instruction parses one elementwise instruction.
func instruction(t testing.TB, text string) hlo.Instruction {
	m, err := parser.Parse("test", text)
	require.NoError(t, err)
	return m.Entry().Root()
}

// light is ((x*y)+z)*x+y, with z a row repeated.
func light(t testing.TB, rows, cols int64) *Program {
	s := Space{[]int64{rows, cols}}
	b := NewBuilder(s)
	mul, add := instruction(t, "f32[1] multiply(f32[1], f32[1])"), instruction(t, "f32[1] add(f32[1], f32[1])")
	x, y := b.Input(0, hlo.F32, s.RowMajor()), b.Input(1, hlo.F32, s.RowMajor())
	z := b.Input(2, hlo.F32, View{Strides: []int64{0, 1}})
	apply := func(in hlo.Instruction, p, q Value) Value {
		v, ok := b.Op(in, p, q)
		require.True(t, ok)
		return v
	}
	b.Store(0, apply(add, apply(mul, apply(add, apply(mul, x, y), z), x), y))
	p, ok := b.Build()
	require.True(t, ok)
	return p
}

func TestProgram(t *testing.T) {
	for _, s := range [][2]int64{{1, 1}, {3, 5}, {7, 1000}, {5, 2048}} {
		p := light(t, s[0], s[1])
		n := int(s[0] * s[1])
		a := &arrays{[][]float32{make([]float32, n), make([]float32, n), make([]float32, s[1])}, [][]float32{make([]float32, n)}}
		want := make([]float32, n)
		for i := range n {
			a.in[0][i], a.in[1][i] = float32(i%7), float32(i%5)-2
			a.in[2][i%int(s[1])] = float32(i % int(s[1]) % 11)
		}
		for i := range n {
			x, y, z := a.in[0][i], a.in[1][i], a.in[2][i%int(s[1])]
			want[i] = ((x*y)+z)*x + y
		}
		p.Run(0, n/2, a)
		p.Run(n/2, n, a)
		assert.Equal(t, want, a.out[0], "%v", s)
	}
}

func TestCollapse(t *testing.T) {
	s := Space{[]int64{2, 3, 1, 4}}
	v := s.RowMajor()
	assert.Equal(t, []int64{24}, s.Collapse([]*View{&v}).Dims)
	v, w := s.RowMajor(), View{Strides: []int64{0, 4, 0, 1}}
	assert.Equal(t, []int64{2, 12}, s.Collapse([]*View{&v, &w}).Dims)
	assert.Equal(t, []int64{0, 1}, w.Strides)
}

func BenchmarkLight(b *testing.B) {
	const rows, cols = 1024, 1024
	p := light(b, rows, cols)
	n := rows * cols
	a := &arrays{[][]float32{make([]float32, n), make([]float32, n), make([]float32, cols)}, [][]float32{make([]float32, n)}}
	b.SetBytes(int64(3 * 4 * n))
	b.ReportAllocs()
	for b.Loop() {
		p.Run(0, n, a)
	}
}
