package runtime_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/workqueue"
)

// randomGraph is a function of random kernels together with what it must return. A nil number is an error.
type randomGraph struct {
	file *bef.File
	want []*int32
}

// newRandomGraph draws from synchronous kernels, ones that finish later (with concrete and indirect results), failing
// ones, non-strict ones that pass on one argument, and calls of a function that does a bit of each.
func newRandomGraph(t testing.TB, seed uint64) randomGraph {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := bef.NewBuilder()
	i32 := b.Type("i32")
	two, one := []bef.TypeID{i32, i32}, []bef.TypeID{i32}
	callee := b.Function("callee", bef.Async, two, two)
	x := callee.Kernel(bef.KernelSpec{Name: "t.later", Args: []bef.RegID{callee.Arg(0)}, Results: one})
	y := callee.Kernel(bef.KernelSpec{Name: "t.add", Args: []bef.RegID{x[0], callee.Arg(1)}, Results: one, Stream: 1})
	callee.Return(y[0], callee.Arg(1))
	fn := b.Function("main", bef.Async, two, make([]bef.TypeID, 4))
	values := []*int32{ptr(1), ptr(2)}
	pick := func() (bef.RegID, *int32) {
		// Mostly recent values, so that graphs are deep.
		i := len(values) - 1 - min(rng.IntN(len(values)), rng.IntN(len(values)))
		return bef.RegID(i), values[i]
	}
	for range 2 + rng.IntN(60) {
		spec := bef.KernelSpec{Results: one, Stream: uint32(rng.IntN(3))}
		ra, a := pick()
		rb, c := pick()
		var results []*int32
		switch rng.IntN(8) {
		case 0, 1, 2:
			spec.Name, spec.Args = "t.add", []bef.RegID{ra, rb}
			results = []*int32{add(a, c)}
		case 3:
			spec.Name, spec.Args = "t.later", []bef.RegID{ra}
			results = []*int32{a}
		case 4:
			spec.Name, spec.Args = "t.later-indirect", []bef.RegID{ra}
			results = []*int32{a}
		case 5:
			spec.Name, spec.Args, spec.NonStrict = "t.identity", []bef.RegID{ra, rb}, true
			results = []*int32{c}
		case 6:
			spec.Name, spec.Args, spec.Funcs, spec.Results = "t.call", []bef.RegID{ra, rb}, []bef.FuncID{callee.ID()}, two
			results = []*int32{add(a, c), c}
		case 7:
			if rng.IntN(4) > 0 {
				spec.Name, spec.Args = "t.async-add", []bef.RegID{ra, rb}
				results = []*int32{add(a, c)}
			} else {
				spec.Name = "t.quiet-fail"
				results = []*int32{nil}
			}
		}
		fn.Kernel(spec)
		values = append(values, results...)
	}
	g := randomGraph{}
	var returned []bef.RegID
	for range 4 {
		r, v := pick()
		returned = append(returned, r)
		g.want = append(g.want, v)
	}
	fn.Return(returned...)
	file, err := b.File()
	require.NoError(t, err)
	g.file = file
	return g
}

func ptr(x int32) *int32 { return &x }

func add(a, b *int32) *int32 {
	if a == nil || b == nil {
		return nil
	}
	return ptr(*a + *b)
}

// TestG04RandomGraphs compares the executor with plain evaluation, on all queues and in all modes.
func TestG04RandomGraphs(t *testing.T) {
	rounds := uint64(150)
	if testing.Short() {
		rounds = 30
	}
	for _, queue := range []string{"single", "multi:4"} {
		for _, sequential := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/sequential=%v", queue, sequential), func(t *testing.T) {
				q, err := workqueue.New(queue)
				require.NoError(t, err)
				defer q.Close()
				host := runtime.NewHost(runtime.HostOptions{Queue: q})
				for seed := range rounds {
					g := newRandomGraph(t, seed)
					p, err := runtime.Load(g.file, hostKernels(&journal{}), runtime.LoadOptions{Host: host, Sequential: sequential})
					require.NoError(t, err)
					for range 3 {
						checkGraph(t, p, host, g, seed)
					}
				}
			})
		}
	}
}

func checkGraph(t *testing.T, p *runtime.Program, host *runtime.Host, g randomGraph, seed uint64) {
	req := runtime.NewRequest(t.Context(), host, runtime.RequestOptions{})
	defer req.Close()
	late := async.MakeUnconstructed[int32]()
	args := []*async.Value{async.Int32(1), late.Value()}
	results := make([]*async.Value, len(g.want))
	require.NoError(t, p.Function("main").Execute(req.NewExecContext(), args, results))
	host.Queue().AddTask(func() { late.Emplace(2) })
	require.NoError(t, host.Queue().Await(t.Context(), results...))
	host.Quiesce()
	for i, want := range g.want {
		if want == nil {
			require.True(t, results[i].IsError(), "seed %d, result %d", seed, i)
		} else {
			require.NoError(t, results[i].Err(), "seed %d, result %d", seed, i)
			require.Equal(t, *want, async.Get[int32](results[i]), "seed %d, result %d", seed, i)
		}
	}
}

// Arguments and results may be passed in one slice, whatever the kind of function and however it ends.
func TestExecuteInPlace(t *testing.T) {
	h := loadHost(t, "single", `
func.func private @native_print(i32) -> !tfrt.chain attributes {tfrt.native}
func.func @sync_print(%a: i32) -> i32 attributes {tfrt.sync} {
  %r = "s.add"(%a, %a) : (i32, i32) -> i32
  tfrt.return %r : i32
}
func.func @general(%a: i32) -> i32 {
  %r = "t.add"(%a, %a) : (i32, i32) -> i32
  tfrt.return %r : i32
}`, runtime.LoadOptions{})
	_, ctx := h.begin(t, runtime.RequestOptions{})
	for _, name := range []string{"native_print", "sync_print", "general"} {
		f := h.program.Function(name)
		ok := []*async.Value{async.Int32(1)}
		require.NoError(t, f.ExecuteByValue(ctx, ok, ok))
		require.True(t, ok[0].IsConcrete(), name)
		failed := []*async.Value{async.MakeError(errors.New("bad"))}
		require.NoError(t, f.ExecuteByValue(ctx, failed, failed))
		require.ErrorContains(t, failed[0].Err(), "bad", name)
		late := async.MakeUnconstructed[int32]()
		waits := []*async.Value{late.Value()}
		require.NoError(t, f.ExecuteByValue(ctx, waits, waits))
		late.Emplace(2)
		h.host.Quiesce()
		require.True(t, waits[0].IsConcrete(), name)
		drop(waits)
	}
}
