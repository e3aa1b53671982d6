package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Tiling says which part of an array each device holds. It is immutable. Axes that occur nowhere replicate.
type Tiling struct {
	Mesh *Mesh
	// Dims are the axes that split each dimension, major first. A tile is the quotient rounded up; what is beyond the end is padding.
	Dims [][]int
	// Manual are the axes along which devices run code of their own: the array is what one coordinate has. Sorted.
	Manual []int
	// Unreduced are the axes along which the value is the sum (or another reduction) of what devices hold. Sorted.
	Unreduced []int
	Reduction hlo.ReductionKind
	// Maximal: one device has all, and what others hold is undefined.
	Maximal bool
	Device  int64
}

// replicated is the tiling of an array that every device has.
func replicated(m *Mesh, rank int) *Tiling { return &Tiling{Mesh: m, Dims: make([][]int, rank)} }

// withDims is t with other axes for the dimensions.
func (t *Tiling) withDims(dims [][]int) *Tiling {
	return &Tiling{Mesh: t.Mesh, Dims: dims, Manual: t.Manual, Unreduced: t.Unreduced, Reduction: t.Reduction}
}

// ofRank is t for an array of another rank, whose first dimensions lie alike: those that a factor splits are the same of all results.
func (t *Tiling) ofRank(rank int) *Tiling {
	if len(t.Dims) == rank {
		return t
	}
	dims := make([][]int, rank)
	copy(dims, t.Dims)
	return t.withDims(dims)
}

// withDim is t with other axes for one dimension.
func (t *Tiling) withDim(k int, axes []int) *Tiling {
	dims := slices.Clone(t.Dims)
	dims[k] = axes
	return t.withDims(dims)
}

// untiled is t with some dimensions whole.
func (t *Tiling) untiled(dims ...int) *Tiling {
	d := slices.Clone(t.Dims)
	for _, k := range dims {
		d[k] = nil
	}
	return t.withDims(d)
}

// tiles is the number of parts of dimension k.
func (t *Tiling) tiles(k int) int64 { return t.Mesh.size(t.Dims[k]) }

// isTiled reports whether some dimension is split.
func (t *Tiling) isTiled() bool {
	return slices.ContainsFunc(t.Dims, func(axes []int) bool { return len(axes) > 0 })
}

// numTiles is the number of parts of the array.
func (t *Tiling) numTiles() int64 {
	n := int64(1)
	for k := range t.Dims {
		n *= t.tiles(k)
	}
	return n
}

// used are the axes that have a role, in no order.
func (t *Tiling) used() []int {
	u := slices.Concat(t.Manual, t.Unreduced)
	for _, axes := range t.Dims {
		u = append(u, axes...)
	}
	return u
}

// isManual reports whether all axes are manual: the partitioner leaves the value alone.
func (t *Tiling) isManual() bool { return len(t.Manual) == len(t.Mesh.Sizes) && len(t.Mesh.Sizes) > 0 }

// isReplicated reports whether every device has all of the array.
func (t *Tiling) isReplicated() bool {
	return !t.Maximal && !t.isTiled() && len(t.Manual) == 0 && len(t.Unreduced) == 0
}

func (t *Tiling) equal(o *Tiling) bool {
	return t == o || t.Mesh == o.Mesh && t.Maximal == o.Maximal && t.Device == o.Device && t.sameDims(o) &&
		slices.Equal(t.Manual, o.Manual) && slices.Equal(t.Unreduced, o.Unreduced) && t.Reduction == o.Reduction
}

func (t *Tiling) sameDims(o *Tiling) bool { return slices.EqualFunc(t.Dims, o.Dims, slices.Equal) }

// shard is the shape of a part of an array of shape s, layout included.
func (t *Tiling) shard(s hlo.Shape) hlo.Shape {
	if !s.IsArray() || !t.isTiled() {
		return s
	}
	layout, _ := s.Layout()
	dims := s.Dimensions()
	for k := range dims {
		dims[k] = ceilDiv(dims[k], t.tiles(k))
	}
	return hlo.MakeArray(s.Type(), dims, nil, layout)
}

// isEven reports whether dimension k of size n divides into the tiles.
func (t *Tiling) isEven(k int, n int64) bool { return n%t.tiles(k) == 0 }

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// key names the tiling, for maps.
func (t *Tiling) key() string {
	return fmt.Sprintf("%p %v %v %v %d %v %d", t.Mesh, t.Dims, t.Manual, t.Unreduced, t.Reduction, t.Maximal, t.Device)
}

// String is the tiling as XLA writes it.
func (t *Tiling) String() string {
	if t == nil {
		return "none"
	}
	return t.Sharding().String()
}

// Sharding is the tiling in XLA's form.
func (t *Tiling) Sharding() *hlo.Sharding {
	switch {
	case t.Maximal:
		return &hlo.Sharding{Kind: hlo.ShardingMaximal, Devices: []int64{t.Device}}
	case t.isReplicated():
		return &hlo.Sharding{Kind: hlo.ShardingReplicated}
	case t.isManual():
		return &hlo.Sharding{Kind: hlo.ShardingManual}
	case len(t.Unreduced) == len(t.Mesh.Sizes):
		return &hlo.Sharding{Kind: hlo.ShardingUnreduced, Reduction: t.Reduction}
	}
	s := &hlo.Sharding{Kind: hlo.ShardingTiled, Reduction: t.Reduction}
	var order []int
	for k, axes := range t.Dims {
		order = append(order, axes...)
		s.TileDims = append(s.TileDims, t.tiles(k))
	}
	subgroup := func(kind hlo.ShardingKind, axes []int) {
		if len(axes) > 0 {
			order = append(order, axes...)
			s.TileDims = append(s.TileDims, t.Mesh.size(axes))
			s.Subgroups = append(s.Subgroups, kind)
		}
	}
	rest := t.Mesh.others(t.used())
	subgroup(hlo.ShardingManual, t.Manual)
	subgroup(hlo.ShardingUnreduced, t.Unreduced)
	subgroup(hlo.ShardingReplicated, rest)
	if len(s.Subgroups) == 1 && s.Subgroups[0] == hlo.ShardingReplicated {
		s.ReplicateOnLastTileDim, s.Subgroups = true, nil
	}
	if t.Mesh.Order == nil && !t.Mesh.Listed {
		s.Iota = t.Mesh.iota(order)
	} else {
		s.Devices = t.Mesh.listed(order)
	}
	return s
}

// without is a list less the members of another.
func without(list, drop []int) []int {
	var rest []int
	for _, a := range list {
		if !slices.Contains(drop, a) {
			rest = append(rest, a)
		}
	}
	return rest
}

// union is a sorted list of the members of two.
func union(a, b []int) []int {
	u := slices.Concat(a, b)
	slices.Sort(u)
	return slices.Compact(u)
}

// commonPrefix is how long two lists agree.
func commonPrefix(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
