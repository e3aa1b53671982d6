package hlo

import "fmt"

// PrimitiveType is the type of an array's elements, or one of the four kinds of shape without elements (tuple, opaque, token,
// buffer). Its values are XLA's, so they can be exchanged with HloModuleProto and stored in files.
type PrimitiveType uint8

// The primitive types.
const (
	InvalidType   PrimitiveType = 0
	PRED          PrimitiveType = 1
	S8            PrimitiveType = 2
	S16           PrimitiveType = 3
	S32           PrimitiveType = 4
	S64           PrimitiveType = 5
	U8            PrimitiveType = 6
	U16           PrimitiveType = 7
	U32           PrimitiveType = 8
	U64           PrimitiveType = 9
	F16           PrimitiveType = 10
	F32           PrimitiveType = 11
	F64           PrimitiveType = 12
	TUPLE         PrimitiveType = 13
	OPAQUE        PrimitiveType = 14
	C64           PrimitiveType = 15
	BF16          PrimitiveType = 16
	TOKEN         PrimitiveType = 17
	C128          PrimitiveType = 18
	F8E5M2        PrimitiveType = 19
	F8E4M3FN      PrimitiveType = 20
	S4            PrimitiveType = 21
	U4            PrimitiveType = 22
	F8E4M3B11FNUZ PrimitiveType = 23
	F8E5M2FNUZ    PrimitiveType = 24
	F8E4M3FNUZ    PrimitiveType = 25
	S2            PrimitiveType = 26
	U2            PrimitiveType = 27
	F8E4M3        PrimitiveType = 28
	F8E3M4        PrimitiveType = 29
	S1            PrimitiveType = 30
	U1            PrimitiveType = 31
	F4E2M1FN      PrimitiveType = 32
	F8E8M0FNU     PrimitiveType = 33
	BUFFER        PrimitiveType = 34
	F6E2M3FN      PrimitiveType = 35
	F6E3M2FN      PrimitiveType = 36

	// NumPrimitiveTypes bounds tables indexed by PrimitiveType.
	NumPrimitiveTypes = 37
)

// TypeClass groups primitive types by the arithmetic they take part in.
type TypeClass uint8

// The classes of primitive types.
const (
	ClassNone TypeClass = iota // tuple, opaque, token, buffer
	ClassPred
	ClassSigned
	ClassUnsigned
	ClassFloat
	ClassComplex
)

// typeInfo is the row of one primitive type.
type typeInfo struct {
	name  string
	class TypeClass
	bits  uint8 // logical width; pred counts 1
	store uint8 // bytes of one element in a Literal and in run-time buffers; sub-byte elements take a byte each
	// range and precision of floating types, as shape inference orders them (zero for others)
	overflowExp int16
	significand int8
}

var types = [NumPrimitiveTypes]typeInfo{
	PRED: {"pred", ClassPred, 1, 1, 0, 0},
	S1:   {"s1", ClassSigned, 1, 1, 0, 0}, S2: {"s2", ClassSigned, 2, 1, 0, 0}, S4: {"s4", ClassSigned, 4, 1, 0, 0},
	S8: {"s8", ClassSigned, 8, 1, 0, 0}, S16: {"s16", ClassSigned, 16, 2, 0, 0},
	S32: {"s32", ClassSigned, 32, 4, 0, 0}, S64: {"s64", ClassSigned, 64, 8, 0, 0},
	U1: {"u1", ClassUnsigned, 1, 1, 0, 0}, U2: {"u2", ClassUnsigned, 2, 1, 0, 0}, U4: {"u4", ClassUnsigned, 4, 1, 0, 0},
	U8: {"u8", ClassUnsigned, 8, 1, 0, 0}, U16: {"u16", ClassUnsigned, 16, 2, 0, 0},
	U32: {"u32", ClassUnsigned, 32, 4, 0, 0}, U64: {"u64", ClassUnsigned, 64, 8, 0, 0},
	F16: {"f16", ClassFloat, 16, 2, 16, 11}, BF16: {"bf16", ClassFloat, 16, 2, 128, 8},
	F32: {"f32", ClassFloat, 32, 4, 128, 24}, F64: {"f64", ClassFloat, 64, 8, 1024, 53},
	F8E5M2: {"f8e5m2", ClassFloat, 8, 1, 16, 3}, F8E4M3: {"f8e4m3", ClassFloat, 8, 1, 8, 4}, F8E3M4: {"f8e3m4", ClassFloat, 8, 1, 4, 5},
	F8E4M3FN: {"f8e4m3fn", ClassFloat, 8, 1, 9, 4}, F8E5M2FNUZ: {"f8e5m2fnuz", ClassFloat, 8, 1, 16, 3},
	F8E4M3FNUZ: {"f8e4m3fnuz", ClassFloat, 8, 1, 8, 4}, F8E4M3B11FNUZ: {"f8e4m3b11fnuz", ClassFloat, 8, 1, 5, 4},
	F8E8M0FNU: {"f8e8m0fnu", ClassFloat, 8, 1, 128, 1},
	F6E3M2FN:  {"f6e3m2fn", ClassFloat, 6, 1, 5, 3}, F6E2M3FN: {"f6e2m3fn", ClassFloat, 6, 1, 3, 4},
	F4E2M1FN: {"f4e2m1fn", ClassFloat, 4, 1, 3, 2},
	C64:      {"c64", ClassComplex, 64, 8, 128, 24}, C128: {"c128", ClassComplex, 128, 16, 1024, 53},
	TUPLE: {"tuple", ClassNone, 0, 0, 0, 0}, OPAQUE: {"opaque", ClassNone, 0, 0, 0, 0},
	TOKEN: {"token", ClassNone, 0, 0, 0, 0}, BUFFER: {"buffer", ClassNone, 0, 0, 0, 0},
}

