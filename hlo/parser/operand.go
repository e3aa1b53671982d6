package parser

import (
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// operand reads one operand and pushes it on p.operands.
//
//	operand := shape? name ('#' INT)*  |  shape? opcode args  |  shape
//
// A shape alone does not count. A word before a parenthesis is an opcode, any other a name.
func (p *parser) operand(f *scope) {
	p.enter()
	p.space()
	at := p.pos
	var declared hlo.Shape
	if p.beginsShape() {
		declared = p.shape()
		p.space()
	}
	nameAt := p.pos
	if f.open && declared.IsValid() {
		if c := p.peek(); c == ',' || c == ')' {
			p.operands = append(p.operands, p.newParameter(f, "", declared, at))
			p.depth--
			return
		}
	}
	if end := skipWord(p.src, nameAt); end > nameAt && end < len(p.src) && p.src[end] != ',' && p.src[end] != ')' {
		if end = skipSpace(p.src, end); end < len(p.src) && p.src[end] == '(' {
			p.nested(f, declared, nameAt)
			p.depth--
			return
		}
	}
	if c := p.peek(); declared.IsValid() && (c == ',' || c == ')') { // XLA passes over it
		p.warn(at, "a shape without an operand is left out")
		p.depth--
		return
	}
	name := p.name("expects an operand: a name or a nested instruction")
	if p.part != nil {
		p.part.refs = append(p.part.refs, ref{name, hashName(name), declared})
		if p.peek() == '#' {
			p.leave()
		}
		p.depth--
		return
	}
	var id hlo.InstrID
	if s, ok := f.names.get(&p.stored, name); ok {
		id = s.id
	} else {
		id = p.undefined(f, name, declared, nameAt)
	}
	for p.pos < len(p.src) && p.peek() == '#' {
		p.pos++
		id = p.element(f, id)
	}
	if declared.IsValid() {
		if s := f.b.Shape(id); !declared.Compatible(s) {
			p.failAt(at, "The declared operand shape %v is not compatible with the shape of the operand instruction %v.", declared, s)
		}
	}
	p.operands = append(p.operands, id)
	p.depth--
}

// undefined handles a name that is not known: a parameter of a single instruction, else a fault.
func (p *parser) undefined(f *scope, name string, declared hlo.Shape, at int) hlo.InstrID {
	if f.open {
		if !declared.IsValid() {
			p.failAt(at, "Operand had no shape in HLO text; cannot create parameter for single-instruction module: %s", name)
		}
		return p.newParameter(f, name, declared, at)
	}
	if f.poisoned[name] {
		panic(&failure{off: at, quiet: true})
	}
	var near []string
	f.names.each(&p.stored, func(n string) { near = append(near, n) })
	hint := ""
	if len(near) <= 10000 {
		slices.Sort(near) // of several as near, the same every time
		hint = didYouMean(name, near)
	}
	p.failHint(at, hint, "instruction does not exist: %s", name)
	return 0
}

// element reads the integer after '#' and takes that element of a tuple. A get-tuple-element is made the first time and shared.
func (p *parser) element(f *scope, tuple hlo.InstrID) hlo.InstrID {
	p.space()
	at := p.pos
	index := p.int()
	s := f.b.Shape(tuple)
	if !s.IsTuple() {
		p.failAt(at, "GTE operand must be tuple, but has shape: %v", s)
	}
	if index < 0 || index >= int64(s.NumElems()) {
		p.failAt(at, "GTE index %d out of bounds for shape: %v", index, s)
	}
	key := elementKey{tuple, index}
	if id, ok := f.elements[key]; ok {
		return id
	}
	spec := hlo.InstrSpec{
		Opcode: hlo.OpGetTupleElement, Name: f.b.Name(tuple) + "_" + strconv.FormatInt(index, 10), Shape: p.internShape(s.Elem(int(index))),
		Operands: []hlo.InstrID{tuple}, Attrs: &hlo.TupleElementAttrs{Index: index}, Position: p.position(at),
	}
	if origin := elementOrigin(f, tuple, index); origin != nil {
		spec.Common = &hlo.Common{Origin: origin}
	}
	id := f.b.AppendSpec(&spec)
	if f.elements == nil {
		f.elements = make(map[elementKey]hlo.InstrID)
	}
	f.elements[key] = id
	return id
}

// nested reads an instruction in the place of an operand, inserts it and pushes it.
func (p *parser) nested(f *scope, declared hlo.Shape, at int) {
	p.leave()
	d := p.newDraft()
	d.at, d.nested = at, true
	d.spec.Shape, d.stated = declared, declared.IsValid()
	word := p.src[at:skipWord(p.src, at)]
	if _, _, err := hlo.ParseMnemonic(word); err != nil {
		p.failHint(at, didYouMean(word, mnemonics()), "cannot parse as an instruction name or as a nested instruction: %s", err)
	}
	id := p.rhs(f, d)
	p.freeDraft(d)
	p.operands = append(p.operands, id)
}

// anonymous is the name of a nested instruction: `add.anon`, then `add.anon.1`, counting over the module.
func (p *parser) anonymous(mnemonic string) string {
	root := mnemonic + ".anon"
	n := p.anon[root]
	p.anon[root]++
	if n == 0 {
		return root
	}
	return root + "." + strconv.Itoa(n)
}

// yieldName gives up a name that was generated for a nested instruction, since an instruction is written with it.
func (p *parser) yieldName(f *scope, name string) {
	id, ok := f.generated[name]
	if !ok {
		return
	}
	delete(f.generated, name)
	other := name
	for ok {
		other = p.anonymous(f.b.Opcode(id).String())
		_, ok = f.names.get(&p.stored, other)
		ok = ok || other == name
	}
	f.b.SetName(id, other)
	f.generated[other] = id
}

// newParameter makes a parameter of an operand of a single instruction that has no definition.
func (p *parser) newParameter(f *scope, name string, s hlo.Shape, at int) hlo.InstrID {
	n := int64(len(f.params))
	f.params = append(f.params, true)
	anonymous := name == ""
	if anonymous {
		name = "_" + strconv.FormatInt(n, 10)
	} else if !isLegalName(name) {
		p.failAt(at, "illegal instruction name: %s; suggest renaming to: %s", name, hlo.LegalName(name))
	}
	name, kept := p.keep(name)
	id := f.b.Append(hlo.InstrSpec{
		Opcode: hlo.OpParameter, Name: name, Shape: s, Attrs: p.parameterAttrs(n), Position: p.position(at),
	})
	if !anonymous {
		f.names.put(&p.stored, hashName(name), id, kept)
	}
	return id
}

// callee reads a computation as a value: a name, or a body in braces.
func (p *parser) callee() hlo.CompID {
	p.enter()
	defer func() { p.depth-- }()
	if p.accept('{') {
		p.leave()
		return p.inlineComputation()
	}
	p.space()
	at := p.pos
	name := p.name("expects computation name")
	if p.part != nil {
		p.part.names = append(p.part.names, name)
		return hlo.CompID(len(p.part.names) - 1)
	}
	def, ok := p.comps[name]
	switch {
	case !ok:
		names := make([]string, 0, len(p.comps))
		for n := range p.comps {
			names = append(names, n)
		}
		hint := ""
		if len(names) <= 10000 {
			hint = didYouMean(name, allowed(names))
		}
		p.failHint(at, hint, "computation does not exist: %s", name)
	case def.bad():
		panic(&failure{off: at, quiet: true})
	}
	return def.id
}

// callees reads a braced list of computations.
func (p *parser) callees(to []hlo.CompID) []hlo.CompID {
	p.expect('{', "expects '{' at the beginning of a list of computations")
	if p.accept('}') {
		return to
	}
	for {
		to = append(to, p.callee())
		if !p.accept(',') {
			break
		}
	}
	p.expect('}', "expects a list to end with kRbrace")
	return to
}

// predecessors reads the value of control-predecessors.
func (p *parser) predecessors(f *scope, d *draft) {
	p.expect('{', "expects '{' at the beginning of control-predecessors")
	for {
		p.space()
		at := p.pos
		name := p.name("expects instruction name")
		d.control = append(d.control, p.predecessor(f, name, at))
		if !p.accept(',') {
			break
		}
	}
	p.expect('}', "expects a list to end with kRbrace")
}

// predecessor is the instruction that control-predecessors name.
func (p *parser) predecessor(f *scope, name string, at int) hlo.InstrID {
	if p.part != nil {
		p.part.refs = append(p.part.refs, ref{name: name, hash: hashName(name)})
		return 0
	}
	s, ok := f.names.get(&p.stored, name)
	if !ok {
		if f.poisoned[name] {
			panic(&failure{off: at, quiet: true})
		}
		p.failAt(at, "instruction '%s' is not defined", name)
	}
	return s.id
}
