package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// meshTiles makes tile shardings over a named mesh: digits of positions in the order in which axes are used, then the rest.
type meshTiles struct {
	mesh    *hlo.Mesh
	strides []int64
	digits  []digit
	n       int64
}

func newMeshTiles(m *hlo.Mesh) *meshTiles {
	b := &meshTiles{mesh: m, strides: make([]int64, len(m.Axes)), n: 1}
	for i := len(m.Axes) - 1; i >= 0; i-- {
		b.strides[i] = b.n
		b.n *= m.Axes[i].Size
	}
	return b
}

// dim appends a dimension of the grid that is split by some axes.
func (b *meshTiles) dim(s *hlo.Sharding, axes []hlo.AxisRef) error {
	tiles := int64(1)
	for _, r := range axes {
		if r.Axis < 0 || r.Axis >= len(b.mesh.Axes) {
			return fmt.Errorf("an axis that the mesh does not have")
		}
		size := b.mesh.Axes[r.Axis].Size
		d := digit{b.strides[r.Axis], size}
		if r.IsSub {
			if r.PreSize < 1 || r.Size < 1 || size%(r.PreSize*r.Size) != 0 {
				return fmt.Errorf("part :(%d)%d of an axis of %d", r.PreSize, r.Size, size)
			}
			d = digit{b.strides[r.Axis] * (size / r.PreSize / r.Size), r.Size}
		}
		if d.n > 1 {
			b.digits = append(b.digits, d)
		}
		tiles *= d.n
	}
	s.TileDims = append(s.TileDims, tiles)
	return nil
}

// finish adds the axes that were not used, which replicate, and the devices.
func (b *meshTiles) finish(s *hlo.Sharding) (*hlo.Sharding, error) {
	chain := []int64{1}
	if b.n > 1 {
		chain = append(chain, b.n)
	}
	for i, a := range b.mesh.Axes {
		var ok bool
		if chain, ok = merged(chain, []int64{b.strides[i], b.strides[i] * a.Size}); !ok {
			return nil, fmt.Errorf("axes of sizes that are no grid")
		}
	}
	g := grid{digits: b.digits}
	chain, ok := merged(chain, g.cuts())
	if !ok {
		return nil, fmt.Errorf("parts of axes that overlap")
	}
	order := make([]digit, 0, len(chain)) // of all positions, major first
	for i := len(chain) - 1; i > 0; i-- {
		order = append(order, digit{chain[i-1], chain[i] / chain[i-1]})
	}
	covered := func(d digit) bool {
		return slices.ContainsFunc(b.digits, func(u digit) bool { return u.stride <= d.stride && d.stride*d.n <= u.stride*u.n })
	}
	all := slices.Clone(b.digits)
	rest := int64(1)
	for _, d := range order {
		if !covered(d) {
			all = append(all, d)
			rest *= d.n
		}
	}
	tiled := slices.ContainsFunc(s.TileDims, func(n int64) bool { return n > 1 })
	switch {
	case !tiled:
		return &hlo.Sharding{Kind: hlo.ShardingReplicated}, nil
	case rest > 1 && len(s.Subgroups) == 0:
		s.ReplicateOnLastTileDim = true
		s.TileDims = append(s.TileDims, rest)
	case rest > 1:
		s.Subgroups = append(s.Subgroups, hlo.ShardingReplicated)
		s.TileDims = append(s.TileDims, rest)
	case len(s.Subgroups) == 1 && s.Subgroups[0] == hlo.ShardingManual && s.TileDims[len(s.TileDims)-1] == b.n:
		return &hlo.Sharding{Kind: hlo.ShardingManual}, nil
	}
	if b.mesh.DeviceIDs == nil && b.mesh.Iota == nil {
		s.Iota = iotaOf(all, b.n)
		return s, nil
	}
	ids := b.mesh.DeviceIDs
	if b.mesh.Iota != nil {
		if ids, ok = b.mesh.Iota.Devices(); !ok {
			return nil, fmt.Errorf("devices of the mesh cannot be listed")
		}
	}
	if int64(len(ids)) != b.n {
		return nil, fmt.Errorf("a mesh of %d devices lists %d", b.n, len(ids))
	}
	positions := []int64{0}
	for _, d := range all {
		var next []int64
		for _, p := range positions {
			for i := range d.n {
				next = append(next, p+i*d.stride)
			}
		}
		positions = next
	}
	for _, p := range positions {
		s.Devices = append(s.Devices, ids[p])
	}
	return s, nil
}

// iotaOf is the compressed form of positions in the order of digits.
func iotaOf(digits []digit, n int64) *hlo.IotaTile {
	var runs []digit
	for _, d := range digits {
		if k := len(runs) - 1; k >= 0 && runs[k].stride == d.stride*d.n {
			runs[k] = digit{d.stride, runs[k].n * d.n}
		} else {
			runs = append(runs, d)
		}
	}
	if len(runs) <= 1 {
		return &hlo.IotaTile{Reshape: []int64{n}}
	}
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b digit) int { return int(b.stride - a.stride) })
	t := &hlo.IotaTile{}
	for _, d := range sorted {
		t.Reshape = append(t.Reshape, d.n)
	}
	for _, d := range runs {
		t.Transpose = append(t.Transpose, slices.Index(sorted, d))
	}
	return t
}
