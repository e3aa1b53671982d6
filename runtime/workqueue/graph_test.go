package workqueue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gohalo/halo/runtime/async"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A graph of sums: node i adds up its inputs, all of lower number, and 1. A
// failing node is an error whatever its inputs are; a node with failing inputs
// has the error of the last of them, as kernels do.
type graph struct {
	inputs   [][]int
	fails    []bool
	blocking []bool
}

func randomGraph(seed uint64, n int) graph {
	r := rand.New(rand.NewPCG(seed, 1))
	g := graph{inputs: make([][]int, n), fails: make([]bool, n), blocking: make([]bool, n)}
	for i := range n {
		for range min(i, r.IntN(5)) {
			g.inputs[i] = append(g.inputs[i], r.IntN(i))
		}
		g.fails[i] = r.IntN(40) == 0
		g.blocking[i] = r.IntN(10) == 0
	}
	return g
}

// node computes node i from the results of its inputs.
func (g graph) node(i int, result func(int) (int64, error)) (sum int64, err error) {
	for _, j := range g.inputs[i] {
		x, e := result(j)
		if e != nil {
			err = e
		}
		sum += x
	}
	if g.fails[i] {
		return 0, async.Errorf(async.Internal, "node %d failed", i)
	}
	return (sum + 1) % 1_000_003, err
}

func (g graph) runSequentially() (sums []int64, errs []error) {
	sums, errs = make([]int64, len(g.inputs)), make([]error, len(g.inputs))
	for i := range g.inputs {
		sums[i], errs[i] = g.node(i, func(j int) (int64, error) { return sums[j], errs[j] })
	}
	return sums, errs
}

func (g graph) runOn(q Queue) []*async.Value {
	values := make([]*async.Value, len(g.inputs))
	for i := range values {
		values[i] = async.MakeUnconstructed[int64]().Value()
	}
	for i := len(values) - 1; i >= 0; i-- { // consumers before producers
		inputs := make([]*async.Value, len(g.inputs[i]))
		for k, j := range g.inputs[i] {
			inputs[k] = values[j]
		}
		run := func() {
			sum, err := g.node(i, func(j int) (int64, error) { return async.Cast[int64](values[j]).Result() })
			if err != nil {
				values[i].SetError(err)
			} else {
				async.Emplace(values[i], sum)
			}
		}
		async.RunWhenReady(inputs, func() {
			if !g.blocking[i] || !q.AddBlockingTask(run, MayQueue) {
				q.AddTask(run)
			}
		})
	}
	return values
}

func TestG02SmallGraphG04RandomGraphs(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, q Queue) {
		for _, n := range []int{1, 3, 30, 800} {
			for seed := range uint64(5) {
				t.Run(fmt.Sprintf("%d nodes, seed %d", n, seed), func(t *testing.T) {
					async.CheckLeaks(t)
					g := randomGraph(seed, n)
					sums, errs := g.runSequentially()
					values := g.runOn(q)
					require.NoError(t, q.Await(context.Background(), values...))
					for i, v := range values {
						x, err := async.Cast[int64](v).Result()
						if errs[i] != nil {
							require.EqualError(t, err, errs[i].Error(), "node %d", i)
						} else {
							require.NoError(t, err, "node %d", i)
							assert.Equal(t, sums[i], x, "node %d", i)
						}
					}
				})
			}
		}
		q.Quiesce()
	})
}
