package eval

import (
	"fmt"
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Blocks at indices known at run time.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpDynamicSlice:       dynamicSlice,
		hlo.OpDynamicUpdateSlice: dynamicUpdateSlice,
		hlo.OpGather:             gather,
		hlo.OpScatter:            scatter,
	})
}

// indicesOf decodes indices of any integer type; those of u64 beyond int64 are the largest.
func indicesOf(l *hlo.Literal) ([]int64, error) {
	if !l.Shape().Type().IsInteger() {
		return nil, fmt.Errorf("%v as indices", l.Shape())
	}
	v := intsOf(l)
	if l.Shape().Type() == hlo.U64 {
		for i, x := range v {
			if x < 0 {
				v[i] = math.MaxInt64
			}
		}
	}
	return v, nil
}

// starts reads start indices given as scalars, or as the one vector of the older form, and clamps them so that a block of the given
// sizes fits.
func starts(args []*hlo.Literal, dims, sizes []int) ([]int, error) {
	var at []int64
	for _, a := range args {
		v, err := indicesOf(a)
		if err != nil {
			return nil, err
		}
		at = append(at, v...)
	}
	if len(at) != len(dims) || len(sizes) != len(dims) {
		return nil, fmt.Errorf("%d start indices for %d dimensions", len(at), len(dims))
	}
	out := make([]int, len(at))
	for i, x := range at {
		if sizes[i] > dims[i] || sizes[i] < 0 {
			return nil, fmt.Errorf("a block of size %d in a dimension of %d", sizes[i], dims[i])
		}
		out[i] = int(min(max(x, 0), int64(dims[i]-sizes[i])))
	}
	return out, nil
}

func dynamicSlice(c *Call) (*hlo.Literal, error) {
	if err := c.keepsType(); err != nil {
		return nil, err
	}
	l := c.Args[0]
	sizes := c.block(hlo.AttrsOf[hlo.DynamicSliceAttrs](c.In).Sizes)
	dims := dimsOf(l.Shape())
	at, err := starts(c.Args[1:], dims, sizes)
	if err != nil {
		return nil, err
	}
	strides := rowMajor(dims)
	return cutOut(c.In.Shape(), sizes, place{bytesOf(l), dot(at, strides), strides})
}

func dynamicUpdateSlice(c *Call) (*hlo.Literal, error) {
	l, u := c.Args[0], c.Args[1]
	dims, sizes := dimsOf(l.Shape()), dimsOf(u.Shape())
	if u.Shape().Type() != l.Shape().Type() {
		return nil, fmt.Errorf("update of %v in %v", u.Shape(), l.Shape())
	}
	block, source := slices.Clone(sizes), place{bytesOf(u), 0, rowMajor(sizes)}
	l, err := c.sizedForUpdate(dims, block)
	if err != nil {
		return nil, err
	}
	at, err := starts(c.Args[2:], dims, block)
	if err != nil {
		return nil, err
	}
	strides := rowMajor(dims)
	out := slices.Clone(bytesOf(l))
	moveBlock(place{out, dot(at, strides), strides}, source, block, l.Shape().Type().ByteSize())
	return hlo.NewLiteral(l.Shape(), out)
}

// sizedForUpdate is operand 0 of a dynamic-update-slice with the sizes that the result has. Where an update may be as large as the operand along a
// dimension of dynamic size, the result has the size of the update; one whose size is not dynamic is cut. Both sizes are changed.
func (c *Call) sizedForUpdate(dims, block []int) (*hlo.Literal, error) {
	l, from := c.Args[0], dimsOf(c.Args[0].Shape())
	base, update := c.In.OperandInstr(0).Shape(), c.In.OperandInstr(1).Shape()
	if base.IsStatic() || update.Rank() != base.Rank() || len(dims) != base.Rank() || len(block) != len(dims) {
		return l, nil
	}
	for d := range dims {
		switch {
		case !base.IsDynamicDimension(d) || base.Dim(d) != update.Dim(d):
		case update.IsDynamicDimension(d):
			dims[d] = block[d]
		default:
			block[d] = min(block[d], dims[d])
		}
	}
	if slices.Equal(dims, from) {
		return l, nil
	}
	sizes, common := make([]int64, len(dims)), make([]int, len(dims))
	for d, n := range dims {
		sizes[d], common[d] = int64(n), min(n, from[d])
	}
	s := hlo.MakeShape(l.Shape().Type(), sizes...)
	if err := c.affordable(s); err != nil {
		return nil, err
	}
	out := make([]byte, s.ByteSize())
	moveBlock(place{out, 0, rowMajor(dims)}, place{bytesOf(l), 0, rowMajor(from)}, common, s.Type().ByteSize())
	return hlo.NewLiteral(s, out)
}

