package parser

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
)

// plan is what the reader knows about the attributes of an opcode, all of it from the op table.
type plan struct {
	fields   []hlo.AttrField
	required uint32 // bits of fields
	roles    []role
	needed   uint32             // bits of callee roles that must be written
	newAttrs func() hlo.OpAttrs // nil: none
	accuracy bool
	names    []string // every attribute allowed
}

// role is a spelling under which an op names computations.
type role struct {
	name string
	slot int  // of the instruction's callees, by position in the table
	list bool // braced list
}

var plans [hlo.NumOpcodes]atomic.Pointer[plan]

// maxOwnFields is how many own attributes fit the bits of a plan.
const maxOwnFields = 32

func planOf(op hlo.Opcode) *plan {
	if p := plans[op].Load(); p != nil {
		return p
	}
	info := hlo.Info(op)
	p := &plan{accuracy: info.HasAccuracy, newAttrs: info.NewAttrs, names: slices.Clone(commonKeys[:])}
	if !p.accuracy {
		p.names = slices.DeleteFunc(p.names, func(n string) bool { return n == "result_accuracy" })
	}
	if info.NewAttrs != nil {
		p.fields = hlo.AttrFields(info.NewAttrs())
		if len(p.fields) > maxOwnFields {
			panic("hlo/parser: too many attributes on " + info.Name)
		}
		for i, f := range p.fields {
			if f.Required {
				p.required |= 1 << i
			}
			p.names = append(p.names, string(f.Key))
		}
	}
	for i, r := range info.Callees {
		p.roles = append(p.roles, role{r.Name, i, r.List})
		if !r.Optional {
			p.needed |= 1 << i
		}
	}
	for _, a := range info.Aliases {
		p.roles = append(p.roles, role{name: a.Name, slot: a.Index})
	}
	for _, r := range p.roles {
		p.names = append(p.names, r.name)
	}
	plans[op].CompareAndSwap(nil, p)
	return p
}

// attributes reads `, key=value ...` after the operands. Values of own attributes are only found here; they are read together in
// finishAttributes, unless the same text was read before.
func (p *parser) attributes(f *scope, d *draft) {
	op := d.spec.Opcode
	if d.wrapped != hlo.OpInvalid && op == hlo.OpAsyncStart {
		op = d.wrapped
	}
	pl := planOf(op)
	if p.Lenient && isSugaredStep(d) && continuesUnknown(f, d) {
		p.asUnknown(f, d)
		return
	}
	for p.accept(',') {
		comma := p.pos - 1
		p.space()
		keyAt := p.pos
		key := p.key()
		if key == "" {
			p.attrKey = ""
			if p.atEnd() {
				keyAt = comma
			}
			p.failAt(keyAt, "expects attribute name")
		}
		p.attrKey = key
		if k := commonByKey(key); d.unknown != "" && (k < 0 || k == commonAccuracy) {
			p.unexpected(d, pl, key, keyAt)
			continue
		}
		if i := pl.field(key); i >= 0 {
			p.once(&d.seenOwn, i, key, keyAt)
			d.tailAt = 0
			p.raw(d, pl, i, keyAt)
			if p.Lenient && !p.readable(d, pl, d.raws[len(d.raws)-1]) {
				p.asUnknown(f, d)
				return
			}
			continue
		}
		if i := pl.role(key); i >= 0 && !isSugaredStep(d) {
			p.once(&d.spelled, i, key, keyAt)
			d.tailAt = 0
			p.roleValue(d, pl.roles[i], keyAt)
			continue
		}
		switch k := commonByKey(key); {
		case k == commonAccuracy && !pl.accuracy:
			p.unexpected(d, pl, key, keyAt)
		case k >= 0:
			p.keepCommon(f, d, k, keyAt)
		case d.wrapped != hlo.OpInvalid && p.asyncAttribute(d, key, keyAt):
			d.tailAt = 0
		case isSugaredStep(d) && !p.Strict && p.repeatedAttribute(d, key, keyAt):
			d.tailAt = 0
		default:
			p.unexpected(d, pl, key, keyAt)
		}
	}
	p.attrKey = ""
	p.keepTail(d)
	p.finishAttributes(d)
}

func (pl *plan) field(key string) int {
	for i := range pl.fields {
		if string(pl.fields[i].Key) == key {
			return i
		}
	}
	return -1
}

func (pl *plan) role(key string) int {
	for i := range pl.roles {
		if pl.roles[i].name == key {
			return i
		}
	}
	return -1
}

// once notes that attribute i is written and fails when it was before.
func (p *parser) once(seen *uint32, i int, key string, at int) {
	if *seen&(1<<i) != 0 {
		p.attrKey = ""
		p.failAt(at, "attribute %s already exists", key)
	}
	*seen |= 1 << i
}

// raw finds the value of own attribute i at the cursor without reading it.
func (p *parser) raw(d *draft, pl *plan, i, keyAt int) {
	p.space()
	start := p.pos
	if pl.fields[i].Type == literalType {
		p.skipShapedLiteral()
	} else {
		p.skipValue()
	}
	d.raws = append(d.raws, rawAttr{index: i, start: start, end: p.pos, keyAt: keyAt})
}

// unexpected keeps an unknown attribute if the reader is lenient, else it fails.
func (p *parser) unexpected(d *draft, pl *plan, key string, at int) {
	p.attrKey = ""
	if p.Lenient && (commonByKey(key) < 0 || d.unknown != "") {
		p.keepUnknown(d, key)
		return
	}
	names := pl.names
	if d.wrapped != hlo.OpInvalid {
		names = asyncNames(d, names)
	}
	names = allowed(names)
	p.failHintRule(unexpectedRule(d.spec.Opcode, key), at, didYouMean(key, names), "unexpected attribute %q. Allowed attributes: %s", key, strings.Join(names, ", "))
}

