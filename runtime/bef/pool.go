package bef

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Pool is the attribute section: constants without types, each aligned as its
// type demands. A kernel knows what it expects at an offset, and the accessors
// check that the bytes can be that. They return [*FormatError], share memory
// with Data where they return slices, and are safe for concurrent use.
type Pool struct {
	Data  []byte
	Align int         // of Data in a file
	Types []PoolEntry // the types that the file states, in pool order

	// Legacy marks a pool of generation G1: lengths of strings and arrays
	// stand before the payload, to be read backwards.
	Legacy bool
}

const maxAttrDepth = 64

func (p *Pool) fail(off uint32, t AttrType, format string, args ...any) error {
	e := fail(AttributesSection, uint64(off), format, args...)
	e.Msg = t.String() + " at " + utoa(int(off)) + ": " + e.Msg
	return e
}

// Bytes returns the n bytes at an offset.
func (p *Pool) Bytes(off uint32, n int) ([]byte, error) {
	if n < 0 || uint64(off) > uint64(len(p.Data)) || uint64(n) > uint64(len(p.Data))-uint64(off) {
		return nil, fail(AttributesSection, uint64(off), "attribute of %d bytes at %d is outside of the pool", n, off)
	}
	return p.Data[off:][:n:n], nil
}

// Bits returns a constant of a fixed-size type of at most 8 bytes, zero-extended.
func (p *Pool) Bits(off uint32, t AttrType) (uint64, error) {
	if t.Size() == 0 || t.Size() > 8 {
		return 0, p.fail(off, t, "not a scalar")
	}
	b, err := p.Bytes(off, t.Size())
	if err != nil {
		return 0, err
	}
	var v [8]byte
	copy(v[:], b)
	bits := binary.LittleEndian.Uint64(v[:])
	if t == I1 && bits > 1 {
		return 0, p.fail(off, t, "byte %d is neither 0 nor 1", bits)
	}
	if t == TypeType && !AttrType(bits).Known() {
		return 0, p.fail(off, t, "unknown type code %d", bits)
	}
	return bits, nil
}

// Bool, Int32 and their like return scalars.
func (p *Pool) Bool(off uint32) (bool, error) { v, err := p.Bits(off, I1); return v != 0, err }

func (p *Pool) Int32(off uint32) (int32, error) { v, err := p.Bits(off, I32); return int32(v), err }

func (p *Pool) Int64(off uint32) (int64, error) { v, err := p.Bits(off, I64); return int64(v), err }

func (p *Pool) Float32(off uint32) (float32, error) {
	v, err := p.Bits(off, F32)
	return math.Float32frombits(uint32(v)), err
}

func (p *Pool) Float64(off uint32) (float64, error) {
	v, err := p.Bits(off, F64)
	return math.Float64frombits(v), err
}

// ElemType returns a type constant.
func (p *Pool) ElemType(off uint32) (AttrType, error) {
	v, err := p.Bits(off, TypeType)
	return AttrType(v), err
}

// Text returns the bytes of a string.
func (p *Pool) Text(off uint32) ([]byte, error) {
	b, n, err := p.counted(off, StringType)
	if err != nil {
		return nil, err
	}
	if n > uint64(len(b)) {
		return nil, p.fail(off, StringType, "%d bytes announced, %d left", n, len(b))
	}
	return b[:n:n], nil
}

// Array returns the packed elements of an array of a fixed-size type.
func (p *Pool) Array(off uint32, elem AttrType) ([]byte, error) {
	t := ArrayOf(elem)
	size := uint64(elem.Size())
	if size == 0 {
		return nil, p.fail(off, t, "elements are not of a fixed size")
	}
	b, n, err := p.counted(off, t)
	if err != nil {
		return nil, err
	}
	if n > uint64(len(b))/size {
		return nil, p.fail(off, t, "%d elements announced, %d bytes left", n, len(b))
	}
	b = b[: n*size : n*size]
	if elem == I1 {
		for i, x := range b {
			if x > 1 {
				return nil, p.fail(off, t, "element %d is %d, neither 0 nor 1", i, x)
			}
		}
	}
	return b, nil
}

// counted returns what follows the count of a string or an array, and the count.
func (p *Pool) counted(off uint32, t AttrType) ([]byte, uint64, error) {
	if p.Legacy {
		return p.legacyCounted(off, t)
	}
	b, err := p.Bytes(off, 4)
	if err != nil {
		return nil, 0, err
	}
	return p.Data[off+4:], uint64(word(b)), nil
}

