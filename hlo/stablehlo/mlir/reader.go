package mlir

import (
	"errors"

	"github.com/gohalo/halo/hlo/parser"
)

// reader reads one text:
//
//  1. the definitions of aliases are found, which mostly stand at the end;
//  2. operations are read from the top; values are looked up by name as they are used, aliases are read at their first use;
//  3. the resources after the last operation are read when an attribute asks for the first of them.
type reader struct {
	text  string
	pos   int
	src   *Source
	types *Types
	depth int
	// expanded is how many bytes the aliases that have been used stand for.
	expanded int

	scope     scope
	functions map[string]int // where functions are defined
	aliases   map[string]*alias
	locations []*alias         // those named #loc, #loc0, #loc1, by number
	forms     map[string]*form // by the name of the operation
	recent    [64]*form        // of forms, by a few characters of the name
	known     map[string]*Type // by the text of a tensor type or a signature
	dicts     map[string]Attrs // by the text of a dictionary of an operation
	read      map[string]Attr  // by the text of an attribute, of the kinds that programs repeat
	resources map[string]string

	ops    []Op // what is left of slabs
	values []Value
	uses   []*Value
	attrs  []NamedAttr
	opRefs []*Op
	locs   []*Location
	bodies []body
	places []Location
	notes  []alias
	stack  []*Op // of the regions that are being read
}

// maxDepth bounds nesting of regions, attributes, types and locations.
const maxDepth = 500

// Parse reads a program as MLIR text. The module keeps the text. The error is a [parser.ErrorList] of one.
func Parse(file, text string) (*Module, error) { return Config{}.Parse(file, text) }

// Config says how a text is read. The zero value is ready to use.
type Config struct {
	LinesBefore int // lines of the file before the text, for positions
}

// Parse is [Parse] with a configuration.
func (cfg Config) Parse(file, text string) (m *Module, err error) {
	r := newReader(file, text, NewTypes())
	r.src.before = cfg.LinesBefore
	r.forms, r.scope = forms(), newScope(text)
	r.functions, r.aliases, r.dicts = make(map[string]int), make(map[string]*alias), make(map[string]Attrs)
	// An operation mostly has a line.
	room := min(r.findAliases(), len(text)/valueText)
	r.scope.bound, r.stack = make([]*slot, 0, room), make([]*Op, 0, room)
	defer func() {
		if x := recover(); x != nil {
			f, mine := x.(failure)
			if !mine {
				panic(x)
			}
			m, err = nil, parser.ErrorList{f.err}
		}
	}()
	return r.file(file), nil
}

// newReader makes a reader of attributes and types.
func newReader(file, text string, types *Types) *reader {
	return &reader{text: text, src: &Source{File: file, Text: text}, types: types, known: make(map[string]*Type), read: make(map[string]Attr)}
}

// file reads a whole text.
func (r *reader) file(name string) *Module {
	m := &Module{File: name, Types: r.types, Source: r.src}
	for {
		switch c := r.peek(); {
		case c == 0:
			r.unwrap(m)
			return m
		case c == '#' || c == '!':
			r.aliasDefinition()
		case r.is("{-#"):
			r.skipResources()
		default:
			m.Ops = append(m.Ops, r.op())
		}
	}
}

// unwrap makes the one module of a file the module.
func (r *reader) unwrap(m *Module) {
	for i, op := range m.Ops {
		if op.Name != "builtin.module" {
			continue
		}
		if len(m.Ops) > 1 {
			r.failAt(m.Ops[max(i, 1)].Pos, "a module among other operations: want one module, or functions")
		}
		if len(op.Regions) != 1 || op.Regions[0].Block() == nil {
			r.failAt(op.Pos, "a module must have one region of one block")
		}
		if s, ok := op.Attrs.Get("sym_name").(String); ok {
			m.Name = string(s)
		}
		m.Attrs, m.Ops = op.Attrs, op.Regions[0].Block().Ops
		for _, inner := range m.Ops {
			if inner.Name == "builtin.module" {
				r.failAt(inner.Pos, "a module in a module is not supported")
			}
		}
		return
	}
}

// enter counts a level of nesting; leave must follow.
func (r *reader) enter() {
	if r.depth++; r.depth > maxDepth {
		r.fail("nested deeper than %d levels", maxDepth)
	}
}

func (r *reader) leave() { r.depth-- }

// newOp makes an operation, from a slab.
func (r *reader) newOp(at int) *Op {
	if len(r.ops) == 0 {
		r.ops = make([]Op, min(slabSize, 16+len(r.text)/512))
	}
	op := &r.ops[0]
	r.ops = r.ops[1:]
	op.Pos = at
	return op
}

// body is a region of one block, in one piece.
type body struct {
	block Block
	inner [1]*Block
	outer [1]Region
}

// body makes the region of a block, and the list of that region alone.
func (r *reader) body(block Block) []Region {
	b := &cutOf(&r.bodies, 1)[0]
	b.block = block
	b.inner[0] = &b.block
	b.outer[0] = Region{b.inner[:]}
	return b.outer[:]
}

// slabSize is how many elements a slab has. With the word that the allocator adds to them, slabs of most types fill a size class of Go's,
// and those of operations the largest one.
const slabSize = 250

// cutOf takes n elements from a slab.
func cutOf[T any](slab *[]T, n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(*slab) {
		if n > 64 {
			return make([]T, n)
		}
		*slab = make([]T, slabSize)
	}
	s := (*slab)[:n:n]
	*slab = (*slab)[n:]
	return s
}

// ParseAttr reads an attribute by itself, as bytecode has some.
func ParseAttr(types *Types, text string) (Attr, error) {
	return piece(types, text, (*reader).attr)
}

// ParseType reads a type by itself.
func ParseType(types *Types, text string) (*Type, error) {
	return piece(types, text, (*reader).typ)
}

func piece[T any](types *Types, text string, read func(*reader) T) (v T, err error) {
	r := newReader("", text, types)
	defer func() {
		if x := recover(); x != nil {
			f, mine := x.(failure)
			if !mine {
				panic(x)
			}
			err = errors.New(f.err.Msg)
		}
	}()
	v = read(r)
	if r.peek() != 0 {
		r.fail("expected the end, got %s", r.next())
	}
	return v, nil
}
