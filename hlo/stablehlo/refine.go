package stablehlo

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// refine makes the shapes of a program known, given those of the arguments of main. Functions are copied for the types that they are
// called with, operation by operation:
//
//  1. operands and types are those of the copy; integers that are known are computed, as most of what is left of a dynamic program is
//     arithmetic of dimensions;
//  2. operations whose shape is an operand become those whose shape is written, once the operand is known;
//  3. other results get the shape that follows from the operands;
//  4. assertions about shapes are decided, here and not when the program runs.
//
// A program without dynamic shapes is left as it is.
func (c *converter) refine(main *function) {
	c.bindArguments(main)
	if !c.isDynamic() {
		return
	}
	types := slices.Clone(main.typ.Parts)
	unknown := -1
	for i, t := range types {
		switch {
		case t.IsStatic():
		case i < len(c.o.Shapes) && c.o.Shapes[i].IsValid():
			types[i] = c.givenType(main, i, t)
		case t.IsUnbounded() && unknown < 0:
			unknown = i
		}
	}
	if unknown >= 0 {
		if !c.needsShapes() {
			return // XLA can name such shapes
		}
		c.failHint(main.op, "--shapes gives them; halo run has them from its inputs",
			"argument %d of @%s is %v: the shapes of the arguments must be known", unknown, main.name, types[unknown])
	}
	r := &refiner{converter: c, made: make(map[string]*function)}
	f := r.specialise(main, types, make([]*mlir.Dense, len(types)), main.op)
	*main = *f
	c.funcs = r.funcs()
	c.funcs[main.name] = main
}

// givenType is the type of an argument with the dimensions that were given.
func (c *converter) givenType(f *function, i int, t *mlir.Type) *mlir.Type {
	s := c.o.Shapes[i]
	if t.Kind != mlir.Tensor || !s.IsArray() || s.Rank() != len(t.Dims) {
		c.fail(f.op, "argument %d of @%s is %v, an array of %d dimensions is given", i, f.name, t, s.Rank())
	}
	dims := slices.Clone(t.Dims)
	for k, d := range dims {
		if given := s.Dim(k); d != hlo.UnboundedSize && d != given {
			c.fail(f.op, "argument %d of @%s is %v, an array of shape %v is given", i, f.name, t, s.WithoutLayout())
		}
		dims[k] = s.Dim(k)
	}
	return c.m.Types.WithDims(t, dims)
}

// isDynamicOp reports whether the shape of an operation's result is an operand, or it speaks of shapes.
func isDynamicOp(op *mlir.Op) bool {
	switch inStableHLO(op.Name) {
	case "stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_iota", "stablehlo.dynamic_pad", "stablehlo.dynamic_gather",
		"stablehlo.dynamic_conv", "stablehlo.real_dynamic_slice", "stablehlo.dynamic_reshape":
		return true
	case "stablehlo.custom_call":
		target := stringOf(op.Attrs.Get("call_target_name"))
		return target == "shape_assertion" || strings.HasPrefix(target, "stablehlo.dynamic_") || op.Attrs.Has("indices_of_shape_operands")
	}
	return isSizeOp(op)
}

// isDynamic reports whether the program has unbounded dimensions, or operations for them.
func (c *converter) isDynamic() bool {
	return c.anyOp(func(op *mlir.Op) bool {
		for i := range op.Results {
			if op.Results[i].Type.IsUnbounded() {
				return true
			}
		}
		return isDynamicOp(op)
	})
}

func (c *converter) needsShapes() bool { return c.anyOp(isDynamicOp) }

func (c *converter) anyOp(is func(*mlir.Op) bool) bool {
	found := false
	for _, f := range c.funcs {
		if f.body == nil {
			continue
		}
		for _, op := range f.body.Ops {
			if found {
				return true
			}
			op.Walk(func(op *mlir.Op) { found = found || is(op) })
		}
	}
	return found
}

// refiner copies functions.
type refiner struct {
	*converter
	made  map[string]*function // by name, types and known arguments
	order []*function
	names map[string]bool
	ops   int // copied so far
}

func (r *refiner) funcs() map[string]*function {
	m := make(map[string]*function)
	for _, f := range r.order {
		m[f.name] = f
	}
	return m
}

