package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
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
	stride        int  // from one row of the matrix to the next or, if rows are neighbours, from one column; 0 if they differ
	dense         bool // the vector's elements are neighbours
	loops         gemm.Vector[T]
	decode        vec.Loop // if the operands are bf16
	loop          *parallelLoop
	vectors       sync.Pool
}

// vectorRows is the number of rows that are computed together: longRows where they are neighbours, since a column of them is then read as one run. On Zen 3, runs of 16 KB
// come from memory in 0.7 of the time of runs of 2 KB. With AVX-512 that has not been measured.
const (
	vectorRows = 512
	longRows   = 4096
)

// evenStep is the distance of neighbouring offsets if that is always the same and not negative, else 0.
func evenStep(offsets []int) int {
	if len(offsets) < 2 || offsets[1] < offsets[0] {
		return 0
	}
	step := offsets[1] - offsets[0]
	for i, o := range offsets {
		if o != offsets[0]+i*step {
			return 0
		}
	}
	return step
}

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
	v.loops = gemm.VectorFor[T]()
	v.dense = v.p.k == 1 || evenStep(v.vector) == 1
	if v.stride = evenStep(v.matrix.Rows); v.rowsNeighbour {
		v.stride = evenStep(v.matrix.Ks)
	}
	room, rows := 0, v.rows
	if p.decode != nil {
		v.decode = widenBF16()
		room, rows = max(decodedCombine*vectorRows, decodedInner*p.k), v.decodedRows
	}
	v.vectors.New = func() any { b := make([]T, p.k+room); return &b }
	v.loop = newParallelLoop(rows)
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
	block := v.block(f)
	v.loop.run(f, v.p.batch*((v.n-1)/block+1), 1+(1<<15)/(1+v.p.k*min(v.n, block)))
}

// block is how many rows a run computes together, so that each worker has some. No sum depends on it.
func (v *vectorProduct[T]) block(f *runtime.TensorFrame) int {
	if !v.rowsNeighbour || v.decode != nil || vec.InUse() >= vec.AVX512 {
		return vectorRows
	}
	return max(vectorRows, min(longRows, gemm.Padded((v.n-1)/f.Workers()+1, vectorRows)))
}

// small is the product as a call, if it is small and reads its operands where they are.
func (v *vectorProduct[T]) small() []runtime.SmallCall {
	const most = 1 << 12 // products of numbers
	p := v.p
	if p.batch != 1 || v.n > vectorRows || v.n*p.k > most || !v.dense || v.stride == 0 && (v.rowsNeighbour || v.n > 1) || v.decode != nil || len(p.rewrites) > 0 ||
		p.arrange != nil || p.out.kind != inOutput || v.matrixAt.kind != inInput || v.vectorAt.kind != inInput || len(p.ends.inConv) > 0 || p.ends.outConv != nil {
		return nil
	}
	var e T
	matrix, vector := smallInput(v.matrixAt.index), smallInput(v.vectorAt.index)
	matrix.Offset = (v.matrixBatch[0] + v.matrix.Rows[0] + v.matrix.Ks[0]) * sizeOf(e)
	vector.Offset = (v.vectorBatch[0] + v.vector[0]) * sizeOf(e)
	rows, columns := v.n, p.k
	if v.rowsNeighbour {
		rows, columns = columns, rows
	}
	reach, k := (rows-1)*v.stride+columns, p.k
	loop := func(n int, d, a, b, _ unsafe.Pointer) {
		x, m, y := unsafe.Slice((*T)(a), k), unsafe.Slice((*T)(b), reach), unsafe.Slice((*T)(d), n)
		if v.rowsNeighbour {
			clear(y)
			v.loops.Combine(x, m, v.stride, y)
		} else {
			v.loops.Inner(x, m, v.stride, y)
		}
	}
	return []runtime.SmallCall{{Loop: loop, N: v.n, D: runtime.Place{Kind: runtime.InOutput, Index: p.out.index}, A: vector, B: matrix}}
}

// rows computes blocks of rows.
func (v *vectorProduct[T]) rows(f *runtime.TensorFrame, lo, hi int) {
	buffer := v.vectors.Get().(*[]T)
	x := *buffer
	matrix, vector, out := elems[T](v.matrixAt.of(f)), elems[T](v.vectorAt.of(f)), elems[T](v.p.out.of(f))
	block := v.block(f)
	blocks := (v.n-1)/block + 1
	last := -1
	for task := lo; task < hi; task++ {
		b, i := task/blocks, task%blocks*block
		switch {
		case b == last:
		case v.dense:
			x = vector[v.vectorBatch[b]+v.vector[0]:][:v.p.k]
		default:
			for k, at := range v.vector {
				x[k] = vector[v.vectorBatch[b]+at]
			}
		}
		last = b
		y := out[b*v.n+i:][:min(block, v.n-i)]
		m := matrix[v.matrixBatch[b]:]
		switch {
		case v.rowsNeighbour && v.stride > 0:
			clear(y)
			v.loops.Combine(x, m[v.matrix.Rows[i]+v.matrix.Ks[0]:], v.stride, y)
		case v.rowsNeighbour:
			clear(y)
			for k, at := range v.matrix.Ks {
				v.loops.Combine(x[k:k+1], m[v.matrix.Rows[i]+at:], 0, y)
			}
		case v.stride > 0:
			v.loops.Inner(x, m[v.matrix.Rows[i]+v.matrix.Ks[0]:], v.stride, y)
		default:
			for r := range y {
				v.loops.Inner(x, m[v.matrix.Rows[i+r]+v.matrix.Ks[0]:], 0, y[r:r+1])
			}
		}
	}
	v.vectors.Put(buffer)
}
