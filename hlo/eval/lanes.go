package eval

import "github.com/gohalo/halo/hlo"

// lanes holds the values of one register of a [program] for a run of elements: floating values in f, already rounded to the
// register's type; integers and pred in i, extended; complex values in z. The other two are nil.
type lanes struct {
	f []float64
	i []int64
	z []complex128
}

// class says which of the slices of lanes a type uses.
type class uint8

const (
	noClass class = iota
	floats
	integers
	complexes
)

func classOf(t hlo.PrimitiveType) class {
	switch t.Class() {
	case hlo.ClassFloat:
		return floats
	case hlo.ClassComplex:
		return complexes
	case hlo.ClassNone:
		return noClass
	}
	return integers
}

// makeLanes makes n lanes of type t.
func makeLanes(t hlo.PrimitiveType, n int) lanes {
	switch classOf(t) {
	case floats:
		return lanes{f: make([]float64, n)}
	case complexes:
		return lanes{z: make([]complex128, n)}
	}
	return lanes{i: make([]int64, n)}
}

// first is the first n lanes; n is at most the capacity.
func (l lanes) first(n int) lanes {
	switch {
	case l.f != nil:
		l.f = l.f[:n]
	case l.i != nil:
		l.i = l.i[:n]
	case l.z != nil:
		l.z = l.z[:n]
	}
	return l
}

// load decodes elements of type t.
func (l *lanes) load(t hlo.PrimitiveType, b []byte) {
	switch classOf(t) {
	case floats:
		decodeFloats(l.f, t, b)
	case complexes:
		decodeComplex(l.z, t, b)
	default:
		decodeInts(l.i, t, b)
	}
}

// store encodes all lanes as elements of type t.
func (l *lanes) store(t hlo.PrimitiveType, b []byte) {
	switch classOf(t) {
	case floats:
		encodeFloats(b, t, l.f)
	case complexes:
		encodeComplex(b, t, l.z)
	default:
		encodeInts(b, t, l.i)
	}
}

// splat gives every lane the element at b.
func (l *lanes) splat(t hlo.PrimitiveType, b []byte) {
	switch classOf(t) {
	case floats:
		decodeFloats(l.f, t, b)
		fill(l.f)
	case complexes:
		decodeComplex(l.z, t, b)
		fill(l.z)
	default:
		decodeInts(l.i, t, b)
		fill(l.i)
	}
}

func fill[E any](v []E) {
	for i := range v {
		v[i] = v[0]
	}
}

// set copies s, lane by lane.
func (l *lanes) set(s *lanes) {
	copy(l.f, s.f)
	copy(l.i, s.i)
	copy(l.z, s.z)
}

// blend copies the lanes of s where mask is set.
func (l *lanes) blend(s *lanes, mask []bool) {
	blend(l.f, s.f, mask)
	blend(l.i, s.i, mask)
	blend(l.z, s.z, mask)
}

func blend[E any](dst, src []E, mask []bool) {
	for k := range dst {
		if mask[k] {
			dst[k] = src[k]
		}
	}
}

// round brings each lane into type t after an operation in the wide type.
func (l *lanes) round(t hlo.PrimitiveType) {
	switch classOf(t) {
	case floats:
		roundFloats(l.f, t)
	case complexes:
		roundComplex(l.z, t)
	default:
		wrapInts(l.i, t)
	}
}
