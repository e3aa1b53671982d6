package runtime_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// Traces of general functions: what is recorded, in which form, and that nothing is where nobody asks.

func TestI06TraceOfAHostProgram(t *testing.T) {
	onBothQueues(t, recursion, func(t *testing.T, h *hostTest) {
		trace := &recordedTrace{depth: map[int]int{}}
		run := func(o runtime.RequestOptions) {
			_, ctx := h.begin(t, o)
			results := make([]*async.Value, 1)
			require.NoError(t, h.program.Function("down").Execute(ctx, []*async.Value{async.Int32(1), async.Int32(-1)}, results))
			h.host.Quiesce()
			drop(results)
		}
		run(runtime.RequestOptions{Tracer: trace})
		assert.ElementsMatch(t, []string{"down", "t.const", "t.add", "t.less", "t.if", "bottom"}, trace.names)
		assert.Equal(t, map[int]int{0: 0}, trace.depth)
		// I07: a request without a tracer makes no calls of it.
		run(runtime.RequestOptions{})
		assert.Len(t, trace.names, 6)
	})
}

func TestI07TracingOff(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector pools give back less than they got, so allocations tell nothing")
	}
	f := loadBench(t, chainOf(t, 100, 1, bef.Async), runtime.LoadOptions{})
	ctx := runtime.NewRequest(t.Context(), runtime.NewHost(runtime.HostOptions{}), runtime.RequestOptions{}).NewExecContext()
	args, results := []*async.Value{async.Int32(0)}, make([]*async.Value, 1)
	allocations := testing.AllocsPerRun(100, func() { _ = f.Execute(ctx, args, results) })
	assert.Less(t, allocations, 5.0, "kernels that are not traced allocate at most their results, of which these need none")
}

func TestChromeTracer(t *testing.T) {
	for _, events := range []int{0, 1} {
		var out strings.Builder
		trace := runtime.NewChromeTracer(&out)
		for range events {
			f := loadTensor(t, nil, loopProgram).Function("main")
			require.NoError(t, f.Run(t.Context(), runtime.RunOptions{Tracer: trace}, argsOf(f), f.NewResults()))
		}
		require.NoError(t, trace.Close())
		var list []map[string]any
		require.NoError(t, json.Unmarshal([]byte(out.String()), &list))
		require.Len(t, list, 4*events)
		for i, e := range list {
			assert.Equal(t, []string{"B", "E"}[i%2], e["ph"])
			assert.Equal(t, []string{"toy.text", "toy.less"}[i/2], e["name"])
		}
	}
	trace := runtime.NewChromeTracer(failingWriter{})
	trace.Begin(0, runtime.TraceKernel, "k")
	assert.Error(t, trace.Close())
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
