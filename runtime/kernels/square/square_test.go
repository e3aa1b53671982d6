package square

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestTranspose(t *testing.T) {
	for _, rows := range []int{1, 3, 4, 7, 8, 9, 16, 31, 33, 64, 65, 130} {
		for _, cols := range []int{1, 2, 4, 8, 12, 15, 32, 40, 63, 64, 100, 257} {
			for _, gap := range []int{0, 5, 20} {
				check[uint8](t, rows, cols, gap)
				check[uint16](t, rows, cols, gap)
				check[uint32](t, rows, cols, gap)
				check[uint64](t, rows, cols, gap)
				check[[2]uint64](t, rows, cols, gap)
			}
		}
	}
}

func TestRows(t *testing.T) {
	src := make([]uint32, 1000)
	for i := range src {
		src[i] = rand.Uint32()
	}
	rows := [8]int{500, 0, 30, 700, 31, 31, 99, 250}
	for i := range 140 {
		n, stride := i/2, []int{11, 6}[i%2]
		got, want := make([]uint32, 100*stride), make([]uint32, 100*stride)
		done := Rows(got, src, &rows, n, stride, 0)
		require.True(t, done == n/8*8 || !hasVectors && done == 0)
		for c := range done {
			for r, at := range rows {
				want[c*stride+r] = src[at+c]
			}
		}
		require.Equal(t, want, got)
	}
}

// TestRowsBF16 writes f32 and nothing else.
func TestRowsBF16(t *testing.T) {
	src := make([]uint16, 1000)
	for i := range src {
		src[i] = uint16(rand.Uint32())
	}
	rows := [8]int{500, 0, 30, 700, 31, 31, 99, 250}
	for i := range 140 {
		n, stride := i/2, []int{11, 6}[i%2]
		got, want := make([]uint32, 100*stride), make([]uint32, 100*stride)
		done := RowsBF16(got, src, &rows, n, stride, 100)
		require.True(t, done == n/16*16 || !hasIntegers && done == 0)
		for c := range done {
			for r, at := range rows {
				want[c*stride+r] = uint32(src[at+c]) << 16
			}
		}
		require.Equal(t, want, got)
	}
}

func TestWideRows(t *testing.T) {
	src := make([]uint32, 1000)
	for i := range src {
		src[i] = rand.Uint32()
	}
	all := []int{500, 0, 30, 700, 31, 31, 99, 250, 1, 2, 840, 4, 5, 6, 7, 8}
	for count := 1; count <= len(all); count++ {
		for n := 1; n < 70; n++ {
			rows, stride := all[len(all)-count:], count+n%3
			got, want := make([]uint32, 100*stride), make([]uint32, 100*stride)
			done := WideRows(got, src, rows, n, stride)
			require.Equal(t, hasWide && n >= 16, done)
			for c := range n {
				for r, at := range rows {
					want[c*stride+r] = src[at+c]
				}
			}
			if done {
				require.Equal(t, want, got)
			}
		}
	}
}

// TestWideRowsBF16 writes f32 and nothing else.
func TestWideRowsBF16(t *testing.T) {
	src := make([]uint16, 1000)
	for i := range src {
		src[i] = uint16(rand.Uint32())
	}
	all := []int{500, 0, 30, 700, 31, 31, 99, 250, 1, 2, 840, 4, 5, 6, 7, 8}
	for count := 1; count <= len(all); count++ {
		for n := 1; n < 131; n++ {
			rows, stride := all[len(all)-count:], count+n%3
			got, want := make([]uint32, 150*stride), make([]uint32, 150*stride)
			done := WideRowsBF16(got, src, rows, n, stride)
			require.Equal(t, hasWide && n >= 32, done)
			for c := range n {
				for r, at := range rows {
					want[c*stride+r] = uint32(src[at+c]) << 16
				}
			}
			if done {
				require.Equal(t, want, got)
			}
		}
	}
}

// check transposes a matrix whose lines have a gap between them, in which nothing is written. The operand ends within the gap after its last line.
func check[T Element](t *testing.T, rows, cols, gap int) {
	srcStride, dstStride := cols+gap, rows+gap
	src, got := make([]T, (rows-1)*srcStride+cols+gap/2), make([]T, (cols-1)*dstStride+rows)
	data := unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), len(src)*int(unsafe.Sizeof(src[0])))
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	want := make([]T, len(got))
	for r := range rows {
		for c := range cols {
			want[c*dstStride+r] = src[r*srcStride+c]
		}
	}
	Transpose(got, src, rows, cols, dstStride, srcStride)
	require.Equal(t, want, got, "%d by %d of %T", rows, cols, src[0])
	clear(got)
	plain(got, src, rows, cols, dstStride, srcStride)
	require.Equal(t, want, got, "%d by %d of %T, plain", rows, cols, src[0])
}

func BenchmarkTranspose(b *testing.B) {
	for _, n := range []int{64, 1000, 1024} {
		benchmark[uint8](b, n)
		benchmark[uint16](b, n)
		benchmark[uint32](b, n)
		benchmark[uint64](b, n)
		benchmark[[2]uint64](b, n)
	}
}

func benchmark[T Element](b *testing.B, n int) {
	src, dst := make([]T, n*n), make([]T, n*n)
	b.Run(fmt.Sprintf("%T/%d", src[0], n), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Transpose(dst, src, n, n, n, n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*n), "ns/element")
	})
}

// BenchmarkLines brings lines side by side, as transforms and sums over rows want them, and back.
func BenchmarkLines(b *testing.B) {
	const n, lines = 1024, 8
	far, near := make([]uint64, n*lines), make([]uint64, n*lines)
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			Transpose(near, far, lines, n, lines, n)
		}
	})
	b.Run("apart", func(b *testing.B) {
		for b.Loop() {
			Transpose(far, near, n, lines, n, lines)
		}
	})
}
