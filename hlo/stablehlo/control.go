package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// while carries its values as one: bare when there is one, else a tuple. Values from outside that the regions use are carried too, after
// the others, and pass through unchanged.
func (c *comp) while(op *mlir.Op) {
	captured := capturedBy(op, 0, 1)
	state := append(c.operands(), c.valuesOf(captured)...)
	first := c.bundle(state)
	shape := c.shape(first)
	body := c.loopRegion(op, 1, captured)
	cond := c.loopRegion(op, 0, captured)
	id := c.addCalling(hlo.OpWhile, shape, nil, []hlo.CompID{body, cond}, first)
	if len(state) == 1 {
		if len(op.Results) == 1 {
			c.set(id)
		}
		return
	}
	c.setElements(id, len(op.Results))
}

// bundle is a value by itself, or a tuple of any other number.
func (c *comp) bundle(ids []hlo.InstrID) hlo.InstrID {
	if len(ids) == 1 {
		return ids[0]
	}
	return c.tuple(ids...)
}

// loopRegion is the computation of a region of a loop, whose one parameter is the state. The body returns the whole state.
func (c *comp) loopRegion(op *mlir.Op, n int, captured []*mlir.Value) hlo.CompID {
	b := op.Regions[n].Block()
	inner := c.newRegion()
	values := make([]*mlir.Value, 0, len(b.Args)+len(captured))
	for i := range b.Args {
		values = append(values, &b.Args[i])
	}
	values = append(values, captured...)
	inner.unbundle(values)
	if n == 0 {
		return inner.body(b)
	}
	more := make([]hlo.InstrID, len(captured))
	for i, v := range captured {
		more[i] = inner.values[v]
	}
	return inner.body(b, more...)
}

// unbundle makes the one parameter of a region and takes it apart.
func (c *comp) unbundle(values []*mlir.Value) {
	shapes := make([]hlo.Shape, len(values))
	for i, v := range values {
		shapes[i] = c.shapeOf(c.op, v.Type)
	}
	shape := bundled(shapes)
	switch len(values) {
	case 0:
		c.name = "arg_empty_tuple"
	case 1:
		c.name = "Arg_"
	default:
		c.name = "arg_tuple"
	}
	p := c.add(hlo.OpParameter, shape, &hlo.ParameterAttrs{})
	c.name = ""
	if len(values) == 1 {
		c.values[values[0]] = p
		return
	}
	for i, v := range values {
		c.values[v] = c.element(p, i)
	}
}

// conditional gives each branch one operand: the outer values that it uses.
func (c *comp) conditional(op *mlir.Op) {
	ids := []hlo.InstrID{c.operand(0)}
	var callees []hlo.CompID
	for n := range op.Regions {
		captured := capturedBy(op, n)
		arg := c.bundle(c.valuesOf(captured))
		ids = append(ids, arg)
		inner := c.newRegion()
		inner.unbundle(captured)
		b := op.Regions[n].Block()
		if got := b.Terminator(); len(got.Operands) != len(op.Results) {
			c.fail(got, "branch %d of '%s' returns %d values, the operation has %d results", n, op.Name, len(got.Operands), len(op.Results))
		}
		callees = append(callees, inner.body(b))
	}
	c.setAll(c.addCalling(hlo.OpConditional, c.allShape(), nil, callees, ids...))
}

// capturedBy lists the values from outside that the given regions of an operation use, but for constants, in the order in which XLA's
// converter meets them.
func capturedBy(op *mlir.Op, regions ...int) []*mlir.Value {
	w := capture{inside: make(map[*mlir.Value]bool), seen: make(map[*mlir.Value]bool)}
	for _, n := range regions {
		w.region(&op.Regions[n])
	}
	return w.list
}

// capture walks regions.
type capture struct {
	inside, seen map[*mlir.Value]bool
	list         []*mlir.Value
}