// indexMap says how the index vectors of gather and scatter lead into an operand.
type indexMap struct {
	dims        []int // of the operand
	batch       []int // sizes of the start indices without the vector axis
	strides     []int // distance of neighbours along batch in the index array
	vector      int   // distance of neighbours along the vector axis
	toOperand   []int // operand axis of each component of an index vector
	operandSide []int // operand axes of the batching dimensions
	batchSide   []int // the positions in batch that they follow
	indices     []int64
}

func newIndexMap(operand hlo.Shape, indices *hlo.Literal, vectorAxis int64, toOperand, operandBatch, indexBatch []int64) (*indexMap, error) {
	if _, err := axes(append(slices.Clone(toOperand), operandBatch...), operand.Rank()); err != nil {
		return nil, err
	}
	values, err := indicesOf(indices)
	if err != nil {
		return nil, err
	}
	m := &indexMap{dims: dimsOf(operand), toOperand: ints(toOperand), operandSide: ints(operandBatch), indices: values}
	d := dimsOf(indices.Shape())
	st := rowMajor(d)
	components := 1
	for i := range d {
		if i == int(vectorAxis) {
			m.vector, components = st[i], d[i]
			continue
		}
		m.batch, m.strides = append(m.batch, d[i]), append(m.strides, st[i])
	}
	if components != len(toOperand) {
		return nil, fmt.Errorf("index vectors of %v have %d components, %d are mapped", indices.Shape(), components, len(toOperand))
	}
	if len(operandBatch) != len(indexBatch) {
		return nil, fmt.Errorf("%d batching dimensions of the operand, %d of the indices", len(operandBatch), len(indexBatch))
	}
	for _, a := range indexBatch {
		if a > vectorAxis {
			a--
		}
		if a < 0 || int(a) >= len(m.batch) {
			return nil, fmt.Errorf("batching dimension %d of %v", a, indices.Shape())
		}
		m.batchSide = append(m.batchSide, int(a))
	}
	return m, nil
}

// start is the position in the operand for one index into batch. It may lie outside.
func (m *indexMap) start(at []int64, batch []int) {
	clear(at)
	from := dot(batch, m.strides)
	for k, a := range m.toOperand {
		at[a] = m.indices[from+k*m.vector]
	}
	for k, a := range m.operandSide {
		at[a] = int64(batch[m.batchSide[k]])
	}
}

