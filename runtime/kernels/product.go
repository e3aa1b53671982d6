package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// product computes out[b,m,n] = Σk left[b,m,k] · right[b,k,n], the heart of dot and of convolution. Each batch of the left and right
// arrays begins at an offset; within one the matrices say where elements are.
//
// 1. Operands of another type than T are converted into scratch memory, unless packing decodes them.
// 2. The right side is packed into scratch memory, or has been before: when the kernel was bound, if it is a constant, or when the loop began that hands it on. Where its rows lie together, or each part of it belongs to one
// block only, it is packed by the way.
// 3. Blocks of the result are computed in parallel; each packs the part of the left side that it needs.
// 4. A result of another type than T is converted from scratch memory, or block by block when its sums are complete.
type product[T gemm.Number] struct {
	batch, m, n, k        int
	left, right           gemm.Matrix
	leftBatch, rightBatch []int
	// packLeft replaces the packing by left.
	packLeft func(f *runtime.TensorFrame, dst []T, src []T, batch, i0, i1, k0, k1 int)
	// decode, if set, packs both sides, whose elements are narrower than T.
	decode func(m *gemm.Matrix, dst []T, src []byte, at, r, i0, i1, k0, k1 int)
	encode vec.Loop    // of decode: from T to the elements of the result, if these are narrower
	quads  *gemm.Quads // if elements are quads of bytes

	code           *codedProduct[T]   // of small matrices, or nil
	zeros          *sparseRows[T]     // of operands that may have many, or nil
	placed         func() *placedRows // if the left side is read where it is; they are found by the first run
	kernel         gemm.Kernel[T]
	blockN, tasksN int
	panels         int // of MR rows
	panel          int // columns of a panel of the right side
	mostRows       int // of a block
	sumsApart      int // how far apart rows of a workspace's sums are, or 0 if sums are added up in the result
	lhs, rhs, out  place
	ends           *convertedIO
	rewrites       []rewriting
	// arrange, if set, is how the axes of the product have to be permuted.
	arrange             *arrangement
	arranging           rewriting // or none
	packed              place
	constant            []T
	onRows              bool // the right side is used where it is
	rowStride           int  // of its rows if a kernel takes them one by one, else 0
	packLoop, blockLoop *parallelLoop
	columnLoop          *parallelLoop
	workspaces          sync.Pool
}

// rewriting is a loop that brings an operand into the form that a kernel takes, or its result into another.
type rewriting struct {
	loop     *parallelLoop // or nil if there is nothing to do
	n, grain int
}

func (r rewriting) run(f *runtime.TensorFrame) {
	if r.loop != nil {
		r.loop.run(f, r.n, r.grain)
	}
}

// workspace is what one goroutine needs.
type workspace[T gemm.Number] struct {
	left, tile, edge []T
	sums             []T   // of a block that is written when they are complete
	last             []int // rows of a panel that is not whole
}

// bind completes p for operands 0 and 1 and result 0 of the site, computing in type t, which is T.
func (p *product[T]) bind(s *site, t hlo.PrimitiveType) (runtime.Bound, bool) {
	e := &convertedIO{t: t}
	switch {
	case p.decodes(s):
		if !p.planDecoded(s, e) {
			return runtime.Bound{}, false
		}
	case !e.plan(s):
		return runtime.Bound{}, false
	}
	p.lhs, p.rhs = e.in[0], e.in[1]
	return p.complete(s, e, t)
}

// complete is bind for operands whose places are known.
func (p *product[T]) complete(s *site, e *convertedIO, t hlo.PrimitiveType) (runtime.Bound, bool) {
	p.ends, p.out = e, e.out
	var zero T
	size := int64(sizeOf(zero))
	if p.arrange != nil {
		n := s.in.Shape().NumElements()
		from := place{kind: inScratch, section: e.scratch.take(n * size)}
		var ok bool
		if p.arranging, ok = p.arrange.move(from, p.out, t); !ok {
			return runtime.Bound{}, false
		}
		p.out = from
	}
	if p.kernel.MR == 0 {
		p.kernel = gemm.Fit[T](p.m, p.n)
		if s := p.small(); s != nil {
			return p.bindLoops(s.run), true
		}
		if v := p.vector(); v != nil {
			bound := p.bindLoops(v.run)
			bound.Small = v.small()
			return bound, true
		}
		if r := p.few(); r != nil {
			return p.bindLoops(r.compute), true
		}
	}
	p.code, p.zeros = p.coded(), p.sparse(e)
	var data []byte
	constant := p.rhs.kind == inInput
	if constant {
		data, constant = s.b.ConstIn(p.rhs.index)
	}
	switch {
	case p.decode == nil:
		p.placeOperands(constant)
	case !constant:
		p.decodeOnRows()
	}
	p.planBlocks()
	if constant {
		p.constant = make([]T, p.packedLen())
		p.packRight(p.constant, data, 0, p.packs())
	} else if p.isPacked() {
		p.packed = place{kind: inScratch, section: e.scratch.take(int64(p.packedLen()) * size)}
	}
	return runtime.Bound{Run: p.run, Scratch: e.scratch.size, Prepare: p.preparation()}, true
}

