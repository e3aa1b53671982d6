package hlo

// TargetCSRDense is the custom call by which JAX multiplies a sparse matrix in compressed rows (BCSR) with a dense vector or matrix on CPU.
const TargetCSRDense = "cpu_csr_sparse_dense_ffi"

// CSRDense is the sizes of such a call: values[N], the starts of the rows and one more [Rows+1], the column of each value [N], and the dense
// operand [Inner] or [Inner,Cols] give [Rows] or [Rows,Cols]. Values past the last start, and columns outside the dense operand, are padding.
type CSRDense struct{ Values, Rows, Inner, Cols int64 }

// CSRDenseOf is the sizes of a call with this target; ok is false if the shapes do not fit.
func CSRDenseOf(operands []Shape, result Shape) (c CSRDense, ok bool) {
	if len(operands) != 4 || !result.IsArray() {
		return c, false
	}
	values, starts, columns, dense := operands[0], operands[1], operands[2], operands[3]
	for i, rank := range []int{1, 1, 1, result.Rank()} {
		if !operands[i].IsArray() || operands[i].Rank() != rank {
			return c, false
		}
	}
	if result.Rank() < 1 || result.Rank() > 2 || starts.Dim(0) < 1 || columns.Dim(0) != values.Dim(0) || result.Dim(0) != starts.Dim(0)-1 ||
		values.Type() != dense.Type() || values.Type() != result.Type() || starts.Type() != columns.Type() || !starts.Type().IsInteger() {
		return c, false
	}
	c = CSRDense{Values: values.Dim(0), Rows: result.Dim(0), Inner: dense.Dim(0), Cols: 1}
	if result.Rank() == 2 {
		c.Cols = result.Dim(1)
		if dense.Dim(1) != c.Cols {
			return c, false
		}
	}
	return c, true
}

// Row is the range of the values between two starts of rows: an empty one where these make no sense.
func (c CSRDense) Row(first, end int64) (lo, hi int64) {
	if first < 0 || end > c.Values || first > end {
		return 0, 0
	}
	return first, end
}
