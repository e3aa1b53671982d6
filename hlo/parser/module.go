package parser

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// build is the module under construction.
type build struct {
	ed       *hlo.Editor
	comps    map[string]definition // computations by written name
	config   hlo.ModuleConfig
	frames   *hlo.StackFrames // as written
	anon     map[string]int   // how often a generated name was used, by its root
	spare    []*scope         // scopes to use again
	stored   nameStore        // all names
	texts    nameStore        // of shapes and attributes
	asyncs   []asyncCall
	operands []hlo.InstrID // scratch of operand lists, used as a stack
	drafts   []*draft
	level    int
	aliasAt  []int // of each input_output_alias entry
	filler   hlo.Filler
	unspent  int64 // bytes left for constants that are not spelled out
	// hasFrameIDs says that some metadata refers to a stack frame.
	hasFrameIDs bool
	given       map[hlo.CompID]givenNames // of a single instruction
	threads     map[hlo.CompID]string     // that computations and what they call were given
}

// definition is a named computation. One with faults is NoComp; its users are not to blame.
type definition struct {
	id hlo.CompID
	at uint32
}

func (d definition) bad() bool { return d.id == hlo.NoComp }

func (p *parser) beginModule(name string) {
	p.ed = hlo.NewModule(name)
	// A map that grows leaves as much behind. What only looks like the end of a computation is not counted for more than it could be.
	p.comps = make(map[string]definition, min(strings.Count(p.text, "\n}"), len(p.text)>>9))
	p.anon = make(map[string]int)
	p.unspent = p.MaxConstantBytes
	if p.unspent <= 0 {
		p.unspent = 1 << 30
	}
}

// module reads a module of computations in one pass: the grammar of frontSyntax finds the header and the debug tables, and from there on the
// cursor goes through the text computation by computation, with no token in between; last comes what needs the whole: entry, schedule, stack
// frames, layouts, aliases. Behind a fault it goes on with the next statement (recover.go).
func (p *parser) module() hlo.Module {
	p.quiet = true
	p.beginModule("")
	p.ed.ReserveNames(estimate(p.text))
	p.config.FileName = p.file
	front, fault := readFront(p.text)
	named, entry := len(front.Header) > 0, ""
	if named {
		p.guard(func() { p.header(front.Header[0]) })
	}
	p.guard(func() { p.tables(front.Tables) })
	if len(front.Computations) > 0 {
		at := front.Computations[0].At
		if p.session != nil {
			p.session.front = at
		}
		done := p.readAhead(at)
		entry = p.computations(at)
		done()
	}
	switch {
	case fault != nil && (len(p.errs) == 0 || p.errs[len(p.errs)-1].Msg != fault.msg): // else the header has it already
		p.report(fault)
	case entry == "" && len(p.errs) == 0:
		p.report(&failure{off: len(p.text), msg: "expects name", note: []string{"a module has at least one computation"}})
	}
	var m hlo.Module
	if len(p.errs) == 0 {
		p.ed.SetEntry(p.comps[entry].id)
		if !named {
			p.ed.SetName("module_" + entry)
		}
		p.guard(func() { m = p.finishModule() })
	}
	for _, w := range p.warnings {
		p.Warn(w)
	}
	return m
}

// estimate is about how many instructions a text has: it counts lines in a few places.
func estimate(text string) int {
	const samples, size = 4, 8 << 10
	if len(text) < 2*samples*size {
		return strings.Count(text, "\n")
	}
	lines := 0
	for i := range samples {
		from := len(text) / samples * i
		lines += strings.Count(text[from:from+size], "\n")
	}
	return len(text) / (samples * size) * lines
}

// computations reads computations from offset at to the end of the text, and returns the name of the entry.
func (p *parser) computations(at int) (entry string) {
	p.src, p.pos = p.text, at
	last, marked := "", false
	for !p.atEnd() && len(p.errs) < maxErrors {
		start := p.pos
		c, ok := p.computation()
		if !ok {
			break
		}
		if c.isEntry {
			if marked {
				p.report(&failure{off: start, msg: "expects only one ENTRY"})
			}
			entry, marked = c.name, true
		}
		last = c.name
	}
	if !marked {
		entry = last
	}
	return entry
}

// head is what stands before the body of a computation: `ENTRY? name signature? {`.
type head struct {
	name     string
	at       int // of the name
	isEntry  bool
	result   hlo.Shape // of the signature, if there is one
	resultAt int
}

