package hostprog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/runtime/bef"
)

// The exact form of a text says what the canonical one leaves to the assembler: where ops come from, as `loc(...)` behind each; which stream they
// are in; how names are numbered; and the sections that other readers skip. Such a text assembles to the very bytes it was made from.
//
// Properties that MLIR lacks are attributes, of ops and of the module around them.
const (
	attrStream    = "bef.stream"    // of an op
	attrNoLoc     = "bef.noloc"     // of an op or function that has no record of where it comes from
	attrNames     = "bef.kernels"   // names of kernels in the order of their codes
	attrTypeNames = "bef.types"     // likewise of types
	attrPoolAlign = "bef.alignment" // of the attributes section
	attrSections  = "bef.sections"  // [id, alignment, bytes] for each section of one's own
)

// isExact reports whether an attribute is one of those above.
func isExact(name string) bool { return name == attrStream || name == attrNoLoc }

// DisassembleExact is Disassemble for a text in the exact form. It needs a file that tells its types.
func DisassembleExact(f *bef.File) (*Program, error) {
	if !f.Typed {
		return nil, fmt.Errorf("%s There is no exact text without them", MissingSections)
	}
	d := newDisassembler(f)
	d.exact = true
	p, err := d.program()
	if err != nil {
		return nil, err
	}
	p.exact = true
	list := func(names []string) Attr {
		a := Attr{Kind: ArrayAttr}
		for _, n := range names {
			a.Elems = append(a.Elems, stringAttr(n))
		}
		return a
	}
	m := &p.Module.Attrs
	m.Set(attrNames, list(f.Kernels))
	m.Set(attrTypeNames, list(f.Types))
	m.Set(attrPoolAlign, intAttr("i64", int64(f.Attrs.Align)))
	var sections Attr
	for _, s := range f.Extensions {
		if s.ID == bef.KernelFlagsSection {
			continue // bef.nonstrict says it
		}
		sections.Elems = append(sections.Elems, Attr{Kind: ArrayAttr, Elems: []Attr{intAttr("i64", int64(s.ID)), intAttr("i64", int64(s.Align)), stringAttr(string(s.Data))}})
	}
	if len(sections.Elems) > 0 {
		sections.Kind = ArrayAttr
		m.Set(attrSections, sections)
	}
	return p, nil
}

// locate records where a function or kernel comes from.
func (d *disassembler) locate(op *Op, id bef.LocID) {
	if !d.exact {
		return
	}
	l := d.f.Locations.At(id)
	if l.Kind == bef.NoLocation {
		op.Attrs.Set(attrNoLoc, Attr{Kind: UnitAttr})
		return
	}
	op.Loc = &l
}

// exactly prepares the builder for an exact text: names in their order, sections of one's own.
func (a *assembler) exactly(m *Op) {
	for _, e := range m.Attrs {
		switch e.Name {
		case attrNames, attrTypeNames:
			for _, n := range e.Attr.Elems {
				if n.Kind != StringAttr {
					a.errorf(m, "attribute '%s' must be a list of strings", e.Name)
				} else if e.Name == attrNames {
					a.b.KernelCode(n.Text)
				} else {
					a.b.Type(n.Text)
				}
			}
		case attrPoolAlign:
			a.align = int(e.Attr.Bits)
			if a.align < 1 || a.align > 64 || a.align&(a.align-1) != 0 {
				a.errorf(m, "attribute '%s' must be a power of two up to 64", attrPoolAlign)
			}
		case attrSections:
			for _, s := range e.Attr.Elems {
				a.section(m, s)
			}
		}
	}
}

func (a *assembler) section(m *Op, s Attr) {
	ok := s.Kind == ArrayAttr && len(s.Elems) == 3 && s.Elems[0].Kind == IntAttr && s.Elems[1].Kind == IntAttr && s.Elems[2].Kind == StringAttr
	if ok {
		id, align := s.Elems[0].Bits, s.Elems[1].Bits
		if ok = id >= 0x80 && id < 0xC0 && bef.SectionID(id) != bef.KernelFlagsSection && align >= 1 && align <= 128 && align&(align-1) == 0; ok {
			a.b.Extensions = append(a.b.Extensions, bef.Section{ID: bef.SectionID(id), Align: int(align), Data: []byte(s.Elems[2].Text)})
			return
		}
	}
	a.errorf(m, "attribute '%s' must list sections: [id from 128 to 191, alignment, bytes]", attrSections)
}

// locationText is a location as text has it.
func locationText(l bef.Location) string {
	switch l.Kind {
	case bef.FileLocation:
		return quote(l.File) + ":" + strconv.Itoa(int(l.Line)) + ":" + strconv.Itoa(int(l.Column))
	case bef.NamedLocation:
		if len(l.Parts) > 0 && l.Parts[0].Kind != bef.UnknownLocation {
			return quote(l.Name) + "(" + locationText(l.Parts[0]) + ")"
		}
		return quote(l.Name)
	case bef.CallSiteLocation:
		if len(l.Parts) == 2 {
			return "callsite(" + locationText(l.Parts[0]) + " at " + locationText(l.Parts[1]) + ")"
		}
	case bef.FusedLocation:
		parts := make([]string, len(l.Parts))
		for i, p := range l.Parts {
			parts[i] = locationText(p)
		}
		return "fused[" + strings.Join(parts, ", ") + "]"
	}
	return "unknown"
}