func (w *capture) region(r *mlir.Region) {
	b := r.Block()
	for i := range b.Args {
		w.inside[&b.Args[i]] = true
	}
	for _, op := range b.Ops {
		for i := range op.Results {
			w.inside[&op.Results[i]] = true
		}
		loop := op.Name == "stablehlo.while" || op.Name == "mhlo.while"
		if loop { // what its regions use has become operands of its own, after the others
			w.uses(op.Operands)
		}
		for i := range op.Regions {
			w.region(&op.Regions[i])
		}
		if !loop {
			w.uses(op.Operands)
		}
	}
}

func (w *capture) uses(values []*mlir.Value) {
	for _, v := range values {
		if w.inside[v] || w.seen[v] || v.Def != nil && isConstant(v.Def) {
			continue
		}
		w.seen[v] = true
		w.list = append(w.list, v)
	}
}

// isConstant reports whether an operation is a constant, which regions have a copy of.
func isConstant(op *mlir.Op) bool {
	switch op.Name {
	case "stablehlo.constant", "mhlo.constant", "arith.constant", "chlo.constant", "sdy.constant":
		return true
	}
	return false
}

func (c *comp) call(op *mlir.Op) {
	ids := c.operands()
	f := c.funcs[symbolOf(op.Attrs.Get("callee"))]
	c.callOf(f, ids, &hlo.CallAttrs{})
}

// callOf makes a call of a function.
func (c *comp) callOf(f *function, ids []hlo.InstrID, a *hlo.CallAttrs) {
	callee := c.function(f, c.op)
	c.setAll(c.addCalling(hlo.OpCall, c.e.View(callee).Root().Shape(), a, []hlo.CompID{callee}, ids...))
}

// composite is a call of its decomposition, or the operation of CHLO that it stands for.
func (c *comp) composite(op *mlir.Op) {
	name := c.str("name")
	f := c.funcs[symbolOf(op.Attrs.Get("decomposition"))]
	if f == nil || f.body == nil {
		c.fail(op, "the composite %q has no decomposition @%s", name, symbolOf(op.Attrs.Get("decomposition")))
	}
	if len(op.Operands) != len(f.typ.Parts) || len(op.Results) != len(f.typ.Out) {
		c.fail(op, "the decomposition @%s of the composite %q has %d arguments and %d results, want %d and %d", f.name, name,
			len(f.typ.Parts), len(f.typ.Out), len(op.Operands), len(op.Results))
	}
	d, _ := op.Attrs.Get("composite_attributes").(mlir.Dict)
	var common hlo.Common
	if c.common != nil {
		common = *c.common
	}
	fe := withFrontend(common.FrontendAttributes, "composite.attributes", string(mlir.AppendDict(nil, mlir.Attrs(d))))
	fe = withFrontend(fe, "composite.name", name)
	common.FrontendAttributes = withFrontend(fe, "composite.version", string(intText(c.intOr("version", 0))))
	c.common = &common
	c.callOf(f, c.operands(), &hlo.CallAttrs{IsComposite: true})
}

func (c *comp) tupleOp(op *mlir.Op) { c.set(c.tuple(c.operands()...)) }

func (c *comp) getTupleElement(op *mlir.Op) {
	id, i := c.operand(0), c.int("index")
	if s := c.shape(id); !s.IsTuple() || i < 0 || i >= int64(s.NumElems()) {
		c.fail(op, "element %d of %v", i, op.Operands[0].Type)
	}
	c.set(c.add(hlo.OpGetTupleElement, c.resultShape(0), &hlo.TupleElementAttrs{Index: i}, id))
}

func (c *comp) optimizationBarrier(op *mlir.Op) {
	if len(op.Results) != len(op.Operands) {
		c.fail(op, "'%s' has %d operands and %d results", op.Name, len(op.Operands), len(op.Results))
	}
	if len(op.Operands) == 0 {
		return
	}
	all := c.bundle(c.operands())
	c.setAll(c.add(hlo.OpOptBarrier, c.shape(all), nil, all))
}
