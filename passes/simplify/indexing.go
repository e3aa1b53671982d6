package simplify

import (
	"encoding/binary"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// GatherExpander and ScatterExpander take the simple ones apart.
var (
	GatherExpander = &pass.Pass{
		Name:  "gather-expander",
		About: []hlo.Opcode{hlo.OpGather},
		Doc: `replace a gather of one window by a dynamic-slice

A gather whose indices are one vector reads one window, clamped as a dynamic-slice is. Gathers of several windows stay.`,
		Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			r := &pass.Rewriter{Rules: []*pass.RewriteRule{{ID: "gather", Doc: "gather at one index → dynamic-slice", Root: []hlo.Opcode{hlo.OpGather}, Rewrite: sliceOfGather}}}
			return r.Local(ctx, m, c)
		},
	}
	ScatterExpander = &pass.Pass{
		Name:  "scatter-expander",
		About: []hlo.Opcode{hlo.OpScatter},
		Doc: `replace a scatter of one window by a dynamic-update-slice

A scatter whose indices are one vector writes one window, if that lies within the array. Where it certainly does, and where it has one element
along every axis that is indexed, so that it lies within or not as a whole, a dynamic-update-slice does the same, of what is there if it
does not. Scatters of several windows stay.`,
		Lent: true, Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			callees := analysis.Now(c.Editor())
			r := &pass.Rewriter{Rules: []*pass.RewriteRule{{ID: "scatter", Doc: "scatter at one index → dynamic-update-slice", Root: []hlo.Opcode{hlo.OpScatter},
				Rewrite: func(in hlo.Instruction) (pass.Expr, bool) { return updateOfScatter(callees, in) }}}}
			return r.Local(ctx, m, c)
		},
	}
)

// oneIndex is a vector of indices, and which axis of the array each is for.
type oneIndex struct {
	vector hlo.Instruction
	axes   []int64
}

// newOneIndex reports false if there are several vectors, or types of indices in which sizes do not fit.
func newOneIndex(indices hlo.Instruction, vectorDim int64, axes []int64) (oneIndex, bool) {
	s := indices.Shape()
	n := int64(len(axes))
	ok := s.IsStatic() && s.NumElements() == n && n > 0 && s.Type().Bits() >= 32 && (vectorDim == int64(s.Rank()) && n == 1 || vectorDim < int64(s.Rank()))
	return oneIndex{indices, axes}, ok
}

// start is a scalar: index k of the vector.
func (x oneIndex) start(k int) pass.Expr {
	t := x.vector.Shape().Type()
	n := int64(len(x.axes))
	flat := pass.New(hlo.OpReshape, hlo.MakeShape(t, n), nil, pass.Use(x.vector))
	one := pass.New(hlo.OpSlice, hlo.MakeShape(t, 1), &hlo.SliceAttrs{Slice: []hlo.SliceDim{{Start: int64(k), Limit: int64(k) + 1, Stride: 1}}}, flat)
	return pass.New(hlo.OpReshape, hlo.MakeShape(t), nil, one)
}

// starts are scalars for every axis of an array, zero where there is no index.
func (x oneIndex) starts(rank int) []pass.Expr {
	list := make([]pass.Expr, rank)
	for a := range list {
		if k := slices.Index(x.axes, int64(a)); k >= 0 {
			list[a] = x.start(k)
		} else {
			list[a] = x.number(0)
		}
	}
	return list
}

// number is a constant of the indices' type.
func (x oneIndex) number(v int64) pass.Expr {
	t := x.vector.Shape().Type()
	l, err := hlo.NewLiteral(hlo.MakeShape(t), binary.LittleEndian.AppendUint64(nil, uint64(v))[:t.ByteSize()])
	if err != nil {
		panic("simplify: " + err.Error())
	}
	return pass.Constant(l)
}

// value is index k, if it is known.
func (x oneIndex) value(k int) (int64, bool) {
	in := x.vector
	for in.Opcode() == hlo.OpBroadcast || in.Opcode() == hlo.OpReshape {
		in = in.OperandInstr(0)
	}
	l := in.Literal()
	if l == nil || l.IsElided() {
		return 0, false
	}
	if l.Shape().NumElements() == 1 {
		k = 0
	} else if l.Shape().NumElements() != int64(len(x.axes)) || in.Shape().NumElements() != x.vector.Shape().NumElements() {
		return 0, false
	}
	w := l.Shape().Type().ByteSize()
	one, err := hlo.NewLiteral(hlo.MakeShape(l.Shape().Type()), l.Bytes()[k*w:(k+1)*w])
	if err != nil {
		return 0, false
	}
	return one.ScalarInt()
}

// OneWindow reports whether gather-expander makes a dynamic-slice of a gather.
func OneWindow(in hlo.Instruction) bool {
	_, ok := sliceOfGather(in)
	return ok
}

// OneUpdate reports whether scatter-expander makes a dynamic-update-slice of a scatter.
func OneUpdate(m hlo.Module, in hlo.Instruction) bool {
	_, ok := updateOfScatter(m, in)
	return ok
}

func isPlain(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if !o.Shape().IsArray() || !o.Shape().IsStatic() {
			return false
		}
	}
	return in.Shape().IsArray() && in.Shape().IsStatic() && in.Shape().NumElements() > 0
}