// specialise makes the copy of a function for types and known arguments, or finds it.
func (r *refiner) specialise(f *function, types []*mlir.Type, consts []*mlir.Dense, from *mlir.Op) *function {
	key := f.name
	for i, t := range types {
		key += "\x00" + t.Text
		if consts[i] != nil {
			key += "=" + string(consts[i].Data)
		}
	}
	if g := r.made[key]; g != nil {
		if g.body == nil {
			r.fail(from, "@%s calls itself: recursion is not supported", f.name)
		}
		return g
	}
	if r.depth++; r.depth > 1000 {
		r.fail(from, "calls nested deeper than 1000")
	}
	g := &function{name: r.freeName(f.name)}
	r.made[key] = g
	b := &body{refiner: r, f: f, values: make(map[*mlir.Value]*mlir.Value)}
	block := &mlir.Block{Args: make([]mlir.Value, len(types)), ArgLocs: f.body.ArgLocs, Pos: f.body.Pos}
	for i, t := range types {
		block.Args[i] = mlir.Value{Type: t, N: i}
		b.values[&f.body.Args[i]] = &block.Args[i]
		if d := consts[i]; d != nil {
			op := b.newConstant(f.op, *d)
			b.out = append(b.out, op)
			b.values[&f.body.Args[i]] = &op.Results[0]
		}
	}
	b.ops(f.body.Ops)
	block.Ops = b.out
	end := block.Terminator()
	out := make([]*mlir.Type, len(end.Operands))
	for i, v := range end.Operands {
		out[i] = v.Type
	}
	g.typ = r.m.Types.Func(types, out)
	op := *f.op
	op.Attrs = f.op.Attrs.With("function_type", mlir.TypeAttr{Type: g.typ}).With("sym_name", mlir.String(g.name))
	op.Regions = []mlir.Region{{Blocks: []*mlir.Block{block}}}
	g.op, g.body = &op, block
	r.order = append(r.order, g)
	r.depth--
	return g
}

func (r *refiner) freeName(name string) string {
	if r.names == nil {
		r.names = make(map[string]bool)
	}
	free := name
	for i := 1; r.names[free]; i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	r.names[free] = true
	return free
}

// body copies the operations of one function.
type body struct {
	*refiner
	f      *function
	values map[*mlir.Value]*mlir.Value // of the original: those of the copy
	out    []*mlir.Op
}

func (b *body) newConstant(at *mlir.Op, d mlir.Dense) *mlir.Op {
	op := &mlir.Op{Name: "stablehlo.constant", Attrs: mlir.Attrs{{Name: "value", Value: d}}, Loc: at.Loc, Pos: at.Pos}
	op.Results = []mlir.Value{{Type: d.Type, Def: op}}
	return op
}

func (b *body) ops(list []*mlir.Op) {
	for _, op := range list {
		b.op(op)
	}
}

// maxCopied bounds the copies of functions: one that calls another twice, with other arguments each time, has twice as many.
const maxCopied = 1 << 22

// op copies an operation.
func (b *body) op(old *mlir.Op) {
	if b.refiner.ops++; b.refiner.ops > maxCopied {
		b.fail(old, "the functions of the program are called with so many different shapes that they have more than %d operations", maxCopied)
	}
	op := &mlir.Op{Name: inStableHLO(old.Name), Attrs: old.Attrs, Loc: old.Loc, Pos: old.Pos}
	op.Operands = make([]*mlir.Value, len(old.Operands))
	for i, v := range old.Operands {
		if op.Operands[i] = b.values[v]; op.Operands[i] == nil {
			op.Operands[i] = v
		}
	}
	op.Results = make([]mlir.Value, len(old.Results))
	for i := range old.Results {
		op.Results[i] = mlir.Value{Type: old.Results[i].Type, Def: op, N: i}
		b.values[&old.Results[i]] = &op.Results[i]
	}
	if b.sizeOp(op, old) {
		return
	}
	switch op.Name {
	case "func.call":
		if b.call(op, old) {
			return
		}
	case "stablehlo.composite":
		b.composite(op)
	case "stablehlo.custom_call":
		if !b.customCall(op) {
			return
		}
	}
	b.regions(op, old)
	b.makeStatic(op)
	for i := range op.Results {
		if !op.Results[i].Type.IsStatic() && op.Results[i].Type.IsUnbounded() {
			b.inferTypes(op)
			break
		}
	}
	if d, ok := b.knownValue(op); ok {
		made := b.newConstant(op, d)
		b.out = append(b.out, made)
		b.values[&old.Results[0]] = &made.Results[0]
		return
	}
	if v := b.unchanged(op); v != nil {
		b.values[&old.Results[0]] = v
		return
	}
	b.out = append(b.out, op)
}

// unchanged is the operand of an operation that has nothing to do once shapes are known; nil for others.
func (b *body) unchanged(op *mlir.Op) *mlir.Value {
	switch op.Name {
	case "stablehlo.convert", "stablehlo.reshape":
		if op.Operands[0].Type == op.Results[0].Type {
			return op.Operands[0]
		}
	case "stablehlo.set_dimension_size":
		d, ok := op.Attrs.Get("dimension").(mlir.Int)
		size, known := knownScalars(op.Operands[1:2])
		t := op.Operands[0].Type
		if ok && known && d.Value >= 0 && d.Value < int64(len(t.Dims)) && t.Dims[d.Value] == size[0] {
			return op.Operands[0]
		}
	}
	return nil
}

