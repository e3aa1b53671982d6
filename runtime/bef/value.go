package bef

import (
	"encoding/binary"
	"math"
)

// Value is an attribute while a program is built, or read back in full.
// Which fields mean something depends on Type:
//
//	fixed-size types       Data, little-endian, Type.Size() bytes
//	StringType, FuncType   Data, the bytes of the text
//	arrays                 Data, packed elements
//	ShapeType              Dims, unless Unranked; -1 is an unknown extent
//	DenseType              Elem, Dims, Data row-major
//	AggregateType          Elems
//	SymbolRefType          Symbol
//
// Data may share memory with its source: a Value is read-only.
type Value struct {
	Type     AttrType
	Elem     AttrType
	Unranked bool
	Data     []byte
	Dims     []int64
	Elems    []Value
	Symbol   *Symbol
}

// Symbol is a reference into a compilation unit, together with the unit's text.
type Symbol struct {
	ID     uint64 // of the unit, dense within a file
	Root   string
	Nested []string
	Text   string
}

// Bits returns a value of a fixed-size type of at most 8 bytes.
func Bits(t AttrType, bits uint64) Value {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	return Value{Type: t, Data: b[:min(t.Size(), 8)]}
}

// Bool, Int32 and their like are scalars.
func Bool(v bool) Value {
	if v {
		return Bits(I1, 1)
	}
	return Bits(I1, 0)
}
func Int32(v int32) Value     { return Bits(I32, uint64(uint32(v))) }
func Int64(v int64) Value     { return Bits(I64, uint64(v)) }
func Float32(v float32) Value { return Bits(F32, uint64(math.Float32bits(v))) }
func Float64(v float64) Value { return Bits(F64, math.Float64bits(v)) }

// TypeValue is an element type as a constant.
func TypeValue(t AttrType) Value { return Value{Type: TypeType, Data: []byte{byte(t)}} }

// String is a text; it need not be UTF-8.
func String(s string) Value { return Value{Type: StringType, Data: []byte(s)} }

// Array is a list of fixed-size elements, packed in data. An array without
// elements loses its element type.
func Array(elem AttrType, data []byte) Value {
	if len(data) == 0 {
		return Value{Type: EmptyArray}
	}
	return Value{Type: ArrayOf(elem), Data: data}
}

// Int64s is an array of i64.
func Int64s(v ...int64) Value {
	data := make([]byte, 0, 8*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint64(data, uint64(x))
	}
	return Array(I64, data)
}

// Shape is a ranked shape; -1 stands for an unknown extent.
func Shape(dims ...int64) Value { return Value{Type: ShapeType, Dims: dims} }

// UnrankedShape is the shape of which not even the rank is known.
func UnrankedShape() Value { return Value{Type: ShapeType, Unranked: true} }

// Dense is a tensor constant: row-major elements, one byte each for types
// narrower than a byte. The data is shared, not copied, until it is encoded.
func Dense(elem AttrType, dims []int64, data []byte) Value {
	return Value{Type: DenseType, Elem: elem, Dims: dims, Data: data}
}

// Aggregate is a list of values of any types.
func Aggregate(elems ...Value) Value { return Value{Type: AggregateType, Elems: elems} }

// Strings is a list of texts.
func Strings(s ...string) Value {
	elems := make([]Value, len(s))
	for i := range s {
		elems[i] = String(s[i])
	}
	return Aggregate(elems...)
}

// List is the form in which a list is stored: an array if all elements are of
// one fixed-size type, else an aggregate.
func List(elems ...Value) Value {
	if len(elems) == 0 {
		return Value{Type: EmptyArray}
	}
	t := elems[0].Type
	data := make([]byte, 0, len(elems)*t.Size())
	for _, e := range elems {
		if e.Type != t || t.Size() == 0 {
			return Aggregate(elems...)
		}
		data = append(data, e.Data...)
	}
	return Array(t, data)
}

// SymbolRef is a reference into a compilation unit.
func SymbolRef(s Symbol) Value { return Value{Type: SymbolRefType, Symbol: &s} }
