package mlir

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// Module is a program: the operations of the outermost module of a file.
type Module struct {
	File  string
	Name  string // the symbol, "" without one
	Attrs Attrs
	Ops   []*Op // functions, meshes
	Types *Types
	// Source turns offsets into positions; it is nil for a program that was not text.
	Source *Source
}

// Op is one operation.
type Op struct {
	Name     string // with its dialect: "stablehlo.add"
	Operands []*Value
	Results  []Value // of one allocation
	Attrs    Attrs
	Regions  []Region
	Loc      *Location
	Pos      int // offset in the text or in the bytes
}

// Region is a part of a program that belongs to an operation.
type Region struct{ Blocks []*Block }

// Block is a list of operations, the last of which ends it.
type Block struct {
	Args    []Value
	ArgLocs []*Location // nil, or one for each argument
	Ops     []*Op
	Pos     int
}

// Value is what an operation or a block defines.
type Value struct {
	Type *Type
	Def  *Op // nil: an argument of a block
	N    int // result or argument number
}

// Block is the only block of a region; nil when there are none, or several.
func (r *Region) Block() *Block {
	if len(r.Blocks) != 1 {
		return nil
	}
	return r.Blocks[0]
}

// Terminator is the last operation of a block; nil when it has none.
func (b *Block) Terminator() *Op {
	if len(b.Ops) == 0 {
		return nil
	}
	return b.Ops[len(b.Ops)-1]
}

// Dialect is the part of the name before the first dot.
func (o *Op) Dialect() string {
	for i := range len(o.Name) {
		if o.Name[i] == '.' {
			return o.Name[:i]
		}
	}
	return ""
}

// Position is where an offset is in the text; unknown for a program that was not text.
func (m *Module) Position(offset int) hlo.Position {
	if m.Source == nil {
		return hlo.Position{}
	}
	return m.Source.Position(offset)
}

// Walk calls f for the operation and all those in its regions, outermost first.
func (o *Op) Walk(f func(*Op)) {
	f(o)
	for i := range o.Regions {
		for _, b := range o.Regions[i].Blocks {
			for _, inner := range b.Ops {
				inner.Walk(f)
			}
		}
	}
}

// NamedAttr is an attribute with its name.
type NamedAttr struct {
	Name  string
	Value Attr
}

// Attrs is a set of attributes in the order of the text. There are few of them, so looking one up is a walk.
type Attrs []NamedAttr

// Get is the attribute of a name, nil without one.
func (a Attrs) Get(name string) Attr {
	for i := range a {
		if a[i].Name == name {
			return a[i].Value
		}
	}
	return nil
}

// Has reports whether there is an attribute of a name.
func (a Attrs) Has(name string) bool { return a.Get(name) != nil }

// With is a with an attribute added or replaced.
func (a Attrs) With(name string, v Attr) Attrs {
	for i := range a {
		if a[i].Name == name {
			a = slices.Clone(a)
			a[i].Value = v
			return a
		}
	}
	return append(slices.Clip(a), NamedAttr{name, v})
}

// Without is a without the attribute of a name.
func (a Attrs) Without(name string) Attrs {
	return slices.DeleteFunc(slices.Clone(a), func(x NamedAttr) bool { return x.Name == name })
}

// Error is an error at an operation.
func (m *Module) Error(op *Op, format string, args ...any) error {
	return m.ErrorHint(op, "", format, args...)
}

// ErrorHint is [Module.Error] with a line of advice.
func (m *Module) ErrorHint(op *Op, hint, format string, args ...any) error {
	var notes []string
	if place := op.Loc.Place(); place != nil {
		notes = append(notes, fmt.Sprintf("from %s:%d:%d", place.File, place.Line, place.Col))
	}
	if hint != "" {
		notes = append(notes, hint)
	}
	if m.Source != nil {
		return parser.ErrorList{m.Source.Error(op.Pos, notes, format, args...)}
	}
	return parser.ErrorList{{File: m.File, Msg: fmt.Sprintf("byte %d of section IR: ", op.Pos) + fmt.Sprintf(format, args...), Notes: notes}}
}
