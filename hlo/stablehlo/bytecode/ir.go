package bytecode

import (
	"strings"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// The bits of an operation's mask.
const (
	hasAttributes = 1 << iota
	hasResults
	hasOperands
	hasSuccessors
	hasRegions
	hasUseLists
	hasProperties
)

// scope numbers the values that are visible. A region has as many numbers as it defines values, from the first that is free when it
// begins; nested regions come after all of them, whatever has been defined by then.
type scope struct {
	values []*mlir.Value // nil: not defined yet
	next   int           // the number of the next value of the innermost region
}

// define gives a value its number.
func (s *scope) define(r *reader, v *mlir.Value) {
	if s.next >= len(s.values) {
		r.fail("a region defines more values than it says")
	}
	s.values[s.next] = v
	s.next++
}

// module reads the section IR: one block, in which there is one module.
func (d *decoder) module() *mlir.Module {
	r := d.sections[irSection]
	b := d.block(r, &scope{})
	r.end("the program")
	m := &mlir.Module{File: d.file, Types: d.types}
	if len(b.Ops) != 1 || b.Ops[0].Name != "builtin.module" || len(b.Ops[0].Regions) != 1 {
		r.fail("the file does not hold one module")
	}
	top := b.Ops[0]
	m.Attrs = top.Attrs
	if s, ok := m.Attrs.Get("sym_name").(mlir.String); ok {
		m.Name = string(s)
	}
	if body := top.Regions[0].Block(); body != nil {
		m.Ops = body.Ops
	}
	for _, op := range m.Ops {
		d.upgrade(r, op, nil)
	}
	return m
}

// block reads a block: arguments, then operations.
func (d *decoder) block(r *reader, s *scope) *mlir.Block {
	b := &mlir.Block{Pos: r.base + r.pos}
	head := r.varint()
	if head&1 != 0 {
		d.arguments(r, b, s)
	}
	n := head >> 1
	if n > uint64(r.left()) {
		r.fail("%d operations, and %d bytes are left", n, r.left())
	}
	b.Ops = make([]*mlir.Op, 0, n)
	slab := make([]mlir.Op, n)
	for i := range slab {
		if d.op(r, &slab[i], s) {
			b.Ops = append(b.Ops, &slab[i])
		}
	}
	return b
}

func (d *decoder) arguments(r *reader, b *mlir.Block, s *scope) {
	n := r.count("arguments")
	b.Args, b.ArgLocs = make([]mlir.Value, n), make([]*mlir.Location, n)
	for i := range n {
		v := r.varint()
		located := true
		if d.version >= 4 {
			located, v = v&1 != 0, v>>1
		}
		b.Args[i] = mlir.Value{Type: d.typeAt(r, v), N: i}
		if located {
			b.ArgLocs[i] = d.locationAt(r, r.varint())
		}
		s.define(r, &b.Args[i])
	}
	if d.version >= 3 && r.byte() != 0 {
		d.useLists(r, n)
	}
}

// useLists passes by the order in which values are used.
func (d *decoder) useLists(r *reader, n int) {
	lists := uint64(1)
	if n > 1 {
		lists = uint64(r.count("use lists"))
	}
	for range lists {
		if n > 1 {
			r.varint()
		}
		for range d.uses(r) {
			r.varint()
		}
	}
}

// op reads an operation. It reports whether the operation is one of the program: casts between the types of VHLO and those of other
// dialects stand around the operations of the latter, and are dropped, as they are the same types here.
func (d *decoder) op(r *reader, op *mlir.Op, s *scope) bool {
	op.Pos = r.base + r.pos
	name := r.varint()
	if name >= uint64(len(d.ops)) {
		r.fail("operation %d, there are %d names", name, len(d.ops))
	}
	op.Name = d.ops[name]
	mask := r.byte()
	op.Loc = d.locationAt(r, r.varint())
	if mask&hasAttributes != 0 {
		dict, ok := d.attr(r).(mlir.Dict)
		if !ok {
			r.fail("the attributes of '%s' are no dictionary", op.Name)
		}
		op.Attrs = mlir.Attrs(dict)
	}
	if mask&hasProperties != 0 {
		d.readProperties(r, op)
	}
	results := 0
	if mask&hasResults != 0 {
		results = r.count("results")
		op.Results = make([]mlir.Value, results)
		for i := range op.Results {
			op.Results[i] = mlir.Value{Type: d.typ(r), Def: op, N: i}
		}
	}
	if mask&hasOperands != 0 {
		op.Operands = make([]*mlir.Value, r.count("operands"))
		for i := range op.Operands {
			v := r.varint()
			if v >= uint64(len(s.values)) || s.values[v] == nil {
				r.fail("operand %d of '%s' is value %d, which is not defined: a value must be defined before it is used", i, op.Name, v)
			}
			op.Operands[i] = s.values[v]
		}
	}
	if mask&hasSuccessors != 0 {
		r.fail("'%s' has successor blocks: unstructured control flow is not StableHLO", op.Name)
	}
	if mask&hasUseLists != 0 {
		d.useLists(r, results)
	}
	cast := isCast(op)
	for i := range op.Results {
		if cast {
			s.define(r, op.Operands[i])
		} else {
			s.define(r, &op.Results[i])
		}
	}
	if mask&hasRegions != 0 {
		d.regions(r, op, s)
	}
	return !cast
}

// isCast reports whether an operation casts values to the types that they have.
func isCast(op *mlir.Op) bool {
	if op.Name != "builtin.unrealized_conversion_cast" || len(op.Results) != len(op.Operands) {
		return false
	}
	for i, v := range op.Operands {
		if v.Type != op.Results[i].Type {
			return false
		}
	}
	return true
}

// regions reads the regions of an operation. Those of an isolated one number their values anew, and stand in a section of their own.
func (d *decoder) regions(r *reader, op *mlir.Op, s *scope) {
	d.enter(r)
	defer func() { d.depth-- }()
	head := r.varint()
	n, isolated := head>>1, head&1 != 0
	if n > uint64(r.left()) {
		r.fail("%d regions, and %d bytes are left", n, r.left())
	}
	body := r
	if isolated && d.version >= 2 && n > 0 {
		var id int
		if body, id = d.sectionOf(r); id != irSection {
			r.fail("section %s where the regions of '%s' are wanted", sectionNames[id], op.Name)
		}
	}
	op.Regions = make([]mlir.Region, n)
	for i := range op.Regions {
		inner := s
		if isolated {
			inner = &scope{}
		}
		op.Regions[i] = d.region(body, inner)
	}
	if body != r {
		body.end("the regions")
	}
}

func (d *decoder) region(r *reader, s *scope) mlir.Region {
	n := r.varint()
	if n == 0 {
		return mlir.Region{}
	}
	if n > 1 {
		r.fail("a region of %d blocks: unstructured control flow is not StableHLO", n)
	}
	mark, next := len(s.values), s.next
	s.values = append(s.values, make([]*mlir.Value, r.count("values"))...)
	s.next = mark
	b := d.block(r, s)
	clear(s.values[mark:])
	s.values, s.next = s.values[:mark], next
	return mlir.Region{Blocks: []*mlir.Block{b}}
}

// readProperties reads the properties of an operation: the attributes of VHLO in the order of their names.
func (d *decoder) readProperties(r *reader, op *mlir.Op) {
	i := r.varint()
	if i >= uint64(len(d.properties)) {
		r.fail("properties %d, there are %d", i, len(d.properties))
	}
	p := &reader{data: d.properties[i].data, base: d.properties[i].at, section: sectionNames[propertiesSection]}
	if op.Name == "builtin.module" {
		for _, name := range []string{"sym_name", "sym_visibility"} {
			if a := d.optionalAttr(p); a != nil {
				op.Attrs = op.Attrs.With(name, a)
			}
		}
		p.end("the properties")
		return
	}
	if rest, ok := strings.CutPrefix(op.Name, "sdy."); ok {
		attrs := d.readSDYProperties(p, rest)
		p.end("the properties of " + op.Name)
		op.Attrs = append(attrs, op.Attrs...)
		return
	}
	rest, ok := strings.CutPrefix(op.Name, "vhlo.")
	if !ok {
		d.refuseStableHLO(p, op.Dialect())
		p.fail("the operation '%s' has properties: read are those of vhlo and sdy", op.Name)
	}
	names, ok := attributesOf(rest)
	if !ok {
		r.fail("'%s' is an operation that this halo does not know; the file was made by %s, the newest version known is %s", op.Name, d.producer, newestVHLO)
	}
	attrs := make(mlir.Attrs, 0, len(names)+len(op.Attrs))
	for _, name := range names {
		attrs = append(attrs, mlir.NamedAttr{Name: name, Value: d.attr(p)})
	}
	p.end("the properties of " + op.Name)
	op.Attrs = append(attrs, op.Attrs...)
}

// uses reads how many numbers a use list has. The lowest bit says that they are pairs of places, of those uses that moved; each
// number of a pair counts.
func (d *decoder) uses(r *reader) int {
	n := r.varint() >> 1
	if n > uint64(r.left()) {
		r.fail("%d uses, and %d bytes are left", n, r.left())
	}
	return int(n)
}
