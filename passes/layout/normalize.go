package layout

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Normalization makes the order of dimensions that of memory.
var Normalization = &pass.Pass{
	Name: "layout-normalization",
	Doc: `compute with arrays in row-major layout whose dimensions are in the order of memory

Bitcasts stand where a value in another layout comes from, or is asked for: by parameters, results, and ops that are not rewritten. A copy or a transpose that moves something in memory
becomes a transpose, one that does not a bitcast. Arrays with dynamic sizes, with tiles, and computations of fusions stay.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		if pass.Fact(ctx, m, analysis.FindClosed).Has(c.ID()) {
			return nil
		}
		n := &normalizer{c: c, of: map[hlo.InstrID]normalized{}}
		for in := range m.MustComputation(c.ID()).Instructions() {
			if err := n.visit(ctx, in.ID()); err != nil {
				return err
			}
		}
		for _, id := range slices.Backward(n.bitcasts) {
			pass.Release(c, id, nil)
		}
		return nil
	},
}

// normalized is an array as it lies in memory: instruction id has axis order[i] of the value as its axis i, in row-major layout.
type normalized struct {
	id    hlo.InstrID
	order order
}

type normalizer struct {
	c        hlo.CompEdit
	of       map[hlo.InstrID]normalized
	bitcasts []hlo.InstrID // that may turn out to be of no use
}

// value is the normal form of an operand.
func (n *normalizer) value(at emit.At, id hlo.InstrID) (normalized, bool) {
	if v, ok := n.of[id]; ok {
		return v, true
	}
	s := at.Shape(id).WithDefaultLayout()
	o, ok := orderOf(s)
	if !ok {
		return normalized{}, false
	}
	return normalized{id, o}, true
}

// made is the instruction of a normal form, which value does not make.
func (n *normalizer) made(at emit.At, id hlo.InstrID) normalized {
	v, _ := n.value(at, id)
	if v.id == id && !v.order.isRowMajor() {
		v.id = n.bitcast(at, id, normal(at.Shape(id).WithDefaultLayout(), v.order))
	}
	n.of[id] = v
	return v
}

func (n *normalizer) bitcast(at emit.At, x hlo.InstrID, s hlo.Shape) hlo.InstrID {
	if at.Shape(x).Equal(s) {
		return x
	}
	id := at.OpOf(hlo.OpBitcast, s, nil, x)
	n.bitcasts = append(n.bitcasts, id)
	return id
}

// visit rewrites an instruction if it is one that can be, and a layout of it is not row-major.
func (n *normalizer) visit(ctx *pass.Context, id hlo.InstrID) error {
	in := n.c.At(id)
	write := writers[in.Opcode()]
	if write == nil && isElementwise(in) {
		write = elementwise
	}
	own, ok := orderOf(in.Shape())
	if write == nil || !ok || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return nil
	}
	plain, at := own.isRowMajor(), emit.Before(n.c, in)
	x := &writing{n: n, at: at, in: emit.Again(in), own: own}
	for o := range in.Operands() {
		v, ok := n.value(at, o.ID())
		if !ok {
			return nil
		}
		plain = plain && v.order.isRowMajor()
		x.operands = append(x.operands, o.Shape().WithDefaultLayout())
		x.orders = append(x.orders, v.order)
	}
	if plain {
		return nil
	}
	// The needs of the op are known before anything is written.
	act, class := write(x), pass.Exact
	if x.reorders && !combinesExactly(n.c, in) {
		class = pass.Overflow
	}
	if act == nil || !ctx.SpendAs("normalize", class) {
		return nil
	}
	v := act()
	orig, err := n.asWas(at, v, x.in.Shape.WithDefaultLayout(), own)
	if err != nil {
		return err
	}
	if orig == v.id { // the value itself stands for the old one
		n.of[orig] = v
	}
	if err := emit.Replace(n.c, id, orig); err != nil {
		return err
	}
	n.of[orig] = v
	ctx.Count("normalized", 1)
	return nil
}

// asWas is a normal form as a value of the shape and layout that were asked for.
func (n *normalizer) asWas(at emit.At, v normalized, s hlo.Shape, own order) (hlo.InstrID, error) {
	id := v.id
	if !sameBytes(v.order, own, s.Dimensions()) {
		perm := make([]int64, len(own))
		places := v.order.places()
		for i, axis := range own {
			perm[i] = places[axis]
		}
		id = at.OpOf(hlo.OpTranspose, normal(s, own), &hlo.DimensionsAttrs{Dimensions: perm}, id)
		n.bitcasts = append(n.bitcasts, id)
	}
	return n.bitcast(at, id, s), nil
}

// writing is an instruction that is being rewritten: its operands and the orders of their normal forms, and the order of its own layout.
type writing struct {
	n        *normalizer
	at       emit.At
	in       hlo.InstrSpec
	operands []hlo.Shape
	orders   []order
	own      order
	reorders bool // elements are combined in another order than before
}

// combinesExactly reports whether what an instruction calls combines elements to the same result in any order.
func combinesExactly(c hlo.CompEdit, in hlo.Instruction) bool {
	if in.NumCallees() != 1 || in.NumOperands() != 2 {
		return false
	}
	r := c.Editor().View(in.Callee(0)).Root()
	if t := r.Shape().Type(); !t.IsInteger() && t != hlo.PRED || r.NumOperands() != 2 || r.NumCallees() > 0 ||
		!hlo.Info(r.Opcode()).Traits.Has(hlo.TraitElementwise|hlo.TraitCommutative) || r.OperandInstr(0).Shape().Type() != t {
		return false
	}
	a, okA := r.OperandInstr(0).ParameterNumber()
	b, okB := r.OperandInstr(1).ParameterNumber()
	return okA && okB && a != b
}

// operand is the normal form of operand i.
func (x *writing) operand(i int) hlo.InstrID { return x.n.made(x.at, x.in.Operands[i]).id }

// same reports whether some operands lie in the same order, and those that are scalars do not count.
func (x *writing) same(from, to int) (order, bool) {
	var o order
	for i := from; i < to; i++ {
		switch {
		case x.operands[i].Rank() == 0 && x.in.Shape.Rank() > 0:
		case o == nil:
			o = x.orders[i]
		case !slices.Equal(o, x.orders[i]):
			return nil, false
		}
	}
	return o, o != nil
}

// op makes an instruction of the normal form of a shape in an order.
func (x *writing) op(o order, attrs hlo.OpAttrs, operands ...hlo.InstrID) normalized {
	spec := hlo.InstrSpec{Opcode: x.in.Opcode, Name: x.in.Name, Attrs: attrs, Operands: operands, Callees: x.in.Callees, Shape: normal(x.in.Shape, o)}
	if c := x.in.Common; c != nil {
		spec.Common = &hlo.Common{Metadata: c.Metadata, ResultAccuracy: c.ResultAccuracy, BackendConfig: c.BackendConfig}
	}
	return normalized{x.at.Spec(spec), o}
}
