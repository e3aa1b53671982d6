package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewReduceDecomposer makes the pass that takes changes of layout out of reductions.
func NewReduceDecomposer(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("custom-layout-allowed"); err != nil {
		return nil, err
	}
	free, err := o.Bool("custom-layout-allowed")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "reduce-decomposer",
		Doc: `reduce in the layout of the operand, and copy into the one that was asked for

The operands of a variadic reduce are brought into the layout of the first. A conversion that is the only user comes before the copy.`,
		Options: o,
		Params:  []pass.Param{{Name: "custom-layout-allowed", Doc: "reductions may change the layout: the pass does nothing; false"}},
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			for _, in := range backward(m.MustComputation(c.ID())) {
				if free || in.Opcode() != hlo.OpReduce || !staticArrays(in) {
					continue
				}
				natural, ok := naturalLayouts(in)
				if !ok || !ctx.Spend("reduce") {
					continue
				}
				if err := reduceNaturally(c, in, natural); err != nil {
					return err
				}
				ctx.Count("copies", int64(len(natural)))
			}
			return nil
		},
	}, nil
}

// naturalLayouts is the shapes of a reduce's results with the axes in the order in which those of its operands lie; false if they are so already, and so
// are those of the operands among each other, or if a layout has more than an order.
func naturalLayouts(in hlo.Instruction) (natural []hlo.Shape, ok bool) {
	results, n := []hlo.Shape{in.Shape()}, in.NumOperands()/2
	if in.Shape().IsTuple() {
		results = in.Shape().Elems()
	}
	first, plain := orderOf(in.OperandInstr(0).Shape())
	if !plain {
		return nil, false
	}
	reduced := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	order := hlo.AxesWithout(first, reduced)
	for i, r := range results {
		was, plain := orderOf(r)
		other, also := orderOf(in.OperandInstr(i % n).Shape())
		if !plain || !also {
			return nil, false
		}
		ok = ok || !slices.Equal(was, order) || !slices.Equal(other, first)
		natural = append(natural, r.WithLayout(&hlo.Layout{MinorToMajor: order}))
	}
	return natural, ok
}

// orderOf is the axes of an array, the fastest first; false if its layout says more than that.
func orderOf(s hlo.Shape) ([]int64, bool) {
	l, ok := s.WithDefaultLayout().Layout()
	if !ok || !l.Equal(&hlo.Layout{MinorToMajor: l.MinorToMajor}) {
		return nil, false
	}
	return l.MinorToMajor, true
}

func reduceNaturally(c hlo.CompEdit, in hlo.Instruction, natural []hlo.Shape) error {
	at, spec := emit.Before(c, in), emit.Again(in)
	order, _ := in.OperandInstr(0).Shape().WithDefaultLayout().Layout()
	for i := 1; i < len(natural); i++ {
		if s := at.Shape(spec.Operands[i]).WithDefaultLayout(); !s.Equal(s.WithLayout(order)) {
			spec.Operands[i] = at.OpOf(hlo.OpCopy, s.WithLayout(order), nil, spec.Operands[i])
		}
	}
	if !in.Shape().IsTuple() {
		spec.Shape = natural[0]
		r := at.Spec(spec)
		if u, only := soleConvert(in); only {
			at = emit.Before(c, u)
			l, _ := natural[0].Layout()
			return replaceCopied(c, u, at.OpOf(hlo.OpConvert, u.Shape().WithLayout(l), nil, r), at)
		}
		return replaceCopied(c, in, r, at)
	}
	spec.Shape = hlo.MakeTuple(natural...)
	r := at.Spec(spec)
	var parts []hlo.InstrID
	for i, s := range in.Shape().Elems() {
		part := at.Element(r, i)
		if !s.WithDefaultLayout().Equal(natural[i]) {
			part = at.OpOf(hlo.OpCopy, s, nil, part)
		}
		parts = append(parts, part)
	}
	return emit.Replace(c, in.ID(), at.Tuple(parts...))
}

// replaceCopied makes a copy of v, in the layout of old, stand for old.
func replaceCopied(c hlo.CompEdit, old hlo.Instruction, v hlo.InstrID, at emit.At) error {
	if at.Shape(v).Equal(old.Shape().WithDefaultLayout()) {
		return emit.Replace(c, old.ID(), v)
	}
	return emit.Replace(c, old.ID(), at.OpOf(hlo.OpCopy, old.Shape(), nil, v))
}

// soleConvert is the conversion that alone reads in, and does so into the layout of in.
func soleConvert(in hlo.Instruction) (u hlo.Instruction, ok bool) {
	if in.UserCount() != 1 || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return u, false
	}
	for u = range in.Users() {
		a, okA := orderOf(in.Shape())
		b, okB := orderOf(u.Shape())
		return u, u.Opcode() == hlo.OpConvert && okA && okB && slices.Equal(a, b)
	}
	return u, false
}