// bindLoops is the kernel of a form that packs nothing.
func (p *product[T]) bindLoops(run func(f *runtime.TensorFrame)) runtime.Bound {
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		p.ends.before(f)
		p.rewrite(f)
		run(f)
		p.arranging.run(f)
		p.ends.after(f)
		return nil
	}, Scratch: p.ends.scratch.size}
}

// rewrite makes the operands what the kernel takes.
func (p *product[T]) rewrite(f *runtime.TensorFrame) {
	for _, r := range p.rewrites {
		r.run(f)
	}
}

func (p *product[T]) planBlocks() {
	columns := (p.n-1)/mostColumns + 1
	if p.m <= p.kernel.MR {
		columns = max(columns, (min(mostOfColumns, p.batch*p.m*p.n*p.k/leastColumns)-1)/p.batch+1)
	}
	p.panel = p.kernel.NR
	if p.placed != nil && p.packLeft == nil && !p.onRows && p.kernel.ReadsRows() && p.n < p.panel {
		p.panel, p.rowStride = p.n, p.n // it needs no zeros
	}
	p.blockN = gemm.Padded((p.n-1)/columns+1, p.panel)
	p.tasksN = (p.n-1)/p.blockN + 1
	p.panels = (p.m-1)/p.kernel.MR + 1
	p.mostRows = p.kernel.MR * min(p.panels, max(mostPanels, 64/p.kernel.MR))
	if p.onRows && p.placed == nil {
		p.mostRows = p.kernel.MR * min(p.panels, mostPanelsOnRows)
	}
	p.planSums()
	p.workspaces.New = func() any {
		lines := p.lines(min(p.k, p.step()))
		w := &workspace[T]{left: make([]T, p.mostRows*lines), tile: make([]T, p.kernel.MR*p.kernel.NR), last: make([]int, p.kernel.MR)}
		if p.onRows || p.isPacked() {
			w.edge = make([]T, p.kernel.NR*lines)
		}
		w.sums = make([]T, p.mostRows*p.sumsApart)
		return w
	}
	p.packLoop = newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		p.packRight(elems[T](p.packed.of(f)), p.rhs.of(f), lo, hi)
	})
	p.blockLoop = newParallelLoop(p.blocks)
	p.columnLoop = newParallelLoop(p.columns)
}

// A block has at most mostColumns columns, for each of which a packed element of the left side is used, and mostPanels panels of rows. What of it is added up at a time,
// and the packed part of the left side, stay in the second cache. A right side that is used where it is becomes panels once for each block of rows, so these are longer.
const (
	mostColumns      = 1024
	mostPanels       = 8
	mostPanelsOnRows = 32
	fewBlocks        = 2 // for more, rows far apart in memory are worth packing once
)

// leastTask is the work, in products, from which on rows of a task of their own pay, and leastColumns that from which on columns do, where there are too few rows to
// share.
const (
	tasksOfWorker = 2 // enough for workers to end at about the same time, if there are columns to share
	leastTask     = 1 << 20
	leastColumns  = 1 << 18
	mostOfColumns = 8
)

// rowBlocks are the blocks of rows, of at most mostRows rows. If there is work for several workers, the last ones are short, so that workers end at about the same time.
// The result does not depend on it.
type rowBlocks struct {
	panels, most int // in all, and of a block
	least        int // panels that are worth a block
	share        int // of what is left, the part that the next block takes
}

func (p *product[T]) rowBlocks(f *runtime.TensorFrame) rowBlocks {
	b := rowBlocks{panels: p.panels, most: p.mostRows / p.kernel.MR, least: 1, share: 1}
	width, tasks := p.columnTasks(f)
	columns, workers := p.batch*tasks, f.Workers()
	if workers > 1 {
		b.least = (leastTask-1)/max(1, width*p.k*p.kernel.MR) + 1
	}
	if workers > 1 && columns < tasksOfWorker*workers {
		b.share = tasksOfWorker * workers
		return b
	}
	n := (b.panels-1)/b.most + 1
	if workers > 1 { // of equal blocks, there are twice as many
		n = max(n, min((2*tasksOfWorker*workers-1)/columns+1, b.panels/b.least))
	}
	b.most = (b.panels-1)/n + 1
	return b
}

