package parser

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// reading is an instruction read ahead: what its text says, with the names in it as they are written.
type reading struct {
	start, end uint32 // in the text, ROOT included
	at         uint32 // of the name
	isRoot     bool
	stated     bool
	hasFrameID bool
	op         hlo.Opcode
	shapeText  uint32 // number of the text of the shape
	name       string
	hash       nameHash
	shape      hlo.Shape
	attrs      hlo.OpAttrs
	common     *hlo.Common

	refs              uint32 // the first of its refs: operands, then control predecessors
	operands, control uint32
	called, callees   uint32 // the first of its callees, and their number
	seenOwn, spelled  uint32
}

// ref is the name of an instruction among operands or control predecessors.
type ref struct {
	name     string
	hash     nameHash
	declared hlo.Shape // of an operand, if written
}

// second is a reader ahead of p: of the same text, with a memory of its own.
func (p *parser) second() *parser {
	return newParser(p.Config, p.file, p.text)
}

// left is the fault of an instruction that is left to the parser proper.
var left = &failure{quiet: true}

// leave abandons an instruction if it is being read ahead: what comes next depends on what was before it in the text.
func (p *parser) leave() {
	if p.part != nil {
		panic(left)
	}
}

// maxLeft is how many instructions of a chunk are left to the parser proper before the rest of it is, too.
const maxLeft = 32

// readChunk reads the instructions that begin in a part of the text. It is useful unless most of them have to be left.
func (p *parser) readChunk(c *chunk, from, to int) (useful bool) {
	p.part = c
	// An instruction much longer than a chunk is left, too. A cut instruction cannot be taken for a whole one: see read.
	p.src = p.text[:min(len(p.text), to+(to-from))]
	to = min(to, len(p.src))
	n := 0
	at := from
	if from > 0 {
		at = p.nextLine(from-1, to)
	}
	for at < to && n < maxLeft {
		if definesAt(p.src, at) {
			if p.tryRead(at) {
				at = skipSpace(p.src, p.pos)
				continue
			}
			n++
		}
		at = skipSpace(p.src, p.nextLine(at, to))
	}
	return n <= len(c.readings)
}

// nextLine is where the first line begins after the byte at i, at most to.
func (p *parser) nextLine(i, to int) int {
	if n := strings.IndexByte(p.src[i:to], '\n'); n >= 0 {
		return i + n + 1
	}
	return to
}

// tryRead reads the instruction at an offset, unless it has to be left.
func (p *parser) tryRead(at int) (ok bool) {
	src := p.src
	defer func() {
		if r := recover(); r != nil { // whatever it is: the parser proper comes upon it, too
			p.src, p.attrKey, p.depth, p.level, p.operands = src, "", 0, 0, p.operands[:0]
		}
	}()
	p.pos = at
	p.read()
	return true
}

// noScope is the scope that instructions are read in ahead of the parser proper: it knows no names.
var noScope = new(scope)

// read reads the instruction at the cursor.
func (p *parser) read() {
	c := p.part
	c.drop() // of one that was left half-way
	r := reading{start: uint32(p.pos), refs: uint32(len(c.refs)), called: uint32(len(c.called))}
	r.isRoot = p.acceptWord("ROOT")
	p.space()
	r.at = uint32(p.pos)
	r.name = p.name("expects name")
	p.expect('=', "expects '=' in instruction")
	if !isLegalName(r.name) {
		p.leave()
	}
	r.hash = hashName(r.name)
	p.space()
	recent := &p.recent[recentIndex(p.src, p.pos)]
	d := p.newDraft()
	p.enter()
	p.written(noScope, d)
	p.depth--
	r.shapeText = recent.number
	if end := p.pos; end >= len(p.src) || p.src[end] != '%' && p.src[end] != '}' && class[p.src[end]]&classLetter == 0 {
		p.leave() // it may go on
	}
	r.end = uint32(p.pos)
	r.op, r.shape, r.stated, r.attrs, r.common = d.spec.Opcode, d.spec.Shape, d.stated, d.spec.Attrs, d.spec.Common
	r.hasFrameID = r.common != nil && r.common.Metadata != nil && r.common.Metadata.StackFrameID != 0
	r.control, r.callees = uint32(len(d.control)), uint32(len(d.callees))
	r.operands = uint32(len(c.refs)) - r.refs - r.control
	r.seenOwn, r.spelled = d.seenOwn, d.spelled
	c.called = append(c.called, d.callees...)
	p.freeDraft(d)
	c.readings = append(c.readings, r)
}

