package kernels

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// dotOfVectors serves dots without free axes, one number for each batch, as sums of products: a fusion of elementwise code that reads both operands in the order of one of
// them, and a reduction of it. So it does not matter which axes are contracted and in which order they lie, and long sums are divided among workers. Vectors that lie in
// memory as they are multiplied are left to the loops of products, unless there is a single long one, or they are of complex numbers, whose loops are for more rows.
func dotOfVectors(s *site) (runtime.Bound, bool) {
	const long = 1 << 15 // elements
	a := hlo.AttrsOf[hlo.DotAttrs](s.in)
	x, y := s.shape(0), s.shape(1)
	known := len(a.LHSBatch) + len(a.LHSContracting)
	if x.Rank() != known || y.Rank() != known || len(a.LHSContracting) == 0 || x.NumElements() == 0 {
		return runtime.Bound{}, false
	}
	left, leftBatch, _ := matrixOf(x, a.LHSBatch, a.LHSContracting)
	right, _, _ := matrixOf(y, a.RHSBatch, a.RHSContracting)
	if left.LinearKs() && right.LinearKs() && !x.Type().IsComplex() && (len(leftBatch) > 1 || len(left.Ks) < long) {
		return runtime.Bound{}, false
	}
	m, err := sumOfProducts(s, a)
	if err != nil {
		panic(fmt.Sprintf("kernels: a dot as a sum: %v", err))
	}
	return fusedSequence(&site{m: m, in: m.Entry().Root(), b: s.b, reg: s.reg})
}

// sumOfProducts is a module whose entry is a fusion of the operands of a dot without free axes.
func sumOfProducts(s *site, a hlo.DotAttrs) (hlo.Module, error) {
	t := s.in.Shape().Type()
	wide := t
	if t.IsFloat() && t.Bits() < 32 {
		wide = hlo.F32
	}
	axes := [2][]int64{slices.Concat(a.LHSBatch, a.LHSContracting), slices.Concat(a.RHSBatch, a.RHSContracting)} // that belong together
	batch := len(a.LHSBatch)
	// Axes are in the order of an operand whose batches are in the order of the result; otherwise both operands are read in another one.
	order := axes[0]
	for _, lies := range axes {
		if slices.IsSorted(lies[:batch]) {
			order = lies
			break
		}
	}
	place := make([]int, len(order)) // of the product's axes among those that belong together
	for i := range place {
		place[i] = i
	}
	if slices.IsSorted(order[:batch]) {
		slices.SortFunc(place, func(i, j int) int { return int(order[i] - order[j]) })
	}
	var summed []int64
	for i, p := range place {
		if p >= batch {
			summed = append(summed, int64(i))
		}
	}

	b := hlo.NewBuilder(s.in.Opcode().String())
	zero, err := hlo.NewLiteral(hlo.MakeShape(wide).WithDefaultLayout(), make([]byte, wide.ByteSize()))
	if err != nil {
		return hlo.Module{}, err
	}
	to := func(b *hlo.Builder, v hlo.Value, t hlo.PrimitiveType) hlo.Value {
		if v.Shape().Type() == t {
			return v
		}
		return b.Convert(v, t)
	}
	add := b.Computation("add", func(b *hlo.Builder) hlo.Value {
		return b.Add(b.Parameter("a", hlo.MakeShape(wide)), b.Parameter("b", hlo.MakeShape(wide)))
	})
	parameters := func(b *hlo.Builder) (x [2]hlo.Value) {
		for side := range x {
			x[side] = b.Parameter("", s.shape(side).WithoutLayout())
		}
		return x
	}
	body := b.Computation("body", func(b *hlo.Builder) hlo.Value {
		x := parameters(b)
		var perm [2][]int64
		var apart [2]bool // what has its last axis elsewhere, which is written in the new order once
		for side := range x {
			for _, p := range place {
				perm[side] = append(perm[side], axes[side][p])
			}
			if last := len(place) - 1; perm[side][last] != int64(last) {
				x[side], apart[side] = b.Transpose(x[side], perm[side]...), true
			}
		}
		sum := b.Computation("sum", func(b *hlo.Builder) hlo.Value {
			var v [2]hlo.Value
			for side := range v {
				v[side] = to(b, b.Parameter("", x[side].Shape()), wide)
				if !apart[side] && !slices.IsSorted(perm[side]) {
					v[side] = b.Transpose(v[side], perm[side]...)
				}
			}
			return b.Reduce(b.Multiply(v[0], v[1]), b.Constant(zero), add, summed...)
		})
		return to(b, b.Fusion(hlo.FusionInput, sum, x[:]...), t)
	})
	x := parameters(b)
	return b.Build(b.Fusion(hlo.FusionLoop, body, x[:]...))
}