func gather(c *Call) (*hlo.Literal, error) {
	if err := c.keepsType(); err != nil {
		return nil, err
	}
	a := hlo.AttrsOf[hlo.GatherAttrs](c.In)
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	if err := hlo.CheckBatching(c.In); err != nil {
		return nil, err
	}
	operand := c.Args[0]
	m, err := newIndexMap(operand.Shape(), c.Args[1], a.IndexVectorDim, a.StartIndexMap, a.OperandBatchingDims, a.StartIndicesBatchingDims)
	if err != nil {
		return nil, err
	}
	sizes := c.block(a.SliceSizes)
	if len(sizes) != len(m.dims) {
		return nil, fmt.Errorf("%d slice sizes for %v", len(sizes), operand.Shape())
	}
	for d, n := range sizes {
		if n < 0 || n > m.dims[d] {
			return nil, fmt.Errorf("slices of %v of %v", sizes, operand.Shape())
		}
	}
	offsetAxes, err := axes(a.OffsetDims, s.Rank())
	if err != nil {
		return nil, err
	}
	collapsed, err := axes(append(slices.Clone(a.CollapsedSliceDims), a.OperandBatchingDims...), len(m.dims))
	if err != nil {
		return nil, err
	}
	batchAxes := others(s.Rank(), offsetAxes)
	kept := others(len(m.dims), collapsed)
	to := rowMajor(dimsOf(s))
	if !slices.Equal(picked(dimsOf(s), offsetAxes), picked(sizes, kept)) || !slices.Equal(picked(dimsOf(s), batchAxes), m.batch) {
		return nil, fmt.Errorf("a result of %v from slices %v", s, sizes)
	}
	from := rowMajor(m.dims)
	w := s.Type().ByteSize()
	out := make([]byte, s.ByteSize())
	if len(out) == 0 || len(operand.Bytes()) == 0 || a.PicksNothing() {
		return hlo.NewLiteral(s, out)
	}
	dst := place{out, 0, picked(to, offsetAxes)}
	src := place{bytesOf(operand), 0, picked(from, kept)}
	window, batchStrides := picked(sizes, kept), picked(to, batchAxes)
	at := make([]int64, len(m.dims))
	for o := newOdometer(m.batch); !o.done; o.next() {
		m.start(at, o.index)
		src.at = 0
		for d, x := range at {
			src.at += int(min(max(x, 0), int64(m.dims[d]-sizes[d]))) * from[d]
		}
		dst.at = dot(o.index, batchStrides)
		moveBlock(dst, src, window, w)
	}
	return hlo.NewLiteral(s, out)
}

// scatter combines windows of updates into copies of the operands, one scatter index after the other. A window that does not lie
// inside entirely is left out.
func scatter(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](c.In)
	n := len(c.Args) / 2
	if len(c.Args)%2 == 0 {
		return nil, fmt.Errorf("%d operands", len(c.Args))
	}
	if err := c.agree(updateAxes(a, c.Args[n].Shape().Rank(), c.Args[n+1:])); err != nil {
		return nil, err
	}
	operands, updates := c.Args[:n], c.Args[n+1:]
	for i := range n {
		if !slices.Equal(dimsOf(operands[i].Shape()), dimsOf(operands[0].Shape())) || !slices.Equal(dimsOf(updates[i].Shape()), dimsOf(updates[0].Shape())) {
			return nil, fmt.Errorf("operand of %v and updates of %v", operands[i].Shape(), updates[i].Shape())
		}
	}
	if err := hlo.CheckBatching(c.In); err != nil {
		return nil, err
	}
	m, err := newIndexMap(operands[0].Shape(), c.Args[n], a.IndexVectorDim, a.ScatterDimsToOperandDims, a.InputBatchingDims, a.ScatterIndicesBatchingDims)
	if err != nil {
		return nil, err
	}
	p, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	updateDims := dimsOf(updates[0].Shape())
	windowAxes, err := axes(a.UpdateWindowDims, len(updateDims))
	if err != nil {
		return nil, err
	}
	inserted, err := axes(append(slices.Clone(a.InsertedWindowDims), a.InputBatchingDims...), len(m.dims))
	if err != nil {
		return nil, err
	}
	scatterAxes := others(len(updateDims), windowAxes)
	kept := others(len(m.dims), inserted)
	if len(kept) != len(windowAxes) || !slices.Equal(picked(updateDims, scatterAxes), m.batch) {
		return nil, fmt.Errorf("updates of %v for %v", updates[0].Shape(), operands[0].Shape())
	}
	if err := p.folds(operands, updates); err != nil {
		return nil, err
	}
	window := picked(updateDims, windowAxes)
	size := make([]int, len(m.dims)) // of the window in each operand axis
	for d := range size {
		size[d] = 1
	}
	for k, d := range kept {
		size[d] = window[k]
	}
	sc := newScatterer(p, operands, updates)
	opStrides, upStrides := rowMajor(m.dims), rowMajor(updateDims)
	opWindow, upWindow := picked(opStrides, kept), picked(upStrides, windowAxes)
	upBatch := picked(upStrides, scatterAxes)
	at := make([]int64, len(m.dims))
	for o := newOdometer(m.batch); !o.done; o.next() {
		m.start(at, o.index)
		base, inside := 0, true
		for d, x := range at {
			inside = inside && x >= 0 && x <= int64(m.dims[d]-size[d])
			base += int(x) * opStrides[d]
		}
		if !inside {
			continue
		}
		if err := c.e.ctx.Err(); err != nil {
			return nil, err
		}
		if err := sc.window(base, dot(o.index, upBatch), window, opWindow, upWindow); err != nil {
			return nil, err
		}
	}
	return sc.finish(c.In.Shape(), operands)
}

