package hostprog

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/runtime/bef"
)

// maxListed is the number of elements up to which a tensor constant is written
// out; from there on it is one hexadecimal string.
const maxListed = 100

func dictText(d Dict) string {
	parts := make([]string, len(d))
	for i, e := range d {
		name := e.Name
		if !isBareID(name) {
			name = quote(name)
		}
		if e.Attr.Kind != UnitAttr {
			name += " = " + attrText(e.Attr, "")
		}
		parts[i] = name
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// attrText writes an attribute. A number of the type that the op implies goes
// without it.
func attrText(a Attr, implied Type) string {
	switch a.Kind {
	case UnitAttr:
		return "unit"
	case IntAttr, FloatAttr:
		s, needsType := numberText(a.Type, a.Bits)
		if a.Type == implied || a.Type == "i1" || !needsType && (a.Type == "i64" || a.Type == "f64") {
			return s
		}
		return s + " : " + string(a.Type)
	case StringAttr:
		return quote(a.Text)
	case ArrayAttr:
		parts := make([]string, len(a.Elems))
		for i, e := range a.Elems {
			parts[i] = attrText(e, "")
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case DictAttr:
		return dictText(a.Entries)
	case SymbolAttr:
		parts := make([]string, len(a.Symbol))
		for i, s := range a.Symbol {
			parts[i] = symbolName(s)
		}
		return strings.Join(parts, "::")
	case TypeAttr:
		return string(a.Type)
	case DenseAttr:
		return "dense<" + denseText(a) + "> : " + string(a.Type)
	case ShapeAttr:
		return "#corert.shape<" + shapeText(a.Dims) + ">"
	case LocAttr:
		return "loc(" + locText(*a.Loc) + ")"
	}
	return a.Text
}

// numberText writes a number. Bits of a float that decimal cannot carry need
// their type even where it is the usual one.
func numberText(t Type, bits uint64) (s string, needsType bool) {
	if isFloatType(t) {
		return floatText(t, bits)
	}
	if t == "i1" {
		return strconv.FormatBool(bits&1 != 0), false
	}
	if _, unsigned, _ := intType(t); unsigned {
		return strconv.FormatUint(bits, 10), false
	}
	return strconv.FormatInt(Attr{Type: t, Bits: bits}.int(), 10), false
}

func floatText(t Type, bits uint64) (s string, needsType bool) {
	v := floatValue(t, bits)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("0x%0*X", 2*floatSize(t), bits), true
	}
	s = strconv.FormatFloat(v, 'e', 6, 64)
	if floatBits(t, false, strings.TrimPrefix(s, "-"))|signBit(t, s) != bits {
		width := 64
		if t != "f64" {
			width = 32
		}
		s = strconv.FormatFloat(v, 'e', -1, width)
	}
	return s, false
}

// signBit is the sign that the text of a float has.
func signBit(t Type, s string) uint64 {
	if s[0] != '-' {
		return 0
	}
	return 1 << (8*floatSize(t) - 1)
}

func shapeText(dims []int64) string {
	if dims == nil {
		return "*"
	}
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = strconv.FormatInt(d, 10)
		if d < 0 {
			parts[i] = "?"
		}
	}
	return strings.Join(parts, "x")
}

func denseText(a Attr) string {
	size := a.Elem.Size()
	n := len(a.Data) / size
	splat := n > 0
	for i := size; i < len(a.Data) && splat; i += size {
		splat = string(a.Data[i:i+size]) == string(a.Data[:size])
	}
	_, elem, _ := shapedType(a.Type)
	_, part := strings.CutPrefix(string(elem), "complex<")
	_, _, isInt := intType(elem)
	plain := part || isInt || isFloatType(elem)
	switch {
	case n == 0:
		return ""
	case !plain && splat:
		return `"0x` + strings.ToUpper(hex.EncodeToString(a.Data[:size])) + `"`
	case splat:
		return elementText(elem, a.Data[:size])
	case !plain || n > maxListed:
		return `"0x` + strings.ToUpper(hex.EncodeToString(a.Data)) + `"`
	}
	var b strings.Builder
	listText(&b, a.Dims, elem, size, a.Data)
	return b.String()
}

// listText writes the elements as lists as deep as there are extents.
func listText(b *strings.Builder, dims []int64, elem Type, size int, data []byte) {
	if len(dims) == 0 {
		b.WriteString(elementText(elem, data))
		return
	}
	b.WriteByte('[')
	step := len(data) / int(dims[0])
	for i := 0; i < len(data); i += step {
		if i > 0 {
			b.WriteString(", ")
		}
		listText(b, dims[1:], elem, size, data[i:i+step])
	}
	b.WriteByte(']')
}

func elementText(elem Type, data []byte) string {
	if part, ok := strings.CutPrefix(string(elem), "complex<"); ok {
		t := Type(strings.TrimSuffix(part, ">"))
		half := len(data) / 2
		return "(" + elementText(t, data[:half]) + "," + elementText(t, data[half:]) + ")"
	}
	var bits [8]byte
	copy(bits[:], data)
	s, _ := numberText(elem, binary.LittleEndian.Uint64(bits[:]))
	return s
}

func locText(l bef.Location) string {
	switch l.Kind {
	case bef.FileLocation:
		return fmt.Sprintf("%s:%d:%d", quote(l.File), l.Line, l.Column)
	case bef.NamedLocation:
		if len(l.Parts) == 0 || l.Parts[0].Kind <= bef.UnknownLocation {
			return quote(l.Name)
		}
		return quote(l.Name) + "(" + locText(l.Parts[0]) + ")"
	case bef.CallSiteLocation:
		return "callsite(" + locText(l.Parts[0]) + " at " + locText(l.Parts[1]) + ")"
	case bef.FusedLocation:
		parts := make([]string, len(l.Parts))
		for i, p := range l.Parts {
			parts[i] = locText(p)
		}
		return "fused[" + strings.Join(parts, ", ") + "]"
	}
	return "unknown"
}
