package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Mesh is a numbering of devices: the coordinates of a device are the digits of its position, major axis first.
type Mesh struct {
	N     int64
	Sizes []int64 // of the axes; each is prime, their product is N
	// Order is the device at each position; nil: a device's position is its number.
	Order []int64
	// Listed says that shardings are written as lists of devices, as those of the module are.
	Listed bool
}

// stride is the distance of positions that differ by one along an axis.
func (m *Mesh) stride(axis int) int64 {
	s := int64(1)
	for _, n := range m.Sizes[axis+1:] {
		s *= n
	}
	return s
}

// size is the number of positions that some axes tell apart.
func (m *Mesh) size(axes []int) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= m.Sizes[a]
	}
	return n
}

// all lists the axes.
func (m *Mesh) all() []int {
	axes := make([]int, len(m.Sizes))
	for i := range axes {
		axes[i] = i
	}
	return axes
}

// others are the axes that are not in a list.
func (m *Mesh) others(axes []int) []int {
	var rest []int
	for a := range m.Sizes {
		if !slices.Contains(axes, a) {
			rest = append(rest, a)
		}
	}
	return rest
}

// device is the device at a position.
func (m *Mesh) device(position int64) int64 {
	if m.Order == nil {
		return position
	}
	return m.Order[position]
}

// coordinate is the index of a position along some axes, major first.
func (m *Mesh) coordinate(position int64, axes []int) int64 {
	c := int64(0)
	for _, a := range axes {
		c = c*m.Sizes[a] + position/m.stride(a)%m.Sizes[a]
	}
	return c
}

// digit is a run of positions: n of them, stride apart.
type digit struct{ stride, n int64 }

// iota is the list of devices in the order of some axes, in compressed form: neighbours that count on are joined. The last of the axes varies
// fastest.
func (m *Mesh) iota(axes []int) *hlo.IotaTile {
	digits := make([]digit, len(axes))
	for i, a := range axes {
		digits[i] = digit{m.stride(a), m.Sizes[a]}
	}
	return iotaOf(digits, m.size(axes))
}

// listed is the devices in the order of some axes, which are all there are.
func (m *Mesh) listed(axes []int) []int64 {
	positions := []int64{0}
	for _, a := range axes {
		next := make([]int64, 0, int64(len(positions))*m.Sizes[a])
		for _, p := range positions {
			for i := range m.Sizes[a] {
				next = append(next, p+i*m.stride(a))
			}
		}
		positions = next
	}
	for i, p := range positions {
		positions[i] = m.device(p)
	}
	return positions
}

// groups are the sets of devices that differ along some axes only, each in the order of these, for a program of several replicas.
func (m *Mesh) groups(axes []int, replicas int64) *hlo.ReplicaGroups {
	order := append(m.others(axes), axes...)
	size := m.size(axes)
	if m.Order == nil {
		t := m.iota(order)
		if replicas > 1 {
			t = &hlo.IotaTile{Reshape: append([]int64{replicas}, t.Reshape...), Transpose: shifted(t)}
		}
		return &hlo.ReplicaGroups{Iota: t, Groups: replicas * m.N / size, GroupSize: size}
	}
	g := &hlo.ReplicaGroups{}
	devices := m.listed(order)
	for r := range replicas {
		for group := range slices.Chunk(devices, int(size)) {
			ids := slices.Clone(group)
			for i := range ids {
				ids[i] += r * m.N
			}
			g.Lists = append(g.Lists, ids)
		}
	}
	return g
}

// shifted is the transposition of t after a dimension that stays first.
func shifted(t *hlo.IotaTile) []int {
	perm := []int{0}
	if t.Transpose == nil {
		return append(perm, 1)
	}
	for _, p := range t.Transpose {
		perm = append(perm, p+1)
	}
	return perm
}

// primes are the prime factors of n, the least first.
func primes(n int64) (factors []int64) {
	for p := int64(2); p*p <= n; p++ {
		for n%p == 0 {
			factors = append(factors, p)
			n /= p
		}
	}
	if n > 1 {
		factors = append(factors, n)
	}
	return factors
}
