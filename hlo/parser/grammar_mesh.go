package parser

import (
	"math"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// meshSyntax is a named grid of devices (hlo-text section 6.2.3).
type meshSyntax struct {
	Maximal *integer   `parser:"(  'maximal_mesh' '[' 'device_id':Key @Int ']'"`
	IsMesh  bool       `parser:" | @'mesh' '['"`
	Axes    []axisDecl `parser:"   (@@ (',' @@)*)? ']'"`
	IDs     *meshIDs   `parser:"   (',' 'device_ids':Key @@)? )"`
}

type axisDecl struct {
	Name quoted  `parser:"@String"`
	Size integer `parser:"'=' @Int"`
}

type meshIDs struct {
	Iota *iotaSyntax `parser:"'(' (  @@"`
	List []integer   `parser:"     | (@Int (',' @Int)*)? ) ')'"`
}

type axesSyntax struct {
	Axes []axisRefSyntax `parser:"'{' (@@ (',' @@)*)? '}'"`
}

type axisRefSyntax struct {
	Name quoted   `parser:"@String"`
	Pre  *integer `parser:"(':' '(' @Int ')'"`
	Size *integer `parser:" @Int)?"`
}

// valueReader turns syntax into values; faults are reported at one offset.
type valueReader struct {
	*parser
	at int
}

func (r valueReader) bad(format string, args ...any) { r.failAt(r.at, format, args...) }

// product multiplies sizes, which must be positive.
func (r valueReader) product(sizes []int64, what string) int64 {
	n := int64(1)
	for _, s := range sizes {
		if s <= 0 {
			r.bad("%s must be positive, saw %d", what, s)
		}
		if n > math.MaxInt64/s {
			r.bad("%s overflows int64", what)
		}
		n *= s
	}
	return n
}

// maxDevices bounds the lists that a compressed one is expanded to.
const maxDevices = 1 << 24

// maxAxes bounds the axes of a mesh and the references to them, which are compared with one another.
const maxAxes = 1024

// mesh makes a checked mesh.
func (r valueReader) mesh(s *meshSyntax) *hlo.Mesh {
	if s.Maximal != nil {
		if *s.Maximal < 0 {
			r.bad("device_id must not be negative")
		}
		return &hlo.Mesh{Maximal: true, MaximalDevice: int64(*s.Maximal)}
	}
	m := new(hlo.Mesh)
	if len(s.Axes) > maxAxes {
		r.bad("mesh has %d axes", len(s.Axes))
	}
	var sizes []int64
	for _, a := range s.Axes {
		if slices.ContainsFunc(m.Axes, func(o hlo.MeshAxis) bool { return o.Name == string(a.Name) }) {
			r.bad("mesh has two axes of the name '%s'", string(a.Name))
		}
		if _, err := strconv.ParseInt(string(a.Name), 10, 64); err == nil {
			r.bad("a mesh axis cannot be called '%s', which is a number", string(a.Name))
		}
		m.Axes = append(m.Axes, hlo.MeshAxis{Name: string(a.Name), Size: int64(a.Size)})
		sizes = append(sizes, int64(a.Size))
	}
	n := r.product(sizes, "mesh size")
	switch {
	case s.IDs == nil:
	case s.IDs.Iota != nil:
		t, count := r.iota(s.IDs.Iota)
		if count != n {
			r.bad("mesh device_ids iota size %d does not match the mesh size %d", count, n)
		}
		if len(t.Reshape) > 1 {
			m.Iota = t
		}
	default:
		ids := ints(s.IDs.List)
		if int64(len(ids)) != n {
			r.bad("Expected %d device_ids based on mesh axes, but got %d", n, len(ids))
		}
		seen := make([]bool, n)
		identity := true
		for i, id := range ids {
			if id < 0 || id >= n || seen[id] {
				r.bad("device_ids must be a permutation of 0 to %d", n-1)
			}
			seen[id] = true
			identity = identity && id == int64(i)
		}
		if identity {
			r.bad("device_ids in row-major order are left out")
		}
		m.DeviceIDs = ids
	}
	return m
}

// axis resolves a reference to a mesh axis.
func (r valueReader) axis(m *hlo.Mesh, s *axisRefSyntax) hlo.AxisRef {
	name := string(s.Name)
	i := slices.IndexFunc(m.Axes, func(a hlo.MeshAxis) bool { return a.Name == name })
	if i < 0 {
		n, err := strconv.Atoi(name)
		if err != nil {
			names := make([]string, len(m.Axes))
			for k, a := range m.Axes {
				names[k] = a.Name
			}
			r.failHint(r.at, didYouMean(name, names), "axis '%s' is not a valid axis name or index in mesh", name)
		}
		if n < 0 || n >= len(m.Axes) {
			r.bad("axis index %d is out of bounds for mesh which has %d axes", n, len(m.Axes))
		}
		i = n
	}
	ref := hlo.AxisRef{Axis: i}
	if s.Pre != nil {
		ref.IsSub, ref.PreSize, ref.Size = true, int64(*s.Pre), int64(*s.Size)
		if ref.PreSize < 1 || ref.Size < 2 || ref.PreSize > math.MaxInt64/ref.Size || m.Axes[i].Size%(ref.PreSize*ref.Size) != 0 {
			r.bad("sub-axis %s:(%d)%d does not divide an axis of size %d", name, ref.PreSize, ref.Size, m.Axes[i].Size)
		}
	}
	return ref
}

func (r valueReader) axes(m *hlo.Mesh, list []axisRefSyntax) []hlo.AxisRef {
	out := make([]hlo.AxisRef, len(list))
	for i := range list {
		out[i] = r.axis(m, &list[i])
	}
	return out
}

// span is the range of a reference within its axis: elements from pre-size to pre-size times size.
func span(m *hlo.Mesh, a hlo.AxisRef) (low, high int64) {
	if a.IsSub {
		return a.PreSize, a.PreSize * a.Size
	}
	return 1, m.Axes[a.Axis].Size
}

// checkDisjoint refuses lists of references that overlap.
func (r valueReader) checkDisjoint(m *hlo.Mesh, lists ...[]hlo.AxisRef) {
	all := slices.Concat(lists...)
	if len(all) > maxAxes {
		r.bad("there are %d references to mesh axes", len(all))
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Axis != b.Axis {
				continue
			}
			if al, ah := span(m, a); true {
				if bl, bh := span(m, b); al < bh && bl < ah {
					r.bad("axis '%s' is used twice", m.Axes[a.Axis].Name)
				}
			}
		}
	}
}

