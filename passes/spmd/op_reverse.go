package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpReverse] = reverseFactors
	handlers[hlo.OpReverse] = reverse
}

func reverseFactors(in hlo.Instruction) (all []factor) {
	dims := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	for k := range in.Shape().Rank() {
		all = append(all, along(1, kindIf(slices.Contains(dims, int64(k)) && in.Shape().Dim(k) > 1), k, [2]int{0, k}))
	}
	return all
}

// reverse lets devices swap tiles where the array is split along what is reversed, unless it is cheaper to split it along something else.
func reverse(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	x := s.operands(in)[0]
	swaps, ok := swapsOf(in, x)
	if ok {
		q := &question{in: in, factors: reverseFactors(in), have: []*value{x}, want: want[0], mesh: s.meshOf(want, []*value{x}), manual: manualOf(want, []*value{x})}
		cost := s.p.routeCost(x.shape, x.t, want[0]) + s.p.cost.Latency + s.p.cost.Byte*float64(x.t.bytes(x.shape))
		for _, w := range swaps {
			cost += w.shift.cost(s.p.cost, x.t.bytes(x.shape))
		}
		ok = cost < s.d.plans(q).cost
	}
	if !ok {
		return s.general(in, want, nil)
	}
	v := s.d.permute(x.v, swapPairs(x.t, swaps))
	v = s.emit(in, v.Shape(), in.Attrs(), []hlo.Value{v})
	for _, w := range swaps {
		if w.shift.low == 0 {
			continue
		}
		// The padding came to the front: everything moves up by it.
		padded := &value{v: v, shape: resized(x.shape, w.dim, w.shift.in), t: x.t}
		v = s.d.fetch(padded, w.dim, w.shift, s.d.scalar(x.shape.Type(), 0))
	}
	return []*value{{v: v, shape: x.shape, t: x.t}}, nil
}

// swap is a split dimension that is reversed, and by what the tiles have to be shifted after they were swapped.
type swap struct {
	dim   int
	shift halo
}

// swapsOf are the dimensions along which an array is split and reversed. Each must divide into tiles well enough to shift them.
func swapsOf(in hlo.Instruction, x *value) (swaps []swap, ok bool) {
	if x.isBroadcast() || x.t.Maximal || len(x.t.Unreduced) > 0 || !x.t.isTiled() {
		return nil, false
	}
	for _, k := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		if len(x.t.Dims[k]) == 0 {
			continue
		}
		n, tiles := x.shape.Dim(int(k)), x.t.tiles(int(k))
		padded := ceilDiv(n, tiles) * tiles
		w := slide{in: padded, out: n, low: n - padded, stride: 1, reach: 1}.halo(tiles)
		if w.low != 0 && !w.isLocal() {
			return nil, false
		}
		swaps = append(swaps, swap{int(k), w})
	}
	return swaps, len(swaps) > 0
}

// swapPairs sends each tile to the device whose coordinates along the swapped dimensions are as far from their ends.
func swapPairs(t *Tiling, swaps []swap) (pairs [][]int64) {
	m := t.Mesh
	for p := range m.N {
		to := p
		for _, w := range swaps {
			for _, a := range t.Dims[w.dim] {
				at := m.coordinate(p, []int{a})
				to += (m.Sizes[a] - 1 - 2*at) * m.stride(a)
			}
		}
		pairs = append(pairs, []int64{m.device(p), m.device(to)})
	}
	return pairs
}

// resized is an array with another size of dimension k.
func resized(s hlo.Shape, k int, size int64) hlo.Shape {
	dims := s.Dimensions()
	dims[k] = size
	return hlo.MakeShape(s.Type(), dims...).WithDefaultLayout()
}
