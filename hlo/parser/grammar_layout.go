package parser

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// layoutSyntax is a layout in braces (hlo-text section 3.5). The fields come in this order only.
type layoutSyntax struct {
	MinorToMajor []integer     `parser:"'{' (@Int (',' @Int)*)?"`
	Fields       *layoutFields `parser:"(':' @@)? '}'"`
}

type layoutFields struct {
	DimLevelTypes []dimLevelType `parser:"('D' '(' @@ (',' @@)* ')')?"`
	Tiles         []layoutTile   `parser:"('T' @@+)?"`
	TailPadding   *integer       `parser:"('L' '(' @Int ')')?"`
	IndexType     *string        `parser:"('#' '(' @Ident ')')?"`
	PointerType   *string        `parser:"('*' '(' @Ident ')')?"`
	ElementSize   *integer       `parser:"('E' '(' @Int ')')?"`
	MemorySpace   *integer       `parser:"('S' '(' @Int ')')?"`
	Splits        []layoutSplit  `parser:"('SC' @@+)?"`
	Physical      bool           `parser:"(@'P' '('"`
	PhysicalShape []string       `parser:"  @(~(')' | '(') )* ')')?"`
	Prefix        *integer       `parser:"('M' '(' @Int ')')?"`
}

type dimLevelType struct {
	Kind  string   `parser:"@Ident"`
	Marks []string `parser:"@'+'? @'~'?"`
}

type layoutTile struct {
	Dims []tileDim `parser:"'(' (@@ (',' @@)*)? ')'"`
}

type tileDim struct {
	Combine bool    `parser:"  @'*'"`
	Size    integer `parser:"| @Int"`
}

type layoutSplit struct {
	Dimension integer   `parser:"'(' @Int ':'"`
	Indices   []integer `parser:"(@Int (',' @Int)*)? ')'"`
}

var layoutGrammar = newGrammar[*layoutSyntax]("layout")

// grammarLayout reads the layout whose text is raw, found at offset at.
func (p *parser) grammarLayout(raw string, at int) *hlo.Layout {
	if order, ok := plainOrder(raw); ok {
		return p.orderLayout(order, at)
	}
	g := layoutGrammar.parse(p, raw, at)
	l := p.orderLayout(ints(g.MinorToMajor), at)
	f := g.Fields
	if f == nil {
		return l
	}
	l = &hlo.Layout{MinorToMajor: l.MinorToMajor}
	for _, t := range f.DimLevelTypes {
		if t.Kind != "D" && t.Kind != "C" && t.Kind != "S" && t.Kind != "H" {
			p.failAt(at, "expected a DimLevelType abbreviation (D, C, S or H), saw %s", t.Kind)
		}
	}
	if f.Physical {
		p.failAt(at, "Layout has physical shape, but is not for a sparse array")
	}
	for _, t := range f.Tiles {
		tile := make(hlo.Tile, len(t.Dims))
		for i, d := range t.Dims {
			switch {
			case d.Combine:
				tile[i] = hlo.TileCombine
			case d.Size < 0:
				p.failAt(at, "a tile dimension must not be negative")
			default:
				tile[i] = int64(d.Size)
			}
		}
		l.Tiles = append(l.Tiles, tile)
	}
	l.TailPaddingAlignment = p.fieldValue(f.TailPadding, "tail padding alignment", at)
	l.IndexType = p.layoutType(f.IndexType, at)
	l.PointerType = p.layoutType(f.PointerType, at)
	l.ElementSizeInBits = p.fieldValue(f.ElementSize, "element size", at)
	l.MemorySpace = p.fieldValue(f.MemorySpace, "memory space", at)
	for _, s := range f.Splits {
		l.SplitConfigs = append(l.SplitConfigs, hlo.SplitConfig{Dimension: int64(s.Dimension), Indices: ints(s.Indices)})
	}
	l.MetadataPrefixBytes = p.fieldValue(f.Prefix, "metadata prefix", at)
	return l
}

