package hostprog

func (r *resolver) module(n *moduleNode) *Op {
	op := &Op{Name: moduleOp, Pos: position(n.Pos)}
	op.Attrs = r.dict(n.Attrs)
	if n.Name != "" {
		op.Attrs.Set(attrSymName, stringAttr(symbolText(n.Name)))
	}
	if n.Compiled {
		op.Text = r.src[n.Start:n.End]
		if op.SymName() == "" {
			fail(op.Pos, "a compiled module needs a name")
		}
		return op
	}
	r.push(true)
	r.region(op.addRegion(), n.Body, nil)
	r.pop()
	return op
}

// symbolText is the name in a symbol token: @f or @"f".
func symbolText(tok string) string {
	if tok[1] == '"' {
		return unquote(tok[1:])
	}
	return tok[1:]
}

func (r *resolver) function(n *funcNode) *Op {
	op := &Op{Name: funcOp, Pos: position(n.Pos)}
	op.Attrs = r.dict(n.Attrs)
	for _, name := range []string{attrSymName, attrFuncType, attrVisibility} {
		if op.Attrs.Has(name) {
			fail(op.Pos, "attribute '%s' is written by the function itself", name)
		}
	}
	op.Attrs.Set(attrSymName, stringAttr(symbolText(n.Name)))
	if n.Visibility == "private" || n.Visibility == "nested" {
		op.Attrs.Set(attrVisibility, stringAttr(n.Visibility))
	}
	var in []Type
	var argAttrs []Attr
	marked := false
	for _, p := range n.Params {
		if n.Body != nil && p.Name == "" {
			fail(position(p.Pos), "expected SSA identifier")
		}
		in = append(in, r.typ(p.Type))
		d := r.dict(p.Attrs)
		marked = marked || len(d) > 0
		argAttrs = append(argAttrs, Attr{Kind: DictAttr, Entries: d})
	}
	if marked {
		op.Attrs.Set(attrArgAttrs, Attr{Kind: ArrayAttr, Elems: argAttrs})
	}
	op.Attrs.Set(attrFuncType, functionTypeAttr(in, r.resultList(n.Results)))
	if n.Body == nil {
		return op
	}
	body := op.addRegion()
	r.push(true)
	for i, p := range n.Params {
		r.define(p.Pos, p.Name, pack{body.addArg(in[i])})
	}
	r.region(body, n.Body, nil)
	r.pop()
	if len(body.Ops) == 0 || len(body.Args) != len(in) {
		fail(position(n.Body.Pos), "expected non-empty function body")
	}
	return op
}

func (r *resolver) custom(n *customNode) *Op {
	d := n.def
	op := &Op{Name: d.Name, Pos: position(n.Pos)}

	var carried, out []Type
	fixed := min(len(n.operands), len(d.Operands))
	if n.fn != nil {
		carried, out = r.resultList(n.fn.Params), r.resultList(n.fn.Results)
	}
	for _, t := range n.types {
		carried = append(carried, r.typ(t))
	}
	typed := n.fn != nil || n.hasTypes
	free := len(n.operands) - fixed
	switch {
	case len(n.operands) < len(d.Operands)-d.Optional:
		fail(op.Pos, "'%s' op %s", d.Name, d.operandCount(len(n.operands)))
	case !d.Variadic && free > 0:
		fail(op.Pos, "'%s' op %s", d.Name, d.operandCount(len(n.operands)))
	case typed && len(carried) != free:
		fail(op.Pos, "%d operands present, but expected %d", free, len(carried))
	case !typed && free > 0 && d.Name != returnOp:
		fail(op.Pos, "'%s' op expected the types of its operands", d.Name)
	}
	for i, u := range n.operands {
		var want Type
		if i < fixed {
			want = d.Operands[i]
		} else if typed {
			want = carried[i-fixed]
		}
		r.operand(op, u, want)
	}

	for _, e := range n.attrs {
		var t Type
		if a := d.attr(e.Name); a != nil {
			t = a.Type
		}
		if op.Attrs.Has(e.Name) {
			fail(position(e.Pos), "attribute '%s' occurs more than once in the attribute list", e.Name)
		}
		op.Attrs.Set(e.Name, r.attrOf(e.Value, t))
	}
	for _, e := range r.dict(n.dict) {
		if op.Attrs.Has(e.Name) {
			fail(op.Pos, "attribute '%s' occurs more than once in the attribute list", e.Name)
		}
		op.Attrs.Set(e.Name, e.Attr)
	}
	for _, a := range d.Attrs {
		if a.Default != nil && !op.Attrs.Has(a.Name) {
			op.Attrs.Set(a.Name, *a.Default)
		}
	}

	switch {
	case d.AnyResults:
	case d.Carried:
		out = carried
	default:
		out = d.Results
	}
	for _, t := range out {
		op.addResult(t)
	}
	r.customRegions(op, n)
	return op
}

// customRegions gives every region of a custom form the operands as arguments,
// under their own names.
func (r *resolver) customRegions(op *Op, n *customNode) {
	for _, rn := range n.regions {
		to := op.addRegion()
		params := make([]*useNode, 0, len(n.operands))
		for _, i := range n.def.regionOperands(len(n.operands)) {
			params = append(params, n.operands[i])
			to.addArg(op.Operands[i].Type)
		}
		if rn == nil { // an else that is left out
			if len(op.Results) > 0 {
				fail(op.Pos, "expected 'else' in 'tfrt.if' with result values")
			}
			to.add(&Op{Name: returnOp, Pos: op.Pos})
			continue
		}
		r.push(true)
		r.region(to, rn, params)
		r.pop()
	}
}
