package lower

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
)

// Functions in which much can be done beside much else run as data flow.
//
//  1. Of the ops, those that wait for something or take long are candidates: dones, meetings of devices, calls, loops and branches, custom
//     calls, kernels that do not divide their work among the threads themselves.
//  2. A candidate forks if enough work is neither needed for it nor needs it.
//  3. The wait set of an op is the forks that come before it. Ops with equal wait sets make a segment, and a fork leads the segment of those that wait
//     for it and for what it waits for itself. So no op waits for a fork that it does not need.
//  4. Within a segment, what other segments and asynchronous starts need comes first, the waits for chains that are no forks last.
//
// Most functions have no forks: they are one segment, which is no segment, and run straight.

const (
	worthForking   = 50e-6 // seconds that a fork must take, and that must be done beside it
	mostForks      = 128
	mostSegments   = 256
	secondsPerByte = 50e-9 // of custom calls about which nothing is known
)

// segments is how the ops of a function are divided.
type segments struct {
	of    []int   // by op
	first []int   // by segment: its first op
	after [][]int // by segment: ops of others that it waits for, ascending
	clock [][]int // by segment: the last op of each other one that has run when it begins, or -1
}

// before reports whether op a has always ended when op b begins. Behind the last op stands the return.
func (f *function) before(a, b int) bool {
	if f.segments == nil || b == len(f.ops) {
		return a < b
	}
	if a == len(f.ops) {
		return false
	}
	s := f.segments
	if s.of[a] == s.of[b] {
		return a < b
	}
	return s.clock[s.of[b]][s.of[a]] >= a
}

// bitset is a set of forks.
type bitset []uint64

func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) union(o bitset) {
	for i, w := range o {
		b[i] |= w
	}
}

func (b bitset) len() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// divide finds the segments of a function whose order is free, and puts its ops in an order in which each segment is in one piece.
func (f *function) divide() {
	if f.comp.IsScheduled() || len(f.ops) < 2 {
		return
	}
	candidates, seconds := f.candidates()
	if len(candidates) == 0 {
		return
	}
	deps := f.dependencies()
	forks := f.forks(candidates, seconds, deps)
	if len(forks) == 0 {
		return
	}
	waits := waitSets(deps, forks)
	number := make(map[string]int)
	var keys []bitset
	of := make([]int, len(f.ops))
	key := func(b bitset) int {
		text := make([]byte, 0, 8*len(b))
		for _, w := range b {
			for i := range 8 {
				text = append(text, byte(w>>(8*i)))
			}
		}
		n, ok := number[string(text)]
		if !ok {
			n = len(keys)
			number[string(text)] = n
			keys = append(keys, b)
		}
		return n
	}
	key(make(bitset, (len(forks)+63)/64)) // segment 0 is there, even if it is empty
	index := make(map[int]int, len(forks))
	for i, k := range forks {
		index[k] = i
	}
	for k := range f.ops {
		set := waits[k]
		if i, isFork := index[k]; isFork {
			set = slices.Clone(set)
			set.add(i)
		}
		of[k] = key(set)
	}
	if len(keys) < 2 || len(keys) > mostSegments {
		return
	}
	// A segment comes after those whose sets are subsets of its own.
	rank := make([]int, len(keys))
	for i := range rank {
		rank[i] = i
	}
	slices.SortStableFunc(rank, func(a, b int) int { return cmp.Compare(keys[a].len(), keys[b].len()) })
	place := make([]int, len(keys))
	for i, n := range rank {
		place[n] = i
	}
	for k := range of {
		of[k] = place[of[k]]
	}
	order := f.orderSegments(of, len(keys), deps, index)
	f.permute(order)
	f.segments = &segments{of: make([]int, len(order))}
	at := make([]int, len(order))
	for i, k := range order {
		f.segments.of[i], at[k] = of[k], i
	}
	moved := make([][]int, len(order))
	for k, list := range deps {
		for _, d := range list {
			moved[at[k]] = append(moved[at[k]], at[d])
		}
	}
	f.segments.connect(len(keys), moved)
}

// connect finds what each segment waits for.
func (s *segments) connect(n int, deps [][]int) {
	s.first, s.after, s.clock = slices.Repeat([]int{len(deps)}, n), make([][]int, n), make([][]int, n)
	latest := make([][]int, n) // by segment, by other segment: the last op that some op of it needs
	for i := range n {
		latest[i] = slices.Repeat([]int{-1}, n)
		s.clock[i] = slices.Repeat([]int{-1}, n)
	}
	for k, list := range deps {
		own := s.of[k]
		s.first[own] = min(s.first[own], k)
		for _, d := range list {
			if other := s.of[d]; other != own {
				latest[own][other] = max(latest[own][other], d)
			}
		}
	}
	for i := range n {
		for other, k := range latest[i] {
			if k < 0 {
				continue
			}
			s.clock[i][other] = max(s.clock[i][other], k)
			for j, x := range s.clock[other] {
				s.clock[i][j] = max(s.clock[i][j], x)
			}
		}
		for other, k := range latest[i] {
			implied := k < 0
			for third, x := range latest[i] {
				implied = implied || third != other && x >= 0 && s.clock[third][other] >= k
			}
			if !implied {
				s.after[i] = append(s.after[i], k)
			}
		}
		slices.Sort(s.after[i])
	}
}

