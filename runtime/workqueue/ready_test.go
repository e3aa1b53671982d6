package workqueue

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func popAll(q ReadyQueue[int]) (all []int) {
	for x, ok := q.Pop(); ok; x, ok = q.Pop() {
		all = append(all, x)
	}
	return all
}

func TestG01ReadyQueues(t *testing.T) {
	identity := func(x int) int { return x }
	for _, tt := range []struct {
		name        string
		make        func(...int) ReadyQueue[int]
		order       []int // of 3 1 4 1 5 9 2, pushed in this order
		kept, taken []int // after PopHalf; nil: any split
	}{
		{"FIFO", NewFIFO[int], []int{3, 1, 4, 1, 5, 9, 2}, []int{3, 1, 4, 1}, []int{5, 9, 2}},
		{"LIFO", NewLIFO[int], []int{2, 9, 5, 1, 4, 1, 3}, []int{2, 9, 5, 1}, []int{4, 1, 3}},
		{"priority", func(xs ...int) ReadyQueue[int] { return NewPriority(identity, xs...) },
			[]int{9, 5, 4, 3, 2, 1, 1}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			input := []int{3, 1, 4, 1, 5, 9, 2}
			q := tt.make()
			_, ok := q.Pop()
			assert.False(t, ok)
			assert.Zero(t, q.PopHalf().Len())
			for i, x := range input {
				q.Push(x)
				assert.Equal(t, i+1, q.Len())
			}
			assert.Equal(t, tt.order, popAll(q))
			assert.Equal(t, tt.order, popAll(tt.make(slices.Clone(input)...)))

			for _, x := range input {
				q.Push(x)
			}
			half := q.PopHalf()
			assert.Equal(t, 4, q.Len())
			assert.Equal(t, 3, half.Len())
			kept, taken := popAll(q), popAll(half)
			if tt.kept != nil {
				assert.Equal(t, tt.kept, kept)
				assert.Equal(t, tt.taken, taken)
			}
			assert.Equal(t, tt.order[0], kept[0], "the owner keeps what comes next")
			assert.ElementsMatch(t, input, append(kept, taken...), "the halves are disjoint")
			if tt.kept == nil {
				assert.True(t, slices.IsSortedFunc(taken, func(a, b int) int { return b - a }))
			}

			// Splitting between pops loses nothing either.
			for _, x := range input {
				q.Push(x)
			}
			first, _ := q.Pop()
			rest := popAll(q.PopHalf())
			q.Push(7)
			assert.ElementsMatch(t, append(input, 7), append(append(rest, first), popAll(q)...))
		})
	}
	q := NewLIFO(1)
	assert.Zero(t, q.PopHalf().Len(), "one element is not split")
	assert.Equal(t, 1, q.Len())
}