func sliceOfGather(in hlo.Instruction) (pass.Expr, bool) {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	if !isPlain(in) || len(a.OperandBatchingDims) > 0 || a.PicksNothing() {
		return pass.Expr{}, false
	}
	x, ok := newOneIndex(in.OperandInstr(1), a.IndexVectorDim, a.StartIndexMap)
	if !ok {
		return pass.Expr{}, false
	}
	from := in.OperandInstr(0)
	operands := append([]pass.Expr{pass.Use(from)}, x.starts(from.Shape().Rank())...)
	window := pass.New(hlo.OpDynamicSlice, hlo.MakeShape(from.Shape().Type(), a.SliceSizes...), &hlo.DynamicSliceAttrs{Sizes: a.SliceSizes}, operands...)
	return pass.New(hlo.OpReshape, in.Shape(), nil, window), true
}

func updateOfScatter(m analysis.Computations, in hlo.Instruction) (pass.Expr, bool) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	if in.NumOperands() != 3 || !isPlain(in) || len(a.InputBatchingDims) > 0 {
		return pass.Expr{}, false
	}
	to, update := in.OperandInstr(0), in.OperandInstr(2)
	x, ok := newOneIndex(in.OperandInstr(1), a.IndexVectorDim, a.ScatterDimsToOperandDims)
	if !ok || update.Shape().NumElements() == 0 {
		return pass.Expr{}, false
	}
	window := hlo.MakeShape(to.Shape().Type(), windowOfScatter(a, to, update)...)
	within, certain := x.contains(to.Shape(), window)
	if !certain && within == nil {
		return pass.Expr{}, false
	}
	starts := x.starts(to.Shape().Rank())
	there := pass.New(hlo.OpDynamicSlice, window, &hlo.DynamicSliceAttrs{Sizes: window.Dimensions()}, append([]pass.Expr{pass.Use(to)}, starts...)...)
	value, ok := combined(m, in, there, pass.New(hlo.OpReshape, window, nil, pass.Use(update)))
	if !ok {
		return pass.Expr{}, false
	}
	if !certain {
		all := pass.New(hlo.OpBroadcast, hlo.MakeShape(hlo.PRED, window.Dimensions()...), &hlo.BroadcastAttrs{}, *within)
		value = pass.New(hlo.OpSelect, window, nil, all, value, there)
	}
	return pass.New(hlo.OpDynamicUpdateSlice, in.Shape(), nil, append([]pass.Expr{pass.Use(to), value}, starts...)...), true
}

// windowOfScatter is the size of the window along every axis of the array.
func windowOfScatter(a hlo.ScatterAttrs, to, update hlo.Instruction) (sizes []int64) {
	next := 0
	for axis := range int64(to.Shape().Rank()) {
		if slices.Contains(a.InsertedWindowDims, axis) {
			sizes = append(sizes, 1)
			continue
		}
		sizes = append(sizes, update.Shape().Dim(int(a.UpdateWindowDims[next])))
		next++
	}
	return sizes
}

// contains is certain if the window lies within an array. Otherwise it says how to find out, if that decides for the window as a whole.
func (x oneIndex) contains(array, window hlo.Shape) (within *pass.Expr, certain bool) {
	certain = true
	for k, axis := range x.axes {
		room := array.Dim(int(axis)) - window.Dim(int(axis))
		v, known := x.value(k)
		certain = certain && known && v >= 0 && v <= room
	}
	if certain {
		return nil, true
	}
	for k, axis := range x.axes {
		if window.Dim(int(axis)) != 1 {
			return nil, false
		}
		start, pred := x.start(k), hlo.MakeShape(hlo.PRED)
		test := pass.New(hlo.OpCompare, pred, &hlo.CompareAttrs{Direction: hlo.LE}, start, x.number(array.Dim(int(axis))-1))
		if x.vector.Shape().Type().IsSigned() {
			test = pass.New(hlo.OpAnd, pred, nil, test, pass.New(hlo.OpCompare, pred, &hlo.CompareAttrs{Direction: hlo.GE}, start, x.number(0)))
		}
		if within != nil {
			test = pass.New(hlo.OpAnd, pred, nil, *within, test)
		}
		within = &test
	}
	return within, false
}

// combined is what a scatter makes of a window and its update, if it takes the update as it is or applies one op.
func combined(m analysis.Computations, in hlo.Instruction, there, update pass.Expr) (pass.Expr, bool) {
	c := m.MustComputation(in.Callee(0))
	root := c.Root()
	if root.Shape().Type() != in.Shape().Type() {
		return pass.Expr{}, false
	}
	side := func(x hlo.Instruction) (pass.Expr, bool) {
		switch n, ok := x.ParameterNumber(); {
		case ok && n == 0:
			return there, true
		case ok:
			return update, true
		}
		return pass.Expr{}, false
	}
	if v, ok := side(root); ok {
		return v, true
	}
	if !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitFolds) {
		return pass.Expr{}, false
	}
	x, ok := side(root.OperandInstr(0))
	y, also := side(root.OperandInstr(1))
	return pass.New(root.Opcode(), there.Shape(), nil, x, y), ok && also
}
