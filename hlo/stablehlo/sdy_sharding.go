package stablehlo

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// meshes are those that the program defines.
type meshes struct {
	byName map[string]*hlo.Mesh
	order  []string // definitions, as MLIR prints them
}

func (m *meshes) add(c *converter, op *mlir.Op) {
	name := stringOf(op.Attrs.Get("sym_name"))
	text, _ := op.Attrs.Get("mesh").(mlir.Text)
	syntax, err := readMesh(string(text))
	if err != nil {
		c.fail(op, "%v", err)
	}
	if m.byName == nil {
		m.byName = make(map[string]*hlo.Mesh)
	}
	m.byName[name] = meshFrom(syntax)
	m.order = append(m.order, name+" = #sdy.mesh"+trimSDY(string(text)))
}

// text is the meshes as a dictionary, "" when there are none.
func (m *meshes) text() string {
	if len(m.order) == 0 {
		return ""
	}
	return "{" + strings.Join(m.order, ", ") + "}"
}

func (m *meshes) named(c *converter, op *mlir.Op, name string) *hlo.Mesh {
	mesh := m.byName[name]
	if mesh == nil {
		c.fail(op, "there is no mesh @%s", name)
	}
	return mesh
}

func meshFrom(s *meshSyntax) *hlo.Mesh {
	m := new(hlo.Mesh)
	for _, a := range s.Axes {
		m.Axes = append(m.Axes, hlo.MeshAxis{Name: a.Name, Size: a.Size})
	}
	if s.Devices != nil {
		m.DeviceIDs = s.Devices.Values
	}
	return m
}

// valueSharding is the sharding of HLO that an attribute of Shardy stands for, nil when it says nothing.
func (c *converter) valueSharding(op *mlir.Op, a mlir.Attr) *hlo.Sharding {
	text, ok := a.(mlir.Text)
	if !ok || strings.HasPrefix(string(text), "#sdy.sharding_per_value") {
		return nil
	}
	return c.sdySharding(op, string(text))
}

func (c *converter) sdySharding(op *mlir.Op, text string) *hlo.Sharding {
	if s, ok := c.sharing[text]; ok {
		return s
	}
	syntax, err := readSharding(text)
	if err != nil {
		c.fail(op, "%v", err)
	}
	var mesh *hlo.Mesh
	if syntax.Mesh != nil {
		mesh = meshFrom(syntax.Mesh)
	} else {
		mesh = c.meshes.named(c, op, syntax.Symbol)
	}
	s := c.tiled(op, mesh, syntax)
	c.sharing[text] = s
	return s
}

// subAxis is a part of an axis of a mesh: the elements of size size after those of pre.
type subAxis struct {
	axis      int
	pre, size int64
}

// tiled makes a tiled sharding: each dimension is cut along its axes, the axes that are left replicate.
//
//  1. every axis is cut into the parts that the dimensions name, and what is left of it;
//  2. the parts of the dimensions come first, then the rest;
//  3. the devices are those of the mesh, with the parts in that order.
func (c *converter) tiled(op *mlir.Op, mesh *hlo.Mesh, syntax *shardingSyntax) *hlo.Sharding {
	if len(mesh.Axes) == 0 {
		if len(mesh.DeviceIDs) == 1 {
			return &hlo.Sharding{Kind: hlo.ShardingMaximal, Devices: mesh.DeviceIDs}
		}
		return &hlo.Sharding{Kind: hlo.ShardingReplicated}
	}
	var used []subAxis
	tile := make([]int64, len(syntax.Dims))
	total := int64(1)
	for i, d := range syntax.Dims {
		tile[i] = 1
		for _, item := range d.Items {
			if item.Axis == nil {
				continue
			}
			a := c.axisOf(op, mesh, item.Axis)
			used = append(used, a)
			tile[i] *= a.size
			total *= a.size
		}
	}
	if total == 1 {
		return &hlo.Sharding{Kind: hlo.ShardingReplicated}
	}
	parts, order := splitAxes(mesh, used)
	s := &hlo.Sharding{Kind: hlo.ShardingTiled, TileDims: tile}
	devices := int64(1)
	for _, p := range parts {
		devices *= p.size
	}
	if devices > total {
		s.TileDims, s.ReplicateOnLastTileDim = append(s.TileDims, devices/total), true
	}
	sizes := make([]int64, len(parts))
	for i, p := range parts {
		sizes[i] = p.size
	}
	if mesh.DeviceIDs == nil {
		s.Iota = iotaOf(sizes, order)
		return s
	}
	plain := &hlo.IotaTile{Reshape: sizes, Transpose: order}
	index, ok := plain.Devices()
	if !ok || len(index) != len(mesh.DeviceIDs) {
		c.fail(op, "the mesh has %d devices, its axes make %d", len(mesh.DeviceIDs), devices)
	}
	for _, i := range index {
		s.Devices = append(s.Devices, mesh.DeviceIDs[i])
	}
	return s
}

