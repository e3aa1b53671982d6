package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// draft is an instruction being read.
type draft struct {
	spec   hlo.InstrSpec
	info   *hlo.OpInfo
	stated bool // the shape was written
	// wrapped is the opcode inside of sugar; then spec.Opcode is the async opcode, and own is what was written for the wrapped one.
	wrapped  hlo.Opcode
	thread   *string           // async_execution_thread as written
	aliasing []hlo.OutputAlias // likewise

	at, opAt, openAt, attrsAt int // offsets: name, opcode, '(', what follows ')'
	nested                    bool

	base    int // of the operands in p.operands
	raws    []rawAttr
	seenOwn uint32 // bits of own attributes written
	callees []hlo.CompID
	have    uint32 // bits of callee roles written
	spelled uint32 // bits of the roles of the plan that spelled them
	control []hlo.InstrID

	seenCommon uint32 // bits of common attributes written
	tailAt     int    // where the common attributes begin that end the instruction, 0: none

	// unusual drafts have more to clear: that of sugar, and what was left by a fault.
	unusual bool
	unknown string // opcode that is not known
	inlined bool   // a computation was written in place
	// The attributes of its op that a sugared update or done repeats: indexes are of the plan of the wrapped op.
	repeats       []rawAttr
	repeatedCalls []hlo.CompID
}

// rawAttr is an own attribute whose value was found but not read yet.
type rawAttr struct {
	index      int // in the fields of the plan
	start, end int
	keyAt      int
}

// drafts are reused: one per level of nesting.
func (p *parser) newDraft() *draft {
	if p.level == len(p.drafts) {
		p.drafts = append(p.drafts, new(draft))
	}
	d := p.drafts[p.level]
	p.level++
	if d.unusual {
		*d = draft{raws: d.raws, callees: d.callees, control: d.control}
	}
	d.spec.NameHash, d.spec.Shape, d.spec.Attrs, d.spec.Common = 0, hlo.Shape{}, nil, nil
	d.stated, d.nested, d.wrapped = false, false, hlo.OpInvalid
	d.seenOwn, d.have, d.spelled, d.seenCommon, d.tailAt = 0, 0, 0, 0, 0
	d.raws, d.callees, d.control = d.raws[:0], d.callees[:0], d.control[:0]
	d.base = len(p.operands)
	return d
}

func (p *parser) freeDraft(d *draft) {
	p.operands = p.operands[:d.base]
	p.level--
}

// instruction reads `ROOT? name = rhs` and adds it to the scope.
func (p *parser) instruction(f *scope) {
	if p.pos >= p.tellAt {
		p.tell()
	}
	isRoot := p.acceptWord("ROOT")
	p.space()
	at := p.pos
	name := p.name("expects name")
	if p.peek() != '=' {
		p.fail("expects '=' in instruction")
	}
	p.pos++
	if isRoot && f.root != hlo.NoInstr {
		p.failAt(at, "one computation should have only one ROOT")
	}
	if !isLegalName(name) {
		p.failAt(at, "illegal instruction name: %s; suggest renaming to: %s", name, hlo.LegalName(name))
	}
	hash := hashName(name)
	d := p.newDraft()
	d.at = at
	kept := p.begin(f, d, name, hash)
	id := p.rhs(f, d)
	p.freeDraft(d)
	p.define(f, d.spec.Name, hash, kept, id)
	if isRoot {
		f.root = id
	}
}

// begin gives a draft its name, which must be new in the scope. kept is the place of the copy that the scope compares with.
func (p *parser) begin(f *scope, d *draft, name string, hash nameHash) (kept uint32) {
	if old, ok := f.names.getHashed(&p.stored, name, hash); ok {
		first := p.offset(f.b.Position(old.id))
		p.failHint(d.at, p.before("instruction", first), "instruction already exists: %s", name)
	}
	d.spec.Name, kept = p.keep(name)
	d.spec.NameHash = uint64(hash)
	return kept
}

