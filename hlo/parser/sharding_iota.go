package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// tileAssignment is a grid of devices, listed or compressed.
type tileAssignment struct {
	dims, devices []int64
	iota          *hlo.IotaTile
}

// normalise gives s the tile assignment t, whose last dimensions are subgroups of the given kinds (hlo-text section 6.2.2).
func (r valueReader) normalise(s *hlo.Sharding, t tileAssignment, kinds []hlo.ShardingKind) {
	data := len(t.dims) - len(kinds)
	if len(kinds) > 0 {
		same := !slices.ContainsFunc(kinds, func(k hlo.ShardingKind) bool { return k != kinds[0] })
		if same && r.product(t.dims[:data], "tile assignment dimensions") == 1 && kinds[0] != hlo.ShardingMaximal {
			s.Kind = kinds[0]
			return
		}
		perm := make([]int, data, len(t.dims))
		for i := range perm {
			perm[i] = i
		}
		merged := slices.Clone(t.dims[:data])
		var order []hlo.ShardingKind
		for _, kind := range subgroupOrder {
			size, any := int64(1), false
			for i, k := range kinds {
				if n := t.dims[data+i]; k == kind && n != 1 {
					perm = append(perm, data+i)
					size, any = size*n, true
				}
			}
			if any {
				merged, order = append(merged, size), append(order, kind)
			}
		}
		for i := data; i < len(t.dims); i++ {
			if !slices.Contains(perm, i) {
				perm = append(perm, i)
			}
		}
		if len(order) == 1 && (order[0] == hlo.ShardingManual || order[0] == hlo.ShardingReplicated) &&
			r.product(t.dims[:data], "tile assignment dimensions") == 1 {
			s.Kind = order[0]
			return
		}
		if len(merged) == 0 { // one device has it all; XLA writes a grid without dimensions, and cannot read it
			s.Kind = hlo.ShardingReplicated
			return
		}
		t = r.transposed(t, perm)
		t.dims, kinds = merged, order
	}
	if len(kinds) == 1 && kinds[0] == hlo.ShardingReplicated {
		t = r.sortedGroups(t)
		s.ReplicateOnLastTileDim = true
		kinds = nil
	}
	s.TileDims, s.Devices, s.Iota, s.Subgroups = t.dims, t.devices, t.iota, kinds
}

// transposed reorders the dimensions of the grid. A compressed list stays compressed.
func (r valueReader) transposed(t tileAssignment, perm []int) tileAssignment {
	if slices.IsSorted(perm) {
		return t
	}
	size := r.product(t.dims, "tile assignment dimensions")
	if size > maxDevices {
		r.bad("tile assignment is too large")
	}
	order := expandIota(&hlo.IotaTile{Reshape: t.dims, Transpose: perm})
	if t.iota != nil {
		if c, ok := composeIota(t.iota, t.dims, perm); ok {
			t.iota = c
			return t
		}
		t.devices, t.iota = expandIota(t.iota), nil
	}
	devices := make([]int64, len(order))
	for i, o := range order {
		devices[i] = t.devices[o]
	}
	t.devices = devices
	return t
}

// composeIota transposes a compressed list seen as a grid of dims, when every dimension of the grid is made of whole dimensions of
// the list or the other way round.
func composeIota(t *hlo.IotaTile, dims []int64, perm []int) (*hlo.IotaTile, bool) {
	tperm := t.Transpose
	if len(tperm) == 0 {
		tperm = []int{0}
	}
	// Split both factorisations of the device count into common factors. parts[k] is a factor of grid dimension grid[k] and of
	// list dimension tperm[list[k]].
	var parts []int64
	var grid, list []int
	i, j := 0, 0
	a, b := int64(1), int64(1) // what is left of the current dimension on either side
	for {
		for a == 1 && i < len(dims) {
			a = dims[i]
			i++
		}
		for b == 1 && j < len(tperm) {
			b = t.Reshape[tperm[j]]
			j++
		}
		if a == 1 || b == 1 {
			break
		}
		// Dimensions are major first, so the major factors must match: take the smaller when it divides the larger.
		f := min(a, b)
		if a%f != 0 || b%f != 0 {
			return nil, false
		}
		parts, grid, list = append(parts, f), append(grid, i-1), append(list, j-1)
		a, b = a/f, b/f
	}
	// The refined list dimensions in the order of the iota.
	var reshape []int64
	place := make([]int, len(parts))
	for d := range t.Reshape {
		for k := range parts {
			if tperm[list[k]] == d {
				place[k] = len(reshape)
				reshape = append(reshape, parts[k])
			}
		}
	}
	var transpose []int
	for _, g := range perm {
		for k := range parts {
			if grid[k] == g {
				transpose = append(transpose, place[k])
			}
		}
	}
	return canonicalIota(reshape, transpose), true
}

// sortedGroups sorts the devices along the last dimension, which replicates.
func (r valueReader) sortedGroups(t tileAssignment) tileAssignment {
	group := t.dims[len(t.dims)-1]
	if t.iota != nil {
		perm := t.iota.Transpose
		if c, ok := sortedIota(t.iota, group); ok {
			t.iota = c
			return t
		}
		if len(perm) == 0 {
			return t
		}
		if r.product(t.dims, "tile assignment dimensions") > maxDevices {
			r.bad("tile assignment is too large")
		}
		t.devices = expandIota(t.iota)
		sorted := slices.Clone(t.devices)
		sortRuns(sorted, group)
		if slices.Equal(sorted, t.devices) {
			t.devices = nil
			return t
		}
		t.iota, t.devices = nil, sorted
		return t
	}
	t.devices = slices.Clone(t.devices)
	sortRuns(t.devices, group)
	return t
}

// sortedIota sorts the runs of n devices of a compressed list, when dimensions of the list, or a part of one, make up a run.
func sortedIota(t *hlo.IotaTile, n int64) (*hlo.IotaTile, bool) {
	perm, reshape := slices.Clone(t.Transpose), slices.Clone(t.Reshape)
	size := int64(1)
	for k := len(perm) - 1; k >= 0; k-- {
		d := perm[k]
		size *= reshape[d]
		if size < n {
			continue
		}
		if outer := size / n; size != n {
			// The run takes the minor part of this dimension: cut it in two.
			if size%n != 0 || reshape[d]%outer != 0 {
				return nil, false
			}
			reshape = slices.Insert(reshape, d, outer)
			reshape[d+1] /= outer
			for i := range perm {
				if perm[i] > d {
					perm[i]++
				}
			}
			k++
			perm = slices.Insert(perm, k, d+1)
		}
		slices.Sort(perm[k:])
		return canonicalIota(reshape, perm), true
	}
	return nil, false
}

func sortRuns(v []int64, n int64) {
	for run := range slices.Chunk(v, int(n)) {
		slices.Sort(run)
	}
}
