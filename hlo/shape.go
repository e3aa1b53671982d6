package hlo

import (
	"math"
	"slices"
	"strconv"
)

// UnboundedSize is the size of an unbounded dynamic dimension, written `?`.
const UnboundedSize int64 = math.MinInt64

// Shape is the type of an instruction's value: an array of some element type, a tuple of shapes, a buffer around an array, a
// token or an opaque handle. A Shape is immutable and cheap to pass; the zero Shape is invalid. Two Shapes made apart are never
// == even if they are equal: use [Shape.Equal].
type Shape struct{ d *shapeData }

type shapeData struct {
	typ    PrimitiveType
	dims   []int64
	dyn    []bool  // nil when every dimension is static
	layout *Layout // nil: none
	elems  []Shape // tuple elements, or the one array of a buffer
	// Of a tuple: parts that are not tuples, and all parts. Both saturate: tuples of one tuple share it.
	leaves, parts int
	tokens        bool   // there is a token in it
	dynamic       bool   // of a tuple or buffer: there is a dynamic dimension in it
	unbounded     bool   // of a tuple or buffer: there is an unbounded dimension in it
	hash          uint64 // atomic; 0: not computed
}

// copy is a shape to be changed. It has a hash of its own to find.
func (d *shapeData) copy() *shapeData {
	return &shapeData{typ: d.typ, dims: d.dims, dyn: d.dyn, layout: d.layout, elems: d.elems, leaves: d.leaves, parts: d.parts, tokens: d.tokens,
		dynamic: d.dynamic, unbounded: d.unbounded}
}

// MakeShape makes an array shape with static dimensions and no layout. It keeps no reference to dims.
func MakeShape(t PrimitiveType, dims ...int64) Shape {
	return Shape{&shapeData{typ: t, dims: slices.Clone(dims)}}
}

// MakeArray makes an array shape in full. dyn says which dimensions are dynamic (their size is then the bound, or
// [UnboundedSize]) and may be nil; layout may be nil. The slices and the layout are kept and must not be written afterwards.
func MakeArray(t PrimitiveType, dims []int64, dyn []bool, layout *Layout) Shape {
	if !slices.Contains(dyn, true) {
		dyn = nil
	}
	return Shape{&shapeData{typ: t, dims: dims, dyn: dyn, layout: layout}}
}

// MakeTuple makes a tuple shape. It keeps no reference to elems.
func MakeTuple(elems ...Shape) Shape {
	d := &shapeData{typ: TUPLE, elems: slices.Clone(elems)}
	for _, e := range elems {
		d.leaves = saturate(d.leaves + e.NumLeaves())
		d.parts = saturate(d.parts + 1 + e.NumParts())
		d.tokens = d.tokens || e.HasToken()
		d.dynamic = d.dynamic || !e.IsStatic()
		d.unbounded = d.unbounded || e.HasUnbounded()
	}
	return Shape{d}
}

// MakeBuffer makes the shape `b(array)`.
func MakeBuffer(array Shape) Shape {
	return Shape{&shapeData{typ: BUFFER, elems: []Shape{array}, dynamic: !array.IsStatic(), unbounded: array.HasUnbounded()}}
}

// The shapes without parts.
var (
	tokenShape  = Shape{&shapeData{typ: TOKEN, tokens: true}}
	opaqueShape = Shape{&shapeData{typ: OPAQUE}}
)

// MakeToken returns the shape `token[]`.
func MakeToken() Shape { return tokenShape }

// MakeOpaque returns the shape `opaque[]`.
func MakeOpaque() Shape { return opaqueShape }

// IsValid reports whether s was made by a constructor.
func (s Shape) IsValid() bool { return s.d != nil }

// Type is the element type of an array, or TUPLE, TOKEN, OPAQUE or BUFFER; InvalidType for the zero Shape.
func (s Shape) Type() PrimitiveType {
	if s.d == nil {
		return InvalidType
	}
	return s.d.typ
}

// IsArray and its siblings tell the kinds of shape apart.
func (s Shape) IsArray() bool  { return s.Type().IsArray() }
func (s Shape) IsTuple() bool  { return s.Type() == TUPLE }
func (s Shape) IsToken() bool  { return s.Type() == TOKEN }
func (s Shape) IsOpaque() bool { return s.Type() == OPAQUE }
func (s Shape) IsBuffer() bool { return s.Type() == BUFFER }

