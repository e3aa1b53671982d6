package scalar

import "container/heap"

// transfer is a copy from one register to another.
type transfer struct {
	d, s  int32
	width uint8
}

// inOrder makes a series of copies that does what the given ones do at once. Copies that go round in a circle take a free register to
// help. No register is copied to twice.
func inOrder(copies []transfer, free int32) []transfer {
	var out, todo []transfer
	for _, c := range copies {
		if c.d != c.s {
			todo = append(todo, c)
		}
	}
	readers, writer := make(map[int32][]int, len(todo)), make(map[int32]int, len(todo))
	for i, c := range todo {
		readers[c.s] = append(readers[c.s], i)
		writer[c.d] = i
	}
	var ready positions // copies to what nobody reads any more
	for i, c := range todo {
		if len(readers[c.d]) == 0 {
			ready = append(ready, i)
		}
	}
	left := make(map[int32]int, len(readers)) // readers still to come
	for s, list := range readers {
		left[s] = len(list)
	}
	written := make([]bool, len(todo))
	for first := 0; ; {
		for len(ready) > 0 {
			i := heap.Pop(&ready).(int)
			c := todo[i]
			out, written[i] = append(out, c), true
			if left[c.s]--; left[c.s] == 0 {
				if w, ok := writer[c.s]; ok {
					heap.Push(&ready, w)
				}
			}
		}
		for first < len(todo) && written[first] {
			first++
		}
		if first == len(todo) {
			return out
		}
		// All are read: somebody's value goes aside, and its readers take it from there.
		aside := todo[first].d
		out = append(out, transfer{free, aside, 8})
		for _, i := range readers[aside] {
			if !written[i] {
				todo[i].s = free
			}
		}
		ready = append(ready, first)
	}
}

// positions is a heap.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *positions) Push(x any)        { *p = append(*p, x.(int)) }
func (p *positions) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
