package hlo

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Values in the memory of a compiled program. A static array is its elements. An array with bounded dynamic dimensions has room for as
// many elements as its bounds allow, and behind that its actual sizes, an int32 for each dimension. The elements of the actual
// array lie densely from the start. That is how XLA passes such arrays to programs and takes them from programs on CPU.

const bytesPerSize = 4

// IsBounded reports whether every dimension anywhere in s is static or has a bound: there is no `?`.
func (s Shape) IsBounded() bool { return !s.HasUnbounded() }

// BufferSize returns the bytes that a value of s, which is not a tuple, takes in memory, or math.MaxInt64 if they cannot be known or counted.
func (s Shape) BufferSize() int64 {
	s = s.inBuffer()
	if s.IsStatic() {
		return s.ByteSize()
	}
	if !s.IsBounded() || s.ByteSize() > math.MaxInt64-bytesPerSize*int64(s.Rank()) {
		return math.MaxInt64
	}
	return s.ByteSize() + bytesPerSize*int64(s.Rank())
}

// inBuffer is the array that a buffer holds, or s itself.
func (s Shape) inBuffer() Shape {
	if s.IsBuffer() {
		return s.Elem(0)
	}
	return s
}

// InMemory returns the shape of the memory that holds a value of s: s itself, the array of a buffer, or the bytes of an array with dynamic dimensions.
func (s Shape) InMemory() Shape {
	s = s.inBuffer()
	if s.IsStatic() {
		return s
	}
	n := s.BufferSize()
	return MakeArray(U8, []int64{n}, nil, DefaultLayout(1))
}

// Buffer returns l as a program has a value of shape s in memory: the bytes of l itself if s is static, else a copy. A literal that is
// larger than its bounds or is not of the type is refused.
func (l *Literal) Buffer(s Shape) ([]byte, error) {
	s = s.inBuffer()
	if s.IsStatic() {
		return l.Bytes(), nil
	}
	if !s.Accepts(l.shape) {
		return nil, fmt.Errorf("got an array of shape %v, want %v", l.shape, s)
	}
	size := s.BufferSize()
	if size == math.MaxInt64 {
		return nil, fmt.Errorf("the size of %v is not known", s)
	}
	b := make([]byte, size)
	copy(b, l.Bytes())
	for i, d := range l.shape.d.dims {
		binary.LittleEndian.PutUint32(b[s.ByteSize()+bytesPerSize*int64(i):], uint32(d))
	}
	return b, nil
}

// LiteralOfBuffer returns the value of shape s that memory holds, as a literal of its actual size. It shares the memory.
func LiteralOfBuffer(s Shape, b []byte) (*Literal, error) {
	s = s.inBuffer()
	if s.IsStatic() {
		return NewLiteral(s, b)
	}
	if int64(len(b)) != s.BufferSize() {
		return nil, fmt.Errorf("a value of shape %v takes %d bytes, got %d", s, s.BufferSize(), len(b))
	}
	dims := make([]int64, s.Rank())
	for i := range dims {
		dims[i] = int64(int32(binary.LittleEndian.Uint32(b[s.ByteSize()+bytesPerSize*int64(i):])))
	}
	actual := MakeShape(s.Type(), dims...)
	if !s.Accepts(actual) {
		return nil, fmt.Errorf("the sizes %v are not those of a %v", dims, s)
	}
	return NewLiteral(actual, b[:actual.ByteSize()])
}

// Accepts reports whether an array of shape actual is a value of the array shape s: the same, but for dynamic dimensions, which may be smaller.
func (s Shape) Accepts(actual Shape) bool {
	if !actual.IsArray() || !s.IsArray() || actual.Type() != s.Type() || actual.Rank() != s.Rank() {
		return false
	}
	for i := range s.Rank() {
		d, bound := actual.Dim(i), s.Dim(i)
		if d != bound && (d < 0 || !s.IsDynamicDimension(i) || !s.IsUnboundedDimension(i) && d > bound) {
			return false
		}
	}
	return true
}