// checkSorted refuses a list of references that is not in the order of the mesh.
func (r valueReader) checkSorted(list []hlo.AxisRef, what string) {
	if !slices.IsSortedFunc(list, func(a, b hlo.AxisRef) int {
		if a.Axis != b.Axis {
			return a.Axis - b.Axis
		}
		return int(a.PreSize - b.PreSize)
	}) {
		r.bad("%s axes must be in the order of the mesh", what)
	}
}

// groupsSyntax is a replica group list of version 2 or 3 (hlo-text section 5.6).
type groupsSyntax struct {
	Grid []integer   `parser:"(  '[' @Int (',' @Int)* ']'"`
	Iota *iotaSyntax `parser:"   '<=' @@"`
	Mesh *meshSyntax `parser:" | @@"`
	Axes *axesSyntax `parser:"   @@ )"`
}

var groupsGrammar = newGrammar[*groupsSyntax]("replica groups")

// replicaGroups takes replica groups of any version.
func (p *parser) replicaGroups() *hlo.ReplicaGroups {
	p.space()
	at := p.pos
	if p.peek() == '{' {
		return &hlo.ReplicaGroups{Lists: p.intLists()}
	}
	p.skipValue()
	return cached(p, groupsGrammar, p.src[at:p.pos], at, p.buildGroups)
}

func (p *parser) buildGroups(s *groupsSyntax, at int) *hlo.ReplicaGroups {
	r := valueReader{p, at}
	if s.Iota == nil {
		m := r.mesh(s.Mesh)
		g := &hlo.ReplicaGroups{Mesh: m, Axes: r.axes(m, s.Axes.Axes)}
		r.checkDisjoint(m, g.Axes)
		return g
	}
	if len(s.Grid) != 2 {
		r.bad("a replica group list is a grid of two dimensions, [groups,size], but has %d", len(s.Grid))
	}
	grid := ints(s.Grid)
	n := r.product(grid, "replica group grid")
	t, count := r.iota(s.Iota)
	if count != n {
		r.bad("collective device list iota size %d does not match the grid [%d,%d]", count, grid[0], grid[1])
	}
	return &hlo.ReplicaGroups{Iota: t, Groups: grid[0], GroupSize: grid[1]}
}
