package parser

import (
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

var layoutGrammar = newGrammar[layoutSyntax]("layout")

// grammarLayout reads the layout whose text is raw, found at offset at.
func (p *parser) grammarLayout(raw string, at int) *hlo.Layout {
	g := layoutGrammar.parse(p, raw, at)
	l := &hlo.Layout{MinorToMajor: ints(g.MinorToMajor)}
	p.checkPermutation(l.MinorToMajor, at)
	f := g.Fields
	if f == nil {
		if l.IsRowMajor() {
			return hlo.DefaultLayout(len(l.MinorToMajor))
		}
		return l
	}
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
