package hlo

import "slices"

// ShapeEq says what a comparison of shapes leaves out. The zero value compares everything.
type ShapeEq uint16

// What can be left out.
const (
	IgnoreLayout      ShapeEq = 1 << iota // whole layouts
	IgnoreDynamic                         // dynamic flags; a size of `?` then matches any
	IgnoreElementType                     // element types
	IgnoreFPPrecision                     // the width of floating element types
	IgnoreTiles                           // parts of layouts, here and below
	IgnoreMemorySpace
	IgnoreElementSize
	IgnoreTailPadding
	IgnoreSplitConfigs
	IgnoreBuffer // whether an array is wrapped in a buffer

	MinorToMajorOnly = IgnoreTiles | IgnoreMemorySpace | IgnoreElementSize | IgnoreTailPadding | IgnoreSplitConfigs
	// Compatible is the comparison of [Shape.Compatible].
	Compatible = IgnoreLayout | IgnoreDynamic
)

// EqualExcept reports whether the two shapes agree in everything but what e leaves out.
func (s Shape) EqualExcept(t Shape, e ShapeEq) bool {
	if s.d == t.d {
		return true
	}
	if s.d == nil || t.d == nil {
		return false
	}
	if e&IgnoreBuffer != 0 {
		if s.IsBuffer() {
			s = s.d.elems[0]
		}
		if t.IsBuffer() {
			t = t.d.elems[0]
		}
	}
	a, b := s.d, t.d
	if len(a.dims) != len(b.dims) || len(a.elems) != len(b.elems) || !equalTypes(a.typ, b.typ, e) {
		return false
	}
	for i, n := range a.dims {
		m := b.dims[i]
		if n != m && (e&IgnoreDynamic == 0 || n != UnboundedSize && m != UnboundedSize) {
			return false
		}
	}
	if e&IgnoreDynamic == 0 && !slices.Equal(a.dyn, b.dyn) || e&IgnoreLayout == 0 && a.typ.IsArray() && !equalLayouts(a, b, e) {
		return false
	}
	for i := range a.elems {
		if !a.elems[i].EqualExcept(b.elems[i], e) {
			return false
		}
	}
	return true
}

func equalTypes(a, b PrimitiveType, e ShapeEq) bool {
	return a == b || a.IsArray() && b.IsArray() && (e&IgnoreElementType != 0 || e&IgnoreFPPrecision != 0 && SameTypeLenient(a, b))
}

// SameTypeLenient reports whether two element types are equal, or both floating of whatever width.
func SameTypeLenient(a, b PrimitiveType) bool { return a == b || a.IsFloat() && b.IsFloat() }

func equalLayouts(a, b *shapeData, e ShapeEq) bool {
	l, m := a.layout, b.layout
	if len(a.dims) == 0 { // a scalar has a layout even if none is written
		l, m = cmpLayout(l), cmpLayout(m)
	}
	if l == m {
		return true
	}
	if l == nil || m == nil {
		return false
	}
	if e&MinorToMajorOnly == 0 {
		return l.Equal(m)
	}
	x, y := *l, *m
	for _, p := range []*Layout{&x, &y} {
		if e&IgnoreTiles != 0 {
			p.Tiles = nil
		}
		if e&IgnoreMemorySpace != 0 {
			p.MemorySpace = 0
		}
		if e&IgnoreElementSize != 0 {
			p.ElementSizeInBits = 0
		}
		if e&IgnoreTailPadding != 0 {
			p.TailPaddingAlignment = 0
		}
		if e&IgnoreSplitConfigs != 0 {
			p.SplitConfigs = nil
		}
	}
	return x.Equal(&y)
}

func cmpLayout(l *Layout) *Layout {
	if l == nil {
		return DefaultLayout(0)
	}
	return l
}
