package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// World is the meshes of a module. Most programs have one; lists of devices that do not fit its axes get one of their own.
type World struct {
	N    int64
	Main *Mesh
	// Partial says that tilings may be of some devices only. Those that compute want every device to have a part.
	Partial bool
	more    map[string]*Mesh
	read    map[*hlo.Sharding]*Tiling // by rank in dims
}

// grid is a sharding of tiles, as digits of positions in the order of the grid.
type grid struct {
	dims   []int64 // of the grid, subgroups included
	digits []digit // whose product is that of dims
}

// NewWorld finds the axes of the shardings that a module uses, for n devices.
func NewWorld(n int64, shardings []*hlo.Sharding) *World {
	w := &World{N: n, more: make(map[string]*Mesh), read: make(map[*hlo.Sharding]*Tiling)}
	cuts := []int64{1}
	if n > 1 {
		cuts = append(cuts, n)
	}
	for _, s := range shardings {
		if g, ok := gridOf(s, n); ok {
			if more, ok := merged(cuts, g.cuts()); ok {
				cuts = more
			}
		}
	}
	tiled := func(iota bool) func(s *hlo.Sharding) bool {
		return func(s *hlo.Sharding) bool { return s.Kind == hlo.ShardingTiled && (s.Iota != nil) == iota }
	}
	w.Main = &Mesh{N: n, Listed: slices.ContainsFunc(shardings, tiled(false)) && !slices.ContainsFunc(shardings, tiled(true))}
	for i := len(cuts) - 1; i > 0; i-- {
		w.Main.Sizes = append(w.Main.Sizes, primes(cuts[i]/cuts[i-1])...)
	}
	return w
}

// gridOf reads the tiles of a leaf whose devices are n numbers in some regular order.
func gridOf(s *hlo.Sharding, n int64) (g grid, ok bool) {
	if s.Kind != hlo.ShardingTiled || product(s.TileDims) != n {
		return g, false
	}
	g.dims = s.TileDims
	if s.Iota != nil {
		if product(s.Iota.Reshape) != n {
			return g, false
		}
		strides := make([]int64, len(s.Iota.Reshape))
		at := int64(1)
		for i := len(strides) - 1; i >= 0; i-- {
			strides[i] = at
			at *= s.Iota.Reshape[i]
		}
		perm := s.Iota.Transpose
		if perm == nil {
			perm = make([]int, len(strides))
			for i := range perm {
				perm[i] = i
			}
		}
		for _, p := range perm {
			if s.Iota.Reshape[p] > 1 {
				g.digits = append(g.digits, digit{strides[p], s.Iota.Reshape[p]})
			}
		}
	} else if g.digits, ok = regular(s.Devices, g.dims); !ok {
		return g, false
	}
	return g, g.align()
}

// regular finds the digits of a list of devices: prime digits of the place in the list, each of which moves the device by a constant.
func regular(devices, dims []int64) (digits []digit, ok bool) {
	if int64(len(devices)) != product(dims) || len(devices) == 0 || devices[0] != 0 {
		return nil, false
	}
	var sizes []int64
	for _, n := range dims {
		sizes = append(sizes, primes(n)...)
	}
	place := int64(len(devices))
	for _, n := range sizes {
		place /= n
		digits = append(digits, digit{devices[place], n})
	}
	for i, d := range devices {
		rest, want := int64(i), int64(0)
		for k := len(sizes) - 1; k >= 0; k-- {
			want += rest % sizes[k] * digits[k].stride
			rest /= sizes[k]
		}
		if want != d {
			return nil, false
		}
	}
	return digits, true
}

