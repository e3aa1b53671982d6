package proto

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// shapeCache shares equal simple shapes among the instructions of a module.
type shapeCache struct {
	last [64]hlo.Shape // of recent arrays, by a hash of type and sizes
}

func (c *shapeCache) shape(m *shapeMsg) (hlo.Shape, error) {
	if m == nil {
		return hlo.Shape{}, errorf("missing")
	}
	t := hlo.PrimitiveType(m.Type)
	switch {
	case m.Type == int32(hlo.TUPLE):
		elems := make([]hlo.Shape, len(m.Tuple))
		for i, e := range m.Tuple {
			var err error
			if elems[i], err = c.shape(e); err != nil {
				return hlo.Shape{}, within(err, at("tuple_shapes", i))
			}
		}
		return hlo.MakeTuple(elems...), nil
	case m.Type == int32(hlo.TOKEN):
		return hlo.MakeToken(), nil
	case m.Type == int32(hlo.OPAQUE):
		return hlo.MakeOpaque(), nil
	case m.Type == int32(hlo.BUFFER):
		if len(m.Tuple) != 1 {
			return hlo.Shape{}, errorf("buffer of %d shapes", len(m.Tuple))
		}
		e, err := c.shape(m.Tuple[0])
		if err == nil && !e.IsArray() {
			err = errorf("buffer of %v", e)
		}
		return hlo.MakeBuffer(e), err
	case m.Type <= 0 || m.Type >= hlo.NumPrimitiveTypes || !t.IsArray():
		return hlo.Shape{}, errorf("element type %d", m.Type)
	}
	for i, d := range m.Dimensions {
		if d < 0 && d != hlo.UnboundedSize {
			return hlo.Shape{}, errorf("dimension %d of size %d", i, d)
		}
	}
	if len(m.Dynamic) != 0 && len(m.Dynamic) != len(m.Dimensions) {
		return hlo.Shape{}, errorf("%d dynamic flags of %d dimensions", len(m.Dynamic), len(m.Dimensions))
	}
	dynamic := m.Dynamic
	if i := slices.Index(m.Dimensions, hlo.UnboundedSize); i >= 0 {
		if dynamic == nil {
			dynamic = make([]bool, len(m.Dimensions))
		}
		for i, d := range m.Dimensions {
			dynamic[i] = dynamic[i] || d == hlo.UnboundedSize
		}
	}
	layout, err := decodeLayout(m.Layout, len(m.Dimensions))
	if err != nil {
		return hlo.Shape{}, within(err, "layout")
	}
	s := hlo.MakeArray(t, m.Dimensions, dynamic, layout)
	slot := &c.last[shapeHash(m)%uint64(len(c.last))]
	if slot.IsValid() && slot.Equal(s) {
		return *slot, nil
	}
	*slot = s
	return s, nil
}

func shapeHash(m *shapeMsg) uint64 {
	h := uint64(m.Type)
	for _, d := range m.Dimensions {
		h = h*31 + uint64(d)
	}
	return h
}

func decodeLayout(m *layoutMsg, rank int) (*hlo.Layout, error) {
	if m == nil {
		return nil, nil
	}
	if len(m.MinorToMajor) != rank {
		return nil, errorf("%d axes of %d dimensions", len(m.MinorToMajor), rank)
	}
	seen := make([]bool, rank)
	for _, axis := range m.MinorToMajor {
		if axis < 0 || axis >= int64(rank) || seen[axis] {
			return nil, errorf("minor_to_major %v is no permutation", m.MinorToMajor)
		}
		seen[axis] = true
	}
	l := &hlo.Layout{
		MinorToMajor: m.MinorToMajor, ElementSizeInBits: m.ElementBits, MemorySpace: m.MemorySpace, TailPaddingAlignment: m.TailPadding,
		MetadataPrefixBytes: m.MetadataPrefix,
	}
	if l.ElementSizeInBits < 0 || l.MemorySpace < 0 || l.TailPaddingAlignment < 0 || l.MetadataPrefixBytes < 0 {
		return nil, errorf("negative size")
	}
	var err error
	if l.IndexType, err = decodeIndexType(m.IndexType); err != nil {
		return nil, err
	}
	if l.PointerType, err = decodeIndexType(m.PointerType); err != nil {
		return nil, err
	}
	for _, t := range m.Tiles {
		for _, d := range t.Values {
			if d < 0 && d != hlo.TileCombine {
				return nil, errorf("tile dimension %d", d)
			}
		}
		l.Tiles = append(l.Tiles, t.Values)
	}
	for _, s := range m.SplitConfigs {
		l.SplitConfigs = append(l.SplitConfigs, hlo.SplitConfig{Dimension: s.Dimension, Indices: s.Indices})
	}
	if d := hlo.DefaultLayout(rank); l.Equal(d) {
		return d, nil
	}
	return l, nil
}

func decodeIndexType(t int32) (hlo.PrimitiveType, error) {
	if t == 0 {
		return hlo.InvalidType, nil
	}
	if t < 0 || t > math.MaxUint8 || !hlo.PrimitiveType(t).IsUnsigned() {
		return hlo.InvalidType, errorf("index or pointer type %d", t)
	}
	return hlo.PrimitiveType(t), nil
}

func encodeShape(s hlo.Shape) *shapeMsg {
	m := &shapeMsg{Type: int32(s.Type())}
	for i := range s.NumElems() {
		m.Tuple = append(m.Tuple, encodeShape(s.Elem(i)))
	}
	if !s.IsArray() {
		return m
	}
	m.Dimensions = s.Dimensions()
	m.Dynamic = make([]bool, s.Rank())
	for i := range m.Dynamic {
		m.Dynamic[i] = s.IsDynamicDimension(i)
	}
	if l, ok := s.Layout(); ok {
		m.Layout = encodeLayout(l)
	}
	return m
}

func encodeLayout(l *hlo.Layout) *layoutMsg {
	m := &layoutMsg{
		MinorToMajor: l.MinorToMajor, ElementBits: l.ElementSizeInBits, MemorySpace: l.MemorySpace, TailPadding: max(l.TailPaddingAlignment, 1),
		MetadataPrefix: l.MetadataPrefixBytes, IndexType: int32(l.IndexType), PointerType: int32(l.PointerType),
	}
	for _, t := range l.Tiles {
		m.Tiles = append(m.Tiles, &intsMsg{t})
	}
	for _, s := range l.SplitConfigs {
		m.SplitConfigs = append(m.SplitConfigs, &splitMsg{s.Dimension, s.Indices})
	}
	return m
}

func encodeProgramShape(s hlo.ProgramShape, names []string) *programShapeMsg {
	p := &programShapeMsg{Names: names}
	for _, shape := range s.Parameters {
		p.Parameters = append(p.Parameters, encodeShape(shape))
	}
	if s.Result.IsValid() {
		p.Result = encodeShape(s.Result)
	}
	return p
}
