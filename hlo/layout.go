package hlo

import (
	"slices"
	"strconv"
)

// Layout says how the elements of an array lie in memory. The zero Layout is the layout of a scalar.
//
// Source: xla/layout.h; text form in hlo-text section 3.5.
type Layout struct {
	MinorToMajor         []int64       // axes, fastest varying first; as many as the rank
	Tiles                []Tile        // outermost tiling first
	TailPaddingAlignment int64         // in elements; 0 and 1 both mean none
	IndexType            PrimitiveType // InvalidType: unset
	PointerType          PrimitiveType // InvalidType: unset
	ElementSizeInBits    int64         // 0: the natural size
	MemorySpace          int64         // 0: default device memory
	SplitConfigs         []SplitConfig
	MetadataPrefixBytes  int64 // bytes before the data of an array with dynamic dimensions
}

// Tile is one level of tiling: sizes of the innermost dimensions. TileCombine stands for "combine with the next dimension".
type Tile []int64

// TileCombine is the tile dimension written `*`.
const TileCombine int64 = -1 << 63

// SplitConfig says at which indices a dimension is split over memories.
type SplitConfig struct {
	Dimension int64
	Indices   []int64
}

// DefaultLayout is the row-major layout of the given rank: the last axis varies fastest.
func DefaultLayout(rank int) *Layout {
	if rank < len(defaultLayouts) {
		return defaultLayouts[rank]
	}
	return newDefaultLayout(rank)
}

var defaultLayouts = func() (all [16]*Layout) {
	for rank := range all {
		all[rank] = newDefaultLayout(rank)
	}
	return all
}()

func newDefaultLayout(rank int) *Layout {
	m := make([]int64, rank)
	for i := range m {
		m[i] = int64(rank - 1 - i)
	}
	return &Layout{MinorToMajor: m}
}

// IsRowMajor reports whether the axes lie in row-major order; tiles and the other fields are not looked at.
func (l *Layout) IsRowMajor() bool {
	for i, a := range l.MinorToMajor {
		if a != int64(len(l.MinorToMajor)-1-i) {
			return false
		}
	}
	return true
}

// IsDefault reports whether l is plain row-major with every other field unset.
func (l *Layout) IsDefault() bool { return l.IsRowMajor() && !l.hasFields() }

func (l *Layout) hasFields() bool {
	return len(l.Tiles) > 0 || l.TailPaddingAlignment > 1 || l.IndexType != InvalidType || l.PointerType != InvalidType ||
		l.ElementSizeInBits != 0 || l.MemorySpace != 0 || len(l.SplitConfigs) > 0 || l.MetadataPrefixBytes > 0
}

// Equal reports whether the two layouts agree in every field.
func (l *Layout) Equal(o *Layout) bool {
	if l == o {
		return true
	}
	if l == nil || o == nil {
		return false
	}
	return slices.Equal(l.MinorToMajor, o.MinorToMajor) &&
		slices.EqualFunc(l.Tiles, o.Tiles, func(a, b Tile) bool { return slices.Equal(a, b) }) &&
		max(l.TailPaddingAlignment, 1) == max(o.TailPaddingAlignment, 1) &&
		l.IndexType == o.IndexType && l.PointerType == o.PointerType &&
		l.ElementSizeInBits == o.ElementSizeInBits && l.MemorySpace == o.MemorySpace &&
		slices.EqualFunc(l.SplitConfigs, o.SplitConfigs, func(a, b SplitConfig) bool {
			return a.Dimension == b.Dimension && slices.Equal(a.Indices, b.Indices)
		}) && l.MetadataPrefixBytes == o.MetadataPrefixBytes
}

// AppendText appends the layout in braces, `{1,0:T(8,128)}`.
func (l *Layout) AppendText(b []byte) []byte {
	b = append(b, '{')
	b = appendInts(b, l.MinorToMajor)
	if l.hasFields() {
		b = l.appendFields(append(b, ':'))
	}
	return append(b, '}')
}

func (l *Layout) appendFields(b []byte) []byte {
	if len(l.Tiles) > 0 {
		b = append(b, 'T')
		for _, t := range l.Tiles {
			b = append(b, '(')
			for i, d := range t {
				if i > 0 {
					b = append(b, ',')
				}
				if d == TileCombine {
					b = append(b, '*')
				} else {
					b = strconv.AppendInt(b, d, 10)
				}
			}
			b = append(b, ')')
		}
	}
	if l.TailPaddingAlignment > 1 {
		b = append(strconv.AppendInt(append(b, "L("...), l.TailPaddingAlignment, 10), ')')
	}
	if l.IndexType != InvalidType {
		b = append(append(append(b, "#("...), l.IndexType.String()...), ')')
	}
	if l.PointerType != InvalidType {
		b = append(append(append(b, "*("...), l.PointerType.String()...), ')')
	}
	if l.ElementSizeInBits != 0 {
		b = append(strconv.AppendInt(append(b, "E("...), l.ElementSizeInBits, 10), ')')
	}
	if l.MemorySpace != 0 {
		b = append(strconv.AppendInt(append(b, "S("...), l.MemorySpace, 10), ')')
	}
	if len(l.SplitConfigs) > 0 {
		b = append(b, "SC"...)
		for _, s := range l.SplitConfigs {
			b = append(strconv.AppendInt(append(b, '('), s.Dimension, 10), ':')
			b = append(appendInts(b, s.Indices), ')')
		}
	}
	if l.MetadataPrefixBytes > 0 {
		b = append(strconv.AppendInt(append(b, "M("...), l.MetadataPrefixBytes, 10), ')')
	}
	return b
}

// String is the layout as text.
func (l *Layout) String() string { return string(l.AppendText(nil)) }

// appendInts appends the numbers joined by commas, without spaces.
func appendInts(b []byte, v []int64) []byte {
	for i, n := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return b
}
