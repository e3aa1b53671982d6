package kernels

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/square"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// rowLanes reduces any number of arrays together by any computation on scalars along their last axes. Each row is cut into pieces, one for each lane of a tile
// program; blocks of the pieces are transposed, so that a step folds neighbours in memory. The lanes of a row are then folded in order: the computation has to
// be associative and no more. Long rows are cut into parts first, which are tasks of their own.
//
// Its input lies in memory, or is computed row by row.
type rowLanes struct {
	arrays  int
	program *tile.Program
	widths  []int
	sources []rowSource
	inits   []rowInit
	units   int // elements of each result
	run     int // elements that one of them folds
	parts   int // of each unit
	length  int // of a part; the last may be shorter
	group   int // parts in a task
	// extreme finds the element that all of a row fold to, where the computation chooses the largest or smallest and its position.
	extreme extremeRows
	// largest and last say which one, and which of equal ones its value is.
	largest, last bool
	partial       []section
	scratch       scratchPlan
	loop          *parallelLoop
	frames        sync.Pool
	computed      bool // by some producer
	// axes, if not nil, are those of the operands in the order in which rows are folded: see [reduceLayout.turn]. Producers bring them into it.
	axes []int
}

// rowSource is an array: an input, or what a program computes from them.
type rowSource struct {
	input    int
	producer *tile.Program
	narrow   vec.Loop // from the producer's f32 to the array's bf16 or f16
}

// rowInit is the first operand of the fold: an input or a constant.
type rowInit struct {
	input    int
	constant []byte
}

// Limits: steps whose elements are transposed together, the elements of a part, those of one whose rows are computed, and those of rows of which a task takes many if their extremes
// are found.
const (
	rowSteps     = 16
	rowPart      = 1 << 15
	rowComputed  = 1 << 13
	rowTogether  = 128
	leastOfPiece = 16
)

// fusedRowLanes serves fusions that end in such a reduction.
func fusedRowLanes(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || c.Root().Opcode() != hlo.OpReduce {
		return runtime.Bound{}, false
	}
	return rowLanesOf(&site{m: s.m, in: c.Root(), b: s.b, reg: s.reg}, arrayParameters)
}

func reduceRowLanes(s *site) (runtime.Bound, bool) { return rowLanesOf(s, operandsOf(s.in)) }

// rowLanesOf compiles the reduction s.in, whose operands are computed from the inputs that leaf tells.
func rowLanesOf(s *site, leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	comp, widths, ok := lanesComputation(s)
	if !ok {
		return runtime.Bound{}, false
	}
	k := len(widths)
	r := &rowLanes{arrays: k, widths: widths}
	var layout reduceLayout
	axes := hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions
	layout.layOut(s.shape(0).Dimensions(), axes)
	r.axes = layout.turn(s)
	if !layout.inner || !layout.isContiguous() || layout.run < 2 {
		return runtime.Bound{}, false
	}
	r.units, r.run = layout.units, layout.run
	for i := range k {
		if !r.addArray(s, i, leaf) || !r.addInit(s.in.OperandInstr(k+i), leaf) {
			return runtime.Bound{}, false
		}
	}
	if r.program, ok = compileLanes(s.m, comp, maxLanes); !ok {
		return runtime.Bound{}, false
	}
	r.extreme = extremeOf(s, comp, r)
	r.plan()
	r.frames.New = func() any { return r.newFrame() }
	r.loop = newParallelLoop(r.tasks)
	weight := r.program.Weight()
	for _, src := range r.sources {
		if src.producer != nil {
			weight += src.producer.Weight()
		}
	}
	tasks := (r.units*r.parts-1)/r.group + 1
	grain := 1 + (1<<14)/(1+r.group*r.length*weight)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		r.loop.run(f, tasks, grain)
		if r.parts > 1 {
			r.merge(f)
		}
		return nil
	}, Scratch: r.scratch.size}, true
}

