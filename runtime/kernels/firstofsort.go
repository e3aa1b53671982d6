package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// firstOfSort is a sort along rows of which only first elements are read: these are searched for as those of top-k are, and nothing else is put in order.
type firstOfSort struct {
	search  *topKSearch
	operand int // that has the keys
	reads   []firstRead
	loop    *parallelLoop
}

// firstRead is what a result is of the order of a row: elements [from, to) of an input, or their positions.
type firstRead struct {
	input, width int // input -1 is positions
	from, to     int
}

// fusedFirst serves fusions of a sort by one operand's elements and slices of its first ones.
func fusedFirst(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return runtime.Bound{}, false
	}
	results := []hlo.Instruction{c.Root()}
	if c.Root().Opcode() == hlo.OpTuple {
		results = results[:0]
		for o := range c.Root().Operands() {
			results = append(results, o)
		}
	}
	x := &firstOfSort{}
	var sort hlo.Instruction
	k := 0
	for i, v := range results {
		if v.Opcode() != hlo.OpSlice {
			return runtime.Bound{}, false
		}
		from, part := v.OperandInstr(0), 0
		if from.Opcode() == hlo.OpGetTupleElement {
			from, part = from.OperandInstr(0), int(hlo.AttrsOf[hlo.TupleElementAttrs](from).Index)
		}
		if from.Opcode() != hlo.OpSort || i > 0 && from.ID() != sort.ID() {
			return runtime.Bound{}, false
		}
		sort = from
		r, ok := readOfFirst(sort.OperandInstr(part), v)
		if !ok {
			return runtime.Bound{}, false
		}
		x.reads, k = append(x.reads, r), max(k, r.to)
	}
	shape := sort.OperandInstr(0).Shape()
	axis := shape.Rank() - 1
	comparator, ok := s.m.Computation(sort.Callee(0))
	if !ok || shape.NumElements() == 0 || axis < 0 || int(hlo.AttrsOf[hlo.SortAttrs](sort).Dimensions[0]) != axis || shape.Dim(axis) > 1<<30 || k == 0 {
		return runtime.Bound{}, false
	}
	n := int(shape.Dim(axis))
	keys, ok := sortKeys(s.m, comparator, n)
	if !ok || len(keys) != 1 || keys[0].bits() > 32 {
		return runtime.Bound{}, false
	}
	operand := sort.OperandInstr(keys[0].operand)
	if x.operand, ok = arrayParameters(operand); !ok || operand.Shape().Type() != comparator.Parameter(2*keys[0].operand).Shape().Type() {
		return runtime.Bound{}, false
	}
	key := keys[0]
	key.descending = !key.descending // the first are the largest of a search
	x.search = newTopKSearch(key, operand.Shape().Type().ByteSize(), n, k)
	x.loop = newParallelLoop(x.rows)
	return x.loop.bound(int(shape.NumElements())/n, 1+(1<<14)/n), true
}

// readOfFirst is what a slice reads of an operand of a sort: all rows, and of each the elements from one position to another.
func readOfFirst(operand, slice hlo.Instruction) (r firstRead, ok bool) {
	dims := operand.Shape().Dimensions()
	for d, c := range hlo.AttrsOf[hlo.SliceAttrs](slice).Slice {
		if d < len(dims)-1 && (c.Start != 0 || c.Limit != dims[d]) || c.Stride != 1 {
			return r, false
		}
		r.from, r.to = int(c.Start), int(c.Limit)
	}
	r.width = operand.Shape().Type().ByteSize()
	if r.input, ok = arrayParameters(operand); ok {
		return r, true
	}
	axis := int64(len(dims) - 1)
	if operand.Opcode() == hlo.OpBroadcast {
		if a := hlo.AttrsOf[hlo.BroadcastAttrs](operand).Dimensions; len(a) != 1 || a[0] != axis {
			return r, false
		}
		operand, axis = operand.OperandInstr(0), 0
	}
	r.input = -1
	return r, operand.Opcode() == hlo.OpIota && operand.Shape().Type() == hlo.S32 && hlo.AttrsOf[hlo.IotaAttrs](operand).Dimension == axis
}

func (x *firstOfSort) rows(f *runtime.TensorFrame, lo, hi int) {
	b := x.search.buffers.Get().(*topKBuffers)
	w, n := x.search.width, x.search.n
	for row := lo; row < hi; row++ {
		first := x.search.search(b, x.search.keysOf(b, f.In(x.operand).Data[row*n*w:][:n*w]))
		for i, r := range x.reads {
			order := first[r.from:r.to]
			to := f.Out(i).Data[row*len(order)*r.width:][:len(order)*r.width]
			if r.input < 0 {
				for j, v := range order {
					elems[int32](to)[j] = int32(^uint32(v))
				}
				continue
			}
			from := f.In(r.input).Data[row*n*r.width:][:n*r.width]
			for j, v := range order {
				copy(to[j*r.width:][:r.width], from[int(^uint32(v))*r.width:])
			}
		}
	}
	b.conversion = conversionBuffers{}
	x.search.buffers.Put(b)
}
