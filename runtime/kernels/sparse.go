package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// csrDense is a sparse matrix in compressed rows times a dense one: see [hlo.CSRDense]. A row of the result is the sum of rows of the dense
// operand, which lie together.
func csrDense(s *site) (runtime.Bound, bool) {
	if hlo.AttrsOf[hlo.CustomCallAttrs](s.in).Target != hlo.TargetCSRDense || s.in.NumOperands() != 4 {
		return runtime.Bound{}, false
	}
	operands := []hlo.Shape{s.shape(0), s.shape(1), s.shape(2), s.shape(3)}
	sizes, ok := hlo.CSRDenseOf(operands, s.in.Shape())
	if !ok || sizes.Rows*sizes.Cols == 0 {
		return runtime.Bound{}, false
	}
	switch operands[1].Type() {
	case hlo.S32:
		return byType(s, csrDenseAs[float32, int32](sizes), csrDenseAs[float64, int32](sizes), csrDenseAs[complex64, int32](sizes), csrDenseAs[complex128, int32](sizes))
	case hlo.S64:
		return byType(s, csrDenseAs[float32, int64](sizes), csrDenseAs[float64, int64](sizes), csrDenseAs[complex64, int64](sizes), csrDenseAs[complex128, int64](sizes))
	}
	return runtime.Bound{}, false
}

func csrDenseAs[T float32 | float64 | complex64 | complex128, I int32 | int64](sizes hlo.CSRDense) chooser {
	return func(*site) (runtime.Bound, bool) {
		cols := int(sizes.Cols)
		l := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
			values, starts, columns, dense := elems[T](f.In(0).Data), elems[I](f.In(1).Data), elems[I](f.In(2).Data), elems[T](f.In(3).Data)
			out := elems[T](f.Out(0).Data)
			for r := lo; r < hi; r++ {
				first, end := sizes.Row(int64(starts[r]), int64(starts[r+1]))
				csrRow(out[r*cols:][:cols], values[first:end], columns[first:end], dense, sizes)
			}
		})
		perRow := max(1, sizes.Values/sizes.Rows*sizes.Cols)
		return l.bound(int(sizes.Rows), int(1+(1<<14)/perRow)), true
	}
}

// csrRow is one row of the result.
func csrRow[T float32 | float64 | complex64 | complex128, I int32 | int64](row, values []T, columns []I, dense []T, sizes hlo.CSRDense) {
	if len(row) == 1 {
		var sum T
		for i, k := range columns {
			if k >= 0 && int64(k) < sizes.Inner {
				sum += values[i] * dense[k]
			}
		}
		row[0] = sum
		return
	}
	clear(row)
	for i, k := range columns {
		if k >= 0 && int64(k) < sizes.Inner {
			v := values[i]
			for j, x := range dense[int(k)*len(row):][:len(row)] {
				row[j] += v * x
			}
		}
	}
}
