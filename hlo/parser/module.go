package parser

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

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

// module reads a module of computations: the outline, piece by piece; in the first piece the header and the debug tables; the
// computations, one by one; and last what needs the whole: entry, schedule, stack frames, layouts, aliases.
func (p *parser) module() hlo.Module {
	p.beginModule("")
	p.config.FileName = p.file
	o := outline{lex: &statementLexer{s: p.text}}
	entry, last := "", ""
	named := false
	for {
		piece, broken := o.next()
		if piece == nil {
			break
		}
		if o.parts == 1 {
			if named = len(piece.Header) > 0; named {
				p.guard(func() { p.header(piece.Header[0]) })
			}
			p.guard(func() { p.tables(piece.Tables) })
		}
		for _, c := range piece.Computations {
			if c.Body.Close.Type != tokenClose {
				break
			}
			name, isEntry := p.namedComputation(c)
			if isEntry {
				if entry != "" {
					p.report(&failure{off: c.Head.Pos.Offset, msg: "expects only one ENTRY"})
				}
				entry = name
			}
			last = name
			if len(p.errs) >= maxErrors {
				return hlo.Module{}
			}
		}
		if broken != nil {
			p.report(p.blame(piece, broken))
			break
		}
	}
	if last == "" && len(p.errs) == 0 {
		p.report(&failure{off: len(p.text), msg: "expects name", note: []string{"a module has at least one computation"}})
	}
	if len(p.errs) > 0 {
		return hlo.Module{}
	}
	if entry == "" {
		entry = last
	}
	p.ed.SetEntry(p.comps[entry].id)
	if !named {
		p.ed.SetName("module_" + entry)
	}
	return p.finishModule()
}

// blame moves the fault of a computation that does not end to the bracket that is at fault.
func (p *parser) blame(piece *moduleSyntax, f *failure) *failure {
	n := len(piece.Computations)
	if f.msg != noClose || n == 0 || piece.Computations[n-1].Body.Close.Type == tokenClose {
		return f
	}
	head := piece.Computations[n-1].Head
	off, msg := unclosed(p.text, head.Pos.Offset+len(head.Value)-1)
	if msg == "" {
		return f
	}
	note := []string{f.msg}
	if off == head.Pos.Offset+len(head.Value)-1 {
		note = append(note, fmt.Sprintf("the text ends in line %d: it may be cut off", p.errorAt(len(p.text), "").Line))
	}
	return &failure{off: off, msg: msg, note: note}
}

// at limits the parser to the text of a token and puts the cursor at its beginning.
func (p *parser) at(t lexer.Token) {
	p.pos = t.Pos.Offset
	p.src = p.text[:t.Pos.Offset+len(t.Value)]
}

// namedComputation reads a computation of the module.
func (p *parser) namedComputation(c *computationSyntax) (name string, isEntry bool) {
	before := len(p.errs)
	p.at(c.Head)
	at, id := p.pos, hlo.NoComp
	p.guard(func() {
		if p.acceptWord("ENTRY") {
			isEntry = true
			p.space()
			at = p.pos
		}
		name = p.name("expects name")
		if old, ok := p.comps[name]; ok {
			p.failHint(at, p.before("computation", int(old.at)), "computation already exists: %s", name)
		}
	})
	behind := p.pos
	name, _ = p.keep(name)
	f := p.openScope(name)
	for _, t := range c.Body.Statements {
		p.statement(f, t)
		if len(p.errs) >= maxErrors {
			return name, isEntry
		}
	}
	p.guard(func() {
		p.at(c.Body.Close)
		p.pos++
		for p.accept(',') {
			p.computationAttribute(f)
		}
		p.at(c.Head)
		if p.pos = behind; p.peek() == '(' {
			result, at := p.signature()
			p.checkSignature(f, result, at)
		}
		p.expect('{', "expects '{' at the beginning of instruction list.")
	})
	p.src = p.text
	if len(p.errs) == before {
		p.guard(func() { id = p.closeScope(f, c.Body.Close.Pos.Offset) })
	}
	if old, ok := p.comps[name]; !ok || old.bad() {
		p.comps[name] = definition{id, uint32(at)}
	}
	return name, isEntry
}

// statement reads the instruction in t; a fault costs this statement only.
func (p *parser) statement(f *scope, t lexer.Token) {
	p.at(t)
	ok := p.guard(func() {
		p.instruction(f)
		if !p.atEnd() {
			p.failTrailing()
		}
		if t.Type == tokenBroken {
			p.failAt(t.Pos.Offset, "brackets or quotes of the instruction do not match")
		}
	})
	if !ok {
		f.poison(p.text[t.Pos.Offset : t.Pos.Offset+len(t.Value)])
		p.operands, p.level = p.operands[:0], 0
	}
}

// failTrailing explains what follows a complete instruction.
func (p *parser) failTrailing() {
	at := p.pos
	if p.src[at] == ',' {
		p.failAt(at, "expects attribute name")
	}
	hint := ""
	if k := p.key(); k != "" {
		hint = "attributes are separated by commas"
	}
	p.failHint(at, hint, "expects ',' or the next instruction, sees %s", tokenKind(p.src, at))
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
