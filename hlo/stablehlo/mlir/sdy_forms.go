package mlir

// Operations of Shardy. Meshes and shardings are kept as text: package stablehlo reads them.

// meshForm: `@mesh = <["x"=2]>`.
func (r *reader) meshForm(op *Op) {
	r.setAttr(op, "sym_name", String(r.symbol()))
	r.expect("=")
	r.setAttr(op, "mesh", Text(r.balanced()))
	if r.is("{") {
		op.Attrs = r.dictionary(op.Attrs)
	}
}

// manualForm: `(%a) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (%x: type) { ... } : type`.
func (r *reader) manualForm(op *Op) {
	r.expect("(")
	op.Operands = r.useList()
	r.expect(")")
	for _, name := range []string{"in_shardings", "out_shardings", "manual_axes"} {
		r.expect(name)
		r.expect("=")
		r.setAttr(op, name, Text(r.balanced()))
	}
	if r.is("{") {
		op.Attrs = r.dictionary(op.Attrs)
	}
	r.regionWithArguments(op)
}

// namedComputationForm: `<"name">(%a) in_shardings=[...] out_shardings=[...] (%x: type) { ... } : type`.
func (r *reader) namedComputationForm(op *Op) {
	r.expect("<")
	r.setAttr(op, "name", String(r.quoted()))
	r.expect(">")
	r.expect("(")
	op.Operands = r.useList()
	r.expect(")")
	for _, name := range []string{"in_shardings", "out_shardings"} {
		if r.accept(name) {
			r.expect("=")
			r.setAttr(op, name, Text(r.balanced()))
		}
	}
	if r.is("{") {
		op.Attrs = r.dictionary(op.Attrs)
	}
	r.regionWithArguments(op)
}

// regionWithArguments reads `(%x: type) { ... } : type`.
func (r *reader) regionWithArguments(op *Op) {
	mark := r.scope.mark()
	b := &Block{}
	r.expect("(")
	r.arguments(b, nil)
	op.Regions = []Region{r.region(b.Args)}
	r.scope.forget(mark)
	r.sameTypes(op)
}
