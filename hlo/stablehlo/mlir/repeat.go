package mlir

import "strings"

// Programs repeat themselves to the letter: a thousand operations have the dimensions `[0, 1, 2]`, the value `dense<1.0> : tensor<f32>` or
// the same signature. So their texts are looked up before they are read, and what was read is shared. How far such a text goes is a guess,
// at a bracket that is near; it is kept only when reading it has ended there, and when no alias was expanded.

// maxRepeated bounds the texts that are looked up.
const maxRepeated = 256

// near is the text from a place that repeated texts are looked for in.
func (r *reader) near(at int) string { return r.text[at:min(len(r.text), at+maxRepeated)] }

// ints is intList, read once for each text.
func (r *reader) ints() Attr {
	r.space()
	return r.list(r.pos, func() Attr { return r.intList() })
}

// list reads an attribute up to a closing bracket, once for each text; the text from start on says what is read.
func (r *reader) list(start int, read func() Attr) Attr {
	key := r.near(start)
	key = key[:strings.IndexByte(key, ']')+1]
	if a := r.read[key]; a != nil {
		r.pos = start + len(key)
		return a
	}
	return r.keep(start, key, read())
}

// keep remembers an attribute if it is what key stands for.
func (r *reader) keep(start int, key string, a Attr) Attr {
	if r.pos == start+len(key) {
		r.read[key] = a
	}
	return a
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
