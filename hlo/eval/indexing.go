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
