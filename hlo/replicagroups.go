package hlo

import (
	"fmt"
	"slices"
)

// maxListedDevices bounds the lists that [ReplicaGroups.Listed] and [IotaTile.Devices] make, since a few digits of text can ask for
// any number of devices.
const maxListedDevices = 1 << 24

// Devices is the list that t stands for; false when it is too long or t is no valid list.
func (t *IotaTile) Devices() ([]int64, bool) {
	n := int64(1)
	for _, d := range t.Reshape {
		if d < 1 || n > maxListedDevices/d {
			return nil, false
		}
		n *= d
	}
	perm := t.Transpose
	if perm == nil {
		perm = make([]int, len(t.Reshape))
		for i := range perm {
			perm[i] = i
		}
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	return transposed(ids, t.Reshape, perm)
}

// transposed returns the elements of a row-major array of the given dimensions with its axes in the order perm.
func transposed(v, dims []int64, perm []int) ([]int64, bool) {
	if len(perm) != len(dims) {
		return nil, false
	}
	seen := make([]bool, len(dims))
	for _, axis := range perm {
		if axis < 0 || axis >= len(dims) || seen[axis] {
			return nil, false
		}
		seen[axis] = true
	}
	strides := make([]int64, len(dims))
	step := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		step *= dims[i]
	}
	out := make([]int64, 0, len(v))
	index := make([]int64, len(dims)) // in the order of perm
	for range v {
		at := int64(0)
		for i, axis := range perm {
			at += index[i] * strides[axis]
		}
		out = append(out, v[at])
		for i := len(perm) - 1; i >= 0; i-- {
			if index[i]++; index[i] < dims[perm[i]] {
				break
			}
			index[i] = 0
		}
	}
	return out, true
}

// Listed returns the groups as explicit lists. Groups that cannot be listed, because they are too many or make no sense, come back
// as they are.
func (g *ReplicaGroups) Listed() *ReplicaGroups {
	if g == nil || g.Iota == nil && g.Mesh == nil {
		return g
	}
	devices, size, ok := g.rows()
	if !ok || size < 1 || int64(len(devices))%size != 0 {
		return g
	}
	lists := make([][]int64, 0, int64(len(devices))/size)
	for row := range slices.Chunk(devices, int(size)) {
		lists = append(lists, row)
	}
	return &ReplicaGroups{Lists: lists}
}

// rows returns all devices, group after group, and the size of a group.
func (g *ReplicaGroups) rows() (devices []int64, size int64, ok bool) {
	if g.Iota != nil {
		devices, ok = g.Iota.Devices()
		return devices, g.GroupSize, ok && int64(len(devices)) == g.Groups*g.GroupSize
	}
	m := g.Mesh
	if m.Maximal {
		return []int64{m.MaximalDevice}, 1, true
	}
	devices, ok = m.devices()
	if !ok {
		return nil, 0, false
	}
	// Cut each axis where some reference begins or ends; then every reference covers whole axes, which move to the end.
	cuts := m.cuts(g.Axes)
	var dims []int64
	first := make([]int, len(m.Axes)) // of the parts of each axis
	for a, at := range cuts {
		first[a] = len(dims)
		for i := 1; i < len(at); i++ {
			if at[i]%at[i-1] != 0 {
				return nil, 0, false
			}
			dims = append(dims, at[i]/at[i-1])
		}
	}
	size = 1
	var last []int
	for _, r := range g.Axes {
		if r.Axis < 0 || r.Axis >= len(m.Axes) {
			return nil, 0, false
		}
		pre, n := int64(1), m.Axes[r.Axis].Size
		if r.IsSub {
			pre, n = r.PreSize, r.Size
		}
		for i, at := range cuts[r.Axis] {
			if at >= pre && at < pre*n {
				last = append(last, first[r.Axis]+i)
			}
		}
		size *= n
	}
	perm := make([]int, 0, len(dims))
	for i := range dims {
		if !slices.Contains(last, i) {
			perm = append(perm, i)
		}
	}
	devices, ok = transposed(devices, dims, append(perm, last...))
	return devices, size, ok
}

// devices is the device ids of the mesh in row-major order.
func (m *Mesh) devices() ([]int64, bool) {
	n := int64(1)
	for _, a := range m.Axes {
		if a.Size < 1 || n > maxListedDevices/a.Size {
			return nil, false
		}
		n *= a.Size
	}
	var ids []int64
	switch {
	case m.Iota != nil:
		var ok bool
		if ids, ok = m.Iota.Devices(); !ok {
			return nil, false
		}
	case m.DeviceIDs != nil:
		ids = m.DeviceIDs
	default:
		ids = make([]int64, n)
		for i := range ids {
			ids[i] = int64(i)
		}
	}
	return ids, int64(len(ids)) == n
}

// cuts returns for each axis the products of sizes at which references to its parts begin and end, from 1 to the size of the axis.
func (m *Mesh) cuts(refs []AxisRef) [][]int64 {
	cuts := make([][]int64, len(m.Axes))
	for a := range m.Axes {
		at := []int64{1, m.Axes[a].Size}
		for _, r := range refs {
			if r.Axis == a && r.IsSub && r.PreSize > 0 && r.Size > 0 && r.PreSize <= m.Axes[a].Size/r.Size {
				at = append(at, r.PreSize, r.PreSize*r.Size)
			}
		}
		slices.Sort(at)
		cuts[a] = slices.Compact(at)
		if len(cuts[a]) == 1 { // an axis of size 1
			cuts[a] = []int64{1, 1}
		}
	}
	return cuts
}

// WithoutSubAxes returns the groups over a mesh whose axes are split so that no part of an axis is referred to. The parts are named as
// the references to them are written.
func (g *ReplicaGroups) WithoutSubAxes() *ReplicaGroups {
	if g == nil || g.Mesh == nil || !slices.ContainsFunc(g.Axes, func(r AxisRef) bool { return r.IsSub }) {
		return g
	}
	type part struct {
		axis int
		pre  int64
	}
	mesh := *g.Mesh
	mesh.Axes = nil
	index := make(map[part]int)
	for a, at := range g.Mesh.cuts(g.Axes) {
		for i := 1; i < len(at); i++ {
			if at[i]%at[i-1] != 0 {
				return g
			}
			axis := MeshAxis{g.Mesh.Axes[a].Name, at[i] / at[i-1]}
			if len(at) > 2 {
				axis.Name = fmt.Sprintf("%s:(%d)%d", axis.Name, at[i-1], axis.Size)
			}
			index[part{a, at[i-1]}] = len(mesh.Axes)
			mesh.Axes = append(mesh.Axes, axis)
		}
	}
	out := &ReplicaGroups{Mesh: &mesh}
	for _, r := range g.Axes {
		pre, n := int64(1), int64(0)
		if r.Axis >= 0 && r.Axis < len(g.Mesh.Axes) {
			n = g.Mesh.Axes[r.Axis].Size
		}
		if r.IsSub {
			pre, n = r.PreSize, r.Size
		}
		for end := pre * n; pre < end; {
			k, ok := index[part{r.Axis, pre}]
			if !ok || mesh.Axes[k].Size < 2 {
				return g
			}
			out.Axes = append(out.Axes, AxisRef{Axis: k})
			pre *= mesh.Axes[k].Size
		}
	}
	return out
}