// Int64s returns an array of i64 or, as texts often have it, an empty one.
func (p *Pool) Int64s(off uint32) ([]int64, error) {
	b, err := p.Array(off, I64)
	if err != nil {
		return nil, err
	}
	return int64s(b), nil
}

func int64s(b []byte) []int64 {
	v := make([]int64, len(b)/8)
	for i := range v {
		v[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}

// prefixed returns a payload that starts with the common prefix, up to its
// end, and the size of its head. Nil stands for the short form: a zero word.
func (p *Pool) prefixed(off uint32, t AttrType, least int) (b []byte, head int, err error) {
	if b, err = p.Bytes(off, 4); err != nil {
		return nil, 0, err
	}
	if word(b) == 0 && t != DenseType {
		return nil, 0, nil
	}
	if b, err = p.Bytes(off, max(least, 8)); err != nil {
		return nil, 0, err
	}
	if b[0] != 4 && b[0] != 8 {
		return nil, 0, p.fail(off, t, "alignment %d is neither 4 nor 8", b[0])
	}
	head = int(binary.LittleEndian.Uint16(b[2:]))
	total := uint64(word(b[4:]))
	if head < least || total < uint64(head) || total > uint64(len(p.Data))-uint64(off) {
		return nil, 0, p.fail(off, t, "sizes %d and %d do not fit", head, total)
	}
	return p.Data[off:][:total:total], head, nil
}

// Shape returns the extents of a shape, -1 for an unknown one. An unranked
// shape has ranked false.
func (p *Pool) Shape(off uint32) (dims []int64, ranked bool, err error) {
	b, _, err := p.prefixed(off, ShapeType, 12)
	if err != nil || b == nil {
		return nil, false, err
	}
	rank := uint64(word(b[8:]))
	if uint64(len(b)) != 12+8*rank {
		return nil, false, p.fail(off, ShapeType, "rank %d in %d bytes", rank, len(b))
	}
	dims = int64s(b[12:])
	for _, d := range dims {
		if d < -1 {
			return nil, false, p.fail(off, ShapeType, "extent %d", d)
		}
	}
	return dims, true, nil
}

// Tensor is a dense constant. Data shares memory with the pool.
type Tensor struct {
	Elem AttrType
	Dims []int64
	Data []byte // row-major
}

// Dense returns a tensor constant.
func (p *Pool) Dense(off uint32) (Tensor, error) {
	b, head, err := p.prefixed(off, DenseType, 20)
	if err != nil {
		return Tensor{}, err
	}
	start, count, rank := word(b[8:]), uint64(word(b[12:])), uint64(word(b[16:]))
	elem := AttrType(b[1])
	if uint64(start) != 20+8*rank || int(start) != head {
		return Tensor{}, p.fail(off, DenseType, "elements at %d with rank %d", start, rank)
	}
	t := Tensor{Elem: elem, Dims: int64s(b[20:start]), Data: b[start:]}
	n, ok := elementCount(t.Dims)
	if elem.Size() == 0 || !ok || n != count || n*uint64(elem.Size()) != uint64(len(t.Data)) {
		return Tensor{}, p.fail(off, DenseType, "%d elements of %v%v in %d bytes", count, elem, t.Dims, len(t.Data))
	}
	if elem == I1 {
		for i, x := range t.Data {
			if x > 1 {
				return Tensor{}, p.fail(off, DenseType, "element %d is %d, neither 0 nor 1", i, x)
			}
		}
	}
	return t, nil
}

// Aggregate returns references to the elements of a list. They lie within the
// list and one after the other, so a walk of a nested list ends.
func (p *Pool) Aggregate(off uint32) ([]Attr, error) {
	b, head, err := p.prefixed(off, AggregateType, 12)
	if err != nil || b == nil {
		return nil, err
	}
	n := uint64(word(b[8:]))
	if uint64(head) != 12+4*n {
		return nil, p.fail(off, AggregateType, "%d elements with a head of %d bytes", n, head)
	}
	elems := make([]Attr, n)
	last := uint32(head)
	for i := range elems {
		at := word(b[12+4*i:])
		if at <= last || uint64(at) >= uint64(len(b)) || !AttrType(b[at-1]).Known() {
			return nil, p.fail(off, AggregateType, "element %d at %d", i, at)
		}
		elems[i] = Attr{Offset: off + at, Type: AttrType(b[at-1])}
		last = at
	}
	return elems, nil
}

// Symbol returns a reference into a compilation unit.
func (p *Pool) Symbol(off uint32) (*Symbol, error) {
	b, err := p.Bytes(off, len(p.Data)-int(min(uint64(off), uint64(len(p.Data)))))
	if err != nil {
		return nil, err
	}
	c := cursor{b: b, sec: AttributesSection}
	s := &Symbol{ID: c.vbr("unit id")}
	lens := []int{c.count("root length", 1)}
	n := c.count("nested names", 1)
	for i := 0; i < n && c.err == nil; i++ {
		lens = append(lens, c.count("name length", 1))
	}
	lens = append(lens, c.count("text length", 1))
	texts := make([]string, len(lens))
	for i, n := range lens {
		if c.err == nil && n > c.left() {
			c.fail(uint64(n), "text of %d bytes, %d left", n, c.left())
		}
		if c.err != nil {
			break
		}
		texts[i] = string(c.b[c.i:][:n])
		c.i += n
	}
	if c.byte("end of text") != 0 {
		c.fail(0, "no end of text")
	}
	if c.err != nil {
		return nil, p.fail(off, SymbolRefType, "%s", c.err.Msg)
	}
	s.Root, s.Nested, s.Text = texts[0], texts[1:len(texts)-1], texts[len(texts)-1]
	return s, nil
}

// Value reads a constant of any type in full. Its data share memory with the pool.
func (p *Pool) Value(a Attr) (Value, error) { return p.value(a, 0) }

func (p *Pool) value(a Attr, depth int) (v Value, err error) {
	v.Type = a.Type
	switch t := a.Type; {
	case depth > maxAttrDepth:
		err = p.fail(a.Offset, t, "nested more than %d deep", maxAttrDepth)
	case t.IsArray():
		v.Data, err = p.Array(a.Offset, t.Elem())
	case t.Size() > 8:
		v.Data, err = p.Bytes(a.Offset, t.Size())
	case t.Size() > 0:
		if _, err = p.Bits(a.Offset, t); err == nil {
			v.Data, err = p.Bytes(a.Offset, t.Size())
		}
	case t == StringType || t == FuncType:
		v.Data, err = p.Text(a.Offset)
	case t == ShapeType:
		var ranked bool
		v.Dims, ranked, err = p.Shape(a.Offset)
		v.Unranked = !ranked
	case t == DenseType:
		var d Tensor
		d, err = p.Dense(a.Offset)
		v.Elem, v.Dims, v.Data = d.Elem, d.Dims, d.Data
	case t == AggregateType:
		v.Elems, err = p.elements(a.Offset, depth)
	case t == SymbolRefType:
		v.Symbol, err = p.Symbol(a.Offset)
	default:
		err = p.fail(a.Offset, t, "type cannot be read")
	}
	return v, err
}

// elements reads the elements of a list. Each must end before the next begins,
// so that a list is read in time linear in its size.
func (p *Pool) elements(off uint32, depth int) ([]Value, error) {
	refs, err := p.Aggregate(off)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	end := off + word(p.Data[off+4:])
	elems := make([]Value, len(refs))
	for i, ref := range refs {
		within := *p
		within.Data = p.Data[:end]
		if i+1 < len(refs) {
			within.Data = p.Data[:refs[i+1].Offset-1]
		}
		if elems[i], err = within.value(ref, depth+1); err != nil {
			return nil, err
		}
	}
	return elems, nil
}

// payloadAlign is the alignment that a constant asked of the section.
func (p *Pool) payloadAlign(e PoolEntry) int {
	switch t := e.Type; {
	case t.IsArray():
		if b, err := p.Bytes(e.Offset, 4); err != nil || word(b) == 0 {
			return 4
		}
		return max(4, int(typeTable[t.Elem()].align))
	case t == ShapeType || t == AggregateType:
		// The first byte of a prefix is the alignment; the short form has none.
		if int(e.Offset) < len(p.Data) && p.Data[e.Offset] == 8 {
			return 8
		}
		return 4
	default:
		return int(typeTable[t].align)
	}
}

// View returns a tensor's elements, or an array's, as a typed slice of the same
// memory. T must have the element's size. It is false if the host's byte order
// or the alignment of the data do not allow that.
func View[T uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64 | complex64 | complex128](data []byte) ([]T, bool) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(data) == 0 {
		return nil, true
	}
	p := unsafe.Pointer(unsafe.SliceData(data))
	if !littleEndian || len(data)%size != 0 || uintptr(p)%unsafe.Alignof(zero) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(p), len(data)/size), true
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
