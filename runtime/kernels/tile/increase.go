package tile

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// increase makes one step of a hyperbolic tangent and the addition of 1 that alone reads it, as in a GELU: the sum is a quotient that needs no series near zero, and
// that has all its digits where tanh is close to -1. Short spaces keep their steps, which loops over scalars are made of.
func (b *Builder) increase() {
	if b.space.Len() <= shortSpace {
		return
	}
	for i := 0; i < len(b.steps); i++ {
		s := &b.steps[i]
		if s.op != hlo.OpAdd || b.values[s.d].typ != hlo.F32 || s.rounded {
			continue
		}
		for k, v := range s.args {
			x := &b.values[v]
			if x.def < 0 || x.typ != hlo.F32 || b.steps[x.def].op != hlo.OpTanh || b.uses(v) != 1 || !b.isOne(s.args[1-k]) {
				continue
			}
			tanh := x.def
			b.values[s.d].weight = x.weight
			x.weight = 0
			o := operation{fn: increasedTanh}
			o.vectorize(vectors.Of(hlo.OpTanh, hlo.F32).In(vectors.Increased))
			*s = buildStep{fn: o.fn, vector: o.vector, d: s.d, args: b.steps[tanh].args}
			b.drop(tanh)
			i--
			break
		}
	}
}

// uses is how often a value is read.
func (b *Builder) uses(v Value) (n int) {
	for _, s := range b.steps {
		for _, a := range s.args {
			if a == v {
				n++
			}
		}
	}
	for _, s := range b.stores {
		if Value(s.reg) == v {
			n++
		}
	}
	for _, f := range b.folds {
		if Value(f.reg) == v {
			n++
		}
	}
	if b.result == v {
		n++
	}
	return n
}

// isOne reports whether v is 1 of f32 everywhere.
func (b *Builder) isOne(v Value) bool {
	s := b.values[v].splat
	return s != nil && b.values[v].typ == hlo.F32 && *(*float32)(unsafe.Pointer(&s.value[0])) == 1
}

// drop takes away step i, the value of which nothing reads.
func (b *Builder) drop(i int) {
	b.values[b.steps[i].d].def = -1
	b.steps = slices.Delete(b.steps, i, i+1)
	for v := range b.values {
		if b.values[v].def > i {
			b.values[v].def--
		}
	}
}

// increasedTanh is 1 + tanh x.
func increasedTanh(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		z[i] = float32(2 / (1 + exp(-2*float64(x[i]))))
	}
}