// define enters an instruction into the scope.
func (p *parser) define(f *scope, name string, hash nameHash, kept uint32, id hlo.InstrID) {
	if f.generated != nil {
		p.yieldName(f, name)
	}
	f.names.put(&p.stored, hash, id, kept)
}

// acceptWord takes a keyword.
func (p *parser) acceptWord(keyword string) bool {
	if p.peek() != keyword[0] {
		return false
	}
	start := p.pos
	if p.word() == keyword && (p.pos >= len(p.src) || p.src[p.pos] != ':') {
		return true
	}
	p.pos = start
	return false
}

// rhs reads what is right of the equals sign, whose name and place are in d, and adds the instruction.
func (p *parser) rhs(f *scope, d *draft) hlo.InstrID {
	p.enter()
	p.written(f, d)
	p.depth--
	if d.wrapped != hlo.OpInvalid {
		return p.sugared(f, d)
	}
	d.spec.Operands = p.operands[d.base:]
	return p.add(f, d)
}

// written reads what is written of an instruction right of the equals sign.
func (p *parser) written(f *scope, d *draft) {
	if p.beginsShape() {
		d.spec.Shape, d.stated = p.shape(), true
	}
	p.opcode(d)
	p.arguments(f, d)
	d.spec.Operands = p.operands[d.base:]
	d.attrsAt = p.pos
	if !d.nested {
		p.attributes(f, d)
	} else {
		p.finishAttributes(d)
	}
}

// add checks a complete draft and appends it.
func (p *parser) add(f *scope, d *draft) hlo.InstrID {
	p.checkArity(d)
	op := d.spec.Opcode
	if !d.stated {
		p.inferShape(f, d)
		d.spreadSharding()
	}
	if check := checks[op]; check != nil {
		check(p, f, d)
	}
	if hlo.IsAsync(op) {
		p.explicitAsync(f, d)
	}
	if d.nested {
		d.spec.Name = p.anonymous(op.String())
		if f.generated == nil {
			f.generated = make(map[string]hlo.InstrID)
		}
		f.generated[d.spec.Name] = hlo.InstrID(f.b.NumInstructions())
	}
	d.spec.Position = p.position(d.at)
	d.spec.Callees, d.spec.Control = d.callees, distinct(d.control)
	return f.b.AppendSpec(&d.spec)
}

// opcode reads the opcode word.
func (p *parser) opcode(d *draft) {
	p.space()
	d.opAt = p.pos
	word := p.word()
	if word == "" {
		p.fail("expects opcode")
	}
	if op := opcodes.find(word); op != hlo.OpInvalid {
		if hlo.IsAsync(op) {
			p.leave()
		}
		d.spec.Opcode, d.info = op, hlo.Info(op)
		return
	}
	p.leave()
	op, wrapped, err := hlo.ParseMnemonic(word)
	if err != nil && p.Lenient && d.stated && !d.nested {
		d.spec.Opcode, d.info = hlo.OpCustomCall, hlo.Info(hlo.OpCustomCall)
		d.unusual, d.unknown = true, word
		hlo.MarkUnknownOpcode(p.commonOf(d), word)
		return
	}
	if err != nil {
		p.failHint(d.opAt, didYouMean(word, mnemonics()), "%s", err)
	}
	d.spec.Opcode, d.wrapped, d.info = op, wrapped, hlo.Info(op)
	d.unusual = true
}

// arguments reads what is in the parentheses.
func (p *parser) arguments(f *scope, d *draft) {
	p.space()
	d.openAt = p.pos
	op := d.spec.Opcode
	p.expect('(', "expects '(' at the beginning of operands")
	switch op {
	case hlo.OpParameter:
		p.space()
		at := p.pos
		n := p.int()
		p.checkParameter(f, n, at)
		d.spec.Attrs = p.parameterAttrs(n)
		p.expect(')', "expects ')' after parameter number")
	case hlo.OpConstant:
		if !d.stated {
			p.failAt(d.opAt, "cannot infer shape for opcode: constant")
		}
		p.constant(d)
		p.expect(')', "expects ')' after constant literal")
	default:
		if p.accept(')') {
			return
		}
		for {
			p.operand(f)
			if !p.accept(',') {
				break
			}
		}
		p.expect(')', "expects ')' at the end of operands")
	}
}

