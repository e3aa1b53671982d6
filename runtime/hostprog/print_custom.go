package hostprog

import "strings"

// customForm returns the row by which an op can be written, or nil. An op that
// does not fit its row is written in generic form, which can say everything.
func (p *printer) customForm(op *Op) *OpDef {
	d := standard().Lookup(op.Name)
	if p.generic || d == nil || d.mismatch(op) != "" {
		return nil
	}
	if d.Carried && len(op.Results) != len(op.Operands)-len(d.Operands) {
		return nil
	}
	idx := d.regionOperands(len(op.Operands))
	for _, r := range op.Regions {
		if len(r.Args) != len(idx) {
			return nil
		}
		// The form gives arguments the operands' names. Of two of one name the
		// form can only mean the later.
		seen := make(map[*Value]bool)
		for i := len(idx) - 1; i >= 0; i-- {
			v := op.Operands[idx[i]]
			if r.Args[i].Type != v.Type || seen[v] && r.Args[i].uses > 0 {
				return nil
			}
			seen[v] = true
		}
	}
	return d
}

// custom writes an op piece by piece.
func (p *printer) custom(op *Op, d *OpDef) {
	p.write(op.Name)
	operand, regionAt := 0, 0
	free := op.Operands[min(len(d.Operands), len(op.Operands)):]
	for _, pc := range d.form {
		switch pc.kind {
		case pLit:
			p.literal(pc.text)
		case pUse:
			p.word(p.name(op.Operands[operand]))
			operand++
		case pMore:
			for ; operand < len(op.Operands); operand++ {
				p.write(", " + p.name(op.Operands[operand]))
			}
		case pList, pTyped:
			for i := operand; i < len(op.Operands); i++ {
				if i > operand {
					p.write(",")
				}
				p.word(p.name(op.Operands[i]))
				if pc.kind == pTyped {
					p.write(" : " + string(op.Operands[i].Type))
				}
			}
			operand = len(op.Operands)
		case pAttr, pQuoted, pSymbol, pSymbols:
			a, _ := op.Attrs.Get(pc.text)
			p.word(attrText(a, d.attr(pc.text).Type))
		case pCount:
			a, _ := op.Attrs.Get(pc.text)
			p.word(pc.text + "(" + attrText(a, d.attr(pc.text).Type) + ")")
		case pPairs:
			for i, key := range strings.Fields(pc.text) {
				if i > 0 {
					p.write(",")
				}
				a, _ := op.Attrs.Get(key)
				p.word(key + " = " + attrText(a, d.attr(key).Type))
			}
		case pDict:
			p.attributes("", op.Attrs, d.form.shows)
		case pAttributes:
			p.attributes(" attributes", op.Attrs, d.form.shows)
		case pTypes, pMaybeTypes:
			if len(free) > 0 {
				p.write(" : " + joinTypes(typesOf(free)))
			}
		case pFuncType:
			in, out := joinTypes(typesOf(free)), resultTypes(typesOf(op.Results))
			if d.listsResults() {
				out = "(" + joinTypes(typesOf(op.Results)) + ")"
			}
			p.write(" : (" + in + ") -> " + out)
		case pRegion, pElse:
			if pc.kind == pElse {
				p.write(" else")
			}
			p.customRegion(op, d, op.Regions[regionAt])
			regionAt++
		}
	}
}

// listsResults says that a form puts even one result type in parentheses.
func (d *OpDef) listsResults() bool { return d.Name != "tfrt.call" }

func (p *printer) literal(s string) {
	switch s {
	case ",", ")":
		p.write(s)
	case "(":
		p.write(s)
	default:
		p.word(s)
	}
}

// customRegion writes a region whose arguments go by the operands' names.
func (p *printer) customRegion(op *Op, d *OpDef, r *Region) {
	for i, at := range d.regionOperands(len(op.Operands)) {
		p.names[r.Args[i]] = p.names[op.Operands[at]]
	}
	next, nextArg := p.next, p.nextArg
	p.write(" {")
	p.lines(r)
	p.newline()
	p.write("}")
	p.next, p.nextArg = next, nextArg
}