// dimensionOps are the operations that arithmetic of dimensions is made of.
var dimensionOps = sync.OnceValue(func() map[string]bool {
	ops := map[string]bool{}
	for name := range strings.FieldsSeq("abs add and broadcast_in_dim clamp compare concatenate convert divide get_dimension_size iota maximum " +
		"minimum multiply negate not or reduce remainder reshape select shift_left shift_right_arithmetic shift_right_logical sign slice " +
		"subtract xor") {
		ops["stablehlo."+name] = true
	}
	return ops
})

// maxKnown is how many elements a value may have to be kept as known.
const maxKnown = 1024

// knownValue computes an operation on integers whose operands are known.
func (b *body) knownValue(op *mlir.Op) (d mlir.Dense, ok bool) {
	if len(op.Results) != 1 || !dimensionOps()[op.Name] {
		return d, false
	}
	t := op.Results[0].Type
	if t.Kind != mlir.Tensor || !t.IsStatic() || !isIntegral(t.Elem) || t.NumElements() > maxKnown {
		return d, false
	}
	if op.Name == "stablehlo.get_dimension_size" {
		i, isInt := op.Attrs.Get("dimension").(mlir.Int)
		from := op.Operands[0].Type
		if !isInt || i.Value < 0 || i.Value >= int64(len(from.Dims)) || from.Dims[i.Value] == hlo.UnboundedSize {
			return d, false
		}
		return splatOf(t, uint64(from.Dims[i.Value])), true
	}
	for _, v := range op.Operands {
		if v.Type.Kind != mlir.Tensor || !isIntegral(v.Type.Elem) || !v.Type.IsStatic() || v.Type.NumElements() > maxKnown {
			return d, false
		}
	}
	return b.evaluate(op)
}

// call calls the copy of the callee for these operands. Results that are known are constants here; it reports whether all are, so that
// the call is not needed.
func (b *body) call(op, old *mlir.Op) bool {
	g := b.calleeFor(op, symbolOf(op.Attrs.Get("callee")))
	op.Attrs = op.Attrs.With("callee", mlir.Symbol(g.name))
	all := len(op.Results) > 0
	for i, v := range g.body.Terminator().Operands {
		d, ok := known(v)
		if !ok || !isIntegral(d.Type.Elem) || d.Type.NumElements() > maxKnown {
			all = false
			continue
		}
		made := b.newConstant(op, d)
		b.out = append(b.out, made)
		b.values[&old.Results[i]] = &made.Results[0]
	}
	return all
}

func (b *body) composite(op *mlir.Op) {
	if b.compositeOf(op, stringOf(op.Attrs.Get("name"))) != nil {
		return // the decomposition is not used
	}
	g := b.calleeFor(op, symbolOf(op.Attrs.Get("decomposition")))
	op.Attrs = op.Attrs.With("decomposition", mlir.Symbol(g.name))
}

// calleeFor is the copy of a function for the operands of op, which gets its result types.
func (b *body) calleeFor(op *mlir.Op, name string) *function {
	f := b.converter.funcs[name]
	if f == nil || f.body == nil || len(f.typ.Parts) != len(op.Operands) || len(f.typ.Out) != len(op.Results) {
		b.fail(op, "'%s' calls @%s, and there is no such function of %d arguments and %d results", op.Name, name, len(op.Operands), len(op.Results))
	}
	types, consts := make([]*mlir.Type, len(op.Operands)), make([]*mlir.Dense, len(op.Operands))
	for i, v := range op.Operands {
		types[i] = v.Type
		if d, ok := known(v); ok && isIntegral(d.Type.Elem) && d.Type.NumElements() <= maxKnown {
			consts[i] = &d
		}
	}
	g := b.specialise(f, types, consts, op)
	for i := range op.Results {
		op.Results[i].Type = g.typ.Out[i]
	}
	return g
}

// regions copies regions. Arguments with unknown dimensions have the types of the operands.
func (b *body) regions(op, old *mlir.Op) {
	for i := range old.Regions {
		from := old.Regions[i].Block()
		to := &mlir.Block{Args: make([]mlir.Value, len(from.Args)), ArgLocs: from.ArgLocs, Pos: from.Pos}
		for k := range from.Args {
			t := from.Args[k].Type
			if t.IsUnbounded() && len(from.Args) == len(op.Operands) {
				t = op.Operands[k].Type
			}
			to.Args[k] = mlir.Value{Type: t, N: k}
			b.values[&from.Args[k]] = &to.Args[k]
		}
		inner := &body{refiner: b.refiner, f: b.f, values: b.values}
		inner.ops(from.Ops)
		to.Ops = inner.out
		op.Regions = append(op.Regions, mlir.Region{Blocks: []*mlir.Block{to}})
	}
}
