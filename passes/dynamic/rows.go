package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// row is how an op is written. An op without a row keeps its dynamic shapes, and so do all that its computations hold.
type row struct {
	// rewrite writes an instruction of the op, and returns false, and has changed nothing, where it has no static form.
	rewrite  func(b *body, in hlo.Instruction) bool
	forwards bool // hands arrays on, whichever form they have
	boundary bool // calls computations with operands and results like its own
	applies  bool // applies computations to elements
	sizes    bool // reads or sets sizes
	// check makes the conditions under which what rewrite writes does what the instruction does, errors included, and returns false where there are
	// none. An op without it is never written where sizes are checked.
	check func(b *body, in hlo.Instruction) bool
}

var rows [hlo.NumOpcodes]row

func init() {
	for _, r := range []struct {
		op hlo.Opcode
		row
	}{
		{hlo.OpTuple, row{rewrite: tuple, forwards: true, check: always}},
		{hlo.OpGetTupleElement, row{rewrite: element, forwards: true, check: always}},
		{hlo.OpOptBarrier, row{rewrite: barrier, forwards: true}},
		{hlo.OpCall, row{boundary: true}},
		{hlo.OpWhile, row{boundary: true}},
		{hlo.OpConditional, row{boundary: true}},
		{hlo.OpGetDimensionSize, row{rewrite: getSize, sizes: true, check: always}},
		{hlo.OpSetDimensionSize, row{rewrite: setSize, sizes: true, check: checkSetSize}},
		{hlo.OpBroadcast, row{rewrite: broadcast, check: checkBroadcast}},
		{hlo.OpTranspose, row{rewrite: transpose, check: checkTranspose}},
		{hlo.OpReverse, row{rewrite: reverse, check: checkSame}},
		{hlo.OpConcatenate, row{rewrite: concatenate, check: checkConcatenate}},
		{hlo.OpPad, row{rewrite: pad, check: checkPad}},
		{hlo.OpSlice, row{rewrite: slice, check: checkSlice}},
		{hlo.OpReshape, row{rewrite: reshape, check: checkReshape}},
		{hlo.OpDynamicReshape, row{rewrite: dynamicReshape, check: checkDynamicReshape}},
		{hlo.OpDynamicSlice, row{rewrite: dynamicSlice, check: checkDynamicSlice}},
		{hlo.OpDynamicUpdateSlice, row{rewrite: dynamicUpdateSlice}},
		{hlo.OpGather, row{rewrite: gather, check: checkGather}},
		{hlo.OpScatter, row{rewrite: scatter, applies: true, check: checkScatter}},
		{hlo.OpReduce, row{rewrite: reduce, applies: true, check: checkReduce}},
		{hlo.OpReduceWindow, row{rewrite: reduceWindow, applies: true, check: checkReduceWindow}},
		{hlo.OpSelectAndScatter, row{rewrite: selectAndScatter, applies: true}},
		{hlo.OpConvolution, row{rewrite: convolution}},
		{hlo.OpDot, row{rewrite: dot, check: checkDot}},
		{hlo.OpSort, row{rewrite: sort, applies: true, check: checkSort}},
		{hlo.OpMap, row{rewrite: elementwise, applies: true, check: checkElementwise}},
	} {
		rows[r.op] = r.row
	}
	for op := range hlo.Opcode(hlo.NumOpcodes) {
		info := hlo.Info(op)
		if info.Traits.Has(hlo.TraitElementwise) && rows[op].rewrite == nil {
			rows[op] = row{rewrite: elementwise, check: checkElementwise}
		}
	}
}

// rowOf is the row of an instruction.
func rowOf(in hlo.Instruction) row {
	if in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).Target == "SliceToDynamic" {
		return row{rewrite: sliceToDynamic}
	}
	return rows[in.Opcode()]
}

// sliceToDynamic has the filled array and its sizes as its operands.
func sliceToDynamic(b *body, in hlo.Instruction) bool {
	sizes := make([]hlo.InstrID, in.NumOperands()-1)
	if len(sizes) != in.Shape().Rank() {
		return false
	}
	for i := range sizes {
		sizes[i] = b.operand(i + 1).data
	}
	return b.becomes(array(in.Shape(), b.operand(0).data, sizes))
}

// elementwise writes an op whose operands have the sizes that the result has.
func elementwise(b *body, in hlo.Instruction) bool {
	s := in.Shape()
	operands, sizes := make([]hlo.InstrID, in.NumOperands()), noSizes(s.Rank())
	for i, o := range slices.Collect(in.Operands()) {
		if o.Shape().Rank() != s.Rank() && !o.Shape().IsScalar() {
			return false
		}
		v := b.operand(i)
		operands[i] = v.data
		for d, n := range v.sizes {
			switch {
			case n == hlo.NoInstr || sizes[d] == n:
			case sizes[d] == hlo.NoInstr:
				sizes[d] = n
			case b.sameNumber(sizes[d], n):
			case b.checked: // it is a condition that they are
			case b.check:
				return b.differ(in, d)
			case in.NumOperands() == 2:
				operands, sizes[d] = b.stretch(operands, d, sizes[d], n)
			}
		}
	}
	return b.kept(sizes, operands...)
}

// stretch repeats the first element along a dimension of that of two operands that is shorter, which has a single one then: sizes of 1 go with all others.
func (b *body) stretch(operands []hlo.InstrID, d int, x, y hlo.InstrID) (stretched []hlo.InstrID, size hlo.InstrID) {
	longer := func(v, n, than hlo.InstrID) hlo.InstrID {
		s := b.at.Shape(v)
		first := b.at.SliceAxis(v, d, 0, min(1, s.Dim(d)))
		axes, dims := make([]int64, 0, s.Rank()), make([]int64, 0, s.Rank())
		for i := range s.Rank() {
			if i != d {
				axes, dims = append(axes, int64(i)), append(dims, s.Dim(i))
			}
		}
		short := b.at.Fill(b.at.Compare(hlo.LT, n, than), s.Dimensions()...)
		return b.at.Select(short, b.at.Broadcast(b.at.Reshape(first, dims...), axes, s.Dimensions()...), v)
	}
	if b.at.Shape(operands[0]).Dim(d) == 0 {
		return operands, x
	}
	return []hlo.InstrID{longer(operands[0], x, y), longer(operands[1], y, x)}, b.at.Binary(hlo.OpMaximum, x, y)
}

// sameNumber reports whether two sizes are known to be equal.
func (b *body) sameNumber(x, y hlo.InstrID) bool {
	if x == y {
		return true
	}
	p, q := b.c.At(x).Literal(), b.c.At(y).Literal()
	return p != nil && q != nil && p.Equal(q)
}