func (c *converter) axisOf(op *mlir.Op, mesh *hlo.Mesh, ref *refSyntax) subAxis {
	for i, a := range mesh.Axes {
		if a.Name != ref.Name {
			continue
		}
		if ref.Pre == nil {
			return subAxis{i, 1, a.Size}
		}
		if *ref.Pre < 1 || ref.Size < 1 || a.Size%(*ref.Pre*ref.Size) != 0 {
			c.fail(op, "the axis %q of size %d has no part of size %d after %d", a.Name, a.Size, ref.Size, *ref.Pre)
		}
		return subAxis{i, *ref.Pre, ref.Size}
	}
	c.fail(op, "the mesh has no axis %q", ref.Name)
	return subAxis{}
}

// splitAxes cuts the axes of a mesh at the ends of the used parts. order are the numbers of the parts, the used ones first.
func splitAxes(mesh *hlo.Mesh, used []subAxis) (parts []subAxis, order []int) {
	for i, a := range mesh.Axes {
		cuts := []int64{1, a.Size}
		for _, u := range used {
			if u.axis == i {
				cuts = append(cuts, u.pre, u.pre*u.size)
			}
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		for k := 1; k < len(cuts); k++ {
			parts = append(parts, subAxis{i, cuts[k-1], cuts[k] / cuts[k-1]})
		}
	}
	taken := make([]bool, len(parts))
	for _, u := range used {
		for k, p := range parts {
			if p.axis == u.axis && p.pre >= u.pre && p.pre*p.size <= u.pre*u.size {
				order, taken[k] = append(order, k), true
			}
		}
	}
	for k := range parts {
		if !taken[k] {
			order = append(order, k)
		}
	}
	return parts, order
}

// iotaOf is the devices of a grid with its axes in another order, in the shortest form: parts that stay neighbours are one.
func iotaOf(sizes []int64, order []int) *hlo.IotaTile {
	type group struct {
		first int
		size  int64
	}
	var groups []group
	last := -2
	for _, k := range order {
		if sizes[k] == 1 {
			continue
		}
		if n := len(groups); n > 0 && adjacent(sizes, last, k) {
			groups[n-1].size *= sizes[k]
		} else {
			groups = append(groups, group{k, sizes[k]})
		}
		last = k
	}
	sorted := slices.Clone(groups)
	slices.SortFunc(sorted, func(a, b group) int { return a.first - b.first })
	t := &hlo.IotaTile{}
	for _, g := range sorted {
		t.Reshape = append(t.Reshape, g.size)
	}
	if len(groups) > 1 {
		for _, g := range groups {
			t.Transpose = append(t.Transpose, slices.Index(sorted, g))
		}
	}
	if len(t.Reshape) == 0 {
		t.Reshape = []int64{1}
	}
	return t
}

// adjacent reports whether part k comes right after part last, but for parts of size 1.
func adjacent(sizes []int64, last, k int) bool {
	if last < 0 || k <= last {
		return false
	}
	for i := last + 1; i < k; i++ {
		if sizes[i] != 1 {
			return false
		}
	}
	return true
}
