package parser

import (
	"fmt"

	"github.com/alecthomas/participle/v2/lexer"
)

// Going on behind a fault. A statement is read without knowing where it ends. If that fails, the lexer of statements finds the end, and the
// statement is read a second time within it: the fault is then what this statement has, whatever follows it, and the next statement begins
// where it ends. A computation with a fault is read to its end and not made; its users are not to blame.

// try runs f and returns the fault that ends it early, if any.
func (p *parser) try(f func()) (fault *failure) {
	depth := p.depth
	defer func() {
		if r := recover(); r != nil {
			mine, ok := r.(*failure)
			if !ok {
				panic(r)
			}
			p.depth, p.attrKey, fault = depth, "", mine
			p.operands, p.level = p.operands[:0], 0
		}
	}()
	f()
	return nil
}

// at limits the parser to the text of a token and puts the cursor at its beginning.
func (p *parser) at(t lexer.Token) { p.limit(t.Pos.Offset, t.Pos.Offset+len(t.Value)) }

// limit keeps the parser within a part of the text and puts the cursor at its beginning.
func (p *parser) limit(start, end int) { p.pos, p.src = start, p.text[:end] }

// goOn lifts the limit and puts the cursor at an offset.
func (p *parser) goOn(at int) { p.pos, p.src = at, p.text }

// headAgain reads a head with a fault a second time; false when it has no end.
func (p *parser) headAgain(h *head, start int, fault *failure) bool {
	lex := &statementLexer{s: p.text, i: start, inside: true}
	t, err := lex.Next()
	switch {
	case err != nil:
		p.report(lexicalFault(err))
		return false
	case t.Type != tokenHead:
		p.report(misplaced(t))
		return false
	}
	p.at(t)
	*h = head{at: start}
	p.guard(func() { p.headName(h) })
	p.guard(func() { p.headSignature(h) })
	p.goOn(t.Pos.Offset + len(t.Value))
	return true
}

// closingAgain reads the end of a computation a second time; false when the attributes have no end.
func (p *parser) closingAgain(f *scope, start int, fault *failure) bool {
	end, err := (&statementLexer{s: p.text}).closing(start + 1)
	if err != nil {
		p.report(lexicalFault(err))
		return false
	}
	p.limit(start, end)
	p.guard(func() { p.closing(f) })
	p.goOn(end)
	return true
}

// body reads the instructions of a computation whose head is at an offset, up to the closing brace; false when there is none, or too much is
// wrong. before is the number of errors before the computation.
func (p *parser) body(f *scope, head, before int) bool {
	for {
		fault := p.try(func() { p.instructions(f) })
		if fault == nil {
			return true
		}
		if p.instructionAgain(f, head, before); p.stopped {
			return false
		}
	}
}

// undo is what has to be as it was when an instruction is read a second time.
type undo struct {
	scope        *scope // of the instruction
	start, last  int    // of the instruction, and of the one before it in the computation or -1
	parameters   []int  // whose numbers the instruction has taken
	asyncs       int
	warnings     int
	unspent      int64
	zero, thread bool // warned of
}

// instructions reads the instructions of a computation.
func (p *parser) instructions(f *scope) {
	u := &p.undo
	u.scope, u.last = f, -1
	for p.peek() != '}' {
		u.start = p.pos
		u.parameters, u.asyncs, u.warnings, u.unspent = u.parameters[:0], len(p.asyncs), len(p.warnings), p.unspent
		u.zero, u.thread = p.warnedZero, p.warnedThread
		if c, r := p.readingAt(p.pos); r != nil {
			p.adopt(f, c, r)
		} else {
			before := f.b.NumInstructions()
			p.instruction(f)
			if p.touched != nil {
				p.touched.add(before, f.b.NumInstructions())
			}
		}
		u.last = u.start
	}
}

// readingAt is what was read before of the instruction at an offset; nil if nothing was.
func (p *parser) readingAt(pos int) (*chunk, *reading) {
	if p.session != nil {
		return p.session.find(pos)
	}
	return p.ahead.find(pos)
}

// instructionAgain deals with the instruction that has failed. The fault is that of the one before if what begins here does not begin an
// instruction.
func (p *parser) instructionAgain(f *scope, head, before int) {
	u := &p.undo
	for _, n := range u.parameters {
		f.params[n] = false
	}
	p.asyncs, p.warnings, p.unspent = p.asyncs[:u.asyncs], p.warnings[:u.warnings], u.unspent
	p.warnedZero, p.warnedThread = u.zero, u.thread
	lex := &statementLexer{s: p.text, inBody: true, inside: true}
	if u.last >= 0 {
		lex.i = u.last
		if t, err := lex.Next(); err == nil && t.Pos.Offset+len(t.Value) > u.start {
			end := t.Pos.Offset + len(t.Value)
			p.limit(u.start, end)
			p.guard(p.failTrailing)
			f.poison(p.text[u.last:end])
			p.goOn(end)
			return
		}
	}
	lex.i, lex.inBody = u.start, true
	t, err := lex.Next()
	if err == nil && (t.Type == tokenInstruction || t.Type == tokenBroken) {
		p.statement(f, t)
		p.goOn(t.Pos.Offset + len(t.Value))
		p.stopped = len(p.errs) >= maxErrors
		return
	}
	// The computation has no end, and nothing in it counts.
	p.errs, p.stopped = p.errs[:before], true
	if err != nil {
		p.report(lexicalFault(err))
		return
	}
	p.report(p.unclosed(head, t.Pos.Offset))
}

const noClose = "expects '}' at the end of instruction list."

// unclosed is the fault of a computation that does not end: that of the bracket that is to blame.
func (p *parser) unclosed(head, at int) *failure {
	lex := &statementLexer{s: p.text, i: head, inside: true}
	t, err := lex.Next()
	if err != nil {
		return &failure{off: at, msg: noClose}
	}
	brace := t.Pos.Offset + len(t.Value) - 1
	off, msg := unclosed(p.text, brace)
	if msg == "" {
		return &failure{off: at, msg: noClose}
	}
	note := []string{noClose}
	if off == brace {
		note = append(note, fmt.Sprintf("the text ends in line %d: it may be cut off", p.errorAt(len(p.text), "").Line))
	}
	return &failure{off: off, msg: msg, note: note}
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
		f.poison(t.Value)
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
