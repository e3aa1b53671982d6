package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const treeDoc = `

The axis is cut into blocks of base-length elements. Prefixes are folded within each block, and what the blocks before it come to is folded into each: about twice as many operations as steps, but short
chains of them. The initial value takes part several times, so it is the identity of the op, or the op is one that does not mind.`

var baseLength = pass.Param{Name: "base-length", Doc: "elements of a block, and the most that stay in one; 128"}

func readBaseLength(o pass.Options) (int64, error) {
	if err := o.Known(baseLength.Name); err != nil {
		return 0, err
	}
	n, err := o.Int(baseLength.Name, 128)
	return max(int64(n), 2), err
}

// NewAssociativeScan makes the pass associative-scan-rewriter.
func NewAssociativeScan(o pass.Options) (*pass.Pass, error) {
	base, err := readBaseLength(o)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name:    "associative-scan-rewriter",
		Doc:     "write long associative scans as windows over blocks" + treeDoc + " The last carry must not be read.",
		Options: o,
		Params:  []pass.Param{baseLength},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return rewriteEach(ctx, m, "scans", func(in hlo.Instruction) func(emit.At) hlo.InstrID {
				p, ok := scanPrefixes(m, in, base)
				if !ok || !ctx.SpendUnder(pass.FastMath, "scan", p.class()) { // the scan says that it is associative
					return nil
				}
				return func(at emit.At) hlo.InstrID {
					p.fold = scalarFold(at, m.MustComputation(in.Callee(0)))
					return at.Tuple(p.write(at), in.Operand(1))
				}
			})
		},
	}, nil
}

// rewriteEach replaces the instructions for which find knows how.
func rewriteEach(ctx *pass.Context, m hlo.Module, count string, find func(hlo.Instruction) func(emit.At) hlo.InstrID) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		for _, in := range backward(c) {
			write := find(in)
			if write == nil {
				continue
			}
			ce := e.Computation(c.ID())
			if err := emit.Replace(ce, in.ID(), write(emit.Before(ce, in))); err != nil {
				return m, err
			}
			ctx.Count(count, 1)
		}
	}
	return e.Freeze(), nil
}

// NewReduceWindowRewriter makes the pass reduce-window-rewriter.
func NewReduceWindowRewriter(o pass.Options) (*pass.Pass, error) {
	base, err := readBaseLength(o)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name:    "reduce-window-rewriter",
		Doc:     "write long running folds, which are windows as long as the axis, as windows over blocks" + treeDoc + " Floating-point sums and products round otherwise, so they need a policy that allows it.\n\nOther windows over one axis become windows over the column of its elements.",
		Options: o,
		Params:  []pass.Param{baseLength},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return rewriteEach(ctx, m, "windows", func(in hlo.Instruction) func(emit.At) hlo.InstrID {
				if p, ok := windowPrefixes(m, in, base); ok && ctx.SpendAs("window", p.class()) {
					return p.write
				}
				if overOneAxis(in) && ctx.Spend("column") {
					return func(at emit.At) hlo.InstrID { return overColumn(at, in) }
				}
				return nil
			})
		},
	}, nil
}

// prefixes is a running fold along an axis.
type prefixes struct {
	x       hlo.InstrID
	shape   hlo.Shape
	axis    int
	init    hlo.InstrID // a scalar
	fold    hlo.CompID  // of two scalars: what there is, and an element
	reverse bool        // from the end
	base    int64
	rounds  bool // the order of the operations shows in the result
}

// class is what computing the prefixes in another order may change.
func (p prefixes) class() pass.FP {
	if p.rounds {
		return pass.Rounding
	}
	return pass.Exact
}

// foldable reports whether a scalar that the fold begins with may take part several times, and whether the order of the operations shows.
func foldable(op hlo.Opcode, init hlo.Instruction) (rounds, ok bool) {
	t := init.Shape().Type()
	//halo:allow opswitch which value an op leaves as it is, is not in the table
	switch op {
	case hlo.OpMaximum, hlo.OpMinimum, hlo.OpAnd, hlo.OpOr:
		return false, true
	case hlo.OpAdd:
		return t.IsFloat() || t.IsComplex(), init.Literal() != nil && init.Literal().Equal(emit.Number(t, 0))
	case hlo.OpMultiply:
		return t.IsFloat() || t.IsComplex(), init.Literal() != nil && init.Literal().Equal(emit.Number(t, 1))
	}
	return false, false
}

