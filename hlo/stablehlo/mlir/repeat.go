package mlir

import (
	"slices"
	"strings"
)

// Programs repeat themselves to the letter: a thousand operations have the dimensions `[0, 1, 2]`, the value `dense<1.0> : tensor<f32>` or
// the same signature. So their texts are looked up before they are read, and what was read is shared. How far such a text goes is a guess,
// at a bracket that is near; it is kept only when reading it has ended there, and when no alias was expanded.

// maxRepeated bounds the texts that are looked up.
const maxRepeated = 512

// near is the text from a place that repeated texts are looked for in.
func (r *reader) near(at int) string { return r.text[at:min(len(r.text), at+maxRepeated)] }

// through is the text from a place through the next end, if that is near.
func (r *reader) through(at int, end byte) string {
	s := r.near(at)
	return s[:strings.IndexByte(s, end)+1]
}

// repeated reads an attribute, once for each text. key is the text from start on that it may be.
func (r *reader) repeated(start int, key string, read func() Attr) Attr {
	if a := r.read[key]; a != nil {
		r.pos = start + len(key)
		return a
	}
	expanded := r.expanded
	a := read()
	if r.pos == start+len(key) && r.expanded == expanded {
		r.read[key] = a
	}
	return a
}

// ints is intList, read once for each text.
func (r *reader) ints() Attr {
	r.space()
	return r.repeated(r.pos, r.through(r.pos, ']'), func() Attr { return r.intList() })
}

// attributes reads a dictionary of attributes of an operation, if one is there.
func (r *reader) attributes(op *Op) {
	if !r.is("{") {
		return
	}
	at, expanded := r.pos, r.expanded
	key := r.through(at, '}')
	if d, ok := r.dicts[key]; ok && !slices.ContainsFunc(d, func(a NamedAttr) bool { return op.Attrs.Has(a.Name) }) {
		r.pos = at + len(key)
		if op.Attrs == nil {
			op.Attrs = d
		} else {
			op.Attrs = append(op.Attrs, d...)
		}
		return
	}
	before := len(op.Attrs)
	op.Attrs = r.dictionary(op.Attrs)
	if r.pos == at+len(key) && r.expanded == expanded {
		r.dicts[key] = slices.Clip(op.Attrs[before:])
	}
}

// constantKey is the text `dense<1.0> : tensor<f32>` at a place, if that is what is there.
func (r *reader) constantKey(at int) string {
	s := r.near(at)
	i := strings.IndexByte(s, '>') + 1
	j := strings.IndexByte(s[i:], '>') + 1
	if i == 0 || j == 0 {
		return ""
	}
	return s[:i+j]
}

// signatureKey is the text `(tensor<2xf32>) -> tensor<f32>` at a place, if that is what is there: up to the last bracket of the line.
func (r *reader) signatureKey(at int) string {
	s := r.near(at)
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		s = s[:n]
	}
	return s[:strings.LastIndexByte(s, '>')+1]
}
