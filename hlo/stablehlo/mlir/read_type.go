package mlir

import (
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/spelling"
)

// typ reads a type.
func (r *reader) typ() *Type {
	switch c := r.peek(); {
	case c == '(':
		return r.functionType()
	case c == '!':
		return r.dialectType()
	}
	r.space()
	at := r.pos
	word := r.ident()
	switch word {
	case "":
		r.fail("expected a type, got %s", r.next())
	case "tensor":
		return r.tensor(at)
	case "complex":
		r.expect("<")
		e := r.typ()
		r.expect(">")
		return r.complexOf(at, e)
	case "tuple":
		r.enter()
		defer r.leave()
		r.expect("<")
		parts := r.typesUntil(">")
		return r.types.Tuple(parts)
	case "memref":
		r.expect("<")
		dims, elem := r.dims(at)
		r.expect(">")
		return r.types.Buffer(elem, dims)
	case "index":
		return r.types.Index()
	case "none":
		return r.types.None()
	case "tf32":
		return r.types.TF32()
	case "vector":
		r.failAt(at, "the type %s is not StableHLO", word)
	}
	e, ok := elementNames[word]
	if !ok {
		r.failHint(at, typeMeant(word), "'%s' is no type that StableHLO has", word)
	}
	return r.types.Scalar(e)
}

// typeMeant asks for the element type that was meant by a word.
func typeMeant(word string) string {
	if t, ok := hlo.PrimitiveTypeByName(spelling.ElementType(word)); ok && ElementName(t) != "" {
		return "did you mean '" + ElementName(t) + "'?"
	}
	if near := spelling.Nearest(word, slices.Sorted(maps.Keys(elementNames))); near != "" {
		return "did you mean '" + near + "'?"
	}
	return ""
}

func (r *reader) complexOf(at int, e *Type) *Type {
	c, ok := e.Elem.ComplexOf()
	if e.Kind != Scalar || !ok {
		r.failAt(at, "complex numbers of %v are not supported: want f32 or f64", e)
	}
	return r.types.Scalar(c)
}

// tensor reads what follows the word tensor. The types of a program are few, so they are looked up by their text first.
func (r *reader) tensor(at int) *Type {
	r.expect("<")
	rest := r.text[r.pos:]
	end := strings.IndexByte(rest, '>')
	if end < 0 {
		r.failAt(at, "the type is never closed")
	}
	key := ""
	if open := strings.IndexByte(rest[:end], '<'); open < 0 {
		key = rest[:end]
	} else if end+1 < len(rest) && rest[end+1] == '>' && strings.HasSuffix(rest[:open], "complex") {
		end++
		key = rest[:end]
	}
	if t := r.known[key]; t != nil && key != "" {
		r.pos += end + 1
		return t
	}
	dims, elem := r.dims(at)
	var bounds []int64
	if r.accept(",") {
		r.space()
		at := r.pos
		if s, ok := r.attr().(Struct); ok && (s.Name == "bounds" || s.Name == "type_extensions") {
			bounds = boundsOf(s)
			if len(bounds) != len(dims) {
				r.failAt(at, "%d bounds for %d dimensions", len(bounds), len(dims))
			}
		}
	}
	r.expect(">")
	t := r.types.Tensor(elem, dims, bounds)
	if key != "" && r.text[r.pos-len(key)-1:r.pos-1] == key {
		r.known[key] = t
	}
	return t
}

func boundsOf(s Struct) []int64 {
	v, _ := Ints(s.Fields.Get("bounds"))
	return v
}

// maxRank bounds the dimensions of an array.
const maxRank = 1000

// dims reads `2x?xf32`.
func (r *reader) dims(at int) ([]int64, *Type) {
	var dims []int64
	s := r.text
	for {
		r.space()
		if r.pos >= len(s) {
			r.failAt(at, "the type is never closed")
		}
		switch c := s[r.pos]; {
		case c == '?':
			r.pos++
			dims = append(dims, hlo.UnboundedSize)
		case class[c]&digit != 0:
			dims = append(dims, r.natural())
		case c == '*':
			r.failAt(at, "tensors without a rank are not supported")
		default:
			if c == '-' {
				r.fail("a dimension cannot be negative")
			}
			e := r.typ()
			if e.Kind != Scalar && e.Kind != Index {
				r.failAt(at, "%v is no type of elements", e)
			}
			return dims, e
		}
		if len(dims) > maxRank {
			r.failAt(at, "an array of more than %d dimensions", maxRank)
		}
		if r.pos >= len(s) || s[r.pos] != 'x' {
			r.fail("expected 'x' after a dimension, got %s", r.next())
		}
		r.pos++
	}
}

// functionType reads `(types) -> type` or `(types) -> (types)`. The signatures of a program are few as well.
func (r *reader) functionType() *Type {
	r.enter()
	defer r.leave()
	r.space()
	at, expanded := r.pos, r.expanded
	key := r.signatureKey(at)
	if t := r.known[key]; t != nil {
		r.pos += len(key)
		return t
	}
	r.expect("(")
	in := r.typesUntil(")")
	r.expect("->")
	t := r.types.Func(in, r.resultTypes())
	if r.pos == at+len(key) && r.expanded == expanded {
		r.known[key] = t
	}
	return t
}

// resultTypes reads one type, or several in parentheses.
func (r *reader) resultTypes() []*Type {
	if r.accept("(") {
		return r.typesUntil(")")
	}
	return []*Type{r.typ()}
}

// typesUntil reads types with commas between them up to the closing bracket.
func (r *reader) typesUntil(end string) []*Type {
	var types []*Type
	size := 0
	for !r.accept(end) {
		if len(types) > 0 {
			r.expect(",")
		}
		t := r.typ()
		types = append(types, t)
		if size += len(t.Text); size > MaxTypeText {
			r.fail("a type of more than %d bytes", MaxTypeText)
		}
	}
	return types
}

// dialectType reads `!name`: an alias, or a type of a dialect.
func (r *reader) dialectType() *Type {
	at := r.pos
	r.expect("!")
	name := r.suffix("type")
	if a := r.aliases["!"+name]; a != nil {
		return r.aliasType(a)
	}
	dialect, rest, nested := strings.Cut(name, ".")
	if dialect == "quant" {
		r.failAt(at, "quantized types are not supported: !%s", name)
	}
	switch rest {
	case "token":
		return r.types.Token()
	case "future", "async_bundle":
		r.enter()
		defer r.leave()
		r.expect("<")
		return r.types.Future(r.typesUntil(">"))
	}
	if !nested && !r.is("<") {
		r.failAt(at, "the type alias !%s is not defined", name)
	}
	end := at + len("!") + len(name)
	if r.is("<") {
		r.balanced()
		end = r.pos
	}
	return r.types.Opaque(r.text[at:end])
}
