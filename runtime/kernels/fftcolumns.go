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
	plan, ok := st.transform.(*fourier.Plan[T])
	if !ok || !plan.HasStrips() {
		return
	}
	var x T
	vector := 2 * st.lanes * int(unsafe.Sizeof(x))
	run := max(lineBytes, min(stripBytes, stripBuffers/(2*st.n)))
	c.columns, c.vectors = plan, max(1, min(run/vector, (st.inner-1)/st.lanes+1))
}

// run transforms the lines of group g.
func (c *columnStrip[T]) run(st *fftStage[T], w *fftBuffers[T], dst, src []T, g int) {
	first := g % st.within * st.lanes * c.vectors
	n := min(st.lanes*c.vectors, st.inner-first)
	vectors := (n-1)/st.lanes + 1 // the last strip may be narrower
	at, row, step := 2*(g/st.within*st.n*st.inner+first), 2*vectors*st.lanes, 2*st.inner
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