var typeByName = func() map[string]PrimitiveType {
	m := make(map[string]PrimitiveType, NumPrimitiveTypes)
	for t, info := range types {
		if info.name != "" {
			m[info.name] = PrimitiveType(t)
		}
	}
	return m
}()

// PrimitiveTypeByName returns the type with the given lower-case name ("f32", "pred", "token").
func PrimitiveTypeByName(name string) (PrimitiveType, bool) {
	t, ok := typeByName[name]
	return t, ok
}

// String returns the lower-case name that HLO text uses.
func (t PrimitiveType) String() string {
	if int(t) < len(types) && types[t].name != "" {
		return types[t].name
	}
	return fmt.Sprintf("invalid(%d)", uint8(t))
}

// Class returns the class of t, [ClassNone] for types without elements.
func (t PrimitiveType) Class() TypeClass {
	if int(t) < len(types) {
		return types[t].class
	}
	return ClassNone
}

// Bits is the logical width of an element in bits: 1 for pred, 4 for s4, 64 for c64; 0 for types without elements.
func (t PrimitiveType) Bits() int {
	if int(t) < len(types) {
		return int(types[t].bits)
	}
	return 0
}

// ByteSize is the number of bytes one element takes in a [Literal] and in run-time buffers. Elements narrower than a byte take a
// byte each, value in the low bits.
func (t PrimitiveType) ByteSize() int {
	if int(t) < len(types) {
		return int(types[t].store)
	}
	return 0
}

// IsArray reports whether t can be the element type of an array.
func (t PrimitiveType) IsArray() bool { return t.Class() != ClassNone }

// IsPred, IsSigned, IsUnsigned, IsInteger, IsFloat and IsComplex test the class. Pred is not an integer.
func (t PrimitiveType) IsPred() bool     { return t == PRED }
func (t PrimitiveType) IsSigned() bool   { return t.Class() == ClassSigned }
func (t PrimitiveType) IsUnsigned() bool { return t.Class() == ClassUnsigned }
func (t PrimitiveType) IsInteger() bool {
	c := t.Class()
	return c == ClassSigned || c == ClassUnsigned
}
func (t PrimitiveType) IsFloat() bool   { return t.Class() == ClassFloat }
func (t PrimitiveType) IsComplex() bool { return t.Class() == ClassComplex }

// ComponentType is the type of the real and imaginary parts of a complex type, and t itself for any other.
func (t PrimitiveType) ComponentType() PrimitiveType {
	switch t {
	case C64:
		return F32
	case C128:
		return F64
	}
	return t
}

// UnsignedOf is the unsigned integer type of a number of bits, if there is one.
func UnsignedOf(bits int) (PrimitiveType, bool) {
	for t := range PrimitiveType(len(types)) {
		if t.IsUnsigned() && t.Bits() == bits {
			return t, true
		}
	}
	return InvalidType, false
}

// ComplexOf is the complex type whose parts are t, for f32 and f64.
func (t PrimitiveType) ComplexOf() (PrimitiveType, bool) {
	switch t {
	case F32:
		return C64, true
	case F64:
		return C128, true
	}
	return InvalidType, false
}

// HigherPrecision returns the type that mixed-precision inference chooses of two: range before precision, then width, then sign.
// It fails on two different types that are equal under that order.
func HigherPrecision(a, b PrimitiveType) (PrimitiveType, error) {
	if a == b {
		return a, nil
	}
	for _, key := range []func(PrimitiveType) int{
		func(t PrimitiveType) int { return boolInt(t.IsComplex()) },
		func(t PrimitiveType) int { return floatFact(t, int(types[t].overflowExp)) },
		func(t PrimitiveType) int { return floatFact(t, int(types[t].significand)) },
		PrimitiveType.Bits,
		func(t PrimitiveType) int { return boolInt(t.IsSigned()) },
	} {
		if ka, kb := key(a), key(b); ka > kb {
			return a, nil
		} else if kb > ka {
			return b, nil
		}
	}
	return InvalidType, fmt.Errorf("ambiguous precision of %v and %v", a, b)
}

func floatFact(t PrimitiveType, v int) int {
	if t.IsFloat() || t.IsComplex() {
		return v
	}
	return -1
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
