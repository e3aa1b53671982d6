package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/fourier"
)

// columnStrip is how lines that lie across memory are transformed: several vectors of them side by side, so that what is read and written of each row is whole lines of
// memory.
type columnStrip[T fourier.Float] struct {
	columns *fourier.Plan[T] // nil if vectors cannot lie side by side
	vectors int
}

// A strip takes up to stripBytes of each row, as long as its two buffers stay in the second cache, but at least a line of memory.
const (
	stripBytes   = 256
	stripBuffers = 256 << 10
	lineBytes    = 64
)

func (c *columnStrip[T]) plan(st *fftStage[T]) {
	c.vectors = 1
	if plan, ok := st.transform.(*fourier.Plan[T]); ok && plan.HasStrips() {
		c.columns, c.vectors = plan, st.vectorsAcross(plan, st.inner)
	}
}

// vectorsAcross is how many vectors of so many lines that lie across memory should lie side by side.
func (st *fftStage[T]) vectorsAcross(plan *fourier.Plan[T], lines int) int {
	if !plan.HasStrips() {
		return 1
	}
	var x T
	vector := 2 * st.lanes * int(unsafe.Sizeof(x))
	run := max(lineBytes, min(stripBytes, stripBuffers/(2*plan.Elements())))
	return max(1, min(run/vector, groupsOf(lines, st.lanes)))
}

// run transforms the lines of group g.
func (c *columnStrip[T]) run(st *fftStage[T], w *fftBuffers[T], dst, src []T, g int) {
	first := g % st.within * st.lanes * c.vectors
	n := min(st.lanes*c.vectors, st.inner-first)
	vectors := (n-1)/st.lanes + 1 // the last strip may be narrower
	at, row, step := 2*(g/st.within*st.n*st.inner+first), 2*vectors*st.lanes, 2*st.inner
	if c.columns != nil && 2*n == row {
		y := c.columns.TransformFrom(src[at:], step, w.a, w.b, vectors)
		c.columns.Put(dst[at:], step, y, vectors, st.inverse)
		return
	}
	for i := range st.n {
		copy(w.a[i*row:][:2*n], src[at+i*step:])
	}
	var y []T
	if c.columns != nil {
		y = c.columns.TransformStrip(w.a, w.b, vectors)
	} else {
		y = st.transform.Transform(w.a, w.b)
	}
	if st.inverse {
		st.backwards.Backwards(y, vectors)
	}
	for i := range st.n {
		copy(dst[at+i*step:][:2*n], y[i*row:])
	}
}
