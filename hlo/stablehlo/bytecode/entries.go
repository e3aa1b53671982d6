package bytecode

import (
	"bytes"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// enter counts a level of nesting.
func (d *decoder) enter(r *reader) {
	if d.depth++; d.depth > maxDepth {
		r.fail("nested deeper than %d levels", maxDepth)
	}
}

// attr reads the index of an attribute and finds the attribute.
func (d *decoder) attr(r *reader) mlir.Attr { return d.attrAt(r, r.varint()).attr }

// optionalAttr reads the index of an attribute, or none: nil.
func (d *decoder) optionalAttr(r *reader) mlir.Attr {
	v := r.varint()
	if v == 0 {
		return nil
	}
	return d.attrAt(r, v>>1).attr
}

func (d *decoder) attrAt(r *reader, i uint64) *entry {
	if i >= uint64(len(d.attrs)) {
		r.fail("attribute %d, there are %d", i, len(d.attrs))
	}
	e := &d.attrs[i]
	if e.state == done {
		d.expand(r, e.size)
		return e
	}
	before := d.expanded
	d.expand(r, len(e.data))
	inner := d.begin(r, e, "attribute")
	switch {
	case !e.custom:
		e.attr = d.attrText(inner)
	case e.dialect == "builtin":
		e.attr = d.builtinAttr(inner, e)
	case e.dialect == "vhlo":
		e.attr = d.vhloAttr(inner)
	case e.dialect == "sdy":
		e.attr = d.sdyAttr(inner, e)
	default:
		d.refuseStableHLO(inner, e.dialect)
		// An attribute that means something to others only: it is an error when something here asks for it.
		e.attr = mlir.Text("#" + e.dialect)
		inner.pos = len(inner.data)
	}
	d.finish(inner, e, "an attribute")
	if dense, ok := e.attr.(mlir.Dense); ok {
		d.expanded = before + len(dense.Type.Text) // its data is there once
	}
	e.size = d.expanded - before
	return e
}

// mayExpand is how large the attributes of a file may be, each counted as often as it is used.
const mayExpand = 1 << 30

// expand counts an attribute that is used.
func (d *decoder) expand(r *reader, size int) {
	if d.expanded += size; d.expanded > mayExpand {
		r.fail("the attributes stand for more than %d bytes", mayExpand)
	}
}

// typ reads the index of a type and finds the type.
func (d *decoder) typ(r *reader) *mlir.Type { return d.typeAt(r, r.varint()) }

func (d *decoder) typeAt(r *reader, i uint64) *mlir.Type {
	if i >= uint64(len(d.typs)) {
		r.fail("type %d, there are %d", i, len(d.typs))
	}
	e := &d.typs[i]
	if e.state == done {
		return e.typ
	}
	inner := d.begin(r, e, "type")
	switch {
	case !e.custom:
		e.typ = d.typeText(inner)
	case e.dialect == "builtin":
		e.typ = d.builtinType(inner)
	case e.dialect == "vhlo":
		e.typ = d.vhloType(inner)
	default:
		d.refuseStableHLO(inner, e.dialect)
		inner.fail("the types of the dialect %s are not read", e.dialect)
	}
	d.finish(inner, e, "a type")
	return e.typ
}

// begin marks an entry as being read, so that one that contains itself is refused.
func (d *decoder) begin(r *reader, e *entry, what string) *reader {
	if e.state == reading {
		r.fail("the %s contains itself", what)
	}
	e.state = reading
	d.enter(r)
	return &reader{data: e.data, base: e.at, section: sectionNames[attrTypeSection]}
}

func (d *decoder) finish(r *reader, e *entry, what string) {
	r.end(what)
	e.state = done
	d.depth--
}

// refuseStableHLO refuses what the dialects of a program that was not serialized write themselves, which differs from release to release.
func (d *decoder) refuseStableHLO(r *reader, dialect string) {
	if dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo" || dialect == "func" {
		r.fail("this is not a portable artifact: the dialect %s has an encoding of its own; write one with stablehlo.serialize_portable_artifact, "+
			"or print the program as text", dialect)
	}
}

// text is an entry that stands as text.
func (d *decoder) text(r *reader) string {
	n := bytes.IndexByte(r.data, 0)
	if n < 0 {
		r.fail("the text does not end in a zero")
	}
	s := string(r.data[:n])
	r.pos = n + 1
	return s
}

func (d *decoder) attrText(r *reader) mlir.Attr {
	s := d.text(r)
	a, err := mlir.ParseAttr(d.types, s)
	if err != nil {
		r.fail("attribute %q: %s", s, err)
	}
	return a
}

func (d *decoder) typeText(r *reader) *mlir.Type {
	s := d.text(r)
	t, err := mlir.ParseType(d.types, s)
	if err != nil {
		r.fail("type %q: %s", s, err)
	}
	return t
}