// computation reads a computation; false when the text cannot be followed any further.
func (p *parser) computation() (h head, ok bool) {
	before, start := len(p.errs), p.pos
	var f *scope
	if fault := p.try(func() {
		p.headName(&h)
		p.headSignature(&h)
	}); fault != nil {
		if ok = p.headAgain(&h, start, fault); !ok {
			return h, false
		}
	}
	h.name, _ = p.keep(h.name)
	f = p.openScope(h.name)
	if p.touched != nil {
		p.touched.here = []hlo.InstrID{}
	}
	if !p.body(f, start, before) {
		return h, false
	}
	end, id := p.pos, hlo.NoComp
	if fault := p.try(func() { p.closing(f) }); fault != nil {
		if !p.closingAgain(f, end, fault) {
			return h, false
		}
	}
	p.guard(func() { p.checkSignature(f, h.result, h.resultAt) })
	if len(p.errs) == before {
		if p.guard(func() { id = p.closeScope(f, end) }) && p.touched != nil {
			p.touched.close(id)
		}
	}
	if old, ok := p.comps[h.name]; !ok || old.bad() {
		p.comps[h.name] = definition{id, uint32(h.at)}
	}
	return h, true
}

// headName reads `ENTRY? name`.
func (p *parser) headName(h *head) {
	h.at = p.pos
	if h.isEntry = p.acceptWord("ENTRY"); h.isEntry {
		p.space()
		h.at = p.pos
	}
	p.space()
	h.at = p.pos
	h.name = p.name("expects name")
	if old, ok := p.comps[h.name]; ok {
		p.failHint(h.at, p.before("computation", int(old.at)), "computation already exists: %s", h.name)
	}
}

// headSignature reads the rest of a head.
func (p *parser) headSignature(h *head) {
	if p.peek() == '(' {
		h.result, h.resultAt = p.signature()
	}
	p.expect('{', "expects '{' at the beginning of instruction list.")
}

// closing reads the brace that closes a body, and the attributes behind it.
func (p *parser) closing(f *scope) {
	p.pos++
	for p.accept(',') {
		p.computationAttribute(f)
	}
}

func (p *parser) computationAttribute(f *scope) {
	p.space()
	at := p.pos
	switch key := p.key(); key {
	case "execution_thread":
		f.b.SetExecutionThread(p.string())
	default:
		p.failAt(at, "unexpected attribute %q. Allowed attributes: execution_thread", key)
	}
}

// signature reads `(x: shape, ...) -> shape`, of which only the result is looked at. at is its place.
func (p *parser) signature() (result hlo.Shape, at int) {
	p.expect('(', "expects '(' at the beginning of param list")
	if !p.accept(')') {
		for {
			p.name("expects name")
			p.shape()
			if !p.accept(',') {
				break
			}
		}
		p.expect(')', "expects ')' at the end of param list")
	}
	if !p.acceptText("->") {
		p.fail("expects '->'")
	}
	p.space()
	at = p.pos
	return p.shape(), at
}

// checkSignature compares the result of a signature, if there is one, with the root.
func (p *parser) checkSignature(f *scope, result hlo.Shape, at int) {
	if !result.IsValid() || f.b.NumInstructions() == 0 || f.bad {
		return
	}
	root := f.rootID()
	if s := f.b.Shape(root); !s.Compatible(result) {
		p.failAt(at, "Shape of computation %s, %v, is not compatible with that of its root instruction %s, %v", f.name, result, f.b.Name(root), s)
	}
}

// finishModule does what needs all computations.
func (p *parser) finishModule() hlo.Module {
	p.checkAsyncCallees()
	if p.config.IsScheduled {
		p.clearFusionSchedules()
	}
	p.rebuildStackFrames()
	p.finishLayout()
	if len(p.errs) > 0 {
		return hlo.Module{}
	}
	config := p.config
	p.ed.SetConfig(&config)
	return p.ed.Freeze()
}

// clearFusionSchedules takes the schedule from computations that a fusion calls.
func (p *parser) clearFusionSchedules() {
	for id := range p.ed.Computations() {
		for in := range p.ed.View(id).Instructions() {
			if in.Opcode() == hlo.OpFusion {
				for callee := range in.Callees() {
					p.ed.Computation(callee).ClearSchedule()
				}
			}
		}
	}
}

// finishLayout infers the entry layout where none was written, and checks aliases against it.
func (p *parser) finishLayout() {
	entry := p.ed.View(p.ed.Entry())
	if p.config.EntryLayout == nil {
		sig := entry.Signature()
		p.config.EntryLayout = &sig
	}
	result := p.config.EntryLayout.Result
	for i, a := range p.config.InputOutputAlias {
		off := len(p.text)
		if i < len(p.aliasAt) {
			off = p.aliasAt[i]
		}
		if _, ok := result.Sub(a.Output); !ok {
			p.report(&failure{off: off, msg: fmt.Sprintf("Tuple index {%s} does not exist in the entry result %v", joinInts(a.Output), result)})
		}
	}
}

func joinInts(v []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]")
}
