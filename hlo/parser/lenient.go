package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// The lenient reader keeps what it does not know as it is written, so that the text of an XLA to come can be looked at: attributes, opcodes, and
// here attributes that are known with values that are not.

// attempt runs f. A fault in it is returned instead of told, and the cursor is where it was.
func (p *parser) attempt(f func()) (fault *failure) {
	pos, src, depth, errs := p.pos, p.src, p.depth, len(p.errs)
	defer func() {
		if r := recover(); r != nil {
			var mine bool
			if fault, mine = r.(*failure); !mine || fault.quiet {
				panic(r)
			}
			p.pos, p.src, p.depth, p.errs = pos, src, depth, p.errs[:errs]
		}
	}()
	f()
	return nil
}

// keepCommon reads the common attribute k, or keeps it as it is written if its value cannot be read.
func (p *parser) keepCommon(f *scope, d *draft, k, keyAt int) {
	if !p.Lenient || k == commonControl || k == commonReplication {
		p.commonAttribute(f, d, k, keyAt)
		return
	}
	seen := d.seenCommon
	if p.attempt(func() { p.commonAttribute(f, d, k, keyAt) }) == nil {
		return
	}
	d.seenCommon = seen
	p.once(&d.seenCommon, k, commonKeys[k], keyAt)
	p.keepUnknown(d, commonKeys[k])
}

// keepUnknown keeps the attribute whose value comes next as it is written.
func (p *parser) keepUnknown(d *draft, key string) {
	p.attrKey = ""
	p.space()
	start := p.pos
	p.skipValue()
	c := p.commonOf(d)
	c.Unknown = append(c.Unknown, hlo.UnknownAttr{Key: key, Text: p.src[start:p.pos]})
	d.tailAt = 0
}

// readable reports whether the value of own attribute r can be read. What a fault in it means is for the strict reader only.
func (p *parser) readable(d *draft, pl *plan, r rawAttr) bool {
	field := &pl.fields[r.index]
	switch op := d.spec.Opcode; {
	case !p.Lenient || d.inlined || op == hlo.OpParameter || op == hlo.OpConstant || field.Type == literalType:
		return true
	}
	value := field.Value(pl.newAttrs()).Addr().Interface()
	return p.attempt(func() { p.within(r, string(field.Key), func() { p.fieldInto(value, field) }) }) == nil
}

// asUnknown reads the attributes of d anew, d having an opcode that is not known: of one that is known, an attribute has a value that is not,
// and what the instruction does is not known either.
func (p *parser) asUnknown(f *scope, d *draft) {
	p.leave()
	p.pos, p.attrKey = d.attrsAt, ""
	d.unusual, d.unknown = true, p.src[d.opAt:skipWord(p.src, d.opAt)]
	d.spec.Opcode, d.info, d.wrapped = hlo.OpCustomCall, hlo.Info(hlo.OpCustomCall), hlo.OpInvalid
	d.spec.Attrs, d.spec.Common = nil, nil
	d.seenOwn, d.have, d.spelled, d.seenCommon, d.tailAt = 0, 0, 0, 0, 0
	d.raws, d.callees, d.control = d.raws[:0], d.callees[:0], d.control[:0]
	hlo.MarkUnknownOpcode(p.commonOf(d), d.unknown)
	p.attributes(f, d)
}

// continuesUnknown reports whether a step of an asynchronous op goes on with an instruction of an opcode that is not known: a start that was kept
// as it is written has steps that are.
func continuesUnknown(f *scope, d *draft) bool {
	if len(d.spec.Operands) == 0 {
		return false
	}
	c := f.b.Common(d.spec.Operands[0])
	return c != nil && len(c.Unknown) > 0 && c.Unknown[0].Key == ""
}

// keepHeader keeps a header attribute as it is written if read cannot read its value.
func (p *parser) keepHeader(key string, read func(*parser)) {
	if !p.Lenient {
		read(p)
		return
	}
	before := p.config
	before.InputOutputAlias, before.BufferDonors = slices.Clone(before.InputOutputAlias), slices.Clone(before.BufferDonors)
	aliases := len(p.aliasAt)
	if p.attempt(func() { read(p) }) == nil {
		return
	}
	p.config, p.aliasAt = before, p.aliasAt[:aliases]
	p.space()
	start := p.pos
	p.skipValue()
	p.config.Unknown = append(p.config.Unknown, hlo.UnknownAttr{Key: key, Text: p.src[start:p.pos]})
}
