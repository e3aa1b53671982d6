package hostprog

import (
	"fmt"
	"maps"
	"sort"
	"sync"
)

// OpDef is the row of an op: what it takes and gives, and how it is written.
type OpDef struct {
	Name string
	Doc  string

	// Operands are the types of the first operands; AnyType takes all.
	Operands []Type
	// Optional is how many of the last Operands may be left out.
	Optional int
	// Variadic allows further operands of any types; AtLeast counts all.
	Variadic bool
	AtLeast  int

	// Results are the types of the results. With AnyResults they are what the
	// op says, with Carried those of the variadic operands.
	Results    []Type
	AnyResults bool
	Carried    bool

	Attrs []AttrDef
	// Cost marks an op whose _tfrt_cost counts.
	Cost bool
	// Verify checks what the row cannot say. It reports at most one finding
	// and returns its text, or "". A text that begins with a blank goes without
	// the op's name before it.
	Verify func(*Op) (at *Op, msg string)

	// funcs names the attributes that hold the functions of a kernel, in their
	// order; a name that ends in … takes the rest as a list.
	funcs []string
	// regions is the number of regions. Their arguments are the operands
	// without those of which the index is in hidden.
	regions int
	hidden  []int

	// seed rewrites an op in an older spelling, before it is made; it returns
	// ops that go before it.
	seed func(*resolver, *opNode) []*Op

	form         form
	firstOperand string // what to call the first one when it is missing
}

// AnyType is an operand or result of no particular type.
const AnyType Type = "any"

// AttrDef says that an op has an attribute.
type AttrDef struct {
	Name string
	// Is tests the value; Want describes what it tests.
	Is   func(Attr) bool
	Want string
	// Type is the type that the op's form leaves out.
	Type Type
	// Default is what a form may leave out altogether.
	Default *Attr
}

// OpTable finds rows by name. A table is not written after it is in use.
type OpTable struct {
	parent *OpTable
	rows   map[string]*OpDef
}

// NewOpTable makes a table of the standard ops and these.
func NewOpTable(defs ...OpDef) (*OpTable, error) {
	t := &OpTable{parent: standard(), rows: make(map[string]*OpDef)}
	for i := range defs {
		if t.Lookup(defs[i].Name) != nil {
			return nil, fmt.Errorf("hostprog: op %q has two rows", defs[i].Name)
		}
		t.rows[defs[i].Name] = &defs[i]
	}
	return t, nil
}

// Lookup returns the row of an op, or nil. Rows must not be changed.
func (t *OpTable) Lookup(name string) *OpDef {
	for ; t != nil; t = t.parent {
		if d := t.rows[name]; d != nil {
			return d
		}
	}
	return nil
}

// Names lists all rows, sorted.
func (t *OpTable) Names() []string {
	var names []string
	for ; t != nil; t = t.parent {
		for n := range t.rows {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}

// standard is the table of the ops that have a custom form, made when the first text is read or written.
var standard = sync.OnceValue(func() *OpTable {
	t := &OpTable{rows: make(map[string]*OpDef)}
	for _, family := range [][]OpDef{basicOps(), controlOps(), testOps(), shapeOps(), tensorOps(), syncOps()} {
		for i := range family {
			d := &family[i]
			if t.rows[d.Name] != nil {
				panic("hostprog: two rows for " + d.Name)
			}
			t.rows[d.Name] = d
		}
	}
	return t
})

// formsByName has the standard rows and those of the seeds.
var formsByName = sync.OnceValue(func() map[string]*OpDef {
	forms := make(map[string]*OpDef)
	for _, d := range seedForms() {
		forms[d.Name] = &d
	}
	maps.Copy(forms, standard().rows)
	return forms
})

// attr returns the row of an attribute.
func (d *OpDef) attr(name string) *AttrDef {
	for i := range d.Attrs {
		if d.Attrs[i].Name == name {
			return &d.Attrs[i]
		}
	}
	return nil
}

// regionOperands are the indices of the operands that are arguments of regions.
func (d *OpDef) regionOperands(n int) []int {
	var idx []int
next:
	for i := range n {
		for _, h := range d.hidden {
			if h == i {
				continue next
			}
		}
		idx = append(idx, i)
	}
	return idx
}

// Tests of attributes.
func scalarAttr(t Type) AttrDef {
	return AttrDef{Name: "value", Type: t, Want: describe(t) + " attribute",
		Is: func(a Attr) bool { return (a.Kind == IntAttr || a.Kind == FloatAttr) && a.Type == t }}
}

func (a AttrDef) named(name string) AttrDef { a.Name = name; return a }

func anyAttr(name string) AttrDef {
	return AttrDef{Name: name, Want: "any attribute", Is: func(Attr) bool { return true }}
}

func stringAttrDef(name string) AttrDef {
	return AttrDef{Name: name, Want: "string attribute", Is: func(a Attr) bool { return a.Kind == StringAttr }}
}

func arrayAttrDef(name string) AttrDef {
	return AttrDef{Name: name, Want: "array attribute", Is: func(a Attr) bool { return a.Kind == ArrayAttr }}
}

func symbolAttrDef(name string) AttrDef {
	return AttrDef{Name: name, Want: "flat symbol reference attribute",
		Is: func(a Attr) bool { _, ok := a.flatSymbol(); return ok }}
}

func i64sAttrDef(name string) AttrDef {
	return AttrDef{Name: name, Want: "64-bit integer array attribute", Is: func(a Attr) bool {
		for _, e := range a.Elems {
			if e.Kind != IntAttr || e.Type != "i64" {
				return false
			}
		}
		return a.Kind == ArrayAttr
	}}
}

// describe is a type in words, as errors have it.
func describe(t Type) string {
	switch t {
	case AnyType:
		return "any type"
	case "bf16":
		return "bfloat16 type"
	case "f16", "f32", "f64":
		return string(t[1:]) + "-bit float"
	case "complex<f32>":
		return "complex type with 32-bit float elements"
	case "complex<f64>":
		return "complex type with 64-bit float elements"
	}
	if w, unsigned, ok := intType(t); ok && t != "index" {
		if unsigned {
			return fmt.Sprintf("%d-bit unsigned integer", w)
		}
		return fmt.Sprintf("%d-bit signless integer", w)
	}
	return string(t) + " type"
}