// updateAxes groups the axes along which a scatter takes indices and updates together.
func updateAxes(a hlo.ScatterAttrs, rank int, updates []*hlo.Literal) (groups [][]operandAxis) {
	n, next := len(updates), 0
	for axis := range rank {
		if axis == int(a.IndexVectorDim) {
			continue
		}
		g := []operandAxis{{n, axis}}
		for slices.Contains(a.UpdateWindowDims, int64(next)) {
			next++
		}
		for i, u := range updates {
			if next < u.Shape().Rank() {
				g = append(g, operandAxis{n + 1 + i, next})
			}
		}
		next++
		groups = append(groups, g)
	}
	return groups
}

// scatterer holds the decoded arrays of a scatter.
type scatterer struct {
	f               *frame
	values, updates []lanes
}

func newScatterer(p *program, operands, updates []*hlo.Literal) *scatterer {
	sc := &scatterer{f: p.frame(tile)}
	for i := range operands {
		sc.values = append(sc.values, decoded(operands[i]))
		sc.updates = append(sc.updates, decoded(updates[i]))
	}
	return sc
}

// decoded is all elements of an array.
func decoded(l *hlo.Literal) lanes {
	v := makeLanes(l.Shape().Type(), int(l.Shape().NumElements()))
	v.load(l.Shape().Type(), bytesOf(l))
	return v
}

// window combines one window. Its elements are distinct, so a line of them is done at once.
func (sc *scatterer) window(at, from int, dims, ds, ss []int) error {
	if len(dims) > 1 {
		for range dims[0] {
			if err := sc.window(at, from, dims[1:], ds[1:], ss[1:]); err != nil {
				return err
			}
			at += ds[0]
			from += ss[0]
		}
		return nil
	}
	n, d, s := 1, 0, 0
	if len(dims) == 1 {
		n, d, s = dims[0], ds[0], ss[0]
	}
	for n > 0 {
		k := min(n, tile)
		if sc.f.n != k {
			sc.f.resize(k)
		}
		for i := range sc.values {
			sc.f.param(i).take(&sc.values[i], at, d)
			sc.f.param(len(sc.values)+i).take(&sc.updates[i], from, s)
		}
		if err := sc.f.run(); err != nil {
			return err
		}
		for i := range sc.values {
			sc.values[i].put(sc.f.result(i), at, d)
		}
		at, from, n = at+k*d, from+k*s, n-k
	}
	return nil
}

func (sc *scatterer) finish(s hlo.Shape, operands []*hlo.Literal) (*hlo.Literal, error) {
	parts := make([]*hlo.Literal, len(operands))
	for i, o := range operands {
		t := o.Shape().Type()
		b := make([]byte, o.Shape().ByteSize())
		sc.values[i].store(t, b)
		var err error
		if parts[i], err = hlo.NewLiteral(o.Shape(), b); err != nil {
			return nil, err
		}
	}
	return tupleUnlessOne(s, parts), nil
}

// take fills all lanes with the elements of v at, at+stride, …
func (l *lanes) take(v *lanes, at, stride int) {
	takeStrided(l.f, v.f, at, stride)
	takeStrided(l.i, v.i, at, stride)
	takeStrided(l.z, v.z, at, stride)
}

func takeStrided[E any](dst, src []E, at, stride int) {
	if stride == 1 && len(dst) > 0 {
		copy(dst, src[at:at+len(dst)])
		return
	}
	for k := range dst {
		dst[k] = src[at]
		at += stride
	}
}

// put stores all lanes of v at, at+stride, …
func (l *lanes) put(v *lanes, at, stride int) {
	putStrided(l.f, v.f, at, stride)
	putStrided(l.i, v.i, at, stride)
	putStrided(l.z, v.z, at, stride)
}

func putStrided[E any](dst, src []E, at, stride int) {
	if dst == nil {
		return
	}
	for _, x := range src {
		dst[at] = x
		at += stride
	}
}