// checkParameter notes that parameter n exists.
func (p *parser) checkParameter(f *scope, n int64, at int) {
	switch {
	case p.part != nil: // later
		return
	case n < 0:
		p.failAt(at, "parameter number must be >= 0")
	case n >= int64(len(p.text)):
		p.failAt(at, "parameter number %d is out of range", n)
	case n < int64(len(f.params)) && f.params[n]:
		p.failAt(at, "Duplicate parameter number %d", n)
	}
	if n >= int64(len(f.params)) {
		f.params = append(f.params, make([]bool, int(n)+1-len(f.params))...)
	}
	f.params[n] = true
	if p.undo.scope == f {
		p.undo.parameters = append(p.undo.parameters, int(n))
	}
}

// arityRule is the rule that a wrong number of operands breaks.
func arityRule(op hlo.Opcode) string {
	switch op {
	case hlo.OpWhile:
		return "WHL-03"
	case hlo.OpScaledDot:
		return "SDOT-01"
	case hlo.OpAsyncDone:
		return "ASYNC-15"
	}
	return "GEN-02"
}

// checkArity compares the number of operands with the op's, when it is fixed.
func (p *parser) checkArity(d *draft) {
	n := len(d.spec.Operands)
	if a := d.info.Arity; !a.Accepts(n) && a.IsFixed() {
		p.failRule(arityRule(d.spec.Opcode), d.openAt, "expects %d operands, but has %d operands", a.Min, n)
	}
}

// inferShape computes a shape that was left out.
func (p *parser) inferShape(f *scope, d *draft) {
	op := d.spec.Opcode
	if !d.info.CanInfer && op != hlo.OpOptBarrier {
		p.failAt(d.opAt, "cannot infer shape for opcode: %v", op)
	}
	operands := make([]hlo.Shape, len(d.spec.Operands))
	for i, id := range d.spec.Operands {
		operands[i] = f.b.Shape(id)
	}
	if op == hlo.OpBroadcast && len(operands) == 1 && !operands[0].IsScalar() {
		p.failAt(d.opAt, "cannot infer shape for opcode: broadcast of an array")
	}
	callees := make([]hlo.ProgramShape, len(d.callees))
	for i, id := range d.callees {
		callees[i] = p.ed.View(id).Signature()
	}
	s, err := hlo.InferShape(&hlo.ShapeContext{Op: op, Operands: operands, Attrs: d.spec.Attrs, Callees: callees, MixedPrecision: true})
	if err != nil {
		p.failAt(d.opAt, "failed to infer shape for opcode: %v, error: %v", op, err)
	}
	if !p.KeepMissingLayouts {
		s = s.WithDefaultLayout()
	}
	d.spec.Shape = p.internShape(s)
}

// inlineComputation reads a body in braces as a computation of its own. The cursor is behind the opening brace.
func (p *parser) inlineComputation() hlo.CompID {
	p.enter()
	f := p.openScope("_")
	// Statements in here are part of the enclosing one: a fault in them ends that.
	for p.peek() != '}' {
		if p.pos >= len(p.src) {
			p.fail("expects '}' at the end of instruction list.")
		}
		key := p.attrKey
		p.attrKey = ""
		p.instruction(f)
		p.attrKey = key
	}
	p.pos++
	if save := p.pos; p.accept(',') {
		if p.key() == "execution_thread" {
			f.b.SetExecutionThread(p.string())
		} else {
			p.pos = save
		}
	}
	p.depth--
	return p.closeScope(f, p.pos-1)
}

// mustHave fails when a required attribute is missing.
func (p *parser) mustHave(d *draft, key string) {
	at := skipSpace(p.text, d.attrsAt)
	if strings.Contains(p.text[d.attrsAt:at], "\n") {
		at = d.attrsAt
	}
	p.failAt(at, "attribute %s is expected but not seen", key)
}

// allowed lists attribute names in alphabetical order for messages.
func allowed(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
