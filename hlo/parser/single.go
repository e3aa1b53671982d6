package parser

import (
	"github.com/gohalo/halo/hlo"
)

// single reads a lone instruction as a module (hlo-text section 2.9): operands that nobody defined become parameters.
func (p *parser) single() hlo.Module {
	p.beginModule("_")
	p.config.FileName, p.config.IsScheduled = p.file, true
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
			p.failAt(d.at, "illegal instruction name: %s; suggest renaming to: %s", d.spec.Name, sanitize(d.spec.Name))
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
	// XLA takes the entry layout of a lone instruction from nowhere: it is the default one.
	sig := p.ed.View(id).Signature()
	layout := &hlo.ProgramShape{Parameters: make([]hlo.Shape, len(sig.Parameters)), Result: sig.Result.WithoutLayout().WithDefaultLayout()}
	for i, s := range sig.Parameters {
		layout.Parameters[i] = s.WithoutLayout().WithDefaultLayout()
	}
	p.config.EntryLayout = layout
	return p.finishModule()
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
	return word == "b" && p.src[end] == '('
}
