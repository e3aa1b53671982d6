package tile

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// TestViews runs programs over random views, in pieces, and looks each element up.
func TestViews(t *testing.T) {
	for level := vectors.Portable; level <= vectors.Best(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			defer vectors.Use(level)()
			rng := rand.New(rand.NewPCG(11, 12))
			for range 120 {
				tryViews(t, rng)
			}
		})
	}
}

func tryViews(t *testing.T, rng *rand.Rand) {
	s := Space{}
	for range 1 + rng.IntN(4) {
		s.Dims = append(s.Dims, int64(1+rng.IntN([]int{4, 9, 70, 1500}[rng.IntN(4)])))
	}
	for s.Len() > 20000 {
		s.Dims = s.Dims[1:]
	}
	checkViews(t, rng, s, [2]View{randomView(rng, s), randomView(rng, s)})
}

// TestRotatedViews: arrays of rows as they lie in memory, rotated along one axis and along both, far and not.
func TestRotatedViews(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, dims := range [][]int64{{60, 37}, {3, 20, 70}, {5, 1500}, {1, 9}} {
		s := Space{dims}
		for _, turn := range []int64{0, 1, dims[len(dims)-1] / 2, dims[len(dims)-1] - 1} {
			for _, rows := range []int64{0, 1, dims[len(dims)-2] - 1} {
				var views [2]View
				for i := range views {
					views[i] = s.RowMajor()
					views[i].Turns = make([]int64, len(dims))
				}
				views[0].Turns[len(dims)-1], views[0].Turns[len(dims)-2] = turn, rows%dims[len(dims)-2]
				views[1].Turns[0] = rows % dims[0]
				checkViews(t, rng, s, views)
			}
		}
	}
}

func checkViews(t *testing.T, rng *rand.Rand, s Space, views [2]View) {
	n := int(s.Len())
	a := &arrays{[][]float32{memoryOf(s, views[0]), memoryOf(s, views[1])}, [][]float32{make([]float32, n), make([]float32, n)}}
	at := func(v View, i int) int64 {
		offset := v.Base
		for k := len(s.Dims) - 1; k >= 0; k-- {
			offset += (int64(i)%s.Dims[k] + v.turn(k)) % s.Dims[k] * v.Strides[k]
			i /= int(s.Dims[k])
		}
		return offset
	}
	clone := func(v View) View { return View{v.Base, slices.Clone(v.Strides), slices.Clone(v.Turns)} }
	b := NewBuilder(s)
	x, y := b.Input(0, hlo.F32, clone(views[0])), b.Input(1, hlo.F32, clone(views[1]))
	z, ok := b.Op(instruction(t, "f32[1] add(f32[1], f32[1])"), x, y)
	require.True(t, ok)
	b.Store(0, z)
	sum, ok := b.Build()
	require.True(t, ok)
	b = NewBuilder(s)
	b.Store(1, b.Input(0, hlo.F32, clone(views[0])))
	moved, ok := b.Build()
	require.True(t, ok)
	for lo := 0; lo < n; {
		hi := min(n, lo+1+rng.IntN(3000))
		sum.Run(lo, hi, a)
		moved.Run(lo, hi, a)
		lo = hi
	}
	for i := range n {
		x, y := a.in[0][at(views[0], i)], a.in[1][at(views[1], i)]
		require.Equal(t, x+y, a.out[0][i], "%v of %v: element %d", views, s, i)
		require.Equal(t, x, a.out[1][i], "%v of %v: element %d", views[0], s, i)
	}
}

// randomView has axes that are left out, reversed, strided, rotated or in another order.
func randomView(rng *rand.Rand, s Space) View {
	v := View{Strides: make([]int64, len(s.Dims))}
	step := int64(1)
	order := rng.Perm(len(s.Dims))
	if rng.IntN(2) == 0 {
		for i := range order {
			order[i] = len(s.Dims) - 1 - i
		}
	}
	for _, axis := range order {
		switch rng.IntN(8) {
		case 0, 1, 2:
			continue
		case 3:
			v.Strides[axis] = -step
			v.Base += step * (s.Dims[axis] - 1)
		case 4:
			step *= int64(1 + rng.IntN(4))
			v.Strides[axis] = step
		default:
			v.Strides[axis] = step
		}
		step *= s.Dims[axis]
	}
	if rng.IntN(3) == 0 {
		v.Turns = make([]int64, len(s.Dims))
		for axis, d := range s.Dims {
			if rng.IntN(2) == 0 {
				v.Turns[axis] = rng.Int64N(d)
			}
		}
	}
	return v
}

// memoryOf is as much as a view reaches.
func memoryOf(s Space, v View) []float32 {
	last := v.Base
	for i, d := range s.Dims {
		last += max(0, v.Strides[i]) * (d - 1)
	}
	m := make([]float32, last+1)
	for i := range m {
		m[i] = float32(i)
	}
	return m
}

// TestRowsInWords: short rows of one element each, and of neighbours, of every width, with something behind them and without.
func TestRowsInWords(t *testing.T) {
	repeatElements[uint8](t)
	repeatElements[uint16](t)
	repeatElements[uint32](t)
	repeatElements[uint64](t)
}

func repeatElements[T uint8 | uint16 | uint32 | uint64](t *testing.T) {
	src := make([]T, 60)
	for i := range src {
		src[i] = T(1 + i)
	}
	for n := 1; n*int(unsafe.Sizeof(src[0])) <= 3*rowInWords; n++ {
		for rows := 1; rows <= 20; rows++ {
			for _, step := range []int{0, 1, 2, -1} {
				for behind := range 10 {
					at := max(0, -step*(rows-1))
					memory := make([]T, rows*n+behind+8)
					repeatInWords(memory[:rows*n+behind], src, rows, n, at, step)
					for i := range rows * n {
						require.Equal(t, src[at+i/n*step], memory[i], "row %d of %d × %d, step %d", i/n, rows, n, step)
					}
					for _, x := range memory[rows*n+behind:] {
						require.Zero(t, x, "written beyond the end")
					}
					from := src[:min(len(src), at+max(0, step)*(rows-1)+n+behind/2)] // often without room for a word behind the last row
					if step < 0 || at+step*(rows-1)+n > len(src) || n*int(unsafe.Sizeof(src[0])) > rowInWords {
						continue
					}
					clear(memory)
					copyInWords(memory[:rows*n+behind], from, rows, n, at, step)
					for i := range rows * n {
						require.Equal(t, src[at+i/n*step+i%n], memory[i], "element %d of row %d of %d × %d, step %d", i%n, i/n, rows, n, step)
					}
					for _, x := range memory[rows*n+behind:] {
						require.Zero(t, x, "written beyond the end")
					}
				}
			}
		}
	}
}