// scanPrefixes matches a scan of one input and one carry, whose output is the carry: an op of the two.
func scanPrefixes(m hlo.Module, in hlo.Instruction, base int64) (p prefixes, ok bool) {
	if in.Opcode() != hlo.OpScan || in.NumOperands() != 2 || !staticArrays(in) || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return p, false
	}
	a, f := hlo.AttrsOf[hlo.ScanAttrs](in), m.MustComputation(in.Callee(0))
	root := f.Root()
	if !a.IsAssociative || a.NumCarries != 1 || root.Opcode() != hlo.OpTuple || root.NumOperands() != 2 || root.Operand(0) != root.Operand(1) || f.NumInstructions() != 4 {
		return p, false
	}
	op := root.OperandInstr(0)
	if op.NumOperands() != 2 || op.OperandInstr(0).Opcode() != hlo.OpParameter || op.OperandInstr(1).Opcode() != hlo.OpParameter || op.Operand(0) == op.Operand(1) ||
		!hlo.Info(op.Opcode()).Traits.Has(hlo.TraitElementwise) || op.Shape().Type() != op.OperandInstr(0).Shape().Type() {
		return p, false
	}
	for u := range in.Users() {
		if u.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](u).Index != 0 {
			return p, false
		}
	}
	init := in.OperandInstr(1)
	for init.Opcode() == hlo.OpBroadcast {
		init = init.OperandInstr(0)
	}
	if init.Shape().Rank() != 0 {
		return p, false
	}
	p = prefixes{x: in.Operand(0), shape: in.OperandInstr(0).Shape(), axis: int(a.Dimensions[0]), init: init.ID(), reverse: a.IsReverse, base: base}
	p.rounds, ok = foldable(op.Opcode(), init)
	return p, ok && p.shape.Dim(p.axis) > base && in.Shape().Elem(0).Type() == init.Shape().Type()
}

// scalarFold makes the fold of a scan's computation: what it makes of scalars, and the carry of that.
func scalarFold(at emit.At, f hlo.Computation) hlo.CompID {
	e, name := at.C.Editor(), f.Name()+"_scalarized"
	s := f.Parameter(0).Shape()
	one := hlo.MakeShape(s.Type()).WithDefaultLayout()
	op := f.Root().OperandInstr(0)
	scalar := emit.Computation(e, name, []hlo.Shape{one, one}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		x, _ := op.OperandInstr(0).ParameterNumber()
		v := at.OpOf(op.Opcode(), one, op.Attrs(), params[x], params[1-x])
		return at.Tuple(v, v)
	})
	c := e.AddComputation(name + "_rw_wrapper")
	c.SetScheduled(e.Config().IsScheduled)
	to := emit.End(c)
	input := to.Spec(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "input_0", Shape: one, Attrs: &hlo.ParameterAttrs{Number: 1}})
	carry := to.Spec(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "carry_0", Shape: one, Attrs: &hlo.ParameterAttrs{Number: 0}})
	c.SetRoot(to.Element(to.Call(scalar, input, carry), 1))
	return c.ID()
}

// windowPrefixes matches a reduce-window that folds all elements up to each, or from each on.
func windowPrefixes(m hlo.Module, in hlo.Instruction, base int64) (p prefixes, ok bool) {
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	if in.Opcode() != hlo.OpReduceWindow || in.NumOperands() != 2 || !staticArrays(in) || w == nil {
		return p, false
	}
	f := m.MustComputation(in.Callee(0))
	root := f.Root()
	p = prefixes{x: in.Operand(0), shape: in.OperandInstr(0).Shape(), axis: -1, init: in.Operand(1), fold: f.ID(), base: base}
	for d, dim := range w.Dims {
		n := p.shape.Dim(d)
		if dim.Stride != 1 || dim.BaseDilation != 1 || dim.WindowDilation != 1 || dim.Reversal {
			return p, false
		}
		switch {
		case dim.Size == 1 && dim.PadLow == 0 && dim.PadHigh == 0:
		case p.axis < 0 && dim.Size == n && n > base && dim.PadLow == n-1 && dim.PadHigh == 0:
			p.axis = d
		case p.axis < 0 && dim.Size == n && n > base && dim.PadLow == 0 && dim.PadHigh == n-1:
			p.axis, p.reverse = d, true
		default:
			return p, false
		}
	}
	if p.axis < 0 || f.NumInstructions() != 3 || root.NumOperands() != 2 || root.Operand(0) == root.Operand(1) || p.shape.Type() != in.Shape().Type() {
		return p, false
	}
	p.rounds, ok = foldable(root.Opcode(), in.OperandInstr(1))
	return p, ok
}