// lanesComputation is the computation of a reduction of several arrays, if its types are those of the arrays, and the widths of these.
func lanesComputation(s *site) (comp hlo.Computation, widths []int, ok bool) {
	k := s.in.NumOperands() / 2
	comp, ok = s.m.Computation(s.in.Callee(0))
	if !ok || comp.NumParameters() != 2*k || s.shape(0).NumElements() == 0 || s.in.Shape().NumLeaves() != k {
		return comp, nil, false
	}
	i := 0
	for _, leaf := range s.in.Shape().Leaves {
		t := leaf.Type()
		ok = ok && s.shape(i).Type() == t && s.shape(k+i).Type() == t && comp.Parameter(i).Shape().Type() == t &&
			comp.Parameter(k+i).Shape().Type() == t && leaf.NumElements() > 0
		widths = append(widths, t.ByteSize())
		i++
	}
	if !ok {
		return comp, nil, false
	}
	roots, ok := fusionRoots(comp)
	if !ok || len(roots) != k {
		return comp, nil, false
	}
	for i, root := range roots {
		if root.Shape().Type() != comp.Parameter(i).Shape().Type() {
			return comp, nil, false
		}
	}
	return comp, widths, true
}

// addArray finds where array i comes from.
func (r *rowLanes) addArray(s *site, i int, leaf func(hlo.Instruction) (int, bool)) bool {
	operand := s.in.OperandInstr(i)
	arg, isInput := leaf(operand)
	if isInput && r.axes == nil {
		r.sources = append(r.sources, rowSource{input: arg})
		return true
	}
	r.computed = true
	if p, ok := compileMoved(s.m, operand, r.axes, r.run, leaf); ok {
		r.sources = append(r.sources, rowSource{producer: p})
		return true
	}
	t := operand.Shape().Type()
	var narrow vec.Loop
	switch {
	case t == hlo.BF16:
		t, narrow = hlo.F32, narrowBF16()
	case t == hlo.F16:
		t, narrow = hlo.F32, narrowF16()
	case t.IsFloat() && t.Bits() < 32:
		return false // whose tiles are wider
	}
	p, ok := compileResult(s.m, operand, t, r.axes, r.run, leaf)
	r.sources = append(r.sources, rowSource{producer: p, narrow: narrow})
	return ok
}

func (r *rowLanes) addInit(in hlo.Instruction, leaf func(hlo.Instruction) (int, bool)) bool {
	arg, ok := leaf(in)
	if ok {
		r.inits = append(r.inits, rowInit{input: arg})
		return true
	}
	l := in.Literal()
	if in.Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
		return false
	}
	r.inits = append(r.inits, rowInit{constant: l.Bytes()})
	return true
}

// plan cuts rows into parts, and says how many of them a task takes.
func (r *rowLanes) plan() {
	longest := rowPart
	if r.computed {
		longest = rowComputed
	}
	r.parts = (r.run-1)/longest + 1
	r.length = (r.run-1)/r.parts + 1
	r.parts = (r.run-1)/r.length + 1
	r.group = 1
	if r.parts == 1 {
		r.group = max(1, min(r.units, 8, maxLanes/r.pieces(1, r.length)))
		if r.pieces(1, r.length) == 1 || r.extreme != nil && r.length <= rowTogether {
			r.group = min(r.units, maxLanes/2)
		}
		if r.computed {
			r.group = min(r.group, max(1, 4*rowComputed/r.length))
		}
		return
	}
	for _, w := range r.widths {
		r.partial = append(r.partial, r.scratch.take(int64(r.units*r.parts*w)))
	}
}

// pieces is how many pieces each of n rows of a length is cut into, a power of two.
func (r *rowLanes) pieces(n, length int) int {
	most := min(maxLanes/n, length/leastOfPiece)
	if most < 2 {
		return 1
	}
	return 1 << (bits.Len(uint(most)) - 1)
}

