package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Ways answers whether one instruction of a computation must come before another, and takes further edges. It keeps a topological order up to date by the
// algorithm of Pearce and Kelly ("A dynamic topological sort algorithm for directed acyclic graphs", 2006), and looks for a way only between the two
// places in that order, from both ends at once. It is for one goroutine.
type Ways struct {
	deps          *Dependencies
	rank          []int         // by position in deps.Order: the place in the topological order
	before, after map[int][]int // the edges added
	seen          [2][]uint32   // by position, forwards and backwards: the last search that came there
	searches      uint32
}

// FindWays looks at every edge of the computation once.
func FindWays(c hlo.Computation) *Ways {
	d := FindDependencies(c)
	w := &Ways{deps: d, rank: make([]int, len(d.Order)), before: map[int][]int{}, after: map[int][]int{}}
	for i := range w.rank {
		w.rank[i] = i
	}
	w.seen[0], w.seen[1] = make([]uint32, len(d.Order)), make([]uint32, len(d.Order))
	return w
}

// Precedes reports whether a must come before b. Nothing precedes itself.
func (w *Ways) Precedes(a, b hlo.InstrID) bool {
	from, to := w.deps.Position(a), w.deps.Position(b)
	if w.rank[from] >= w.rank[to] {
		return false
	}
	down, up := w.search(0, from), w.search(1, to)
	for {
		i, ok := down.next()
		if !ok {
			return false
		}
		for _, j := range w.next(0, i) {
			if j == to || w.rank[j] < w.rank[to] && w.seen[1][j] == up.id {
				return true
			}
			if w.rank[j] < w.rank[to] {
				down.visit(j)
			}
		}
		if i, ok = up.next(); !ok {
			return false
		}
		for _, j := range w.next(1, i) {
			if j == from || w.rank[j] > w.rank[from] && w.seen[0][j] == down.id {
				return true
			}
			if w.rank[j] > w.rank[from] {
				up.visit(j)
			}
		}
	}
}

// Add demands that a come before b. It reports false, and adds nothing, where b must come before a.
func (w *Ways) Add(a, b hlo.InstrID) bool {
	from, to := w.deps.Position(a), w.deps.Position(b)
	if from == to {
		return false
	}
	if low, high := w.rank[to], w.rank[from]; low < high {
		later := w.between(0, to, low, high)
		if slices.Contains(later, from) {
			return false
		}
		w.reorder(w.between(1, from, low, high), later)
	}
	w.after[from] = append(w.after[from], to)
	w.before[to] = append(w.before[to], from)
	return true
}

// reorder gives the ranks of both sets to the first and then to the second, each in the order that it had.
func (w *Ways) reorder(first, second []int) {
	byRank := func(a, b int) int { return w.rank[a] - w.rank[b] }
	slices.SortFunc(first, byRank)
	slices.SortFunc(second, byRank)
	all := slices.Concat(first, second)
	ranks := make([]int, len(all))
	for i, p := range all {
		ranks[i] = w.rank[p]
	}
	slices.Sort(ranks)
	for i, p := range all {
		w.rank[p] = ranks[i]
	}
}

// between lists what a search in one direction finds among the ranks from low to high.
func (w *Ways) between(direction, start, low, high int) (found []int) {
	s := w.search(direction, start)
	for {
		i, ok := s.next()
		if !ok {
			return found
		}
		found = append(found, i)
		for _, j := range w.next(direction, i) {
			if low <= w.rank[j] && w.rank[j] <= high {
				s.visit(j)
			}
		}
	}
}

// next lists the neighbours of a position: those after it in direction 0, those before it in direction 1.
func (w *Ways) next(direction, i int) []int {
	old, added := w.deps.After(i), w.after
	if direction == 1 {
		old, added = w.deps.Before(i), w.before
	}
	if len(added) == 0 || len(added[i]) == 0 {
		return old
	}
	return append(old, added[i]...) // old has no room: this is a copy
}

// search is a set of positions found, and those still to be looked at.
type search struct {
	seen []uint32
	id   uint32
	todo []int
}

func (w *Ways) search(direction, start int) search {
	w.searches++
	s := search{seen: w.seen[direction], id: w.searches}
	s.visit(start)
	return s
}

func (s *search) visit(i int) {
	if s.seen[i] != s.id {
		s.seen[i] = s.id
		s.todo = append(s.todo, i)
	}
}

func (s *search) next() (int, bool) {
	if len(s.todo) == 0 {
		return 0, false
	}
	i := s.todo[len(s.todo)-1]
	s.todo = s.todo[:len(s.todo)-1]
	return i, true
}