// IsScalar reports whether s is an array of rank 0.
func (s Shape) IsScalar() bool { return s.IsArray() && len(s.d.dims) == 0 }

// Rank is the number of dimensions of an array, 0 otherwise.
func (s Shape) Rank() int {
	if s.d == nil {
		return 0
	}
	return len(s.d.dims)
}

// Dim is the size of axis i, its bound when it is dynamic, [UnboundedSize] when it has none.
func (s Shape) Dim(i int) int64 { return s.d.dims[i] }

// Dimensions returns the sizes of all axes; the caller owns the slice.
func (s Shape) Dimensions() []int64 {
	if s.d == nil {
		return nil
	}
	return slices.Clone(s.d.dims)
}

// IsDynamicDimension reports whether axis i is dynamic, bounded or not.
func (s Shape) IsDynamicDimension(i int) bool { return s.d.dyn != nil && s.d.dyn[i] }

// IsUnboundedDimension reports whether axis i is `?`.
func (s Shape) IsUnboundedDimension(i int) bool { return s.d.dims[i] == UnboundedSize }

// IsStatic reports whether no dimension anywhere in s is dynamic.
func (s Shape) IsStatic() bool { return s.d == nil || s.d.dyn == nil && !s.d.dynamic }

// HasUnbounded reports whether some dimension anywhere in s is `?`.
func (s Shape) HasUnbounded() bool {
	return s.d != nil && (s.d.unbounded || slices.Contains(s.d.dims, UnboundedSize))
}

// isEmpty reports an array with a dimension of size 0.
func (s Shape) isEmpty() bool { return s.d != nil && slices.Contains(s.d.dims, 0) }

// NumElements is the product of the dimensions of an array (bounds for dynamic ones); 1 for a scalar, 0 for other kinds. It
// saturates at math.MaxInt64 and is MaxInt64 when a dimension is unbounded.
func (s Shape) NumElements() int64 {
	if !s.IsArray() {
		return 0
	}
	n := int64(1)
	for _, d := range s.d.dims {
		if d == 0 {
			return 0
		}
	}
	for _, d := range s.d.dims {
		if d < 0 || n > math.MaxInt64/d {
			return math.MaxInt64
		}
		n *= d
	}
	return n
}

// ByteSize is the number of bytes of a dense array of this shape, one byte for each sub-byte element. It saturates like
// [Shape.NumElements].
func (s Shape) ByteSize() int64 {
	n, w := s.NumElements(), int64(s.Type().ByteSize())
	if w > 1 && n > math.MaxInt64/w {
		return math.MaxInt64
	}
	return n * w
}

// Layout returns the layout of an array and whether it has one.
func (s Shape) Layout() (*Layout, bool) {
	if s.d == nil || s.d.layout == nil {
		return nil, false
	}
	return s.d.layout, true
}

// HasLayout reports whether every array in s has a layout.
func (s Shape) HasLayout() bool {
	if s.IsArray() {
		return s.d.layout != nil
	}
	if s.d == nil {
		return false
	}
	for _, e := range s.d.elems {
		if (e.IsArray() || e.IsTuple() || e.IsBuffer()) && !e.HasLayout() {
			return false
		}
	}
	return true
}

// NumElems is the number of elements of a tuple, 1 for a buffer, 0 otherwise.
func (s Shape) NumElems() int {
	if s.d == nil {
		return 0
	}
	return len(s.d.elems)
}

// Elem is element i of a tuple, or the array of a buffer.
func (s Shape) Elem(i int) Shape { return s.d.elems[i] }

// Elems returns the elements of a tuple; the caller owns the slice.
func (s Shape) Elems() []Shape {
	if s.d == nil {
		return nil
	}
	return slices.Clone(s.d.elems)
}

// WithLayout returns s with the given layout (nil: none) on its array.
func (s Shape) WithLayout(l *Layout) Shape {
	d := s.d.copy()
	d.layout = l
	return Shape{d}
}

// WithType returns the array s with another element type.
func (s Shape) WithType(t PrimitiveType) Shape {
	if s.d.typ == t {
		return s // which others have: fewer places in memory to look at
	}
	d := s.d.copy()
	d.typ = t
	return Shape{d}
}

