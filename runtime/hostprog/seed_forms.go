package hostprog

import "strconv"

// Spellings of the first design texts that TFRT has renamed since. They are
// read and become today's ops; they are never printed.

// renamedOps are ops of which only the name has changed.
var renamedOps = map[string]string{"tfrt.async_add.i32": "tfrt_test.async_add.i32"}

// seedForms are custom forms that are rewritten. A row's Name becomes that of
// the op; its key is what the text says.
func seedForms() []OpDef {
	ops := []OpDef{{Name: "tfrt.async_add.i32", Operands: []Type{"i32", "i32"}, Results: []Type{"i32"}, form: pair, seed: renameTo("tfrt_test.async_add.i32")}}
	for _, e := range tensorElems {
		for rank := range maxTextRank + 1 {
			suffix := e + "." + strconv.Itoa(rank)
			d := createTensor("dht.create_uninit_tensor." + suffix)
			d.seed = createTensorSeed("tfrt_dht.create_uninitialized_tensor." + suffix)
			ops = append(ops, d)
		}
		ops = append(ops,
			OpDef{Name: "dht.fill_tensor." + e, Operands: []Type{tensorType, chainType}, Optional: 1, Results: []Type{chainType},
				Attrs: []AttrDef{fillValue(e)}, form: form{use, {pSeedFill, "value"}, dict},
				seed: withChain("tfrt_dht.fill_tensor_with_constant." + e)},
			OpDef{Name: "dht.print_tensor." + e, Operands: []Type{tensorType, chainType}, Optional: 1, Results: []Type{chainType},
				form: form{use, more, dict}, seed: withChain("tfrt_dht.print_tensor")})
	}
	return ops
}

// fillValue is the value of a fill: of the element type, where a literal can be.
func fillValue(elem string) AttrDef {
	a := anyAttr("value")
	if _, _, ok := intType(Type(elem)); ok || isFloatType(Type(elem)) {
		a.Type = Type(elem)
	}
	return a
}

// rewritten replaces the row of a node by a copy that names today's op.
func rewritten(n *customNode, to string) {
	d := *n.def
	d.Name, d.seed = to, nil
	n.def = &d
}

func renameTo(name string) func(*resolver, *opNode) []*Op {
	return func(_ *resolver, n *opNode) []*Op {
		rewritten(n.Custom, name)
		return nil
	}
}

// createTensorSeed reads extents of any integer type as i64.
func createTensorSeed(name string) func(*resolver, *opNode) []*Op {
	return func(_ *resolver, n *opNode) []*Op {
		rewritten(n.Custom, name)
		for _, e := range n.Custom.attrs {
			if e.Value.Array == nil {
				continue
			}
			for _, x := range e.Value.Array.Elems {
				if x.Number != nil {
					x.Number.Type = nil
				}
			}
		}
		return nil
	}
}

// withChain gives an op that lacks its chain a new one.
func withChain(name string) func(*resolver, *opNode) []*Op {
	return func(r *resolver, n *opNode) []*Op {
		c := n.Custom
		rewritten(c, name)
		if len(c.operands) != 1 {
			return nil
		}
		op := &Op{Name: "tfrt.new.chain", Pos: position(c.Pos)}
		// A name that no text can have.
		key := "%new.chain@" + strconv.Itoa(c.Pos.Offset)
		r.scope.names[key] = pack{op.addResult(chainType)}
		c.operands = append(c.operands, &useNode{Pos: c.Pos, Name: key})
		return []*Op{op}
	}
}

// seedFill reads `%a, %ch 41`, `%a, 41` or `%a 41` after the tensor.
func (r *formReader) seedFill(name string) error {
	if r.accept(",") && r.lex.Peek().Type == tokValue {
		if err := r.operand(); err != nil {
			return err
		}
		r.accept(",")
	}
	return r.attribute(piece{pAttr, name})
}
