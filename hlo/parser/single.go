package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// single reads a lone instruction as a module (hlo-text section 2.9): operands without a definition become parameters.
func (p *parser) single() hlo.Module {
	p.beginModule("_")
	p.config.FileName, p.config.IsScheduled = p.file, true
	p.given = make(map[hlo.CompID]givenNames)
	f := p.openScope("_")
	f.open = true
	isRoot := p.acceptWord("ROOT")
	p.space()
	d := p.newDraft()
	d.at = p.pos
	d.spec.Name = "_"
	if !p.singleStartsWithShape() {
		if p.atEnd() {
			p.fail("expects name")
		}
		d.spec.Name = p.name("expects name")
		if p.peek() != '=' {
			p.fail("expects '=' in instruction")
		}
		p.pos++
		if !isLegalName(d.spec.Name) {
			p.failAt(d.at, "illegal instruction name: %s; suggest renaming to: %s", d.spec.Name, hlo.LegalName(d.spec.Name))
		}
	} else if isRoot {
		p.fail("expects name")
	}
	f.root = p.rhs(f, d)
	p.freeDraft(d)
	if !p.atEnd() {
		p.fail("Expected eof after parsing single instruction, but sees %s", tokenKind(p.src, p.pos))
	}
	id := p.closeScope(f, p.pos)
	p.ed.SetEntry(id)
	if len(p.given) > 1 {
		id = p.entryFirst()
	}
	sig := p.ed.View(id).Signature()
	layout := &hlo.ProgramShape{Parameters: make([]hlo.Shape, len(sig.Parameters)), Result: rowMajor(sig.Result)}
	for i, s := range sig.Parameters {
		layout.Parameters[i] = rowMajor(s)
	}
	p.config.EntryLayout = layout
	return p.finishModule()
}

// rowMajor is s with the last dimension of every array fastest: the entry layout of a lone instruction in XLA. What else layouts say stays.
func rowMajor(s hlo.Shape) hlo.Shape {
	return s.Map(func(a hlo.Shape) hlo.Shape {
		order := hlo.DefaultLayout(a.Rank())
		if l, ok := a.Layout(); ok && !l.IsRowMajor() {
			l := *l
			l.MinorToMajor = order.MinorToMajor
			return a.WithLayout(&l)
		} else if ok {
			return a
		}
		return a.WithLayout(order)
	})
}

// singleStartsWithShape reports whether the text begins with a shape, and so has no left side.
func (p *parser) singleStartsWithShape() bool {
	if p.peek() == '(' {
		return true
	}
	start := p.pos
	word := p.word()
	end := p.pos
	p.pos = start
	if end >= len(p.src) {
		return false
	}
	if _, isType := typeByName(word); isType {
		return p.src[end] != ':' && p.src[end] != '='
	}
	return isBuffer(p.src, start, end)
}

// givenNames are names as written, before they are made unique.
type givenNames struct {
	computation  string
	instructions []string
}

// note remembers the names of a computation that is about to be finished.
func (p *parser) note(name string, b *hlo.ComputationBuilder) givenNames {
	g := givenNames{computation: name}
	for id := range b.NumInstructions() {
		g.instructions = append(g.instructions, b.Name(hlo.InstrID(id)))
	}
	return g
}

// entryFirst makes the module anew with the entry before the computations in it, as XLA has it, although it is complete after them. The
// order decides who keeps a name.
func (p *parser) entryFirst() hlo.CompID {
	entry := p.ed.Entry()
	m := p.ed.Freeze()
	p.ed = hlo.NewModule(m.Name())
	order := []hlo.CompID{entry}
	for c := range m.Computations() {
		if c.ID() != entry {
			order = append(order, c.ID())
		}
	}
	made := make(map[hlo.CompID]hlo.CompID)
	callees := func(in hlo.Instruction) (ids []hlo.CompID) {
		for id := range in.Callees() {
			ids = append(ids, made[id])
		}
		return ids
	}
	for _, id := range order {
		c, given := m.MustComputation(id), p.given[id]
		b := p.ed.NewComputation(given.computation)
		b.SetScheduled(c.IsScheduled())
		b.SetExecutionThread(c.ExecutionThread())
		for in := range c.Instructions() {
			spec := hlo.InstrSpec{
				Opcode: in.Opcode(), Name: given.instructions[in.ID()], Shape: in.Shape(), Operands: slices.Collect(in.OperandIDs()),
				Attrs: in.Attrs(), Common: in.Common(), Control: slices.Collect(in.ControlPredecessors()), Position: in.Position(),
			}
			if id != entry {
				spec.Callees = callees(in)
			}
			b.Append(spec)
		}
		made[id] = b.Finish(c.Root().ID())
	}
	edit := p.ed.Computation(made[entry])
	for in := range m.MustComputation(entry).Instructions() {
		if in.NumCallees() > 0 {
			edit.Instr(in.ID()).SetCallees(callees(in)...)
		}
	}
	p.ed.SetEntry(made[entry])
	for i := range p.asyncs {
		p.asyncs[i].callee = made[p.asyncs[i].callee]
	}
	return made[entry]
}
