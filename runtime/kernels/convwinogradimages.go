package kernels

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/winograd"
)

// winogradImages is an array of images whose features lie together. Every two rows and columns of an image a patch begins. Those that lie whole in the image are read where
// they are, one behind the other; the others are copied first, with the zeros around the image.
type winogradImages struct {
	place    place
	count    int
	features int
	size     [2]int // rows and columns of an image
	stride   [3]int // of images, rows and columns
	before   [2]int // how many rows and columns the first patch begins before the image
	patches  [2]int // of an image, from top to bottom and from left to right
	side     int    // of a patch
	combine  func(count, n int, dst []float32, to winograd.Lines, src []float32, from winograd.Lines)
}

// imageAxes are the strides of an array of images in memory: of images, rows, columns and features.
type imageAxes struct{ image, row, column, feature int }

// areTogether reports whether features lie together.
func (a imageAxes) areTogether() bool { return a.feature == 1 }

func (m *winogradImages) elements() int { return m.count * m.size[0] * m.size[1] * m.features }

// order makes m an array in the order of images, rows, columns and features.
func (m *winogradImages) order() {
	row := m.size[1] * m.features
	m.stride = [3]int{m.size[0] * row, row, m.features}
}

// bringTogether makes m, which lies in memory as axes say, images whose features lie together, by a copy if need be.
func (m *winogradImages) bringTogether(axes imageAxes, scratch *scratchPlan) (r rewriting, ok bool) {
	if axes.areTogether() {
		m.stride = [3]int{axes.image, axes.row, axes.column}
		return rewriting{}, true
	}
	m.order()
	type axis struct{ size, from, to int }
	all := []axis{{m.count, axes.image, m.stride[0]}, {m.size[0], axes.row, m.stride[1]}, {m.size[1], axes.column, m.stride[2]}, {m.features, axes.feature, 1}}
	slices.SortStableFunc(all, func(a, b axis) int { return cmp.Compare(b.from, a.from) })
	var dims []int64
	var strides []int
	for _, a := range all {
		dims, strides = append(dims, int64(a.size)), append(strides, a.to)
	}
	from := m.place
	m.place = place{kind: inScratch, section: scratch.take(4 * int64(m.elements()))}
	return newArrangement(dims, strides).move(from, m.place, hlo.F32)
}

// spread makes m an array whose features lie together, and which becomes one that lies in memory as axes say, by a copy if need be.
func (m *winogradImages) spread(axes imageAxes, scratch *scratchPlan) (r rewriting, ok bool) {
	if axes.areTogether() {
		m.stride = [3]int{axes.image, axes.row, axes.column}
		return rewriting{}, true
	}
	m.order()
	to := m.place
	m.place = place{kind: inScratch, section: scratch.take(4 * int64(m.elements()))}
	dims := []int64{int64(m.count), int64(m.size[0]), int64(m.size[1]), int64(m.features)}
	return newArrangement(dims, []int{axes.image, axes.row, axes.column, axes.feature}).move(m.place, to, hlo.F32)
}

func (m *winogradImages) allPatches() int { return m.count * m.patches[0] * m.patches[1] }

// patchPlace is where a patch is: its image, and its first row and column there.
type patchPlace struct{ image, y, x int }

func (m *winogradImages) patch(n int) patchPlace {
	perImage := m.patches[0] * m.patches[1]
	at := n % perImage
	return patchPlace{n / perImage, 2*(at/m.patches[1]) - m.before[0], 2*(at%m.patches[1]) - m.before[1]}
}

// has reports whether all of a patch is in its image.
func (m *winogradImages) has(p patchPlace) bool {
	return p.y >= 0 && p.x >= 0 && p.y+m.side <= m.size[0] && p.x+m.side <= m.size[1]
}

// at is where an element of an image is, which p need not be.
func (m *winogradImages) at(p patchPlace) int {
	return p.image*m.stride[0] + p.y*m.stride[1] + p.x*m.stride[2]
}

// hasElement reports whether an element is one of its image.
func (m *winogradImages) hasElement(p patchPlace) bool {
	return uint(p.y) < uint(m.size[0]) && uint(p.x) < uint(m.size[1])
}

// run is how many of up to n patches from one on are in its row of patches, and whole in the image; if that one is not, it is 1.
func (m *winogradImages) run(first, n int) (p patchPlace, count int, whole bool) {
	p = m.patch(first)
	if !m.has(p) {
		return p, 1, false
	}
	inRow := m.patches[1] - first%m.patches[1]
	fit := (m.size[1]-m.side-p.x)/2 + 1
	return p, min(n, inRow, fit), true
}

// combineAll writes the combinations of some features of n patches. edge has room for those of a patch.
func (m *winogradImages) combineAll(f *runtime.TensorFrame, dst []float32, to winograd.Lines, edge []float32, first, n, feature, features int) {
	src := elems[float32](m.place.of(f))
	for i := 0; i < n; {
		p, count, whole := m.run(first+i, n-i)
		if whole {
			m.combine(count, features, dst[i*to.Next:], to, src[m.at(p)+feature:], winograd.Lines{Row: m.stride[1], Column: m.stride[2], Next: 2 * m.stride[2]})
		} else {
			for k := range m.side * m.side {
				line := edge[k*features:][:features]
				if at := (patchPlace{p.image, p.y + k/m.side, p.x + k%m.side}); m.hasElement(at) {
					copy(line, src[m.at(at)+feature:])
				} else {
					clear(line)
				}
			}
			m.combine(1, features, dst[i*to.Next:], to, edge, winograd.Lines{Row: m.side * features, Column: features})
		}
		i += count
	}
}

// seenRows and seenColumns are how many rows and columns of an image all patches together see, with those outside of it.
func (m *winogradImages) seenRows() int    { return 2*m.patches[0] + m.side - 2 }
func (m *winogradImages) seenColumns() int { return 2*m.patches[1] + m.side - 2 }

// magnitudesOfRow writes the bits of the largest magnitudes at all positions of a row that patches see, counted through the images; outside of these they are 0.
func (m *winogradImages) magnitudesOfRow(f *runtime.TensorFrame, to []uint32, row int) {
	n, rows := m.seenColumns(), m.seenRows()
	first := min(n, max(0, m.before[1]))
	p := patchPlace{row / rows, row%rows - m.before[0], first - m.before[1]}
	count := min(n-first, m.size[1]-p.x)
	if uint(p.y) >= uint(m.size[0]) || count <= 0 {
		clear(to)
		return
	}
	clear(to[:first])
	clear(to[first+count:])
	from := elems[float32](m.place.of(f))[m.at(p):]
	if m.stride[2] == m.features {
		winograd.Largest(m.features, to[first:][:count], from[:count*m.features])
		return
	}
	for i := range count {
		winograd.Largest(m.features, to[first+i:][:1], from[i*m.stride[2]:][:m.features])
	}
}
