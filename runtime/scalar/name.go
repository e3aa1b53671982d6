package scalar

// Type is a type of elements.
type Type uint8

// The types of indexes come first, in the order of their instructions.
const (
	S32 Type = iota
	U32
	S64
	U64
	Pred
	S8
	S16
	U8
	U16
	BF16
	F32
	F64
	C64
)

var typeNames = [...]string{S32: "s32", U32: "u32", S64: "s64", U64: "u64", Pred: "pred", S8: "s8", S16: "s16", U8: "u8", U16: "u16", BF16: "bf16",
	F32: "f32", F64: "f64", C64: "c64"}

func (t Type) String() string { return typeNames[t] }

// IsIndex reports whether [Builder.Index] takes indexes of type t.
func (t Type) IsIndex() bool { return t <= U64 }

// Sized is the unsigned type of so many bytes, in which select moves elements: 1, 2, 4 or 8.
func Sized(bytes int) Type {
	switch bytes {
	case 1:
		return U8
	case 2:
		return U16
	case 4:
		return U32
	}
	return U64
}

// Name identifies an op on elements of a type.
type Name struct {
	Op    string // HLO's mnemonic, or the direction of a comparison: "add", "lt"
	Type  Type   // of the operands
	To    Type   // of the result of a conversion
	Total bool   // a comparison of floats by their total order
}

func (n Name) String() string {
	s := n.Op
	if n.Total {
		s += ".total"
	}
	s += "." + n.Type.String()
	if n.Op == "convert" {
		s += "." + n.To.String()
	}
	return s
}
