package hlo

import (
	"bytes"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// Literal is constant data of a shape: the elements of an array in row-major order (whatever the layout of the shape), or the parts
// of a tuple. It is immutable. Elements are stored little-endian; those narrower than a byte take a byte each, value in the low bits
// and, for signed ones, sign-extended.
type Literal struct {
	shape Shape
	data  []byte
	parts []*Literal
	// state is elidedBit, for a literal that stands for data that the text left out (`{...}`) and that has a shape only, and in its other
	// bits the hash, once asked for. Atomic: constants are renamed and copied, and may have megabytes.
	state uint64
}

const elidedBit = 1

func (l *Literal) isElided() bool { return atomic.LoadUint64(&l.state)&elidedBit != 0 }

// hash is what [hasher.literal] hashes, computed once.
func (l *Literal) hash() uint64 {
	if x := atomic.LoadUint64(&l.state) &^ elidedBit; x != 0 {
		return x
	}
	h := newHasher(16)
	h.shape(l.shape)
	h.bool(l.isElided())
	h.bytes(l.data)
	h.word(uint64(len(l.parts)))
	for _, p := range l.parts {
		h.word(p.hash())
	}
	x := max(h.sum64()&^elidedBit, elidedBit+1)
	atomic.StoreUint64(&l.state, x|atomic.LoadUint64(&l.state)&elidedBit)
	return x
}

// NewLiteral makes an array literal over data, which it keeps and which must not be written afterwards. The length must be
// shape.ByteSize().
func NewLiteral(shape Shape, data []byte) (*Literal, error) {
	if !shape.IsArray() && !shape.IsToken() {
		return nil, fmt.Errorf("literal of shape %v", shape)
	}
	if int64(len(data)) != shape.ByteSize() {
		return nil, fmt.Errorf("literal of shape %v takes %d bytes, got %d", shape, shape.ByteSize(), len(data))
	}
	return &Literal{shape: shape, data: data}, nil
}

// Overwritten forgets what was computed from the data. Who writes to the memory of a literal, as programs do to that of their results,
// calls it afterwards.
func (l *Literal) Overwritten() { atomic.StoreUint64(&l.state, 0) }

// NewTupleLiteral makes a tuple literal of parts.
func NewTupleLiteral(parts ...*Literal) *Literal {
	shapes := make([]Shape, len(parts))
	for i, p := range parts {
		shapes[i] = p.shape
	}
	return &Literal{shape: MakeTuple(shapes...), parts: append([]*Literal(nil), parts...)}
}

// NewElidedLiteral makes a literal whose data is not known. Of an array without elements there is nothing to know.
func NewElidedLiteral(shape Shape) *Literal {
	if shape.IsArray() && shape.NumElements() == 0 {
		return &Literal{shape: shape}
	}
	return &Literal{shape: shape, state: elidedBit}
}

// Element is a Go type that holds one element of some primitive types exactly as a literal stores it.
type Element interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

// LiteralOf makes a literal by copying values; the size of E must be the byte size of the shape's element type.
func LiteralOf[E Element](shape Shape, values ...E) (*Literal, error) {
	var e E
	if int(unsafe.Sizeof(e)) != shape.Type().ByteSize() {
		return nil, fmt.Errorf("elements of %v take %d bytes, got %T", shape.Type(), shape.Type().ByteSize(), e)
	}
	data := make([]byte, len(values)*int(unsafe.Sizeof(e)))
	if len(values) > 0 {
		copy(data, unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(data)))
	}
	return NewLiteral(shape, data)
}

// Values is a view of the elements of an array literal. The slice shares memory with the literal and must not be written. The size
// of E must be that of the element type, and the literal must not be elided.
func Values[E Element](l *Literal) []E {
	var e E
	if int(unsafe.Sizeof(e)) != l.shape.Type().ByteSize() {
		panic(fmt.Sprintf("hlo: Values[%T] of a literal of shape %v", e, l.shape))
	}
	if len(l.data) == 0 {
		return nil
	}
	p := unsafe.Pointer(&l.data[0])
	if uintptr(p)%unsafe.Alignof(e) != 0 {
		aligned := make([]E, len(l.data)/int(unsafe.Sizeof(e)))
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&aligned[0])), len(l.data)), l.data)
		return aligned
	}
	return unsafe.Slice((*E)(p), len(l.data)/int(unsafe.Sizeof(e)))
}

