package mlir

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// AppendAttr appends an attribute as MLIR prints it.
func AppendAttr(b []byte, a Attr) []byte {
	switch a := a.(type) {
	case nil, Unit:
		return append(b, "unit"...)
	case Bool:
		return strconv.AppendBool(b, bool(a))
	case Int:
		return appendInt(b, a)
	case Float:
		b = appendFloat(b, a.Type.Elem, a.Bits)
		return append(append(b, " : "...), a.Type.Text...)
	case String:
		return AppendQuoted(b, string(a))
	case Symbol:
		return appendSymbol(b, string(a))
	case TypeAttr:
		return append(b, a.Type.Text...)
	case Array:
		b = append(b, '[')
		for i, x := range a {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = AppendAttr(b, x)
		}
		return append(b, ']')
	case Dict:
		return AppendDict(b, Attrs(a))
	case DenseArray:
		return appendDenseArray(b, a)
	case Dense:
		return appendDense(b, a)
	case Enum:
		return append(b, "#stablehlo<"+a.Kind+" "+a.Value+">"...)
	case Struct:
		return appendStruct(b, a)
	case Text:
		return append(b, a...)
	}
	return b
}

// AppendDict appends `{a = 1 : i64, b}`.
func AppendDict(b []byte, attrs Attrs) []byte {
	b = append(b, '{')
	for i, x := range attrs {
		if i > 0 {
			b = append(b, ", "...)
		}
		if isIdent(x.Name) {
			b = append(b, x.Name...)
		} else {
			b = AppendQuoted(b, x.Name)
		}
		if _, unit := x.Value.(Unit); !unit {
			b = AppendAttr(append(b, " = "...), x.Value)
		}
	}
	return append(b, '}')
}

func isIdent(s string) bool {
	if s == "" || class[s[0]]&idStart == 0 {
		return false
	}
	for i := range len(s) {
		if class[s[i]]&idNext == 0 {
			return false
		}
	}
	return true
}

// AppendQuoted appends a string with MLIR's escapes.
func AppendQuoted(b []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			b = append(b, `\22`...)
		case c == '\\':
			b = append(b, `\\`...)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = append(b, '\\', digits[c>>4], digits[c&15])
		}
	}
	return append(b, '"')
}

func appendSymbol(b []byte, s string) []byte {
	for i, part := range strings.Split(s, "::") {
		if i > 0 {
			b = append(b, "::"...)
		}
		b = append(b, '@')
		if isIdent(part) {
			b = append(b, part...)
		} else {
			b = AppendQuoted(b, part)
		}
	}
	return b
}

func appendInt(b []byte, a Int) []byte {
	if a.Type.Elem == hlo.PRED {
		return strconv.AppendBool(b, a.Value != 0)
	}
	b = appendInteger(b, a.Type.Elem, a.Value)
	return append(append(b, " : "...), a.Type.Text...)
}

func appendInteger(b []byte, t hlo.PrimitiveType, v int64) []byte {
	if t == hlo.U64 {
		return strconv.AppendUint(b, uint64(v), 10)
	}
	return strconv.AppendInt(b, v, 10)
}

func appendDenseArray(b []byte, a DenseArray) []byte {
	b = append(append(b, "array<"...), a.Elem.Text...)
	for i, v := range a.Values {
		if i == 0 {
			b = append(b, ": "...)
		} else {
			b = append(b, ", "...)
		}
		b = appendElement(b, a.Elem.Elem, uint64(v))
	}
	return append(b, '>')
}

// appendElement appends an element of dense data, given its bits, sign-extended when it is signed.
func appendElement(b []byte, t hlo.PrimitiveType, bits uint64) []byte {
	switch {
	case t == hlo.PRED:
		return strconv.AppendBool(b, bits != 0)
	case t.IsFloat():
		return appendFloat(b, t, bits)
	}
	return appendInteger(b, t, int64(bits))
}

