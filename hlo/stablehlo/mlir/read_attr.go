package mlir

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// attr reads an attribute.
func (r *reader) attr() Attr {
	r.enter()
	defer r.leave()
	switch c := r.peek(); {
	case c == '"':
		s := r.quoted()
		if r.accept(":") {
			r.typ()
		}
		return String(s)
	case c == '[':
		r.pos++
		return r.array()
	case c == '{':
		return Dict(r.dictionary(nil))
	case c == '@':
		return r.symbol()
	case c == '#':
		return r.hashAttr()
	case c == '-' || class[c]&digit != 0:
		return r.number()
	case c == '(' || c == '!':
		return TypeAttr{r.typ()}
	}
	at := r.pos
	switch word := r.ident(); word {
	case "true", "false":
		return Bool(word == "true")
	case "unit":
		return Unit{}
	case "dense":
		return r.dense(at)
	case "dense_resource":
		return r.resource(at)
	case "array":
		return r.denseArray(at)
	case "loc":
		r.expect("(")
		r.location()
		r.expect(")")
		return Unit{}
	case "affine_map", "affine_set", "sparse", "opaque", "strided", "distinct":
		r.balanced()
		return Text(r.text[at:r.pos])
	default:
		r.pos = at
		if word == "" {
			r.fail("expected an attribute, got %s", r.next())
		}
		return TypeAttr{r.typ()}
	}
}

// array reads the rest of `[a, b]`. A list of integers, which most are, is read without a value for each.
func (r *reader) array() Attr {
	a := Array{}
	for !r.accept("]") {
		if len(a) > 0 {
			r.expect(",")
		}
		a = append(a, r.attr())
	}
	return a
}

func (r *reader) symbol() Symbol {
	r.expect("@")
	name := r.symbolName()
	for r.accept("::") {
		r.expect("@")
		name += "::" + r.symbolName()
	}
	return Symbol(name)
}

func (r *reader) symbolName() string {
	if r.pos < len(r.text) && r.text[r.pos] == '"' {
		return r.quoted()
	}
	return r.suffix("symbol")
}

// number reads an integer or a float, with its type perhaps.
func (r *reader) number() Attr {
	neg := r.accept("-")
	r.space()
	s, at := r.text, r.pos
	if strings.HasPrefix(s[at:], "0x") && at+2 < len(s) && hexDigit(s[at+2]) >= 0 {
		r.pos += 2
		for r.pos < len(s) && hexDigit(s[r.pos]) >= 0 {
			r.pos++
		}
		v, err := strconv.ParseUint(s[at+2:r.pos], 16, 64)
		if err != nil {
			r.failAt(at, "the number %s is too large", s[at:r.pos])
		}
		t := r.numberType(hlo.S64)
		if t.Elem.IsFloat() {
			return Float{v, t}
		}
		if neg {
			v = -v
		}
		return Int{int64(v), t}
	}
	for r.pos < len(s) && class[s[r.pos]]&digit != 0 {
		r.pos++
	}
	if r.pos == at {
		r.fail("expected a number, got %s", r.next())
	}
	if r.pos < len(s) && s[r.pos] == '.' {
		r.floatRest()
		lit := s[at:r.pos]
		t := r.numberType(hlo.F64)
		if !t.Elem.IsFloat() {
			r.failAt(at, "a number with a point for the type %v", t)
		}
		if neg {
			lit = "-" + lit
		}
		return Float{floatBits(t.Elem, lit), t}
	}
	v, err := strconv.ParseUint(s[at:r.pos], 10, 64)
	if err != nil {
		r.failAt(at, "the number %s is too large", s[at:r.pos])
	}
	t := r.numberType(hlo.S64)
	if t.Elem.IsFloat() {
		r.failAt(at, "an integer for the type %v: want a point, or the bits in hexadecimal", t)
	}
	if neg {
		v = -v
	}
	return Int{int64(v), t}
}

// floatRest takes a point, digits and an exponent.
func (r *reader) floatRest() {
	s := r.text
	r.pos++
	for r.pos < len(s) && class[s[r.pos]]&digit != 0 {
		r.pos++
	}
	if r.pos+1 < len(s) && s[r.pos]|0x20 == 'e' {
		i := r.pos + 1
		if s[i] == '+' || s[i] == '-' {
			i++
		}
		if i < len(s) && class[s[i]]&digit != 0 {
			for i < len(s) && class[s[i]]&digit != 0 {
				i++
			}
			r.pos = i
		}
	}
}

func (r *reader) numberType(other hlo.PrimitiveType) *Type {
	if !r.accept(":") {
		return r.types.Scalar(other)
	}
	at := r.pos
	t := r.typ()
	if t.Kind != Scalar && t.Kind != Index {
		r.failAt(at, "a number of type %v", t)
	}
	return t
}

// floatBits are the bits of a decimal number in a type.
func floatBits(t hlo.PrimitiveType, lit string) uint64 {
	if t == hlo.F32 {
		x, _ := strconv.ParseFloat(lit, 32) // too large: an infinity
		return uint64(math.Float32bits(float32(x)))
	}
	x, _ := strconv.ParseFloat(lit, 64)
	if t == hlo.F64 {
		return math.Float64bits(x)
	}
	return uint64(formats[t].FromFloat64(x))
}

// denseArray reads `<i64: 1, 2>`.
func (r *reader) denseArray(at int) Attr {
	r.expect("<")
	e := r.typ()
	if e.Kind != Scalar || e.Elem.IsComplex() {
		r.failAt(at, "an array of %v: want integers or floats", e)
	}
	a := DenseArray{Elem: e, Values: []int64{}}
	if r.accept(":") {
		var room [16]int64
		list := room[:0]
		for {
			list = append(list, r.arrayElement(e))
			if !r.accept(",") {
				break
			}
		}
		a.Values = append(a.Values, list...)
	}
	r.expect(">")
	return a
}

func (r *reader) arrayElement(e *Type) int64 {
	switch {
	case e.Elem == hlo.PRED:
		switch {
		case r.accept("true"):
			return 1
		case r.accept("false"):
			return 0
		}
		return r.integer()
	case e.Elem.IsFloat():
		r.space()
		at := r.pos
		if r.accept("-") {
		}
		r.space()
		s := r.text
		for r.pos < len(s) && (class[s[r.pos]]&(idNext) != 0 || (s[r.pos] == '-' || s[r.pos] == '+') && s[r.pos-1]|0x20 == 'e') {
			r.pos++
		}
		lit := s[at:r.pos]
		if hex, ok := strings.CutPrefix(lit, "0x"); ok {
			v, err := strconv.ParseUint(hex, 16, 64)
			if err != nil {
				r.failAt(at, "expected a number")
			}
			return int64(v)
		}
		if _, err := strconv.ParseFloat(lit, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			r.failAt(at, "expected a number")
		}
		return int64(floatBits(e.Elem, lit))
	}
	return r.integer()
}

// hashAttr reads `#name`: an alias, or an attribute of a dialect.
func (r *reader) hashAttr() Attr {
	at := r.pos
	r.expect("#")
	name := r.suffix("attribute")
	if a := r.aliases["#"+name]; a != nil {
		return r.aliasAttr(a)
	}
	dialect, rest, nested := strings.Cut(name, ".")
	if !nested && !r.is("<") {
		r.failAt(at, "the alias #%s is not defined", name)
	}
	switch dialect {
	case "stablehlo", "chlo", "mhlo":
		return r.stablehloAttr(at, rest, nested)
	}
	if r.is("<") {
		r.balanced()
	}
	return Text(r.text[at:r.pos])
}