// rowFrame is the state of a task.
type rowFrame struct {
	laneFrame
	blocks [][]byte // of elements that were transposed
	rows   [][]byte // that were computed
	copier rowCopier
}

func (r *rowLanes) newFrame() *rowFrame {
	f := &rowFrame{}
	f.x = make([][]byte, r.arrays)
	for i, w := range r.widths {
		for a := range f.acc {
			f.acc[a] = append(f.acc[a], runtime.AlignedBytes(int64(maxLanes*w)))
		}
		f.own = append(f.own, runtime.AlignedBytes(int64(maxLanes*w)))
		f.blocks = append(f.blocks, runtime.AlignedBytes(int64(rowSteps*maxLanes*w)))
		var rows []byte
		if r.sources[i].producer != nil {
			rows = runtime.AlignedBytes(int64(r.group * r.length * w))
		}
		f.rows = append(f.rows, rows)
	}
	return f
}

// step folds what is in x into n accumulators.
func (r *rowLanes) step(w *rowFrame, n int) {
	r.program.Run(0, n, &w.laneFrame)
	w.current = 1 - w.current
}

func (r *rowLanes) tasks(f *runtime.TensorFrame, lo, hi int) {
	w := r.frames.Get().(*rowFrame)
	all := r.units * r.parts
	for t := lo; t < hi; t++ {
		first := t * r.group
		if r.axes != nil && r.parts > 1 { // rows side by side, which lie together in memory
			first = t%r.units*r.parts + t/r.units
		}
		r.task(f, w, first, min(r.group, all-first))
	}
	clear(w.x)
	r.frames.Put(w)
}

// task folds n parts from a first one on. All are as long.
func (r *rowLanes) task(f *runtime.TensorFrame, w *rowFrame, first, n int) {
	part := first % r.parts
	length := min(r.length, r.run-part*r.length)
	begin := first/r.parts*r.run + part*r.length
	for i, src := range r.sources {
		if src.producer != nil && (i != 1 || r.extreme == nil) {
			w.copier = rowCopier{to: w.rows[i], from: begin, width: r.widths[i], narrow: src.narrow}
			src.producer.Visit(begin, begin+n*length, (*frameBuffers)(f), &w.copier)
		}
	}
	if r.extreme != nil {
		values, indices := w.acc[w.current][0][:n*r.widths[0]], w.acc[w.current][1][:n*r.widths[1]]
		r.extreme(r.row(f, w, 0, begin, 0, n*length), length, part*r.length, values, indices)
	} else {
		r.fold(f, w, begin, n, length)
	}
	if r.parts > 1 {
		for i, width := range r.widths {
			copy(r.partial[i].of(f)[first*width:], w.acc[w.current][i][:n*width])
		}
		return
	}
	if r.extreme != nil || r.pieces(n, length) > 1 {
		for i, width := range r.widths {
			acc := w.acc[w.current][i][:n*width]
			copy(w.own[i], acc)
			w.x[i] = w.own[i]
			fillBytes(acc, r.init(f, i))
		}
		r.step(w, n)
	}
	for i, width := range r.widths {
		copy(f.Out(i).Data[first*width:], w.acc[w.current][i][:n*width])
	}
}

// row is array i from element begin of the j-th row of a task on.
func (r *rowLanes) row(f *runtime.TensorFrame, w *rowFrame, i, begin, j, length int) []byte {
	width := r.widths[i]
	if r.sources[i].producer != nil {
		return w.rows[i][j*length*width:][:length*width]
	}
	return f.In(r.sources[i].input).Data[(begin+j*length)*width:][:length*width]
}

func (r *rowLanes) init(f *runtime.TensorFrame, i int) []byte {
	if c := r.inits[i].constant; c != nil {
		return c
	}
	return f.In(r.inits[i].input).Data[:r.widths[i]]
}