// write computes the prefixes: the axis last, in blocks, and back.
func (p prefixes) write(at emit.At) hlo.InstrID {
	rank, dims := p.shape.Rank(), p.shape.Dimensions()
	perm := append(others(rank, []int64{int64(p.axis)}), int64(p.axis))
	back := order(perm)
	n := dims[p.axis]
	blocks := (n + p.base - 1) / p.base
	ofBlocks := slices.Delete(slices.Clone(dims), p.axis, p.axis+1)
	flat := append(slices.Clone(ofBlocks), n)
	cut := append(slices.Clone(ofBlocks), blocks, p.base)
	// A transpose moves nothing when the axes stay where they are in memory: the slowest last, in what is made of it.
	shape := func(dims ...int64) hlo.Shape {
		s := hlo.MakeShape(p.shape.Type(), dims...)
		if p.axis == rank-1 {
			return s
		}
		l := &hlo.Layout{MinorToMajor: others(len(dims), nil)}
		return s.WithLayout(l)
	}
	x := p.x
	if p.axis != rank-1 {
		x = at.OpOf(hlo.OpTranspose, shape(flat...), &hlo.DimensionsAttrs{Dimensions: perm}, x)
	}
	if more := blocks*p.base - n; more > 0 {
		padding := make([]hlo.PaddingDim, rank)
		padding[rank-1] = hlo.PaddingDim{High: more}
		if p.reverse {
			padding[rank-1] = hlo.PaddingDim{Low: more}
		}
		x = at.OpOf(hlo.OpPad, shape(append(slices.Clone(ofBlocks), blocks*p.base)...), &hlo.PadAttrs{Padding: padding}, x, p.init)
	}
	x = at.OpOf(hlo.OpReshape, shape(cut...), &hlo.ReshapeAttrs{InferredDimension: -1}, x)
	within := p.window(at, x, shape(cut...), p.base, p.base-1)
	// What each block comes to stands at its end, and is folded over the blocks before it.
	from, to := make([]int64, rank+1), slices.Clone(cut)
	from[rank], to[rank] = p.base-1, p.base
	if p.reverse {
		from[rank], to[rank] = 0, 1
	}
	ends := at.OpOf(hlo.OpSlice, shape(append(slices.Clone(cut[:rank]), 1)...), ranges(from, to), within)
	ends = at.OpOf(hlo.OpReshape, shape(cut[:rank]...), &hlo.ReshapeAttrs{InferredDimension: -1}, ends)
	all := append(slices.Clone(ofBlocks), blocks+1)
	before := p.window(at, ends, shape(all...), blocks, blocks)
	from, to = make([]int64, rank), slices.Clone(cut[:rank])
	if p.reverse {
		from[rank-1], to[rank-1] = 1, blocks+1
	}
	before = at.OpOf(hlo.OpSlice, shape(cut[:rank]...), ranges(from, to), before)
	before = at.OpOf(hlo.OpBroadcast, shape(cut...), &hlo.BroadcastAttrs{Dimensions: others(rank, nil)}, before)
	v := at.Spec(hlo.InstrSpec{Opcode: hlo.OpMap, Shape: shape(cut...), Operands: []hlo.InstrID{within, before}, Callees: []hlo.CompID{p.fold}, Attrs: &hlo.MapAttrs{Dimensions: others(rank+1, nil)}})
	v = at.OpOf(hlo.OpReshape, shape(append(slices.Clone(ofBlocks), blocks*p.base)...), &hlo.ReshapeAttrs{InferredDimension: -1}, v)
	if more := blocks*p.base - n; more > 0 {
		from, to = make([]int64, rank), slices.Clone(flat)
		if p.reverse {
			from[rank-1], to[rank-1] = more, more+n
		}
		v = at.OpOf(hlo.OpSlice, shape(flat...), ranges(from, to), v)
	}
	if p.axis == rank-1 {
		return v
	}
	return at.OpOf(hlo.OpTranspose, p.shape, &hlo.DimensionsAttrs{Dimensions: back}, v)
}

// window folds the last axis with a window of a size, padded where the fold begins.
func (p prefixes) window(at emit.At, x hlo.InstrID, s hlo.Shape, size, pad int64) hlo.InstrID {
	w := &hlo.Window{}
	for range s.Rank() {
		w.Dims = append(w.Dims, hlo.DefaultWindowDim(1))
	}
	last := &w.Dims[s.Rank()-1]
	last.Size = size
	if p.reverse {
		last.PadHigh = pad
	} else {
		last.PadLow = pad
	}
	return at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduceWindow, Shape: s, Operands: []hlo.InstrID{x, p.init}, Callees: []hlo.CompID{p.fold}, Attrs: &hlo.WindowAttrs{Window: w}})
}

// order is the inverse of a permutation.
func order(perm []int64) []int64 {
	inverse := make([]int64, len(perm))
	for i, p := range perm {
		inverse[p] = int64(i)
	}
	return inverse
}

// ranges is the block from one corner to another.
func ranges(from, to []int64) *hlo.SliceAttrs {
	a := &hlo.SliceAttrs{}
	for i := range from {
		a.Slice = append(a.Slice, hlo.SliceDim{Start: from[i], Limit: to[i], Stride: 1})
	}
	return a
}
