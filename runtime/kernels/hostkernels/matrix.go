package hostkernels

import (
	"fmt"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/workqueue"
)

// Matrix is a dense tensor of rank 2 as kernels compute on it: TFRT's DHTIndexableView. It shares the tensor's memory.
type Matrix[T int32 | float32 | float64] struct {
	Rows, Cols int
	data       []T
}

// MatrixArgument is a kernel's argument that must be a matrix of T.
type MatrixArgument[T int32 | float32 | float64] = runtime.ArgumentView[*Dense, Matrix[T], *Matrix[T]]

// View implements runtime.View.
func (m *Matrix[T]) View(t *Dense) error {
	var x T
	name := map[any]string{int32(0): "i32", float32(0): "f32", float64(0): "f64"}[x]
	if t.elem.name != name {
		return fmt.Errorf("tensor is of type %s, want %s", t.elem.name, name)
	}
	if err := checkRank(t, 2); err != nil {
		return err
	}
	b := t.Data()
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%unsafe.Alignof(x) != 0 {
		return fmt.Errorf("tensor of %s that is not aligned", name)
	}
	m.Rows, m.Cols = int(t.dims[0]), int(t.dims[1])
	m.data = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(x)))
	return nil
}

// Row is row i, to be read or written.
func (m Matrix[T]) Row(i int) []T { return m.data[i*m.Cols:][:m.Cols] }

// At is one element.
func (m Matrix[T]) At(i, j int) T { return m.Row(i)[j] }

// Shape is the shape as it prints: [2, 3].
func (m Matrix[T]) Shape() string { return formatDims([]int64{int64(m.Rows), int64(m.Cols)}) }

// isEmpty reports whether there are no elements. The other extent may be huge then.
func (m Matrix[T]) isEmpty() bool { return len(m.data) == 0 }

// product is C = alpha·A·B + beta·C, in place. If beta is 0, C may hold anything.
type product[T int32 | float32] struct {
	alpha T
	a, b  Matrix[T]
	beta  T
	c     Matrix[T]
}

func (p *product[T]) check() error {
	a, b, c := p.a, p.b, p.c
	if a.Cols != b.Rows {
		return fmt.Errorf("MatMul argument tensors inner dimension mismatch: %s vs. %s", a.Shape(), b.Shape())
	}
	if c.Rows != a.Rows || c.Cols != b.Cols {
		return fmt.Errorf("MatMul result shape %s does not match product shape of arguments: %s * %s", c.Shape(), a.Shape(), b.Shape())
	}
	return nil
}

// isSmall reports whether the product takes less time than handing it over is worth.
func (p *product[T]) isSmall() bool {
	const worth = 1 << 15 // multiplications
	return p.c.isEmpty() || p.a.Cols == 0 || float64(p.c.Rows)*float64(p.c.Cols)*float64(p.a.Cols) < worth
}

// plain computes it element by element.
func (p *product[T]) plain() {
	if p.c.isEmpty() {
		return
	}
	sums := make([]T, p.c.Cols)
	for i := range p.c.Rows {
		clear(sums)
		for k := range p.a.Cols {
			x := p.a.At(i, k)
			for j, y := range p.b.Row(k) {
				sums[j] += T(x * y) // rounded, on all processors
			}
		}
		p.put(i, sums)
	}
}

// put makes a row of C of a row of A·B.
func (p *product[T]) put(i int, sums []T) {
	for j, sum := range sums {
		sum *= p.alpha
		if p.beta != 0 {
			sum += T(p.beta * p.c.At(i, j))
		}
		p.c.Row(i)[j] = sum
	}
}

const rowsAtOnce = 64 // of a product, by one worker

// blocked computes it panel by panel on the workers of a queue. The result does not depend on how many they are.
func (p *product[T]) blocked(q workqueue.Queue) {
	kernel := gemm.For[T]()
	rows, cols, inner := p.c.Rows, p.c.Cols, p.a.Cols
	left, right := gemm.NewMatrix(multiples(rows, inner), multiples(inner, 1)), gemm.NewMatrix(multiples(cols, 1), multiples(inner, cols))
	width := gemm.Padded(cols, kernel.NR)
	panels := make([]T, width*inner) // of B, one run of KC after the other
	for k := 0; k < inner; k += gemm.KC {
		end := min(k+gemm.KC, inner)
		gemm.Pack(&right, panels[k*width:end*width], p.b.data, kernel.NR, 0, cols, k, end)
	}
	q.ParallelFor(rows, rowsAtOnce, func(lo, hi int) {
		panel := make([]T, gemm.Padded(rowsAtOnce, kernel.MR)*gemm.KC)
		sums, tile := make([]T, rowsAtOnce*cols), make([]T, kernel.MR*kernel.NR)
		for ; lo < hi; lo += rowsAtOnce {
			n := min(rowsAtOnce, hi-lo)
			for k := 0; k < inner; k += gemm.KC {
				end := min(k+gemm.KC, inner)
				gemm.Pack(&left, panel, p.a.data, kernel.MR, lo, lo+n, k, end)
				kernel.Block(n, cols, end-k, panel, panels[k*width:], sums, cols, k > 0, tile)
			}
			for i := range n {
				p.put(lo+i, sums[i*cols:][:cols])
			}
		}
	})
}

// multiples are 0, by, 2·by and so on.
func multiples(n, by int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i * by
	}
	return list
}