// orderLayout is the layout that is nothing but an order.
func (p *parser) orderLayout(order []int64, at int) *hlo.Layout {
	p.checkPermutation(order, at)
	l := &hlo.Layout{MinorToMajor: order}
	if l.IsRowMajor() {
		return hlo.DefaultLayout(len(order))
	}
	return l
}

// plainOrder reads a layout that is numbers of one digit, as nearly all are. The others are the grammar's, which takes longer to make than
// most programs take to read.
func plainOrder(raw string) (order []int64, ok bool) {
	if len(raw) < 3 || len(raw)%2 == 0 || raw[0] != '{' || raw[len(raw)-1] != '}' {
		return nil, false
	}
	order = make([]int64, 0, len(raw)/2)
	for i := 1; i < len(raw); i += 2 {
		if d := raw[i]; d < '0' || d > '9' || raw[i+1] != ',' && i+2 < len(raw) {
			return nil, false
		}
		order = append(order, int64(raw[i]-'0'))
	}
	return order, true
}

func (p *parser) fieldValue(v *integer, what string, at int) int64 {
	if v == nil {
		return 0
	}
	if *v < 0 {
		p.failAt(at, "the %s of a layout must not be negative", what)
	}
	return int64(*v)
}

func (p *parser) layoutType(name *string, at int) hlo.PrimitiveType {
	if name == nil {
		return hlo.InvalidType
	}
	t, ok := typeByName(*name)
	if !ok || !t.IsInteger() {
		p.failAt(at, "expecting an unsigned integer type, saw %s", *name)
	}
	return t
}

// checkElement refuses element s of a tuple for what XLA refuses in tuples only: arrays on their own may have it.
func (p *parser) checkElement(s hlo.Shape, at int) {
	if s.IsBuffer() {
		s = s.Elem(0)
	}
	if !s.IsArray() {
		return
	}
	size := int64(s.Type().ByteSize())
	for i, d := range s.Dimensions() {
		switch {
		case s.IsUnboundedDimension(i):
		case d > 0 && size > math.MaxInt64/d:
			p.failAt(at, "an array in a tuple must have less than 2^63 bytes")
		default:
			size *= d
		}
	}
	l, ok := s.Layout()
	if !ok {
		return
	}
	if slices.ContainsFunc(l.Tiles, func(t hlo.Tile) bool { return len(t) == 0 || slices.Contains(t, 0) }) {
		p.failAt(at, "a tile must have dimensions, and none of them 0")
	}
	if l.IndexType != hlo.InvalidType || l.PointerType != hlo.InvalidType {
		p.failAt(at, "only sparse arrays have index and pointer types")
	}
	for i, c := range l.SplitConfigs {
		if c.Dimension < 0 || c.Dimension >= int64(s.Rank()) {
			p.failAt(at, "the array has no dimension %d to split", c.Dimension)
		}
		if slices.ContainsFunc(l.SplitConfigs[:i], func(o hlo.SplitConfig) bool { return o.Dimension == c.Dimension }) {
			p.failAt(at, "dimension %d is split twice", c.Dimension)
		}
		last := int64(0)
		for _, index := range c.Indices {
			if index <= last || index >= s.Dim(int(c.Dimension)) {
				p.failAt(at, "dimension %d of size %d cannot be split at %d: split indices ascend and lie inside", c.Dimension, s.Dim(int(c.Dimension)), index)
			}
			last = index
		}
	}
}

// checkPermutation fails unless order lists 0 to n-1 once each.
func (p *parser) checkPermutation(order []int64, at int) {
	var few [64]bool
	seen := few[:]
	if len(order) > len(few) {
		seen = make([]bool, len(order))
	}
	for _, d := range order {
		if d < 0 || d >= int64(len(order)) || seen[d] {
			p.failAt(at, "minor to major dimensions must be a permutation of 0 to %d", len(order)-1)
		}
		seen[d] = true
	}
}