// Shape is the literal's shape.
func (l *Literal) Shape() Shape { return l.shape }

// IsElided reports whether the data of this literal, or of some part of it, is not known.
func (l *Literal) IsElided() bool {
	if l.isElided() {
		return true
	}
	for _, p := range l.parts {
		if p.IsElided() {
			return true
		}
	}
	return false
}

// Bytes is the data of an array literal, nil when elided. It is shared and must not be written.
func (l *Literal) Bytes() []byte { return l.data }

// NumParts is the number of elements of a tuple literal.
func (l *Literal) NumParts() int { return len(l.parts) }

// Part is element i of a tuple literal.
func (l *Literal) Part(i int) *Literal { return l.parts[i] }

// WithShape returns the same data under another shape with the same element type and number of elements (another layout, other
// dimensions).
func (l *Literal) WithShape(s Shape) (*Literal, error) {
	if s.Type() != l.shape.Type() || s.ByteSize() != l.shape.ByteSize() {
		return nil, fmt.Errorf("literal of shape %v cannot be seen as %v", l.shape, s)
	}
	return &Literal{shape: s, data: l.data, parts: l.parts, state: atomic.LoadUint64(&l.state) & elidedBit}, nil
}

// Equal reports whether two literals have equal shapes and the same bits. Where hashes are known, different data is not looked at.
func (l *Literal) Equal(o *Literal) bool {
	if l == o {
		return true
	}
	if l == nil || o == nil {
		return false
	}
	x, y := atomic.LoadUint64(&l.state), atomic.LoadUint64(&o.state)
	if (x^y)&elidedBit != 0 || x > elidedBit && y > elidedBit && x != y {
		return false
	}
	if len(l.parts) != len(o.parts) || !l.shape.Equal(o.shape) || !bytes.Equal(l.data, o.data) {
		return false
	}
	for i := range l.parts {
		if !l.parts[i].Equal(o.parts[i]) {
			return false
		}
	}
	return true
}

// IsSplat reports whether all elements have the same bits. Empty and elided
// literals are not.
func (l *Literal) IsSplat() bool {
	w := l.shape.Type().ByteSize()
	if l.isElided() || len(l.data) == 0 || w == 0 {
		return false
	}
	return len(l.data) == w || bytes.Equal(l.data[w:], l.data[:len(l.data)-w])
}

// ScalarInt returns the value of a literal with one element of an integer type or pred.
func (l *Literal) ScalarInt() (int64, bool) {
	if l.isElided() || l.shape.NumElements() != 1 {
		return 0, false
	}
	t := l.shape.Type()
	if !t.IsInteger() && t != PRED {
		return 0, false
	}
	var v uint64
	for i, b := range l.data {
		v |= uint64(b) << (8 * i)
	}
	if t.IsSigned() {
		shift := 64 - 8*len(l.data)
		return int64(v<<shift) >> shift, true
	}
	return int64(v), v <= math.MaxInt64
}

// LiteralOfLeaves puts the literal of a shape together from the first of some leaves, and returns the rest. A nil leaf stands for a
// token. There must be as many leaves as the shape has.
func LiteralOfLeaves(s Shape, leaves []*Literal) (l *Literal, rest []*Literal) {
	if s.IsTuple() {
		parts := make([]*Literal, s.NumElems())
		for i := range parts {
			parts[i], leaves = LiteralOfLeaves(s.Elem(i), leaves)
		}
		return NewTupleLiteral(parts...), leaves
	}
	if l = leaves[0]; l == nil && s.IsToken() {
		l = &Literal{shape: s}
	}
	return l, leaves[1:]
}

// Leaves lists the parts of l that are not tuples, in depth-first order.
func (l *Literal) Leaves() []*Literal {
	if !l.shape.IsTuple() {
		return []*Literal{l}
	}
	var all []*Literal
	for _, p := range l.parts {
		all = append(all, p.Leaves()...)
	}
	return all
}
