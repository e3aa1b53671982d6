package proto

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// maxTupleDepth bounds nesting of tuples, which are left encoded, so that no message nests.
const maxTupleDepth = maxDepth

// shapes remembers what the bytes of shapes meant, so that equal ones are read once and are one in memory.
type shapes map[string]hlo.Shape

// shape reads a shapeMsg.
func (c shapes) shape(raw rawMsg) (hlo.Shape, error) { return c.nested(raw, 0) }

func (c shapes) nested(raw rawMsg, depth int) (hlo.Shape, error) {
	key := sharedString(raw)
	if s, ok := c[key]; ok && (depth == 0 || !s.IsTuple()) { // how deep a tuple is has to be found out wherever it stands
		return s, nil
	}
	if raw == nil {
		return hlo.Shape{}, errorf("missing")
	}
	var m shapeMsg
	if err := unmarshal(raw, &m); err != nil {
		return hlo.Shape{}, err
	}
	s, err := c.decode(&m, depth)
	if err == nil {
		c[key] = s
	}
	return s, err
}

func (c shapes) decode(m *shapeMsg, depth int) (hlo.Shape, error) {
	switch t := hlo.PrimitiveType(m.Type); {
	case m.Type <= 0 || m.Type >= hlo.NumPrimitiveTypes:
		return hlo.Shape{}, errorf("element type %d", m.Type)
	case t.IsArray():
		return decodeArray(t, m)
	case len(m.Dimensions)+len(m.Dynamic) > 0:
		return hlo.Shape{}, errorf("%v with dimensions", t)
	case t == hlo.TUPLE:
		elems, err := c.elements(m.Tuple, depth)
		if err != nil {
			return hlo.Shape{}, err
		}
		return hlo.MakeTuple(elems...), nil
	case t == hlo.TOKEN:
		return hlo.MakeToken(), nil
	case t == hlo.OPAQUE:
		return hlo.MakeOpaque(), nil
	case t == hlo.BUFFER:
		if len(m.Tuple) != 1 {
			return hlo.Shape{}, errorf("buffer of %d shapes", len(m.Tuple))
		}
		elems, err := c.elements(m.Tuple, depth)
		if err != nil {
			return hlo.Shape{}, err
		}
		if !elems[0].IsArray() {
			return hlo.Shape{}, errorf("buffer of %v", elems[0])
		}
		return hlo.MakeBuffer(elems[0]), nil
	}
	return hlo.Shape{}, errorf("element type %d", m.Type)
}

func (c shapes) elements(list []rawMsg, depth int) ([]hlo.Shape, error) {
	if depth == maxTupleDepth {
		return nil, errorf("tuples nest deeper than %d", maxTupleDepth)
	}
	elems := make([]hlo.Shape, len(list))
	for i, raw := range list {
		var err error
		if elems[i], err = c.nested(raw, depth+1); err != nil {
			return nil, within(err, at("tuple_shapes", i))
		}
	}
	return elems, nil
}

func decodeArray(t hlo.PrimitiveType, m *shapeMsg) (hlo.Shape, error) {
	if len(m.Tuple) > 0 {
		return hlo.Shape{}, errorf("array of %d shapes", len(m.Tuple))
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
	if slices.Contains(m.Dimensions, hlo.UnboundedSize) {
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
	return hlo.MakeArray(t, m.Dimensions, dynamic, layout), nil
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