// after is where a block ends that begins with panel i.
func (b rowBlocks) after(i int) int {
	left := b.panels - i
	n := min(b.most, max(b.least, (left-1)/b.share+1))
	if left-n < b.least {
		n = min(b.most, left)
	}
	return i + n
}

// long is how many blocks have as many panels as one may have, before those that become shorter.
func (b rowBlocks) long() int { return max(0, b.panels-(b.most-1)*b.share-1+b.most) / b.most }

func (b rowBlocks) count() int {
	n := b.long()
	for i := n * b.most; i < b.panels; i = b.after(i) {
		n++
	}
	return n
}

// at is where block n begins and ends.
func (b rowBlocks) at(n int) (lo, hi int) {
	long := b.long()
	if n < long {
		return n * b.most, (n + 1) * b.most
	}
	lo = long * b.most
	for hi = b.after(lo); n > long; n-- {
		lo, hi = hi, b.after(hi)
	}
	return lo, hi
}

func (p *product[T]) run(f *runtime.TensorFrame) error {
	p.ends.before(f)
	p.rewrite(f)
	switch {
	case p.zeros != nil && p.zeros.run(f):
	case p.code != nil && p.code.run(f):
	case p.k == 0:
		clear(p.out.of(f))
	default:
		if parts := p.columnParts(f); parts > 0 {
			p.columnLoop.run(f, p.batch*p.tasksN*parts, 1)
			break
		}
		blocks := p.rowBlocks(f).count()
		if p.packsIn(f) && blocks > 1 {
			p.packLoop.run(f, p.packs(), p.packsOfTask())
		}
		width, tasks := p.columnTasks(f)
		p.blockLoop.byClaim(f, p.batch*blocks*tasks, 1+(1<<15)/(1+p.k*width*(p.panels/blocks*p.kernel.MR)))
	}
	p.arranging.run(f)
	p.ends.after(f)
	return nil
}

// isPacked reports whether a run packs the right side, unless that has been done before: once, before the blocks, if several read the same part of it, else each block
// its own.
func (p *product[T]) isPacked() bool { return p.constant == nil && !p.onRows }

// pack writes panels of r rows of an operand whose elements begin at a place of src.
func (p *product[T]) pack(m *gemm.Matrix, dst []T, src []byte, at, r, i0, i1, k0, k1 int) {
	if p.decode != nil {
		p.decode(m, dst, src, at, r, i0, i1, k0, k1)
		return
	}
	gemm.Pack(m, dst, elems[T](src)[at:], r, i0, i1, k0, k1)
}

// step is how much of the common dimension is multiplied at a time.
func (p *product[T]) step() int {
	if p.quads != nil {
		return p.quads.Step()
	}
	return gemm.KC
}

// lines is how many lines packed panels have over k, a number of whole steps or all.
func (p *product[T]) lines(k int) int {
	if p.quads == nil {
		return k
	}
	step := p.step()
	n := k / step * p.quads.Lines(step)
	if rest := k % step; rest > 0 {
		n += p.quads.Lines(rest)
	}
	return n
}

// packedLen is the size of the packed right side: for each batch and block of columns, over all of k, step by step.
func (p *product[T]) packedLen() int { return p.batch * p.tasksN * p.blockN * p.lines(p.k) }

// packedAt is where the panels from a column of a block on are packed, over the kc steps from k on.
func (p *product[T]) packedAt(block, k, kc, column int) int {
	return (block*p.lines(p.k)+p.lines(k))*p.blockN + column*p.lines(kc)
}

// packs is how many parts of the right side are packed on their own: in each batch and block of columns, for each step, packColumns of these.
func (p *product[T]) packs() int { return p.batch * p.tasksN * p.packSteps() * p.packStrips() }

// packPanels is how many panels are packed at a time: the lines of many share a few places in the nearest cache. To cut rows into four panels at a time took 0.75 of the time
// of sixteen on Zen 3.
const packPanels = 4

func (p *product[T]) packColumns() int { return packPanels * p.panel }
func (p *product[T]) packSteps() int   { return (p.k-1)/p.step() + 1 }
func (p *product[T]) packStrips() int  { return (p.blockN-1)/p.packColumns() + 1 }

// packsOfTask is how many of them are worth handing to a worker.
func (p *product[T]) packsOfTask() int {
	return 1 + (1<<14)/(1+min(p.k, gemm.KC)*min(p.blockN, p.packColumns()))
}