// align cuts digits where dimensions of the grid begin.
func (g *grid) align() bool {
	var cut []digit
	i, left := 0, int64(0)
	var now digit
	for _, n := range g.dims {
		for n > 1 {
			if left <= 1 {
				if i == len(g.digits) {
					return false
				}
				now, left = g.digits[i], g.digits[i].n
				i++
			}
			switch {
			case n%left == 0:
				cut = append(cut, digit{now.stride, left})
				n, left = n/left, 1
			case left%n == 0: // the major part belongs to this dimension
				left /= n
				cut = append(cut, digit{now.stride * left, n})
				n = 1
			default:
				return false
			}
		}
	}
	g.digits = cut
	return true
}

func (g *grid) cuts() (cuts []int64) {
	for _, d := range g.digits {
		cuts = append(cuts, d.stride, d.stride*d.n)
	}
	return cuts
}

// merged adds cuts to a chain in which each divides the next.
func merged(chain, more []int64) ([]int64, bool) {
	all := slices.Concat(chain, more)
	slices.Sort(all)
	all = slices.Compact(all)
	for i := 1; i < len(all); i++ {
		if all[i-1] == 0 || all[i]%all[i-1] != 0 {
			return nil, false
		}
	}
	return all, true
}

// axes finds the axes of a mesh that make up each dimension of a grid.
func (m *Mesh) axes(g grid) (dims [][]int, ok bool) {
	dims = make([][]int, len(g.dims))
	i := 0
	for k, n := range g.dims {
		for n > 1 {
			if i == len(g.digits) {
				return nil, false
			}
			d := g.digits[i]
			i++
			n /= d.n
			// The axes from stride d.stride·d.n down to d.stride.
			at := d.stride * d.n
			for a := range m.Sizes {
				if s := m.stride(a); s*m.Sizes[a] == at && s >= d.stride {
					dims[k] = append(dims[k], a)
					at = s
				}
			}
			if at != d.stride {
				return nil, false
			}
		}
	}
	return dims, true
}

// foreign is the mesh of a list of devices that does not fit the main one.
func (w *World) foreign(devices, dims []int64) (*Mesh, [][]int) {
	var sizes []int64
	axes := make([][]int, len(dims))
	for k, n := range dims {
		for _, p := range primes(n) {
			axes[k] = append(axes[k], len(sizes))
			sizes = append(sizes, p)
		}
	}
	key := fmt.Sprint(sizes, devices)
	m := w.more[key]
	if m == nil {
		m = &Mesh{N: int64(len(devices)), Sizes: sizes, Order: slices.Clone(devices)}
		w.more[key] = m
	}
	return m, axes
}

// Tiling reads the sharding of an array of some rank. Nil stands for unknown.
func (w *World) Tiling(s *hlo.Sharding, rank int) (*Tiling, error) {
	if s == nil {
		return nil, nil
	}
	if t := w.read[s]; t != nil && len(t.Dims) == rank {
		return t, nil
	}
	t, err := w.tiling(s, rank)
	if err == nil && t != nil {
		w.read[s] = t
	}
	return t, err
}

