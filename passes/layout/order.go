package layout

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// order is the axes of an array as they lie in memory, the slowest first.
type order []int64

// orderOf is that of a shape's layout. Layouts with tiles and the like, and arrays with dynamic sizes, have none.
func orderOf(s hlo.Shape) (order, bool) {
	if !s.IsArray() || !s.IsStatic() {
		return nil, false
	}
	l, ok := s.WithDefaultLayout().Layout()
	if !ok || !l.Equal(&hlo.Layout{MinorToMajor: l.MinorToMajor, MemorySpace: l.MemorySpace, ElementSizeInBits: l.ElementSizeInBits}) {
		return nil, false
	}
	o := order(slices.Clone(l.MinorToMajor))
	slices.Reverse(o)
	return o, true
}

func (o order) isRowMajor() bool { return slices.IsSorted(o) }

// of picks the entries of a list that has one for each axis.
func (o order) of(list []int64) []int64 {
	out := make([]int64, len(o))
	for i, axis := range o {
		out[i] = list[axis]
	}
	return out
}

// places is where in memory each axis is: the inverse.
func (o order) places() []int64 {
	out := make([]int64, len(o))
	for i, axis := range o {
		out[axis] = int64(i)
	}
	return out
}

// sameBytes reports whether arrays of the same dimensions in two orders have their elements at the same places.
func sameBytes(a, b order, dims []int64) bool {
	large := func(o order) (axes []int64) {
		for _, axis := range o {
			if dims[axis] != 1 {
				axes = append(axes, axis)
			}
		}
		return axes
	}
	return slices.Equal(large(a), large(b))
}

// normal is the shape of an array with its axes put in an order, in row-major layout: what lies in memory.
func normal(s hlo.Shape, o order) hlo.Shape {
	to := *hlo.DefaultLayout(s.Rank())
	if l, ok := s.Layout(); ok {
		to.MemorySpace, to.ElementSizeInBits = l.MemorySpace, l.ElementSizeInBits
	}
	return hlo.MakeShape(s.Type(), o.of(s.Dimensions())...).WithLayout(&to)
}

// reshapesInPlace reports whether elements of an array of dims a in order p are, reshaped in row-major sense to dims b, those of b in order q without
// moving. Both are cut into the finest common dimensions.
func reshapesInPlace(a []int64, p order, b []int64, q order) bool {
	if slices.Contains(a, 0) {
		return true
	}
	cuts := append(suffixes(a), suffixes(b)...)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 1; i < len(cuts); i++ {
		if cuts[i]%cuts[i-1] != 0 {
			return p.isRowMajor() && q.isRowMajor()
		}
	}
	return slices.Equal(pieces(a, p, cuts), pieces(b, q, cuts))
}

// suffixes are the products of the last dimensions.
func suffixes(dims []int64) []int64 {
	all, n := []int64{1}, int64(1)
	for _, d := range slices.Backward(dims) {
		n *= d
		all = append(all, n)
	}
	return all
}

// pieces numbers the parts into which cuts divide the axes, in the order of memory.
func pieces(dims []int64, o order, cuts []int64) (list []int) {
	below := make([]int64, len(dims)) // elements of an array of the axes after each
	n := int64(1)
	for i, d := range slices.Backward(dims) {
		below[i] = n
		n *= d
	}
	for _, axis := range o {
		for k, cut := range slices.Backward(cuts[:len(cuts)-1]) {
			if cut >= below[axis] && cut < below[axis]*dims[axis] {
				list = append(list, k)
			}
		}
	}
	return list
}
