package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// Columns of a product can be a worker's own. It packs the part of the right side that they need, and computes them in all rows, so that no processor waits for what another
// one has just written: where two share no cache, products of 512 and 1024 took up to 1.3 times as long. It costs reading the left side once for each part, so that side
// has to be where it is already.

// partsOfWorker is how many parts of the columns each worker has, so that one that is late has others help.
const partsOfWorker = 2

// columnParts is into how many parts workers divide the columns of a block, or 0 if they share its rows.
func (p *product[T]) columnParts(f *runtime.TensorFrame) int {
	parts := partsOfWorker * f.Workers()
	if f.Workers() == 1 || !p.packsIn(f) || p.placed == nil || p.packLeft != nil || p.encode != nil || p.blockN/p.panel < parts || p.rowBlocks(f).count() == 1 {
		return 0
	}
	return parts
}

// columns computes parts of the columns, counted through the blocks and the batches.
func (p *product[T]) columns(f *runtime.TensorFrame, lo, hi int) {
	w := p.workspaces.Get().(*workspace[T])
	left, out, packed := p.lhs.of(f), elems[T](p.out.of(f)), elems[T](p.packed.of(f))
	parts, panels := p.columnParts(f), p.blockN/p.panel
	for part := lo; part < hi; part++ {
		block, n := part/parts, part%parts
		b, j := block/p.tasksN, block%p.tasksN*p.blockN
		from, to := n*panels/parts*p.panel, min((n+1)*panels/parts*p.panel, p.n-j)
		if from >= to {
			continue
		}
		for k := 0; k < p.k; k += p.step() {
			kc := min(p.step(), p.k-k)
			right := packed[p.packedAt(block, k, kc, from):]
			p.pack(&p.right, right, p.rhs.of(f), p.rightBatch[b], p.panel, j+from, j+to, k, k+kc)
			for i := 0; i < p.m; i += p.mostRows {
				end := min(i+p.mostRows, p.m)
				p.multiply(f, w, left, right, out[(b*p.m+i)*p.n+j+from:], p.n, b, i, end, to-from, k, k+kc)
			}
		}
	}
	p.workspaces.Put(w)
}

// A right side that is used where it is becomes panels once for each block of rows. Workers share the columns instead where that costs more than to pack the left side
// for each of them: if the right side has leastReread bytes and does not stay in the second cache, and there are rereadBroad times as many columns as rows; and where
// leastDecoded columns or more are decoded, if there are decodedBroad times as many.
const (
	leastReread  = 2 << 20
	rereadBroad  = 4
	leastDecoded = 512
	decodedBroad = 2
)

// sharesColumns reports whether workers share the columns of a right side that is used where it is.
func (p *product[T]) sharesColumns(f *runtime.TensorFrame) bool {
	if f.Workers() == 1 || !p.onRows || p.placed != nil || p.packedBefore(f) != nil || p.m <= p.kernel.MR {
		return false
	}
	if p.decode != nil && p.n >= max(leastDecoded, decodedBroad*p.m) {
		return true
	}
	return p.n*p.k*sizeOf(*new(T)) >= leastReread && p.n >= rereadBroad*p.m
}

// columnTasks is how many columns a task has, and how many tasks there are for a block of rows of a batch.
func (p *product[T]) columnTasks(f *runtime.TensorFrame) (width, tasks int) {
	if !p.sharesColumns(f) {
		return p.blockN, p.tasksN
	}
	tasks = max(p.tasksN, min(tasksOfWorker*f.Workers()/p.batch, p.m*p.n*p.k/leastColumns))
	width = gemm.Padded((p.n-1)/tasks+1, p.panel)
	return width, (p.n-1)/width + 1
}
