package hostprog

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/runtime/bef"
)

// AttrKind is the form of an attribute.
type AttrKind uint8

const (
	UnitAttr   AttrKind = iota
	IntAttr             // Type, Bits
	FloatAttr           // Type, Bits in the type's own format
	StringAttr          // Text
	ArrayAttr           // Elems
	DictAttr            // Entries
	SymbolAttr          // Symbol
	TypeAttr            // Type; In, Out of a function type
	DenseAttr           // Type (of the tensor), Dims, Elem, Data as in BEF
	ShapeAttr           // Dims, -1 unknown; nil if unranked
	LocAttr             // Loc
	OpaqueAttr          // Text, as written
)

// Attr is an attribute's value; fields other than those of its kind are zero.
type Attr struct {
	Kind    AttrKind
	Type    Type
	Bits    uint64
	Text    string
	Elems   []Attr
	Entries Dict
	Symbol  []string // root, then nested names
	In, Out []Type
	Dims    []int64
	Elem    bef.AttrType
	Data    []byte
	Loc     *bef.Location
}

// Dict is a list of attributes, sorted by name.
type Dict []NamedAttr

// NamedAttr is an entry of a Dict.
type NamedAttr struct {
	Name string
	Attr Attr
}

// Get returns the attribute of that name.
func (d Dict) Get(name string) (Attr, bool) {
	i, ok := slices.BinarySearchFunc(d, name, func(e NamedAttr, name string) int { return strings.Compare(e.Name, name) })
	if !ok {
		return Attr{}, false
	}
	return d[i].Attr, true
}

// Has says whether there is an attribute of that name.
func (d Dict) Has(name string) bool { _, ok := d.Get(name); return ok }

// Text is the string attribute of that name, or "".
func (d Dict) Text(name string) string {
	a, _ := d.Get(name)
	if a.Kind != StringAttr {
		return ""
	}
	return a.Text
}

// Int is the integer attribute of that name.
func (d Dict) Int(name string) (int64, bool) {
	a, ok := d.Get(name)
	return a.int(), ok && a.Kind == IntAttr
}

// Set adds or replaces an attribute.
func (d *Dict) Set(name string, a Attr) {
	i, ok := slices.BinarySearchFunc(*d, name, func(e NamedAttr, name string) int { return strings.Compare(e.Name, name) })
	if ok {
		(*d)[i].Attr = a
		return
	}
	*d = slices.Insert(*d, i, NamedAttr{name, a})
}

// int is the value of an integer attribute, sign-extended unless unsigned.
func (a Attr) int() int64 {
	width, unsigned, _ := intType(a.Type)
	if unsigned || width >= 64 || width == 0 {
		return int64(a.Bits)
	}
	if width == 1 {
		return int64(a.Bits & 1)
	}
	return int64(a.Bits<<(64-width)) >> (64 - width)
}

// Constructors of what this package makes itself.
func stringAttr(s string) Attr { return Attr{Kind: StringAttr, Text: s} }
func intAttr(t Type, v int64) Attr {
	a := Attr{Kind: IntAttr, Type: t, Bits: uint64(v)}
	if w, _, _ := intType(t); w < 64 {
		a.Bits &= 1<<w - 1
	}
	return a
}
func symbolAttr(path ...string) Attr { return Attr{Kind: SymbolAttr, Symbol: path} }
func functionTypeAttr(in, out []Type) Attr {
	return Attr{Kind: TypeAttr, Type: functionType(in, out), In: in, Out: out}
}

// flatSymbol is the name that a symbol reference without nested names has.
func (a Attr) flatSymbol() (string, bool) {
	if a.Kind != SymbolAttr || len(a.Symbol) != 1 {
		return "", false
	}
	return a.Symbol[0], true
}
