package tile

import (
	"bytes"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// ConstantArray is an array that the program has itself, of elements of type t, seen through a view. Spaces are larger than [MostInCalls], so that nothing but
// loads over the program's own tiles and rows meets it.
func (b *Builder) ConstantArray(t hlo.PrimitiveType, elements []byte, view View) Value {
	k := slices.IndexFunc(b.arrays, func(a []byte) bool { return bytes.Equal(a, elements) })
	if k < 0 {
		k = len(b.arrays)
		b.arrays = append(b.arrays, elements)
	}
	return b.Input(-1-k, t, view)
}

// in is where a load finds its array: an input, or a constant, which negative numbers stand for.
func (p *Program) in(b Buffers, arg int) []byte {
	if arg < 0 {
		return p.arrays[-1-arg]
	}
	return b.In(arg)
}