// appendDense appends `dense<...> : type`.
func appendDense(b []byte, d Dense) []byte {
	b = append(b, "dense<"...)
	e, size := d.Type.Elem, d.Type.Elem.ByteSize()
	at := 0
	one := func() {
		if e.IsComplex() {
			half := size / 2
			b = append(b, '(')
			b = appendElement(b, e.ComponentType(), elementBits(d.Data[at:], e.ComponentType()))
			b = append(b, ',')
			b = appendElement(b, e.ComponentType(), elementBits(d.Data[at+half:], e.ComponentType()))
			b = append(b, ')')
		} else {
			b = appendElement(b, e, elementBits(d.Data[at:], e))
		}
		at += size
	}
	var list func(dim int)
	list = func(dim int) {
		if dim == len(d.Type.Dims) {
			one()
			return
		}
		b = append(b, '[')
		for i := range d.Type.Dims[dim] {
			if i > 0 {
				b = append(b, ", "...)
			}
			list(dim + 1)
		}
		b = append(b, ']')
	}
	switch {
	case d.Splat:
		one()
	case len(d.Data) > 0:
		list(0)
	}
	return append(append(b, "> : "...), d.Type.Text...)
}

func elementBits(b []byte, t hlo.PrimitiveType) uint64 {
	if t.IsFloat() {
		var v uint64
		for i := range t.ByteSize() {
			v |= uint64(b[i]) << (8 * i)
		}
		return v
	}
	return uint64(intAt(b, t))
}

func appendStruct(b []byte, s Struct) []byte {
	b = append(b, "#"+cmp.Or(s.Dialect, "stablehlo")+"."+s.Name+"<"...)
	if s.Name == "conv" {
		b = append(b, "raw "...)
	}
	for i, f := range s.Fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, f.Name...), " = "...)
		switch v := f.Value.(type) {
		case DenseArray:
			b = append(b, '[')
			for i, x := range v.Values {
				if i > 0 {
					b = append(b, ", "...)
				}
				b = appendDim(b, x)
			}
			b = append(b, ']')
		case Int:
			b = appendInteger(b, v.Type.Elem, v.Value)
		case Array:
			ints, ok := Ints(v)
			if ok {
				b = append(b, '[')
				for i, x := range ints {
					if i > 0 {
						b = append(b, ", "...)
					}
					b = strconv.AppendInt(b, x, 10)
				}
				b = append(b, ']')
				continue
			}
			b = AppendAttr(b, v)
		case Float:
			b = appendFloat(b, v.Type.Elem, v.Bits)
		default:
			b = AppendAttr(b, v)
		}
	}
	return append(b, '>')
}

// appendFloat appends a float as MLIR prints it: with six digits when they say it all, else with as many as it takes, and as bits when it
// is no finite number.
func appendFloat(b []byte, t hlo.PrimitiveType, bits uint64) []byte {
	x := floatOf(t, bits)
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		s := strconv.FormatFloat(x, 'e', 6, 64)
		if floatBits(t, s) == bits {
			return append(b, s...)
		}
		if s = natural(x, t); floatBits(t, s) == bits {
			return append(b, s...)
		}
	}
	width := (t.Bits() + 3) / 4
	s := strings.ToUpper(strconv.FormatUint(bits, 16))
	b = append(b, "0x"...)
	for range width - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}

// natural writes a number with all digits that its type may need, the way LLVM does: 2.77068146E-8.
func natural(x float64, t hlo.PrimitiveType) string {
	precision := 24
	switch t {
	case hlo.F64:
		precision = 53
	case hlo.F16:
		precision = 11
	case hlo.BF16:
		precision = 8
	}
	s := strconv.FormatFloat(x, 'e', 1+precision*59/196, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	digits := strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	const padding = 3
	last := e - len(digits) + 1 // the exponent of the last digit
	switch {
	case last > padding || e < -padding:
		rest := digits[1:]
		if rest == "" {
			rest = "0"
		}
		return sign + digits[:1] + "." + rest + "E" + signed(e)
	case last >= 0:
		return sign + digits + strings.Repeat("0", last) + ".0"
	case e >= 0:
		return sign + digits[:e+1] + "." + digits[e+1:]
	}
	return sign + "0." + strings.Repeat("0", -e-1) + digits
}

func signed(e int) string {
	if e < 0 {
		return strconv.Itoa(e)
	}
	return "+" + strconv.Itoa(e)
}