func (w *World) tiling(s *hlo.Sharding, rank int) (*Tiling, error) {
	t := replicated(w.Main, rank)
	switch s.Kind {
	case hlo.ShardingReplicated:
		return t, nil
	case hlo.ShardingUnknown:
		return nil, nil
	case hlo.ShardingMaximal:
		if len(s.Devices) != 1 || s.Devices[0] < 0 || s.Devices[0] >= w.N {
			return nil, fmt.Errorf("sharding %v: no such device among %d", s, w.N)
		}
		t.Maximal, t.Device = true, s.Devices[0]
		return t, nil
	case hlo.ShardingManual:
		t.Manual = w.Main.all()
		return t, nil
	case hlo.ShardingUnreduced:
		t.Unreduced, t.Reduction = w.Main.all(), s.Reduction
		return t, nil
	case hlo.ShardingNamed:
		tiled, err := tiledOf(s.Named, s.Reduction, rank)
		if err != nil {
			return nil, err
		}
		return w.tiling(tiled, rank)
	case hlo.ShardingTuple:
		if len(s.Elements) == 1 {
			return w.tiling(s.Elements[0], rank)
		}
		return nil, fmt.Errorf("sharding %v of an array", s)
	}
	kinds := s.Subgroups
	if s.ReplicateOnLastTileDim {
		kinds = []hlo.ShardingKind{hlo.ShardingReplicated}
	}
	if len(s.TileDims) != rank+len(kinds) {
		return nil, fmt.Errorf("sharding %v: %d dimensions for an array of %d", s, len(s.TileDims)-len(kinds), rank)
	}
	if n := product(s.TileDims); n != w.N {
		if n < 1 || n > w.N || slices.Contains(kinds, hlo.ShardingManual) {
			return nil, fmt.Errorf("sharding %v: %d devices, of which there are %d", s, n, w.N)
		}
		if w.Partial && s.Devices != nil && isSubset(s.Devices, w.N) {
			m, axes := w.foreign(s.Devices, s.TileDims)
			return &Tiling{Mesh: m, Dims: axes[:rank:rank]}, nil
		}
		return t, nil // some devices would have nothing: all have everything instead
	}
	m := w.Main
	g, ok := gridOf(s, w.N)
	var axes [][]int
	if ok {
		axes, ok = m.axes(g)
	}
	if !ok {
		devices := s.Devices
		if s.Iota != nil {
			if devices, ok = s.Iota.Devices(); !ok {
				return nil, fmt.Errorf("sharding %v: its devices cannot be listed", s)
			}
		}
		if !isPermutation(devices, w.N) {
			return nil, fmt.Errorf("sharding %v: its devices are not 0 to %d", s, w.N-1)
		}
		m, axes = w.foreign(devices, s.TileDims)
	}
	t = &Tiling{Mesh: m, Dims: axes[:rank:rank], Reduction: s.Reduction}
	for i, kind := range kinds {
		switch kind {
		case hlo.ShardingManual:
			t.Manual = union(t.Manual, axes[rank+i])
		case hlo.ShardingUnreduced:
			t.Unreduced = union(t.Unreduced, axes[rank+i])
		}
	}
	return t, nil
}

// tiledOf is a named sharding as tiles.
func tiledOf(n *hlo.NamedSharding, reduction hlo.ReductionKind, rank int) (*hlo.Sharding, error) {
	if n.Mesh == nil {
		return nil, fmt.Errorf("a named sharding without a mesh")
	}
	if n.Mesh.Maximal {
		return &hlo.Sharding{Kind: hlo.ShardingMaximal, Devices: []int64{n.Mesh.MaximalDevice}}, nil
	}
	if n.Body != hlo.ShardingTiled {
		return &hlo.Sharding{Kind: n.Body, Reduction: reduction}, nil
	}
	b := newMeshTiles(n.Mesh)
	s := &hlo.Sharding{Kind: hlo.ShardingTiled, Reduction: reduction}
	for k := range rank {
		var axes []hlo.AxisRef
		if k < len(n.Dims) {
			axes = n.Dims[k].Axes
		}
		if err := b.dim(s, axes); err != nil {
			return nil, err
		}
	}
	for _, group := range []struct {
		kind hlo.ShardingKind
		axes []hlo.AxisRef
	}{{hlo.ShardingManual, n.Manual}, {hlo.ShardingUnreduced, n.Unreduced}} {
		if len(group.axes) > 0 {
			if err := b.dim(s, group.axes); err != nil {
				return nil, err
			}
			s.Subgroups = append(s.Subgroups, group.kind)
		}
	}
	return b.finish(s)
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		if d < 1 || n > 1<<40/d {
			return -1
		}
		n *= d
	}
	return n
}

func isPermutation(ids []int64, n int64) bool {
	return int64(len(ids)) == n && isSubset(ids, n)
}

// isSubset reports whether ids are different numbers below n.
func isSubset(ids []int64, n int64) bool {
	seen := make([]bool, n)
	for _, id := range ids {
		if id < 0 || id >= n || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}