// adopt adds an instruction that was read ahead to the scope. One with a fault is read again, which tells what is wrong.
func (p *parser) adopt(f *scope, c *chunk, r *reading) {
	if p.pos >= p.tellAt {
		p.tell()
	}
	shift := p.pos - int(r.start) // since it was read
	at := int(r.at) + shift
	if r.isRoot && f.root != hlo.NoInstr {
		p.failAt(at, "one computation should have only one ROOT")
	}
	d := p.newDraft()
	d.at, d.opAt, d.openAt, d.attrsAt = at, at, at, at
	kept := p.begin(f, d, r.name, r.hash)
	d.info = hlo.Info(r.op)
	d.spec.Opcode, d.spec.Attrs, d.spec.Common = r.op, r.attrs, r.common
	if d.stated = r.stated; d.stated {
		d.spec.Shape = p.own(r.shape, r.shapeText)
	}
	d.seenOwn, d.spelled = r.seenOwn, r.spelled
	if r.hasFrameID {
		p.hasFrameIDs = true
		if p.session != nil {
			d.spec.Common = p.session.unshared(r.common)
		}
	}
	refs := c.refs[r.refs:][:r.operands+r.control]
	if len(f.poisoned) > 0 && p.continuesFault(f, refs[:r.operands], int(r.end)+shift) {
		f.poisonName(r.name)
		p.pos = int(r.end) + shift
		p.freeDraft(d)
		return
	}
	for i := range refs {
		id := p.resolve(f, &refs[i], at)
		if i < int(r.operands) {
			p.operands = append(p.operands, id)
		} else {
			d.control = append(d.control, id)
		}
	}
	for _, callee := range c.called[r.called:][:r.callees] {
		if callee != hlo.NoComp {
			def, ok := p.comps[c.names[callee]]
			if !ok || def.bad() {
				p.failAt(at, "computation does not exist: %s", c.names[callee])
			}
			callee = def.id
		}
		d.callees = append(d.callees, callee)
	}
	if a, ok := r.attrs.(*hlo.ParameterAttrs); ok {
		p.checkParameter(f, a.Number, at)
	}
	p.pos = int(r.end) + shift
	d.spec.Operands = p.operands[d.base:]
	id := p.add(f, d)
	if p.touched != nil {
		p.touched.adopted(id, d, c.version > p.session.sound)
	}
	p.freeDraft(d)
	p.define(f, d.spec.Name, r.hash, kept, id)
	if r.isRoot {
		f.root = id
	}
}

// continuesFault reports whether an instruction that was read ahead can only be left out, since an operand of it has a fault. In texts in
// which much hangs on one that has, this spares reading all of that again.
func (p *parser) continuesFault(f *scope, operands []ref, end int) bool {
	for i := range operands {
		r := &operands[i]
		s, ok := f.names.getHashed(&p.stored, r.name, r.hash)
		switch {
		case !ok:
			return f.poisoned[r.name] && (p.src[end] == '}' || definesAt(p.src, end))
		case r.declared.IsValid() && !r.declared.Compatible(f.b.Shape(s.id)):
			return false // that is to be told
		}
	}
	return false
}

// resolve finds the instruction that a name means.
func (p *parser) resolve(f *scope, r *ref, at int) hlo.InstrID {
	s, ok := f.names.getHashed(&p.stored, r.name, r.hash)
	if !ok {
		p.failAt(at, "instruction does not exist: %s", r.name)
	}
	if r.declared.IsValid() && !r.declared.Compatible(f.b.Shape(s.id)) {
		p.failAt(at, "The declared operand shape %v is not compatible with the shape of the operand instruction %v.", r.declared, f.b.Shape(s.id))
	}
	return s.id
}

// own is the parser's one shape that is equal to s, which was read ahead from the text of a number.
func (p *parser) own(s hlo.Shape, text uint32) hlo.Shape {
	if n := int(text) + 1 - len(p.owned); n > 0 {
		p.owned = append(p.owned, make([]ownedShape, n)...)
	}
	known := &p.owned[text]
	if known.read != s { // the first time; or another text was read since
		known.read, known.own = s, p.internShape(s)
	}
	return known.own
}

// ownedShape is a shape read ahead, and the parser's own that is equal.
type ownedShape struct{ read, own hlo.Shape }