// unexpectedRule is the rule that an attribute breaks where it may not stand.
func unexpectedRule(op hlo.Opcode, key string) string {
	switch key {
	case "to_apply", "calls", "body", "condition", "called_computations", "branch_computations":
		if len(hlo.Info(op).Callees) == 0 && !hlo.IsAsync(op) {
			return "GEN-01"
		}
	case "result_accuracy":
		return "ELT-18"
	case "output_to_operand_aliasing":
		if op == hlo.OpCall {
			return "CALL-05"
		}
	}
	return ""
}

var literalType = reflect.TypeFor[*hlo.Literal]()

// finishAttributes makes the values of the attributes that were found: sets read before are looked up by their text.
func (p *parser) finishAttributes(d *draft) {
	op := d.spec.Opcode
	if d.wrapped != hlo.OpInvalid && op == hlo.OpAsyncStart {
		op = d.wrapped
	}
	pl := planOf(op)
	switch {
	case pl.newAttrs == nil || d.spec.Attrs != nil:
	case d.unknown != "":
		a := pl.newAttrs().(*hlo.CustomCallAttrs)
		a.Target, a.HasSideEffect = d.unknown, true
		d.spec.Attrs = a
	case len(d.raws) == 0:
		if p.plain[op] == nil {
			p.plain[op] = p.ownAttributes(d, pl)
		}
		d.spec.Attrs = p.plain[op]
	default:
		key := attrsKey{op, p.src[d.raws[0].keyAt:d.raws[len(d.raws)-1].end]}
		a, ok := p.attrs[key]
		if !ok {
			a = p.ownAttributes(d, pl)
			key.text = p.keepText(key.text)
			p.attrs[key] = a
		}
		d.spec.Attrs = a
	}
	if missing := pl.needed &^ d.have; missing != 0 && op != hlo.OpConditional {
		for i, r := range pl.roles {
			if missing&(1<<i) != 0 {
				p.mustHave(d, r.name)
			}
		}
	}
}

// ownAttributes reads the own attributes of an instruction.
func (p *parser) ownAttributes(d *draft, pl *plan) hlo.OpAttrs {
	if missing := pl.required &^ d.seenOwn; missing != 0 {
		for i, f := range pl.fields {
			if missing&(1<<i) != 0 {
				p.mustHave(d, string(f.Key))
			}
		}
	}
	a := pl.newAttrs()
	v := reflect.ValueOf(a).Elem()
	for _, r := range d.raws {
		field := &pl.fields[r.index]
		p.within(r, string(field.Key), func() {
			p.fieldInto(v.Field(field.Index).Addr().Interface(), field)
		})
	}
	return a
}

// within reads the text of one attribute with f, which must use all of it.
func (p *parser) within(r rawAttr, key string, f func()) {
	src, pos := p.src, p.pos
	p.src, p.pos, p.attrKey = src[:r.end], r.start, key
	f()
	if !p.atEnd() {
		rule := ""
		if key == "padding" { // interior padding has no sign, for one
			rule = "SHP-15"
		}
		p.failRule(rule, p.pos, "unexpected text after the value")
	}
	p.src, p.pos, p.attrKey = src, pos, ""
}

// roleValue reads computations under a role.
func (p *parser) roleValue(d *draft, r role, at int) {
	bit := uint32(1) << r.slot
	if d.have&bit != 0 {
		p.failAt(at, "%s names computations that another attribute names already", r.name)
	}
	d.have |= bit
	if r.list {
		d.callees = p.callees(d.callees)
		return
	}
	d.inlined = d.inlined || p.peek() == '{'
	d.unusual = d.unusual || d.inlined
	id := p.callee()
	for len(d.callees) <= r.slot {
		d.callees = append(d.callees, hlo.NoComp)
	}
	d.callees[r.slot] = id
}

// fieldInto reads the value of an own attribute into the struct field that dst points to. There is one reader for each Go type.
func (p *parser) fieldInto(dst any, f *hlo.AttrField) {
	switch dst := dst.(type) {
	case *bool:
		*dst = p.bool()
	case *int64:
		*dst = p.int()
	case *hlo.OptInt:
		*dst = hlo.SomeInt(p.int())
	case *float32:
		*dst = p.float32()
	case *string:
		*dst = p.string()
	case *[]int64:
		at := p.pos
		*dst = p.intList()
		if f.Single && len(*dst) != 1 {
			p.failRule(f.Rule, at, "expects exactly one integer in %s", f.Key)
		}
	case *[][]int64:
		*dst = p.intLists()
	case *[]hlo.PaddingDim:
		*dst = p.padding()
	case *[]hlo.SliceDim:
		*dst = p.slices()
	case *hlo.PrecisionConfig:
		*dst = p.precisions()
	case *hlo.Shape:
		*dst = p.shape()
	case **hlo.ShapeList:
		*dst = p.shapeList()
	case **hlo.Window:
		*dst = p.window()
	case **hlo.ConvDims:
		*dst = p.convDims()
	case **hlo.ReplicaGroups:
		*dst = p.replicaGroups()
	case *[]hlo.OutputAlias:
		*dst = p.outputAliases()
	case **hlo.Domain:
		*dst = p.domain()
	case **hlo.SparsityConfig:
		*dst = p.sparsity()
	case **hlo.Literal:
		*dst = p.shapedLiteral()
	case hlo.Enum:
		p.enum(reflect.ValueOf(dst).Elem(), f)
	default:
		panic(fmt.Sprintf("hlo/parser: no reader for attributes of type %T", dst))
	}
}