// packRight packs parts, counted through the batches.
func (p *product[T]) packRight(dst []T, src []byte, lo, hi int) {
	for part := lo; part < hi; part++ {
		strip, rest := part%p.packStrips()*p.packColumns(), part/p.packStrips()
		task, k := rest/p.packSteps(), rest%p.packSteps()*p.step()
		b, j := task/p.tasksN, task%p.tasksN*p.blockN
		kc := min(p.step(), p.k-k)
		if first, end := j+strip, min(j+strip+p.packColumns(), j+p.blockN, p.n); first < end {
			p.pack(&p.right, dst[p.packedAt(task, k, kc, strip):], src, p.rightBatch[b], p.panel, first, end, k, k+kc)
		}
	}
}

// blocks computes blocks of the result.
func (p *product[T]) blocks(f *runtime.TensorFrame, lo, hi int) {
	w := p.workspaces.Get().(*workspace[T])
	left, out := p.lhs.of(f), p.out.of(f)
	rows := p.rowBlocks(f)
	blocks := rows.count()
	right := p.packedBefore(f)
	packsOwn := p.packsIn(f) && blocks == 1
	onRows := right == nil && p.onRows
	switch {
	case onRows && p.decode != nil:
	case onRows:
		right = elems[T](p.rhs.of(f))
	case right == nil && !packsOwn:
		right = elems[T](p.packed.of(f))
	}
	width, tasks := p.columnTasks(f)
	held := [3]int{-1} // what is packed of the left side: batch, row and column
	for task := lo; task < hi; task++ {
		bj := task / blocks
		i, end := rows.at(task % blocks)
		i, end = i*p.kernel.MR, min(end*p.kernel.MR, p.m)
		b, j := bj/tasks, bj%tasks*width
		cols := min(width, p.n-j)
		c, ldc := w.sums, p.sumsApart
		if ldc == 0 {
			c, ldc = elems[T](out)[(b*p.m+i)*p.n+j:], p.n
		}
		for k := 0; k < p.k; k += p.step() {
			kc := min(p.step(), p.k-k)
			if wanted := [3]int{b, i, k}; p.placed == nil && wanted != held {
				p.packRows(f, w, left, b, i, end, k, k+kc)
				held = wanted
			}
			switch {
			case packsOwn:
				// Each panel is multiplied while it is in the nearest cache, and is packed over the one before.
				for x := 0; x < cols; x += p.panel {
					n := min(p.panel, cols-x)
					p.pack(&p.right, w.edge, p.rhs.of(f), p.rightBatch[b], p.panel, j+x, j+x+n, k, k+kc)
					p.multiply(f, w, left, w.edge, c[x:], ldc, b, i, end, n, k, k+kc)
				}
			case onRows && p.decode != nil:
				codes := elems[uint16](p.rhs.of(f))[p.rightBatch[b]+p.right.Rows[j]+p.right.Ks[k]:]
				p.kernel.BlockOnBF16(end-i, cols, kc, w.left, codes, p.rowStride, c, ldc, k > 0, w.tile, w.edge)
			case onRows:
				p.multiplyOnRows(f, w, left, right[p.rightBatch[b]+p.right.Rows[j]+p.right.Ks[k]:], c, ldc, b, i, end, cols, k, k+kc)
			default:
				p.multiply(f, w, left, right[p.packedAt(bj, k, kc, 0):], c, ldc, b, i, end, cols, k, k+kc)
			}
		}
		if p.sumsApart > 0 {
			p.writeSums(out, (b*p.m+i)*p.n+j, c, end-i, cols)
		}
	}
	p.workspaces.Put(w)
}

// multiply computes rows [i, end) of cols columns over [k, k1), of which right begins with the first, with the left side where it is or as it has been packed.
// Rows of c are ldc apart.
func (p *product[T]) multiply(f *runtime.TensorFrame, w *workspace[T], left []byte, right, c []T, ldc, batch, i, end, cols, k, k1 int) {
	if p.placed != nil {
		p.blockInPlace(f, w, left, right, c, batch, i, end, cols, k, k1)
		return
	}
	p.kernel.Block(end-i, cols, p.lines(k1-k), w.left, right, c, ldc, k > 0, w.tile)
}

// multiplyOnRows is multiply with the right side where it is.
func (p *product[T]) multiplyOnRows(f *runtime.TensorFrame, w *workspace[T], left []byte, right, c []T, ldc, batch, i, end, cols, k, k1 int) {
	if p.placed != nil {
		p.blockInPlace(f, w, left, right, c, batch, i, end, cols, k, k1)
		return
	}
	p.kernel.BlockOnRows(end-i, cols, k1-k, w.left, right, p.rowStride, c, ldc, k > 0, w.tile, w.edge)
}
