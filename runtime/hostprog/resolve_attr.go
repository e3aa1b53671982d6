package hostprog

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/gohalo/halo/internal/minifloat"
)

func (r *resolver) typ(n *typeNode) Type {
	if n.Func != nil {
		return functionType(r.types(n.Func.Params), r.resultList(n.Func.Results))
	}
	return r.plain(n.Plain)
}

func (r *resolver) plain(n *plainType) Type {
	pos := position(n.Pos)
	body := ""
	if n.Body != nil {
		body = n.Body.Text
	}
	if n.Name[0] == '!' {
		if !strings.Contains(n.Name, ".") {
			a := r.alias(n.Pos, n.Name, r.attr)
			if a.Kind != TypeAttr {
				fail(pos, "expected type, but '%s' is none", n.Name)
			}
			return a.Type
		}
		if n.Name == "!t.tensor" && body == "" {
			return tensorType
		}
		return Type(n.Name + body)
	}
	if n.Extents != nil {
		return Type(n.Name + strings.ReplaceAll(n.Extents.Text, " ", ""))
	}
	if !isBuiltinName(n.Name) {
		fail(pos, "expected type, got '%s'", n.Name)
	}
	if isParametric(n.Name) != (body != "") {
		fail(pos, "'%s' is no type", n.Name+body)
	}
	return Type(n.Name + canonicalBody(body))
}

// canonicalBody spaces the parameters of a builtin type as MLIR prints them.
func canonicalBody(body string) string {
	body = strings.ReplaceAll(body, " ", "")
	body = strings.ReplaceAll(body, ",", ", ")
	return strings.ReplaceAll(body, "->", " -> ")
}

func (r *resolver) types(nodes []*typeNode) []Type {
	var list []Type
	for _, n := range nodes {
		list = append(list, r.typ(n))
	}
	return list
}

// resultList reads one type or several in parentheses.
func (r *resolver) resultList(n *resultsNode) []Type {
	switch {
	case n == nil:
		return nil
	case n.Single != nil:
		return []Type{r.plain(n.Single)}
	}
	return r.types(n.Types)
}

func (r *resolver) dict(n *dictNode) Dict {
	if n == nil {
		return nil
	}
	var d Dict
	for _, e := range n.Entries {
		name := e.Name
		if name[0] == '"' {
			name = r.text(e.Pos, name)
		}
		if d.Has(name) {
			fail(position(e.Pos), "duplicate key '%s' in dictionary attribute", name)
		}
		a := Attr{Kind: UnitAttr}
		if e.Value != nil {
			a = r.attr(e.Value)
		}
		d.Set(name, a)
	}
	return d
}

func (r *resolver) attr(n *attrNode) Attr { return r.attrOf(n, "") }

// attrOf reads an attribute. A type that is given is that of a literal in a
// form that leaves it out.
func (r *resolver) attrOf(n *attrNode, want Type) Attr {
	switch {
	case n.True, n.False:
		bit := int64(0)
		if n.True {
			bit = 1
		}
		return intAttr("i1", bit)
	case n.Unit:
		return Attr{Kind: UnitAttr}
	case n.Dense != nil:
		return r.dense(n.Dense)
	case n.Loc != nil:
		l := r.location(n.Loc)
		return Attr{Kind: LocAttr, Loc: &l}
	case n.Number != nil:
		return r.number(n.Number, want)
	case n.String != "":
		return stringAttr(unquote(n.String))
	case n.Array != nil:
		a := Attr{Kind: ArrayAttr}
		for _, e := range n.Array.Elems {
			a.Elems = append(a.Elems, r.attr(e))
		}
		return a
	case n.Dict != nil:
		return Attr{Kind: DictAttr, Entries: r.dict(n.Dict)}
	case n.Symbol != nil:
		a := symbolAttr(symbolText(n.Symbol.Root))
		for _, s := range n.Symbol.Nested {
			a.Symbol = append(a.Symbol, symbolText(s))
		}
		return a
	case n.Dialect != nil:
		return r.dialect(n.Dialect)
	case n.Type.Func != nil:
		return functionTypeAttr(r.types(n.Type.Func.Params), r.resultList(n.Type.Func.Results))
	}
	if p := n.Type.Plain; p.Name[0] == '!' && !strings.Contains(p.Name, ".") {
		return r.alias(p.Pos, p.Name, r.attr)
	}
	return Attr{Kind: TypeAttr, Type: r.typ(n.Type)}
}

