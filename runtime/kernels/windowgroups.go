package kernels

import "github.com/gohalo/halo/hlo"

// windowGroups are the windows over an array, sorted by how their elements lie: those of a group have as many along every axis, and so the same distances
// between them. A group is folded without a question about edges, element by element of all its windows, or window by window by one list.
type windowGroups struct {
	windows []int // numbers of windows, in row-major order within a group
	origins []int // where the first element of each lies
	tasks   []windowTask
}

// windowTask is some windows of a group.
type windowTask struct {
	first, end int   // among the sorted windows
	elements   []int // of a window, in row-major order: how far each lies behind the first. There are none if all is padding
	row        int   // how many of them lie in a row, everywhere in the window
}

// Limits of what is sorted: windows, and elements of those that stand for their groups.
const (
	maxGroupedWindows = 1 << 14
	maxGroupElements  = 1 << 14
)

// newWindowGroups sorts windows over an array with the sizes in and strides, at the positions out; a task has up to so many windows together.
func newWindowGroups(window []hlo.WindowDim, in, out, stride []int, together int) (*windowGroups, bool) {
	n := 1
	for d := range window {
		if n *= out[d]; n > maxGroupedWindows {
			return nil, false
		}
		if window[d].BaseDilation > 1 && window[d].Size > maxDilatedWindow {
			return nil, false
		}
	}
	// A group is known by the counts along the axes, as digits of one number.
	key, origins := make([]int, n), make([]int, n)
	for d, period := len(window)-1, 1; d >= 0; d-- {
		w := &window[d]
		for p := range out[d] {
			s := spanOf(w, p, in[d])
			for i := p * period; i < n; i += out[d] * period {
				for j := i; j < i+period; j++ {
					origins[j] += s.first * stride[d]
					key[j] = key[j]*(1+in[d]) + s.count
				}
			}
		}
		period *= out[d]
	}
	return sortWindows(key, origins, together, func(i int) ([]int, bool) { return windowElements(window, in, out, stride, i) })
}

// sortWindows brings together the windows with equal keys; elements are those of one window.
func sortWindows(key, origins []int, together int, elements func(window int) ([]int, bool)) (*windowGroups, bool) {
	g := &windowGroups{}
	groups, lists, total := make(map[int]int), [][]int{}, 0
	members := [][]int{}
	for i, k := range key {
		at, known := groups[k]
		if !known {
			list, ok := elements(i)
			if total += len(list); !ok || total > maxGroupElements {
				return nil, false
			}
			at = len(lists)
			groups[k] = at
			lists, members = append(lists, list), append(members, nil)
		}
		members[at] = append(members[at], i)
	}
	for at, windows := range members {
		for _, i := range windows {
			g.windows, g.origins = append(g.windows, i), append(g.origins, origins[i])
		}
		end, row := len(g.windows), 0
		for row < len(lists[at]) && lists[at][row] == row {
			row++
		}
		for first := end - len(windows); first < end; first += together {
			g.tasks = append(g.tasks, windowTask{first, min(first+together, end), lists[at], row})
		}
	}
	return g, true
}

// windowElements lists the elements of a window inside of the array, unless there are too many.
func windowElements(window []hlo.WindowDim, in, out, stride []int, number int) ([]int, bool) {
	spans, n := make([]windowSpan, len(window)), 1
	for d := len(window) - 1; d >= 0; d-- {
		spans[d] = spanOf(&window[d], number%out[d], in[d])
		number /= out[d]
		if n *= spans[d].count; n > maxGroupElements {
			return nil, false
		}
	}
	if n == 0 {
		return nil, true
	}
	list := []int{0}
	for d, s := range spans {
		longer := make([]int, 0, len(list)*s.count)
		for _, at := range list {
			for k := range s.count {
				longer = append(longer, at+k*s.step*stride[d])
			}
		}
		list = longer
	}
	return list, true
}
