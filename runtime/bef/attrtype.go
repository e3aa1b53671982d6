package bef

import "strconv"

// AttrType is the type code of an attribute, of an array's or a tensor's elements.
type AttrType uint8

const (
	UI8 AttrType = 1 + iota
	UI16
	UI32
	UI64
	I1
	I8
	I16
	I32
	I64
	F32
	F64
	C64  // complex of two f32
	C128 // complex of two f64
	F16
	BF16
	StringType
	Resource
	Variant
	QUI8
	QUI16
	QI8
	QI16
	QI32
	_ // 24 ends the list of data types in TFRT and is never stored
	TypeType
	FuncType
	ShapeType
	DenseType
	SymbolRefType
	AggregateType
)

// Element types of HLO that TFRT has no code for. An element takes a byte,
// whatever its width.
const (
	S4 AttrType = 64 + iota
	U4
	S2
	U2
	F8E4M3FN
	F8E5M2
	F8E4M3B11FNUZ
	F8E4M3FNUZ
	F8E5M2FNUZ
	F8E3M4
	F8E4M3
	F8E8M0FNU
	F4E2M1FN
	F6E2M3FN
	F6E3M2FN
)

const (
	TokenType AttrType = 80
	S1        AttrType = 81
	U1        AttrType = 82

	arrayBase AttrType = 128
)

// EmptyArray is the type of an array without elements, whatever they would be.
const EmptyArray = arrayBase + I32

// ArrayOf returns the type of an array of fixed-size elements.
func ArrayOf(elem AttrType) AttrType { return arrayBase + elem }

// typeInfo is a row of the table of codes: size 0 marks a payload that is not
// of a fixed size.
type typeInfo struct {
	name        string
	size, align uint8
}

var typeTable = [128]typeInfo{
	UI8: {"ui8", 1, 1}, UI16: {"ui16", 2, 2}, UI32: {"ui32", 4, 4}, UI64: {"ui64", 8, 8},
	I1: {"i1", 1, 1}, I8: {"i8", 1, 1}, I16: {"i16", 2, 2}, I32: {"i32", 4, 4}, I64: {"i64", 8, 8},
	F32: {"f32", 4, 4}, F64: {"f64", 8, 8}, C64: {"complex<f32>", 8, 4}, C128: {"complex<f64>", 16, 8},
	F16: {"f16", 2, 2}, BF16: {"bf16", 2, 2},
	StringType: {"string", 0, 4}, Resource: {"resource", 0, 1}, Variant: {"variant", 0, 1},
	QUI8: {"quint8", 1, 1}, QUI16: {"quint16", 2, 2}, QI8: {"qint8", 1, 1}, QI16: {"qint16", 2, 2}, QI32: {"qint32", 4, 4},
	TypeType: {"type", 1, 1}, FuncType: {"func", 0, 4}, ShapeType: {"shape", 0, 8}, DenseType: {"dense", 0, 8},
	SymbolRefType: {"symbol_ref", 0, 1}, AggregateType: {"aggregate", 0, 8},
	S4: {"s4", 1, 1}, U4: {"u4", 1, 1}, S2: {"s2", 1, 1}, U2: {"u2", 1, 1},
	F8E4M3FN: {"f8e4m3fn", 1, 1}, F8E5M2: {"f8e5m2", 1, 1}, F8E4M3B11FNUZ: {"f8e4m3b11fnuz", 1, 1},
	F8E4M3FNUZ: {"f8e4m3fnuz", 1, 1}, F8E5M2FNUZ: {"f8e5m2fnuz", 1, 1}, F8E3M4: {"f8e3m4", 1, 1},
	F8E4M3: {"f8e4m3", 1, 1}, F8E8M0FNU: {"f8e8m0fnu", 1, 1}, F4E2M1FN: {"f4e2m1fn", 1, 1},
	F6E2M3FN: {"f6e2m3fn", 1, 1}, F6E3M2FN: {"f6e3m2fn", 1, 1},
	TokenType: {"token", 1, 1}, S1: {"s1", 1, 1}, U1: {"u1", 1, 1},
}

// Size is the number of bytes of a value of fixed size, else 0.
func (t AttrType) Size() int {
	if t.IsArray() {
		return 0
	}
	return int(typeTable[t].size)
}

// Known says that the code, or the array's element code, is one of the table.
func (t AttrType) Known() bool {
	if t.IsArray() {
		return t.Elem().Size() > 0
	}
	return typeTable[t].name != ""
}

// IsArray reports whether the type is an array of fixed-size elements.
func (t AttrType) IsArray() bool { return t >= arrayBase }

// Elem is the type of an array's elements.
func (t AttrType) Elem() AttrType { return t - arrayBase }

func (t AttrType) String() string {
	if t.IsArray() {
		return "array<" + t.Elem().String() + ">"
	}
	if n := typeTable[t].name; n != "" {
		return n
	}
	return "type(" + strconv.Itoa(int(t)) + ")"
}

// ElemType returns the fixed-size type of that name (`i32`, `complex<f32>`, …).
func ElemType(name string) (AttrType, bool) {
	t, ok := elemTypes[name]
	return t, ok
}

var elemTypes = func() map[string]AttrType {
	m := make(map[string]AttrType)
	for i, row := range typeTable {
		if row.size > 0 && AttrType(i) != TypeType {
			m[row.name] = AttrType(i)
		}
	}
	return m
}()
