package schedule

import (
	"container/heap"
	"math"
)

// forward is list scheduling from the beginning: of what is ready, take what begins a chain, then what has the longest way to the end; a done is
// ready when its chain is. From the end backwards it cannot be seen which chain will be done first, so what stands between two of them may be
// placed behind the done of a third. It knows of no limits, groups and hints.
func (g *graph) forward() []int {
	var (
		way            = g.ways()
		left           = make([]int, len(way)) // of what comes before each, how much is not placed
		at             = make([]float64, len(way))
		begins         = make([]bool, len(way))
		ready, waiting ranking
		clock          float64
		order          []int
	)
	for _, binder := range g.binder {
		begins[binder] = true
	}
	free := func(i int) {
		switch latency, done := g.latency[i]; {
		case done:
			heap.Push(&waiting, ranked{i, at[g.binder[i]] + latency})
		case begins[i]:
			heap.Push(&ready, ranked{i, math.Inf(-1)})
		default:
			heap.Push(&ready, ranked{i, -way[i]})
		}
	}
	for i := range left {
		if left[i] = len(g.deps.Before(i)); left[i] == 0 {
			free(i)
		}
	}
	for len(ready)+len(waiting) > 0 {
		if len(ready) == 0 {
			clock = max(clock, waiting[0].key)
		}
		for len(waiting) > 0 && waiting[0].key <= clock {
			i := heap.Pop(&waiting).(ranked).i
			heap.Push(&ready, ranked{i, -way[i]})
		}
		i := heap.Pop(&ready).(ranked).i
		clock += g.seconds[i]
		at[i] = clock
		order = append(order, i)
		for _, u := range g.deps.After(i) {
			if left[u]--; left[u] == 0 {
				free(u)
			}
		}
	}
	return order
}

// ways are the times from the beginning of each instruction to the end, if all that it does not need ran elsewhere.
func (g *graph) ways() []float64 {
	way := make([]float64, len(g.deps.Order))
	for i := len(way) - 1; i >= 0; i-- {
		for _, u := range g.deps.After(i) {
			way[i] = max(way[i], way[u])
		}
		way[i] += g.seconds[i]
		if latency, done := g.latency[i]; done {
			way[g.binder[i]] = max(way[g.binder[i]], latency+way[i])
		}
	}
	return way
}

// ranked is an instruction with what it is taken by: the smallest key first, then the first in the old order.
type ranked struct {
	i   int
	key float64
}

func (r ranked) before(x ranked) bool { return r.key < x.key || r.key == x.key && r.i < x.i }

// ranking is a heap.
type ranking []ranked

func (r ranking) Len() int           { return len(r) }
func (r ranking) Less(i, j int) bool { return r[i].before(r[j]) }
func (r ranking) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ranking) Push(x any)        { *r = append(*r, x.(ranked)) }
func (r *ranking) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
