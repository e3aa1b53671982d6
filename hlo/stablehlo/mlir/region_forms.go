package mlir

import (
	"github.com/gohalo/halo/hlo"
)

// reduceForm: `(%a init: %f), (%b init: %z) applies stablehlo.add across dimensions = [1] : type`, or with a region after the type.
func (r *reader) reduceForm(op *Op) {
	var fewInputs, fewInits [2]*Value
	inputs, inits := fewInputs[:0], fewInits[:0]
	for {
		r.expect("(")
		inputs = append(inputs, r.use())
		r.expect("init")
		r.expect(":")
		inits = append(inits, r.use())
		r.expect(")")
		if !r.accept(",") {
			break
		}
	}
	op.Operands = cutOf(&r.uses, 2*len(inputs))
	copy(op.Operands, inputs)
	copy(op.Operands[len(inputs):], inits)
	applies := ""
	if r.accept("applies") {
		r.space()
		applies = r.word("an operation")
	}
	r.expect("across")
	r.expect("dimensions")
	r.expect("=")
	op.Attrs = cutOf(&r.attrs, 1)[:0]
	r.setAttr(op, "dimensions", r.ints())
	r.attributes(op)
	r.sameTypes(op)
	if applies != "" {
		if len(inputs) != 1 {
			r.failAt(op.Pos, "'%s' applies an operation to %d inputs: want one", op.Name, len(inputs))
		}
		if r.is("loc") {
			op.Loc = r.trailingLocation()
		}
		op.Regions = r.applied(op, applies)
		return
	}
	if r.is("loc") {
		op.Loc = r.trailingLocation()
	}
	r.expect("reducer")
	op.Regions = []Region{r.reducer(len(inputs))}
}

// applied is the one region that applies an operation to two elements.
func (r *reader) applied(op *Op, name string) []Region {
	f := r.form(name)
	if f == nil || f.name != name {
		r.unknownOp(op.Pos, name)
	}
	elem := r.types.WithDims(op.Operands[0].Type, nil)
	args := cutOf(&r.values, 2)
	args[0], args[1] = Value{Type: elem, N: 0}, Value{Type: elem, N: 1}
	apply, end := r.newOp(op.Pos), r.newOp(op.Pos)
	apply.Name, apply.Operands, apply.Loc = f.name, cutOf(&r.uses, 2), op.Loc
	apply.Operands[0], apply.Operands[1] = &args[0], &args[1]
	r.result(apply, elem)
	end.Name, end.Operands = r.form(op.Dialect()+".return").name, cutOf(&r.uses, 1)
	end.Operands[0] = &apply.Results[0]
	ops, locs := cutOf(&r.opRefs, 2), cutOf(&r.locs, 2)
	ops[0], ops[1], locs[0], locs[1] = apply, end, op.Loc, op.Loc
	return r.body(Block{Args: args, ArgLocs: locs, Ops: ops, Pos: op.Pos})
}

// reducer reads `(%x: type, %y: type) (%u: type, %v: type) { ... }`: the arguments of the region are x, u, y, v.
func (r *reader) reducer(inputs int) Region {
	var pairs []argument
	for range inputs {
		r.expect("(")
		pair := r.argumentList(nil)
		if len(pair) != 2 {
			r.fail("%d arguments, want two for each input", len(pair))
		}
		pairs = append(pairs, pair...)
	}
	ordered := make([]argument, 0, len(pairs))
	for k := range 2 {
		for i := k; i < len(pairs); i += 2 {
			ordered = append(ordered, pairs[i])
		}
	}
	mark := r.scope.mark()
	b := &Block{}
	r.defineArguments(b, ordered)
	region := r.region(b.Args)
	region.Blocks[0].ArgLocs = b.ArgLocs
	r.scope.forget(mark)
	return region
}

// whileForm: `(%x = %a, %i = %c) : type, type attributes {...} cond { ... } do { ... }`.
func (r *reader) whileForm(op *Op) {
	var few [8]argument
	var fewInits [8]*Value
	args, inits := few[:0], fewInits[:0]
	r.expect("(")
	for !r.accept(")") {
		if len(args) > 0 {
			r.expect(",")
		}
		r.space()
		at := r.pos
		r.expect("%")
		args = append(args, argument{name: r.suffix("value"), at: at})
		r.expect("=")
		inits = append(inits, r.use())
	}
	if len(args) > 0 {
		op.Operands = cutOf(&r.uses, len(inits))
		copy(op.Operands, inits)
		types := r.operandTypes(op)
		for i, t := range types {
			args[i].typ = t
		}
		r.results(op, types)
	}
	if r.accept("attributes") {
		op.Attrs = r.dictionary(op.Attrs)
	}
	op.Regions = make([]Region, 2)
	for i, w := range [2]string{"cond", "do"} {
		r.expect(w)
		mark := r.scope.mark()
		b := &Block{}
		r.defineArguments(b, args)
		op.Regions[i] = r.region(b.Args)
		r.scope.forget(mark)
	}
}

// scanForm: `(%x) inits (%c) dimension=0 attributes {...} { ... } : type`.
func (r *reader) scanForm(op *Op) {
	i64 := r.types.Scalar(hlo.S64)
	r.expect("(")
	inputs := r.useList()
	r.expect(")")
	r.expect("inits")
	r.expect("(")
	inits := r.useList()
	r.expect(")")
	op.Operands = append(append([]*Value(nil), inputs...), inits...)
	r.expect("dimension")
	r.expect("=")
	r.setAttr(op, "dimension", Int{r.integer(), i64})
	r.setAttr(op, "num_carries", Int{int64(len(inits)), i64})
	if r.accept("attributes") || r.is("{") && !r.startsRegion() {
		op.Attrs = r.dictionary(op.Attrs)
	}
	op.Regions = []Region{r.region(nil)}
	r.sameTypes(op)
}

// startsRegion reports whether the brace at the present place opens a region with a block label, and no dictionary.
func (r *reader) startsRegion() bool {
	save := r.pos
	defer func() { r.pos = save }()
	r.pos++
	return r.peek() == '^'
}
