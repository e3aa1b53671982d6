package hostkernels

import (
	"fmt"
	"unsafe"

	"github.com/gohalo/halo/runtime"
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

// matmul computes C = alpha·A·B + beta·C in place. If beta is 0, C may hold anything.
func matmul[T int32 | float32](alpha T, a, b Matrix[T], beta T, c Matrix[T]) error {
	if a.Cols != b.Rows {
		return fmt.Errorf("MatMul argument tensors inner dimension mismatch: %s vs. %s", a.Shape(), b.Shape())
	}
	if c.Rows != a.Rows || c.Cols != b.Cols {
		return fmt.Errorf("MatMul result shape %s does not match product shape of arguments: %s * %s", c.Shape(), a.Shape(), b.Shape())
	}
	if c.isEmpty() {
		return nil
	}
	sums := make([]T, c.Cols)
	for i := range c.Rows {
		clear(sums)
		for k := range a.Cols {
			x := a.At(i, k)
			for j, y := range b.Row(k) {
				sums[j] += T(x * y) // rounded, on all processors
			}
		}
		for j, sum := range sums {
			sum *= alpha
			if beta != 0 {
				sum += T(beta * c.At(i, j))
			}
			c.Row(i)[j] = sum
		}
	}
	return nil
}
