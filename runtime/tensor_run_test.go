package runtime_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func loadTensor(t testing.TB, host *runtime.Host, text string) *runtime.Program {
	checkLeaks(t)
	f, err := assemble(text)
	require.NoError(t, err)
	p, err := runtime.Load(throughBytes(t, f), toyKernels(), runtime.LoadOptions{Host: host})
	require.NoError(t, err)
	return p
}

func TestStartRunsOnTheQueue(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, host *runtime.Host) {
		f := loadTensor(t, host, loopProgram).Function("main")
		var dones []*async.Value
		var results [][]runtime.Buffer
		for i := range 20 {
			args, res := argsOf(f), f.NewResults()
			put(args[0].Data, int32(i))
			dones = append(dones, f.Start(t.Context(), runtime.RunOptions{}, args, res).Value())
			results = append(results, res)
		}
		require.NoError(t, host.Queue().Await(t.Context(), dones...))
		for i := range results {
			assert.NoError(t, dones[i].Err())
			assert.EqualValues(t, i, get(results[i][0].Data))
		}
	})
}

func TestRunIsSafeForConcurrentUse(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, host *runtime.Host) {
		f := loadTensor(t, host, loopProgram).Function("main")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				args, res := argsOf(f), f.NewResults()
				put(args[0].Data, int32(i))
				for range 50 {
					assert.NoError(t, f.Run(t.Context(), runtime.RunOptions{}, args, res))
					assert.EqualValues(t, i, get(res[0].Data))
				}
			})
		}
		wg.Wait()
	})
}

const endlessProgram = `
func always frame=0
  x:i32[1] = arg
  p:pred[]@out(0) = toy.true x
  return p
func same frame=0
  x:i32[1] = arg
  return x
func loop frame=64
  x:i32[1] = arg
  y:i32[1]@out(0) = hlo.while x calls=always,same
  return y
func waits frame=64
  x:i32[1] = arg
  y:i32[1]@out(0) = toy.until-cancelled x
  return y
func beside frame=128
  x:i32[1] = arg
  e:tok = hlo.async-start x calls=waits@64 outputs=y thread=side
  y:i32[1]@out(0) = hlo.async-done e
  return y
`

// TestCancel cancels runs that would never end: a loop, a kernel that waits, and an async callee that waits.
func TestCancel(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, host *runtime.Host) {
		file, err := assemble(endlessProgram)
		require.NoError(t, err)
		reg := toyKernels()
		started := make(chan struct{}, 1)
		reg.Tensor("toy.true", func(*runtime.Binding) (runtime.Bound, error) {
			return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
				f.Out(0).Data[0] = 1
				select {
				case started <- struct{}{}:
				default:
				}
				return nil
			}}, nil
		})
		p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: host})
		require.NoError(t, err)
		for _, name := range []string{"loop", "waits", "beside"} {
			f := p.Function(name)
			for range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				if name == "loop" {
					go func() { <-started; cancel() }()
				} else {
					go cancel()
				}
				err := f.Run(ctx, runtime.RunOptions{}, argsOf(f), f.NewResults())
				var st *runtime.Error
				require.ErrorAs(t, err, &st, name)
				assert.Equal(t, async.Cancelled, st.Code, name)
				assert.ErrorIs(t, err, context.Canceled)
			}
		}
		p.Trim()
	})
}

func TestRequestReachesKernels(t *testing.T) {
	type device struct{ name string }
	reg := runtime.NewRegistry()
	reg.Tensor("toy.who", func(*runtime.Binding) (runtime.Bound, error) {
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			d, ok := runtime.Data[*device](f.Ctx())
			if !ok || d.name != "CPU:0" || f.Ctx().Replica != 3 || f.Ctx().Partition != 1 {
				return errors.New("data is missing")
			}
			if _, ok := runtime.Data[string](f.Ctx()); ok {
				return errors.New("data from nowhere")
			}
			return nil
		}}, nil
	})
	file, err := assemble("func main frame=0\n  x:i32[1]@out(0) = toy.who\n  return x")
	require.NoError(t, err)
	host := runtime.NewHost(runtime.HostOptions{})
	p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: host})
	require.NoError(t, err)
	f := p.Function("main")
	req := runtime.NewRequest(t.Context(), host, runtime.RequestOptions{Data: []any{&device{"CPU:0"}}})
	defer req.Close()
	o := runtime.RunOptions{Request: req, Replica: 3, Partition: 1}
	assert.NoError(t, f.Run(context.Background(), o, nil, f.NewResults()))
	assert.ErrorContains(t, f.Run(t.Context(), runtime.RunOptions{}, nil, f.NewResults()), "data is missing")
	req.Cancel()
	assert.ErrorIs(t, f.Run(context.Background(), o, nil, f.NewResults()), context.Canceled)
}

func TestRunRefusesWrongBuffers(t *testing.T) {
	f := loadTensor(t, nil, loopProgram).Function("main")
	good, results := argsOf(f), f.NewResults()
	for _, c := range []struct {
		args, results []runtime.Buffer
		want          string
	}{
		{nil, results, "takes 1 arguments and 1 results, got 0 and 1"},
		{good, nil, "got 1 and 0"},
		{[]runtime.Buffer{{Type: typeI32, Dims: []int64{1}, Data: make([]byte, 8)}}, results, "argument 0: got type 4[1] in 8 bytes"},
		{[]runtime.Buffer{{Type: typeI32, Dims: []int64{1, 1}, Data: make([]byte, 4)}}, results, "argument 0: got type 4[1 1]"},
		{[]runtime.Buffer{{Type: typePred, Dims: []int64{1}, Data: make([]byte, 4)}}, results, "argument 0: got type 1[1]"},
		{good, []runtime.Buffer{{Type: typeI32, Dims: []int64{1}, Data: make([]byte, 8)[1:5]}}, "result 0: data is not aligned to 4 bytes"},
	} {
		assert.ErrorContains(t, f.Run(t.Context(), runtime.RunOptions{}, c.args, c.results), c.want)
	}
	done := f.Start(t.Context(), runtime.RunOptions{}, nil, nil)
	assert.ErrorContains(t, done.Err(), "got 0 and 0")
}

func TestInstanceNeedsMemory(t *testing.T) {
	budget := &runtime.BudgetAllocator{Base: runtime.NewHeapAllocator(), Limit: 100}
	host := runtime.NewHost(runtime.HostOptions{Allocator: budget})
	f := loadTensor(t, host, loopProgram).Function("main")
	assert.EqualValues(t, 128, f.ArenaBytes())
	err := f.Run(t.Context(), runtime.RunOptions{}, argsOf(f), f.NewResults())
	var st *runtime.Error
	require.ErrorAs(t, err, &st)
	assert.Equal(t, async.ResourceExhausted, st.Code)
}

type recordedTrace struct {
	mu    sync.Mutex
	depth map[int]int
	names []string
}

func (r *recordedTrace) Begin(lane int, category, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.depth[lane]++
	r.names = append(r.names, name)
}

func (r *recordedTrace) End(lane int, category, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.depth[lane]--
}

func TestTensorTrace(t *testing.T) {
	f := loadTensor(t, nil, loopProgram).Function("main")
	trace := &recordedTrace{depth: map[int]int{}}
	require.NoError(t, f.Run(t.Context(), runtime.RunOptions{Tracer: trace}, argsOf(f), f.NewResults()))
	assert.Equal(t, []string{"toy.text", "toy.less"}, trace.names)
	assert.Equal(t, map[int]int{0: 0}, trace.depth)
}
