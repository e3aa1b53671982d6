package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

func sizeOf[T any](e T) int { return int(unsafe.Sizeof(e)) }

// vectorProduct is a product one side of which is a single row: it reads the matrix once, without packing.
type vectorProduct[T gemm.Number] struct {
	p             *product[T]
	matrix        *gemm.Matrix
	vector        []int // offsets of the vector's elements
	matrixAt      place
	vectorAt      place
	matrixBatch   []int
	vectorBatch   []int
	n             int // rows of the matrix, which are the elements of the result
	rowsNeighbour bool
	loop          *parallelLoop
	vectors       sync.Pool
}

// vectorRows is the number of rows that are computed together.
const vectorRows = 512

// vector returns the form for one row, or nil if there are several, or if the matrix is scattered in memory.
func (p *product[T]) vector() *vectorProduct[T] {
	var v *vectorProduct[T]
	switch {
	case p.packLeft != nil || p.k == 0:
		return nil
	case p.m == 1:
		v = &vectorProduct[T]{matrix: &p.right, vector: p.left.Ks, matrixAt: p.rhs, vectorAt: p.lhs,
			matrixBatch: p.rightBatch, vectorBatch: add(p.leftBatch, p.left.Rows[0]), n: p.n}
	case p.n == 1:
		v = &vectorProduct[T]{matrix: &p.left, vector: p.right.Ks, matrixAt: p.lhs, vectorAt: p.rhs,
			matrixBatch: p.leftBatch, vectorBatch: add(p.rightBatch, p.right.Rows[0]), n: p.m}
	default:
		return nil
	}
	v.p = p
	switch {
	case v.matrix.LinearKs():
	case v.matrix.LinearRows():
		v.rowsNeighbour = true
	default:
		return nil
	}
	v.vectors.New = func() any { b := make([]T, p.k); return &b }
	v.loop = newParallelLoop(v.rows)
	return v
}

func add(v []int, x int) []int {
	r := make([]int, len(v))
	for i := range v {
		r[i] = v[i] + x
	}
	return r
}

func (v *vectorProduct[T]) run(f *runtime.TensorFrame) {
	blocks := (v.n-1)/vectorRows + 1
	v.loop.run(f, v.p.batch*blocks, 1+(1<<15)/(1+v.p.k*min(v.n, vectorRows)))
}

// rows computes blocks of rows.
func (v *vectorProduct[T]) rows(f *runtime.TensorFrame, lo, hi int) {
	buffer := v.vectors.Get().(*[]T)
	x := *buffer
	matrix, vector, out := elems[T](v.matrixAt.of(f)), elems[T](v.vectorAt.of(f)), elems[T](v.p.out.of(f))
	blocks := (v.n-1)/vectorRows + 1
	last := -1
	for task := lo; task < hi; task++ {
		b, i := task/blocks, task%blocks*vectorRows
		if b != last {
			for k, at := range v.vector {
				x[k] = vector[v.vectorBatch[b]+at]
			}
			last = b
		}
		y := out[b*v.n+i:][:min(vectorRows, v.n-i)]
		m := matrix[v.matrixBatch[b]:]
		if v.rowsNeighbour {
			combineRows(y, x, m[v.matrix.Rows[i]:], v.matrix.Ks)
			continue
		}
		for r := range y {
			y[r] = innerProduct(x, m[v.matrix.Rows[i+r]+v.matrix.Ks[0]:])
		}
	}
	v.vectors.Put(buffer)
}

// innerProduct sums in eight chains, which the processor follows at once.
func innerProduct[T gemm.Number](x, y []T) T {
	var s0, s1, s2, s3, s4, s5, s6, s7 T
	y = y[:len(x)]
	for len(x) >= 8 && len(y) >= 8 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		x, y = x[8:], y[8:]
	}
	for i, v := range x {
		s0 += v * y[i]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

// combineRows sets y to the sum of x[k] times the run of m at offset ks[k], four at a time.
func combineRows[T gemm.Number](y, x, m []T, ks []int) {
	clear(y)
	for len(x) >= 4 {
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		m0, m1 := m[ks[0]:][:len(y)], m[ks[1]:][:len(y)]
		m2, m3 := m[ks[2]:][:len(y)], m[ks[3]:][:len(y)]
		for i := range y {
			y[i] += (x0*m0[i] + x1*m1[i]) + (x2*m2[i] + x3*m3[i])
		}
		x, ks = x[4:], ks[4:]
	}
	for k, v := range x {
		row := m[ks[k]:][:len(y)]
		for i := range y {
			y[i] += v * row[i]
		}
	}
}
