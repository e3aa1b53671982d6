package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// run is a set of neighbouring dimensions of an array that a reshape turns into neighbouring dimensions of another: as many elements on both
// sides, and none of them splits further.
type run struct{ from, to []int }

// runs cuts a reshape into such sets, major to minor.
func runs(from, to []int64) (all []run) {
	if product(from) < 1 || product(from) != product(to) {
		return nil
	}
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		r, a, b := run{}, int64(1), int64(1)
		for {
			switch {
			case a == b && len(r.from)+len(r.to) > 0 && (a > 1 || (i >= len(from) || from[i] != 1) && (j >= len(to) || to[j] != 1)):
			case (a <= b && i < len(from)) || j >= len(to):
				if i >= len(from) {
					break
				}
				r.from = append(r.from, i)
				a *= from[i]
				i++
				continue
			default:
				r.to = append(r.to, j)
				b *= to[j]
				j++
				continue
			}
			break
		}
		all = append(all, r)
	}
	return all
}

// through is how the result of a reshape can be tiled without moving anything, if the operand is tiled as t; and how much of t that uses. Both
// are the same number of axes for each run of dimensions.
func through(t *Tiling, from, to []int64) (operand, result *Tiling) {
	operand, result = t.withDims(make([][]int, len(from))), t.withDims(make([][]int, len(to)))
	for _, r := range runs(from, to) {
		axes := carried(t, r, from)
		spread(operand, axes, r.from, from)
		spread(result, axes, r.to, to)
		// What one side cannot carry, the other must not have.
		a, b := flat(operand, r.from), flat(result, r.to)
		for len(a) != len(b) {
			n := min(len(a), len(b))
			spread(operand, axes[:n], r.from, from)
			spread(result, axes[:n], r.to, to)
			a, b = flat(operand, r.from), flat(result, r.to)
		}
	}
	return operand, result
}

// carried are the axes of a run that split the flattened elements in order: those of the first dimension that is not of size 1, and of the next
// while each dimension before is split into single rows.
func carried(t *Tiling, r run, dims []int64) (axes []int) {
	for _, k := range r.from {
		axes = append(axes, t.Dims[k]...)
		if t.tiles(k) != dims[k] {
			break
		}
	}
	return axes
}

// spread gives axes, major first, to dimensions: a dimension takes those that divide it evenly; the next one gets more only if every row has a
// tile of its own.
func spread(t *Tiling, axes []int, dims []int, sizes []int64) {
	for _, k := range dims {
		t.Dims[k] = nil
	}
	for _, k := range dims {
		n := sizes[k]
		for len(axes) > 0 && n%t.Mesh.Sizes[axes[0]] == 0 && n > 1 {
			n /= t.Mesh.Sizes[axes[0]]
			t.Dims[k] = append(slices.Clip(t.Dims[k]), axes[0])
			axes = axes[1:]
		}
		if n > 1 {
			return
		}
	}
}

func flat(t *Tiling, dims []int) (axes []int) {
	for _, k := range dims {
		axes = append(axes, t.Dims[k]...)
	}
	return axes
}

// reshape keeps the tiles that both shapes have, and moves or gathers the others before.
func reshape(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	x := s.operands(in)[0]
	if !in.Shape().IsStatic() || !x.shape.IsStatic() {
		return s.whole(in, want)
	}
	from, to := x.shape.Dimensions(), in.Shape().Dimensions()
	type way struct{ operand, result *Tiling }
	var ways []way
	t := want[0]
	if slices.Equal(t.Manual, x.t.Manual) || len(x.t.Manual) == 0 {
		result, operand := through(t, to, from)
		ways = append(ways, way{operand, result})
	}
	if slices.Equal(t.Manual, x.t.Manual) || len(t.Manual) == 0 {
		operand, result := through(x.t, from, to)
		ways = append(ways, way{operand, result})
		if uneven := unevenReshape(x.t, from, to); uneven != nil {
			ways = append(ways, way{x.t, uneven})
		}
	}
	var best way
	cost := -1.0
	for _, w := range ways {
		c := s.p.routeCost(x.shape, x.t, w.operand) + s.p.routeCost(in.Shape(), w.result, t)
		if cost < 0 || c < cost {
			best, cost = w, c
		}
	}
	y := s.d.reshard(x, best.operand)
	v := s.d.b.As(in.Name()).With(commonOf(in)).OpOf(hlo.OpReshape, best.result.shard(in.Shape()), &hlo.ReshapeAttrs{InferredDimension: -1}, y.v)
	r := &value{v: v, shape: in.Shape(), t: best.result}
	if x.isBroadcast() {
		r.scalar = x.scalar
	}
	return []*value{r}, nil
}

// unevenReshape is the tiling of a reshape that only adds or drops dimensions of size 1; tiles may be uneven then.
func unevenReshape(t *Tiling, from, to []int64) *Tiling {
	if len(t.Unreduced) > 0 {
		return nil
	}
	result := t.withDims(make([][]int, len(to)))
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		switch {
		case i < len(from) && j < len(to) && from[i] == to[j]:
			result.Dims[j] = t.Dims[i]
			i++
			j++
		case i < len(from) && from[i] == 1 && len(t.Dims[i]) == 0:
			i++
		case j < len(to) && to[j] == 1:
			j++
		default:
			return nil
		}
	}
	return result
}
