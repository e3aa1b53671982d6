package hostprog

import (
	"strconv"
	"strings"

	"github.com/gohalo/halo/runtime/bef"
)

// Type is a type's canonical text; equal types have equal texts.
type Type string

const (
	noneType   Type = "none"
	chainType  Type = "!tfrt.chain"
	stringType Type = "!tfrt.string"
	tensorType Type = "!tfrt_tensor.tensor"
	shapeType  Type = "!ts.shape"
)

// functionType is the text of a function type.
func functionType(in, out []Type) Type {
	return Type("(" + joinTypes(in) + ") -> " + resultTypes(out))
}

// resultTypes writes the results of a function type: one stands alone, unless
// it is a function type itself.
func resultTypes(out []Type) string {
	if len(out) == 1 && out[0][0] != '(' {
		return string(out[0])
	}
	return "(" + joinTypes(out) + ")"
}

func joinTypes(types []Type) string {
	s := make([]string, len(types))
	for i, t := range types {
		s[i] = string(t)
	}
	return strings.Join(s, ", ")
}

// intType returns the width of an integer type and whether its values are
// written with a sign (i32, si32) or without (ui32). Index counts as 64 bits.
func intType(t Type) (width int, unsigned, ok bool) {
	s := string(t)
	switch {
	case s == "index":
		return 64, false, true
	case strings.HasPrefix(s, "ui"):
		unsigned, s = true, s[2:]
	case strings.HasPrefix(s, "si"):
		s = s[2:]
	case strings.HasPrefix(s, "i"):
		s = s[1:]
	default:
		return 0, false, false
	}
	if s == "" || s[0] == '0' || run(s, digits) != len(s) {
		return 0, false, false
	}
	width, err := strconv.Atoi(s)
	return width, unsigned, err == nil && width < 1<<24
}

func isFloatType(t Type) bool {
	return t == "f32" || t == "f64" || t == "f16" || t == "bf16"
}

// isBuiltinName says whether a bare identifier may name a type.
func isBuiltinName(s string) bool {
	if _, _, ok := intType(Type(s)); ok || isFloatType(Type(s)) {
		return true
	}
	return s == "none" || isParametric(s)
}

func isParametric(s string) bool {
	switch s {
	case "complex", "tensor", "vector", "memref", "tuple":
		return true
	}
	return false
}

// signless removes the sign from an integer type's name: the format keeps si32
// as i32.
func signless(t Type) Type {
	if strings.HasPrefix(string(t), "si") {
		if _, _, ok := intType(t); ok {
			return t[1:]
		}
	}
	return t
}

// halo's names for element types that MLIR has none for.
const elemPrefix = "!halo."

// dataTypes maps types to codes of constants, where the names differ.
var dataTypes = map[Type]bef.AttrType{
	"!corert.string": bef.StringType, "!corert.resource": bef.Resource, "!corert.variant": bef.Variant,
	"!corert.quint8": bef.QUI8, "!corert.quint16": bef.QUI16,
	"!corert.qint8": bef.QI8, "!corert.qint16": bef.QI16, "!corert.qint32": bef.QI32,
}

var dataTypeNames = func() map[bef.AttrType]Type {
	m := make(map[bef.AttrType]Type)
	for t, code := range dataTypes {
		m[code] = t
	}
	return m
}()

// dataType is the code under which values of a type are stored.
func dataType(t Type) (bef.AttrType, bool) {
	if code, ok := dataTypes[t]; ok {
		return code, true
	}
	if name, ok := strings.CutPrefix(string(t), elemPrefix); ok {
		code, ok := bef.ElemType(name)
		return code, ok && code >= bef.S4
	}
	code, ok := bef.ElemType(string(signless(t)))
	return code, ok && code < bef.S4
}

// typeOf is the inverse of dataType.
func typeOf(code bef.AttrType) Type {
	if t, ok := dataTypeNames[code]; ok {
		return t
	}
	if code >= bef.S4 {
		return Type(elemPrefix + code.String())
	}
	return Type(code.String())
}

// shapedType splits tensor<2x3xT> or vector<…> with extents that are known.
func shapedType(t Type) (dims []int64, elem Type, ok bool) {
	s, ok := strings.CutPrefix(string(t), "tensor<")
	if !ok {
		if s, ok = strings.CutPrefix(string(t), "vector<"); !ok {
			return nil, "", false
		}
	}
	if s, ok = strings.CutSuffix(s, ">"); !ok {
		return nil, "", false
	}
	for {
		n := run(s, digits)
		if n == 0 {
			return dims, Type(s), s != "" && s[0] != '?' && s[0] != '*'
		}
		d, err := strconv.ParseInt(s[:n], 10, 64)
		if err != nil || n == len(s) || s[n] != 'x' {
			return nil, "", false
		}
		dims, s = append(dims, d), s[n+1:]
	}
}

// tensorOf is the type of a constant with these extents.
func tensorOf(dims []int64, elem Type) Type {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range dims {
		b.WriteString(strconv.FormatInt(d, 10))
		b.WriteByte('x')
	}
	b.WriteString(string(elem))
	b.WriteByte('>')
	return Type(b.String())
}