// dialect reads #alias, #corert.shape<…>, and keeps everything else as it is.
func (r *resolver) dialect(n *dialectAttr) Attr {
	body := ""
	if n.Body != nil {
		body = n.Body.Text
	}
	if !strings.Contains(n.Name, ".") && body == "" {
		return r.alias(n.Pos, n.Name, r.attr)
	}
	if n.Name != "#corert.shape" {
		return Attr{Kind: OpaqueAttr, Text: n.Name + body}
	}
	text := strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(body, " ", ""), "<"), ">")
	if body == "" {
		fail(position(n.Pos), "expected '<' after #corert.shape")
	}
	if text == "*" {
		return Attr{Kind: ShapeAttr}
	}
	a := Attr{Kind: ShapeAttr, Dims: []int64{}}
	for _, s := range strings.Split(text, "x") {
		if text == "" {
			break
		}
		d, err := strconv.ParseInt(s, 10, 64)
		if s == "?" {
			d, err = -1, nil
		}
		if err != nil || d < -1 {
			fail(position(n.Pos), "invalid shape '%s'", text)
		}
		a.Dims = append(a.Dims, d)
	}
	return a
}

// number reads an integer or float attribute.
func (r *resolver) number(n *numberNode, want Type) Attr {
	isFloat := isFloatLiteral(n.Text)
	t := want
	switch {
	case n.Type != nil:
		t = r.typ(n.Type)
	case t == "" && isFloat:
		t = "f64"
	case t == "":
		t = "i64"
	}
	return Attr{Kind: numberKind(t), Type: t, Bits: scalarBits(position(n.Pos), t, n.Negative, n.Text)}
}

func isFloatLiteral(text string) bool { return strings.Contains(text, ".") }

func numberKind(t Type) AttrKind {
	if isFloatType(t) {
		return FloatAttr
	}
	return IntAttr
}

// scalarBits is the value of a literal of a type, in the type's own format.
func scalarBits(pos Position, t Type, negative bool, text string) uint64 {
	if isFloatType(t) {
		if strings.HasPrefix(text, "0x") && !negative {
			bits, err := strconv.ParseUint(text[2:], 16, 64)
			if err != nil || bits>>(8*floatSize(t)) != 0 {
				fail(pos, "hexadecimal float constant out of range for type")
			}
			return bits
		}
		if !isFloatLiteral(text) {
			fail(pos, "unexpected decimal integer literal for a floating point attribute; write a point")
		}
		return floatBits(t, negative, text)
	}
	width, unsigned, ok := intType(t)
	if !ok {
		fail(pos, "integer literal not valid for type '%s'", t)
	}
	if isFloatLiteral(text) {
		fail(pos, "floating point value not valid for type '%s'", t)
	}
	v, good := new(big.Int).SetString(text, 0)
	if !strings.HasPrefix(text, "0x") {
		v, good = new(big.Int).SetString(text, 10)
	}
	if !good || width > 64 {
		fail(pos, "integer constant out of range for attribute")
	}
	if negative {
		v.Neg(v)
	}
	// Signless types hold what fits as signed or as unsigned.
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(width))
	if !unsigned {
		lo.Neg(new(big.Int).Lsh(big.NewInt(1), uint(width-1)))
	}
	if strings.HasPrefix(string(t), "si") {
		hi.Rsh(hi, 1)
	}
	if v.Cmp(lo) < 0 || v.Cmp(hi) >= 0 {
		fail(pos, "integer constant out of range for attribute")
	}
	return intAttr(t, 0).withInt(v)
}

// withInt stores a value that fits.
func (a Attr) withInt(v *big.Int) uint64 {
	width, _, _ := intType(a.Type)
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1))
	return new(big.Int).And(v, mask).Uint64()
}

func floatSize(t Type) int {
	switch t {
	case "f64":
		return 8
	case "f32":
		return 4
	}
	return 2
}

// floatBits rounds a decimal literal to the type, once, to nearest even.
func floatBits(t Type, negative bool, text string) uint64 {
	bits := 64
	if t == "f32" {
		bits = 32
	}
	// Out of range gives the infinity of the right sign.
	v, _ := strconv.ParseFloat(text, bits)
	if negative {
		v = -v
	}
	switch t {
	case "f64":
		return math.Float64bits(v)
	case "f32":
		return uint64(math.Float32bits(float32(v)))
	case "f16":
		return uint64(minifloat.F16.FromFloat64(v))
	}
	return uint64(minifloat.BF16.FromFloat64(v))
}

// floatValue is the inverse of floatBits.
func floatValue(t Type, bits uint64) float64 {
	switch t {
	case "f64":
		return math.Float64frombits(bits)
	case "f32":
		return float64(math.Float32frombits(uint32(bits)))
	case "f16":
		return float64(minifloat.F16ToFloat32(uint16(bits)))
	}
	return float64(minifloat.BF16ToFloat32(uint16(bits)))
}