// permute puts the ops in another order.
func (f *function) permute(order []int) {
	ops := make([]op, len(order))
	at := make([]int, len(order))
	for i, k := range order {
		ops[i], at[k] = f.ops[k], i
	}
	f.ops = ops
	for i := range f.values {
		if d := f.values[i].def; d >= 0 {
			f.values[i].def = at[d]
		}
	}
	for k := range f.ops {
		if c := f.ops[k].chain; c != nil && c.done >= 0 {
			c.done = at[c.done]
		}
	}
}

// dependencies lists the ops that each op needs: what defines its operands, and what its instruction must come after.
func (f *function) dependencies() [][]int {
	deps := make([][]int, len(f.ops))
	ordered := -1
	for k := range f.ops {
		o := &f.ops[k]
		need := func(d int) {
			if d >= 0 && d != k && f.ops[d].kernel != kernelConstant && !slices.Contains(deps[k], d) {
				deps[k] = append(deps[k], d)
			}
		}
		for _, a := range o.args {
			need(f.values[a].def)
		}
		for _, d := range o.after {
			need(d)
		}
		if !o.of.IsZero() && !o.isCopy() && f.l.isOrdered(o.of) {
			need(ordered)
			ordered = k
		}
	}
	return deps
}

// forks chooses among candidates those beside which there is work to do.
func (f *function) forks(candidates []int, seconds []float64, deps [][]int) (chosen []int) {
	above := waitSets(deps, candidates)
	below := make([]bitset, len(deps)) // candidates that need each op
	words := (len(candidates) + 63) / 64
	for k := range below {
		below[k] = make(bitset, words)
	}
	index := make(map[int]int, len(candidates))
	for i, k := range candidates {
		index[k] = i
	}
	for k := len(deps) - 1; k >= 0; k-- {
		for _, d := range deps[k] {
			below[d].union(below[k])
			if i, is := index[k]; is {
				below[d].add(i)
			}
		}
	}
	for i, b := range candidates {
		beside := 0.0
		for k := range deps {
			if k != b && !above[k].has(i) && !below[k].has(i) {
				beside += seconds[k]
			}
		}
		if beside >= worthForking {
			chosen = append(chosen, b)
		}
	}
	return chosen
}

// waitSets finds which of the marked ops come before each op.
func waitSets(deps [][]int, marked []int) []bitset {
	index := make(map[int]int, len(marked))
	for i, k := range marked {
		index[k] = i
	}
	sets := make([]bitset, len(deps))
	for k, list := range deps {
		set := make(bitset, (len(marked)+63)/64)
		for _, d := range list {
			set.union(sets[d])
			if i, is := index[d]; is {
				set.add(i)
			}
		}
		sets[k] = set
	}
	return sets
}

// orderSegments is an order of the ops, one segment after the other.
func (f *function) orderSegments(of []int, n int, deps [][]int, forks map[int]int) []int {
	urgent := make([]bool, len(deps))
	users := make([][]int, len(deps))
	for k := len(deps) - 1; k >= 0; k-- {
		for _, d := range deps[k] {
			users[d] = append(users[d], k)
			urgent[d] = urgent[d] || urgent[k] || of[d] != of[k] || begins(&f.ops[k])
		}
	}
	q := &readyQueue{class: make([]int, len(deps))}
	waits := make([]int, len(deps))
	for k := range deps {
		waits[k] = len(deps[k])
		o := &f.ops[k]
		_, isFork := forks[k]
		switch {
		case o.kernel == kernelConstant:
			q.class[k] = -5
		case begins(o) && f.l.onlyWaits(o.of):
			q.class[k] = -4
		case begins(o):
			q.class[k] = -3
		case urgent[k] && !waitsForChain(o) || isFork:
			q.class[k] = -2
		case urgent[k]:
			q.class[k] = -1
		case waitsForChain(o):
			q.class[k] = 1
		}
		q.class[k] += 8 * of[k]
	}
	for k := range deps {
		if waits[k] == 0 {
			heap.Push(q, k)
		}
	}
	order := make([]int, 0, len(deps))
	for q.Len() > 0 {
		k := heap.Pop(q).(int)
		order = append(order, k)
		for _, u := range users[k] {
			if waits[u]--; waits[u] == 0 {
				heap.Push(q, u)
			}
		}
	}
	return order
}

// begins reports whether an op begins asynchronous work, or gives it an operand.
func begins(o *op) bool { return !o.of.IsZero() && analysis.IsStart(o.of) }

func waitsForChain(o *op) bool { return !o.of.IsZero() && analysis.IsDone(o.of) }

// plan is the segments as the driver reads them.
func (s *segments) plan() []runtime.Segment {
	if s == nil {
		return nil
	}
	list := make([]runtime.Segment, len(s.after))
	for i := range list {
		list[i].After = s.after[i]
	}
	for _, i := range s.of {
		list[i].Kernels++
	}
	return list
}