// WithoutLayout returns s with every layout removed.
func (s Shape) WithoutLayout() Shape {
	return s.Map(func(a Shape) Shape {
		if a.d.layout == nil {
			return a
		}
		return a.WithLayout(nil)
	})
}

// WithDefaultLayout returns s with the default layout on every array that has none.
func (s Shape) WithDefaultLayout() Shape {
	return s.Map(func(a Shape) Shape {
		if a.d.layout != nil {
			return a
		}
		return a.WithLayout(DefaultLayout(a.Rank()))
	})
}

// WithDynamicDimension returns the array s with axis i made dynamic or static; the size is kept.
func (s Shape) WithDynamicDimension(i int, dynamic bool) Shape {
	if s.IsDynamicDimension(i) == dynamic {
		return s
	}
	d := s.d.copy()
	d.dyn = make([]bool, len(d.dims))
	copy(d.dyn, s.d.dyn)
	d.dyn[i] = dynamic
	if !slices.Contains(d.dyn, true) {
		d.dyn = nil
	}
	return Shape{d}
}

// Equal reports whether the two shapes agree in everything, layouts and dynamic flags included.
func (s Shape) Equal(t Shape) bool { return s.equal(t, true) }

// EqualIgnoringLayout is Equal with layouts left out.
func (s Shape) EqualIgnoringLayout(t Shape) bool { return s.equal(t, false) }

func (s Shape) equal(t Shape, layouts bool) bool {
	if s.d == t.d {
		return true
	}
	if s.d == nil || t.d == nil || s.d.typ != t.d.typ || !slices.Equal(s.d.dims, t.d.dims) || len(s.d.elems) != len(t.d.elems) ||
		!slices.Equal(s.d.dyn, t.d.dyn) {
		return false
	}
	if layouts && !s.d.layout.Equal(t.d.layout) {
		return false
	}
	for i := range s.d.elems {
		if !s.d.elems[i].equal(t.d.elems[i], layouts) {
			return false
		}
	}
	return true
}

// Compatible reports whether the two shapes have the same tree, element types and sizes. An unbounded dimension matches any
// size; dynamic flags and layouts are ignored.
func (s Shape) Compatible(t Shape) bool {
	if s.d == t.d {
		return true
	}
	if s.d == nil || t.d == nil || s.d.typ != t.d.typ || len(s.d.dims) != len(t.d.dims) || len(s.d.elems) != len(t.d.elems) {
		return false
	}
	for i, d := range s.d.dims {
		if e := t.d.dims[i]; d != e && d != UnboundedSize && e != UnboundedSize {
			return false
		}
	}
	for i := range s.d.elems {
		if !s.d.elems[i].Compatible(t.d.elems[i]) {
			return false
		}
	}
	return true
}

// AppendText appends s as HLO text writes it; layouts are written when withLayout is set and the array has one.
func (s Shape) AppendText(b []byte, withLayout bool) []byte {
	switch {
	case s.d == nil:
		return append(b, "invalid"...)
	case s.IsTuple():
		b = append(b, '(')
		for i, e := range s.d.elems {
			if i > 0 {
				b = append(b, ", "...)
				if i%5 == 0 {
					b = append(strconv.AppendInt(append(b, "/*index="...), int64(i), 10), "*/"...)
				}
			}
			b = e.AppendText(b, withLayout)
		}
		return append(b, ')')
	case s.IsBuffer():
		return append(s.d.elems[0].AppendText(append(b, "b("...), withLayout), ')')
	}
	b = append(append(b, s.d.typ.String()...), '[')
	for i, d := range s.d.dims {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case d == UnboundedSize:
			b = append(b, '?')
			continue
		case s.IsDynamicDimension(i):
			b = append(b, "<="...)
		}
		b = strconv.AppendInt(b, d, 10)
	}
	b = append(b, ']')
	if l := s.d.layout; withLayout && l != nil && (len(s.d.dims) > 0 || l.hasFields()) {
		b = l.AppendText(b)
	}
	return b
}

// String is s as text with layouts.
func (s Shape) String() string { return string(s.AppendText(nil, true)) }

// HasToken reports whether s is a token, or a tuple with one in it at any depth.
func (s Shape) HasToken() bool { return s.d != nil && s.d.tokens }
