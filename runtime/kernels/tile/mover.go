package tile

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// mover is how the elements of a view are brought into a tile that do not lie together in memory: what there are vector loops for.
type mover struct {
	reverse loop // for rows from back to front
	every   loop // for rows of elements that lie a few apart: see vectors.FindEvery
	// permutation writes whole periods: the points of the axes after axis, which are few.
	permutation  *vectors.Permutation
	axis         int
	period       int
	roundPeriods int
}

func newMover(s *Space, v *View, width int) *mover {
	m := &mover{}
	last := len(s.Dims) - 1
	if last < 0 {
		return m
	}
	stride := v.Strides[last]
	if s.Dims[last] >= shortRow {
		switch {
		case stride == -1:
			m.reverse = vectors.Find(vectors.Of(hlo.OpReverse, vectors.Sized(width)), nil)
			return m
		case stride == 0 || stride == 1:
			return m
		}
		if m.every = vectors.FindEvery(width, int(stride)); m.every != nil {
			return m
		}
	}
	if v.Turns == nil {
		m.findPermutation(s, v, width)
	}
	return m
}

// maxRound bounds the elements that a round of a permutation writes.
const maxRound = 512

// findPermutation looks for the axis along which the most can be done at once.
func (m *mover) findPermutation(s *Space, v *View, width int) {
	best, period := 0, 1
	for axis := len(s.Dims) - 1; axis >= 0 && period <= maxRound; axis-- {
		n := int(s.Dims[axis])
		round := period
		for round*width%vectors.PermutedBytes(width) != 0 {
			round += period
		}
		if round <= maxRound && period*n > best && round <= period*n {
			places := picks(s, v, axis, round, width)
			advance := [2]int{round / period * int(v.Strides[axis]) * width}
			p := vectors.NewPermutation(width, places, advance)
			if p == nil && width >= 4 && period > 1 {
				p = vectors.NewPermutation(1, pickedBytes(places, width), advance)
			}
			if p != nil {
				m.permutation, m.axis, m.period, m.roundPeriods, best = p, axis, period, round/period, period*n
			}
		}
		period *= n
	}
}

// pickedBytes is the bytes of elements of width bytes.
func pickedBytes(picks []vectors.Pick, width int) []vectors.Pick {
	var r []vectors.Pick
	for _, x := range picks {
		for at := range width {
			r = append(r, vectors.Pick{Array: x.Array, Offset: x.Offset + at})
		}
	}
	return r
}

// picks is where the first n points from axis on are.
func picks(s *Space, v *View, axis, n, width int) []vectors.Pick {
	inner := Space{slices.Clone(s.Dims[axis:])}
	inner.Dims[0] = max(inner.Dims[0], int64(n)) // enough of them
	view := View{Strides: v.Strides[axis:]}
	var w walk
	w.start(&inner, &view, 0)
	var r []vectors.Pick
	for len(r) < n {
		first, count, stride := w.run(n - len(r))
		for i := range int64(count) {
			r = append(r, vectors.Pick{Offset: int(first+i*stride) * width})
		}
	}
	return r
}

// permute loads as many of the next n points as whole rounds reach, and returns their number.
func (m *mover) permute(dst unsafe.Pointer, n int, data []byte, width int, w *walk) int {
	for _, at := range w.at[m.axis+1 : len(w.dims)] {
		if at != 0 {
			return 0
		}
	}
	periods := min(n/m.period, int(w.dims[m.axis]-w.at[m.axis]))
	place := int(w.offset) * width
	rounds := m.permutation.Rounds(periods/m.roundPeriods, 0, place, len(data))
	if rounds == 0 {
		return 0
	}
	m.permutation.Run(rounds, dst, unsafe.Pointer(&data[place]), nil)
	done := rounds * m.roundPeriods
	if rounds == periods/m.roundPeriods && done < periods { // the last round does some periods again
		again := periods - m.roundPeriods
		from := place + again*int(w.strides[m.axis])*width
		if m.permutation.Rounds(1, 0, from, len(data)) == 1 {
			m.permutation.Run(1, unsafe.Add(dst, again*m.period*width), unsafe.Pointer(&data[from]), nil)
			done = periods
		}
	}
	periods = done
	w.at[m.axis] += int64(periods)
	w.offset += int64(periods) * w.strides[m.axis]
	w.carry(m.axis)
	return periods * m.period
}
