package parser

import (
	"fmt"
	"math"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// constant reads the literal of a constant instruction of the shape in d.
func (p *parser) constant(d *draft) {
	shape := p.constantShape(d.spec.Shape)
	d.spec.Shape = shape
	p.space()
	start := p.pos
	end := -1
	if rest := p.src[start:min(len(p.src), start+maxMemoText)]; shape.IsArray() {
		end = strings.IndexByte(rest, ')')
	}
	if end >= 0 {
		if a, ok := p.constants[constantKey{shape, p.src[start : start+end]}]; ok {
			p.pos = start + end
			d.spec.Attrs = a
			return
		}
	}
	l := p.literal(shape)
	a := &hlo.ConstantAttrs{Literal: l}
	// The text up to the parenthesis has to be the literal and nothing more. Elided constants differ although their texts are equal.
	if end >= 0 && skipSpace(p.src, p.pos) == start+end && !strings.Contains(p.src[start:start+end], "...") {
		p.constants[constantKey{shape, p.src[start : start+end]}] = a
	}
	d.spec.Attrs = a
}

// constantShape is the written shape without dynamic flags and element sizes, which literals do not have.
func (p *parser) constantShape(s hlo.Shape) hlo.Shape {
	plain := s.Map(func(a hlo.Shape) hlo.Shape {
		if !a.IsStatic() {
			for i := range a.Rank() {
				a = a.WithDynamicDimension(i, false)
			}
		}
		if l, ok := a.Layout(); ok && l.ElementSizeInBits != 0 {
			m := *l
			m.ElementSizeInBits = 0
			a = a.WithLayout(&m)
		}
		return a
	})
	if plain == s {
		return s
	}
	return p.internShape(plain)
}

// literal takes a literal of the given shape (hlo-text section 4).
func (p *parser) literal(s hlo.Shape) *hlo.Literal {
	switch {
	case s.IsTuple():
		return p.tupleLiteral(s)
	case s.IsArray():
		return p.arrayLiteral(s)
	}
	p.fail("unsupported type of a literal: %v", s)
	return nil
}

func (p *parser) tupleLiteral(s hlo.Shape) *hlo.Literal {
	p.enter()
	defer func() { p.depth-- }()
	p.expect('(', "expects '(' in front of tuple elements")
	parts := make([]*hlo.Literal, s.NumElems())
	for i := range parts {
		if i > 0 {
			p.expect(',', "expects ',' between tuple elements")
		}
		parts[i] = p.literal(s.Elem(i))
	}
	p.expect(')', fmt.Sprintf("expects ')' at the end of the tuple with %d elements", s.NumElems()))
	return hlo.NewTupleLiteral(parts...)
}

// shapedLiteral takes a literal that brings the shapes of its leaves along.
func (p *parser) shapedLiteral() *hlo.Literal {
	p.enter()
	defer func() { p.depth-- }()
	if !p.accept('(') {
		p.space()
		at := p.pos
		s := p.constantShape(p.shape())
		if !s.IsArray() {
			p.failAt(at, "unsupported type of a literal: %v", s)
		}
		return p.arrayLiteral(s)
	}
	var parts []*hlo.Literal
	if !p.accept(')') {
		for {
			parts = append(parts, p.shapedLiteral())
			if !p.accept(',') {
				break
			}
		}
		p.expect(')', "expects ')' at the end of the tuple literal")
	}
	return hlo.NewTupleLiteral(parts...)
}

// reader reads the elements of one array literal.
type literalReader struct {
	*parser
	shape  hlo.Shape
	typ    hlo.PrimitiveType
	width  int
	data   []byte
	count  []int64 // elements seen at each level of nesting
	float  minifloat.Format
	narrow bool // float is the format of typ
}

// minifloats are the narrow formats by element type.
var minifloats = map[hlo.PrimitiveType]minifloat.Format{
	hlo.F16: minifloat.F16, hlo.BF16: minifloat.BF16,
	hlo.F8E5M2: minifloat.F8E5M2, hlo.F8E4M3: minifloat.F8E4M3, hlo.F8E3M4: minifloat.F8E3M4, hlo.F8E4M3FN: minifloat.F8E4M3FN,
	hlo.F8E5M2FNUZ: minifloat.F8E5M2FNUZ, hlo.F8E4M3FNUZ: minifloat.F8E4M3FNUZ, hlo.F8E4M3B11FNUZ: minifloat.F8E4M3B11FNUZ,
	hlo.F8E8M0FNU: minifloat.F8E8M0FNU, hlo.F6E3M2FN: minifloat.F6E3M2FN, hlo.F6E2M3FN: minifloat.F6E2M3FN, hlo.F4E2M1FN: minifloat.F4E2M1FN,
}

func (p *parser) arrayLiteral(s hlo.Shape) *hlo.Literal {
	r := &literalReader{parser: p, shape: s, typ: s.Type(), width: s.Type().ByteSize()}
	r.float, r.narrow = minifloats[r.typ]
	if s.HasUnbounded() {
		p.fail("a literal cannot have the shape %v", s)
	}
	rank := s.Rank()
	if rank == 0 || p.peek() != '{' {
		return r.scalar()
	}
	if p.isElided() {
		return p.elided(s)
	}
	// A huge shape cannot be filled by a short text, so memory grows with what is read.
	r.data = make([]byte, 0, min(s.ByteSize(), int64(len(p.src)-p.pos)*int64(r.width)))
	r.count = make([]int64, rank)
	at := p.pos
	if r.array(0) {
		return p.elided(s)
	}
	l, err := hlo.NewLiteral(s, r.data)
	if err != nil {
		p.failAt(at, "%v", err)
	}
	return l
}

// isElided takes `{...}`.
func (p *parser) isElided() bool {
	start := p.pos
	if p.accept('{') && p.acceptText("...") && p.accept('}') {
		return true
	}
	p.pos = start
	return false
}

// maxFilled is the number of elements up to which an elided constant is filled at once: so many print in full, and XLA prints the filler.
const maxFilled = 10

// elided makes the literal of `{...}`. It stays without data unless it is small.
func (p *parser) elided(s hlo.Shape) *hlo.Literal {
	p.leave() // fillers go on from one constant to the next
	l := hlo.NewElidedLiteral(s)
	if s.NumElements() <= maxFilled {
		return p.filler.Fill(l)
	}
	p.filler.Skip(l)
	return l
}

// scalar reads one value. For a shape of rank 1 and up it is the first element, and all others are zero, as XLA reads it.
func (r *literalReader) scalar() *hlo.Literal {
	p := r.parser
	p.space()
	at := p.pos
	size := r.shape.ByteSize()
	if r.shape.Rank() > 0 {
		if p.unspent -= size; p.unspent < 0 || size == math.MaxInt64 {
			p.failAt(at, "constant of shape %v is too large", r.shape)
		}
		r.data = make([]byte, 0, max(size, int64(r.width)))
	} else if p.peek() == '{' {
		p.failAt(at, "expects nested array in rank 0, but sees larger")
	}
	r.element()
	if r.shape.Rank() > 0 && size > int64(r.width) {
		for _, b := range r.data {
			if b != 0 {
				p.warn(at, "a scalar for an array sets its first element only; all others are zero")
				break
			}
		}
	}
	l, err := hlo.NewLiteral(r.shape, r.data[:size])
	if err != nil {
		p.failAt(at, "%v", err)
	}
	return l
}

// array reads the braces of one level. It reports whether the array is elided.
func (r *literalReader) array(level int) (elided bool) {
	p := r.parser
	rank := r.shape.Rank()
	r.count[level] = 0
	p.pos++
	for {
		switch c := p.peek(); {
		case c == '}':
			if n, want := r.count[level], r.shape.Dim(level); n != want && !elided {
				p.fail("expects %d elements in the [%s]th element, but sees %d", want, joinInts(r.count[:level]), n)
			}
			p.pos++
			return elided
		case c == ',':
			p.pos++
		case c == '{':
			if level+1 == rank {
				p.fail("expects nested array in rank %d, but sees larger", rank)
			}
			r.more(level)
			if r.array(level + 1) {
				p.fail("expects `...` at nest level 1")
			}
			r.count[level]++
		case c == '.':
			if level > 0 || !p.acceptText("...") {
				p.fail("expects `...` at nest level 1")
			}
			elided = true
		case c == 0 && p.pos >= len(p.src):
			p.fail("expects '}' at the end of an array literal")
		default:
			if level+1 < rank {
				p.fail("expects nested array in rank %d, but sees %d", rank, level+1)
			}
			if elided {
				r.data = r.data[:0]
			}
			r.more(level)
			r.element()
			r.count[level]++
		}
	}
}

// more fails when the level has all its elements already.
func (r *literalReader) more(level int) {
	if r.count[level] < r.shape.Dim(level) {
		return
	}
	if level+1 == r.shape.Rank() {
		r.fail("expects %d elements on the minor-most dimension, but sees more", r.shape.Dim(level))
	}
	r.fail("expects %d elements in the [%s]th element, but sees more", r.shape.Dim(level), joinInts(r.count[:level]))
}

// element reads one value and appends its bytes.
func (r *literalReader) element() {
	p := r.parser
	p.space()
	if class[p.peek()]&classOpen != 0 && !r.typ.IsComplex() {
		p.fail("unexpected %q in a literal of %v", p.peek(), r.typ)
	}
	switch {
	case r.typ.IsComplex():
		r.complex()
	case r.typ.IsFloat():
		r.real(r.typ, "value", "")
	default:
		r.integer()
	}
}

func (r *literalReader) complex() {
	p := r.parser
	if p.peek() != '(' {
		p.fail("unsupported primitive type: a complex number is (re, im)")
	}
	p.pos++
	part := r.typ.ComponentType()
	r.real(part, "real part", ",")
	p.expect(',', "expects ',' between the parts of a complex number")
	r.real(part, "imaginary part", ",")
	p.expect(')', "expects ')' at the end of a complex number")
}