// fold leaves what n rows fold to in as many accumulators. Rows that are neither cut into pieces nor into parts are folded behind the initial
// values, element by element, so that short rows keep the order that a computation which is not associative shows.
func (r *rowLanes) fold(f *runtime.TensorFrame, w *rowFrame, begin, n, length int) {
	pieces := r.pieces(n, length)
	piece, lanes := length/pieces, n*pieces
	behindInit := pieces == 1 && r.parts == 1
	if behindInit {
		for i, width := range r.widths {
			fillBytes(w.acc[w.current][i][:n*width], r.init(f, i))
		}
	}
	for k := 0; k < piece; k += rowSteps {
		steps := min(rowSteps, piece-k)
		for i, width := range r.widths {
			for j := range n {
				row := r.row(f, w, i, begin, j, length)
				transposeBytes(w.blocks[i][j*pieces*width:], row[k*width:], pieces, steps, lanes, piece, width)
			}
		}
		for s := range steps {
			for i, width := range r.widths {
				w.x[i] = w.blocks[i][s*lanes*width:][:lanes*width]
			}
			if k+s == 0 && !behindInit {
				for i := range w.x {
					copy(w.acc[w.current][i], w.x[i])
				}
				continue
			}
			r.step(w, lanes)
		}
	}
	copy(w.x, w.own)
	for ; lanes > n; lanes /= 2 {
		for i, width := range r.widths {
			acc := w.acc[w.current][i]
			spread(w.own[i], acc, width, 1, lanes/2)
			spread(acc, acc, width, 0, lanes/2)
		}
		r.step(w, lanes/2)
	}
	for k := pieces * piece; k < length; k++ {
		for i, width := range r.widths {
			for j := range n {
				copy(w.own[i][j*width:][:width], r.row(f, w, i, begin, j, length)[k*width:])
			}
		}
		r.step(w, n)
	}
}

// merge folds the parts of each unit, behind the initial values.
func (r *rowLanes) merge(f *runtime.TensorFrame) {
	w := r.frames.Get().(*rowFrame)
	for u := range r.units {
		for i, width := range r.widths {
			copy(w.acc[w.current][i], r.init(f, i)[:width])
		}
		for p := range r.parts {
			for i, width := range r.widths {
				w.x[i] = r.partial[i].of(f)[(u*r.parts+p)*width:][:width]
			}
			r.step(w, 1)
		}
		for i, width := range r.widths {
			copy(f.Out(i).Data[u*width:], w.acc[w.current][i][:width])
		}
	}
	clear(w.x)
	r.frames.Put(w)
}

// rowCopier puts the tiles of a producer one behind the other.
type rowCopier struct {
	to          []byte
	from, width int
	narrow      vec.Loop // or nil
}

func (c *rowCopier) Tile(at, n int, elements unsafe.Pointer) {
	to := c.to[(at-c.from)*c.width:][:n*c.width]
	if c.narrow != nil {
		c.narrow(n, unsafe.Pointer(&to[0]), elements, nil, nil)
		return
	}
	copy(to, unsafe.Slice((*byte)(elements), n*c.width))
}

// transposeBytes writes dst[c*dstStride+r] = src[r*srcStride+c] for elements of a width.
func transposeBytes(dst, src []byte, rows, cols, dstStride, srcStride, width int) {
	switch width {
	case 1:
		square.Transpose(dst, src, rows, cols, dstStride, srcStride)
	case 2:
		square.Transpose(elems[uint16](dst), elems[uint16](src), rows, cols, dstStride, srcStride)
	case 4:
		square.Transpose(elems[uint32](dst), elems[uint32](src), rows, cols, dstStride, srcStride)
	case 8:
		square.Transpose(elems[uint64](dst), elems[uint64](src), rows, cols, dstStride, srcStride)
	case 16:
		square.Transpose(elems[[2]uint64](dst), elems[[2]uint64](src), rows, cols, dstStride, srcStride)
	default:
		for r := range rows {
			for c := range cols {
				copy(dst[(c*dstStride+r)*width:][:width], src[(r*srcStride+c)*width:])
			}
		}
	}
}
