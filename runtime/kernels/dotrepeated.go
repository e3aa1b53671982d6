package kernels

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/native"
)

// dotWithoutSums serves dots of complex numbers that contract nothing, as the elementwise product of both operands repeated along each other's free axes. There is nothing to add
// up, for which the numbers would be written as their parts first. Those of c64 are still better multiplied as parts, in f32, unless rows of the result are whole pages apart, which
// share places in the cache.
func dotWithoutSums(s *site) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.DotAttrs](s.in)
	out := s.in.Shape()
	if t := out.Type(); !t.IsComplex() || s.shape(0).Type() != t || s.shape(1).Type() != t || len(a.LHSContracting) > 0 || out.NumElements() == 0 {
		return runtime.Bound{}, false
	}
	_, _, free := matrixOf(s.shape(1), a.RHSBatch, nil)
	if row := productOver(free, s.shape(1).Dimensions()) * out.Type().ByteSize(); out.Type() == hlo.C64 && row%native.Page != 0 {
		return runtime.Bound{}, false
	}
	zero, err := hlo.NewLiteral(hlo.MakeShape(out.Type()).WithDefaultLayout(), make([]byte, out.Type().ByteSize()))
	if err != nil {
		return runtime.Bound{}, false
	}
	b := hlo.NewBuilder(s.in.Opcode().String())
	var x [2]hlo.Value
	for side := range x {
		x[side] = b.Parameter("", s.shape(side).WithoutLayout())
	}
	product := b.Computation("product", func(b *hlo.Builder) hlo.Value {
		next := len(a.LHSBatch) // the axis of the result that the next free one is
		var v [2]hlo.Value
		for side, batch := range [...][]int64{a.LHSBatch, a.RHSBatch} {
			shape := s.shape(side).WithoutLayout()
			at := make([]int64, shape.Rank())
			for axis := range at {
				if i := slices.Index(batch, int64(axis)); i >= 0 {
					at[axis] = int64(i)
					continue
				}
				at[axis] = int64(next)
				next++
			}
			v[side] = repeated(b, b.Parameter("", shape), at, out)
		}
		// A sum begins with 0, which -0 does not survive.
		return b.Add(b.Multiply(v[0], v[1]), b.Broadcast(b.Constant(zero), nil, out.Dimensions()...))
	})
	m, err := b.Build(b.Fusion(hlo.FusionLoop, product, x[:]...))
	if err != nil {
		panic(fmt.Sprintf("kernels: a dot as a product: %v", err))
	}
	return fusedLoop(&site{m: m, in: m.Entry().Root(), b: s.b, reg: s.reg})
}

// repeated repeats an array over a shape, whose axes at its own are.
func repeated(b *hlo.Builder, x hlo.Value, at []int64, over hlo.Shape) hlo.Value {
	if !slices.IsSorted(at) {
		order := make([]int64, len(at))
		for i := range order {
			order[i] = int64(i)
		}
		slices.SortFunc(order, func(i, j int64) int { return int(at[i] - at[j]) })
		x = b.Transpose(x, order...)
		at = slices.Sorted(slices.Values(at))
	}
	return b.Broadcast(x, at, over.Dimensions()...)
}
