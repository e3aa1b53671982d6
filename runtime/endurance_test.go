package runtime_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// heapAfter is the memory that the collector cannot free.
func heapAfter() uint64 {
	goruntime.GC()
	goruntime.GC() // pools keep what they have for one more cycle
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}

// flat runs something n times and requires that memory does not grow after the first tenth.
func flat(t *testing.T, n int, run func()) {
	t.Helper()
	if raceEnabled || testing.Short() {
		n /= 20
	}
	for range n / 10 {
		run()
	}
	before := heapAfter()
	for range n - n/10 {
		run()
	}
	if after := heapAfter(); after > before+64<<10 {
		t.Errorf("%d executions left %d bytes", n-n/10, after-before)
	}
}

const enduring = `
func.func @add(%a: i32, %b: i32) -> i32 {
  %c = "t.add"(%a, %b) : (i32, i32) -> i32
  tfrt.return %c : i32
}
func.func @synchronous(%a: i32) -> i32 {
  %b = "t.call"(%a, %a) {callee = @add} : (i32, i32) -> i32
  %v = "t.noisy"() {value = 1 : i32} : () -> !vt.value
  %w = "t.noisy-add"(%v, %v) : (!vt.value, !vt.value) -> !vt.value
  tfrt.return %b : i32
}
func.func @asynchronous(%a: i32) -> i32 {
  %b = "t.later"(%a) : (i32) -> i32
  %c = "t.later-indirect"(%b) : (i32) -> i32
  %d = "t.call"(%b, %c) {callee = @add} : (i32, i32) -> i32
  tfrt.return %d : i32
}
func.func @failing(%a: i32) -> i32 {
  %e = "t.quiet-fail"() : () -> i32
  %b = "t.add"(%a, %e) : (i32, i32) -> i32
  tfrt.return %b : i32
}
func.func @buffers(%a: i32) -> !t.buffer {
  %x = "t.buffer"() : () -> !t.buffer
  %y = "t.buffer"() : () -> !t.buffer
  %z = "t.buffer-add"(%x, %y) : (!t.buffer, !t.buffer) -> !t.buffer
  tfrt.return %z : !t.buffer
}
`

func TestMillionExecutions(t *testing.T) {
	for _, queue := range []string{"single", "multi:2"} {
		for _, name := range []string{"synchronous", "asynchronous", "failing", "buffers"} {
			t.Run(name+"/"+queue, func(t *testing.T) {
				h := loadHost(t, queue, enduring, runtime.LoadOptions{})
				h.journal.silent = true
				_, ctx := h.begin(t, runtime.RequestOptions{})
				f := h.program.Function(name)
				args, results := []*async.Value{async.Int32(1000)}, make([]*async.Value, 1)
				flat(t, 1_000_000, func() {
					if err := f.Execute(ctx, args, results); err != nil {
						t.Fatal(err)
					}
					if results[0].IsUnavailable() {
						if err := h.host.Queue().Await(context.Background(), results...); err != nil {
							t.Fatal(err)
						}
					}
					results[0].DropRef()
				})
				h.host.Quiesce()
				assert.Zero(t, h.journal.live.Load())
			})
		}
	}
}

// tensorEndurance has a loop around an async start, one that is carried through the loop, and a branch.
const tensorEndurance = `
const 1
const 5
func twice frame=0
  x:i32[1] = arg
  r:i32[1]@out(0) = toy.add x x
  return r

func cond frame=0
  i:i32[1] = arg
  e:tok = arg
  n:i32[1]@const(64) = hlo.constant
  p:pred[]@out(0) = toy.less i n
  return p

func body frame=192
  i:i32[1] = arg
  e:tok = arg
  one:i32[1]@const(0) = hlo.constant
  s:tok = hlo.async-start i calls=twice@64 outputs=a thread=side
  d:i32[1]@arena(128) = hlo.async-done e
  next:tok = hlo.async-start d calls=twice detached=true
  a:i32[1]@arena(0) = hlo.async-done s
  j:i32[1]@out(0) = toy.add i one
  return j next

func main frame=512
  x:i32[1] = arg
  e:tok = hlo.async-start x calls=twice detached=true
  i:i32[1]@arena(0) f:tok = hlo.while x e calls=cond@64,body@64
  d:i32[1]@arena(256) = hlo.async-done f
  r:i32[1]@out(0) = toy.add d i
  return r
`

func TestMillionTensorExecutions(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, host *runtime.Host) {
		for _, c := range []struct {
			text       string
			executions int
			want       int32
		}{
			{loopProgram, 1_000_000, 2},
			{tensorEndurance, 100_000, 2<<4 + 5}, // of dozens of hand-overs between threads each
		} {
			p := loadTensor(t, host, c.text)
			f := p.Function("main")
			args, results := argsOf(f), f.NewResults()
			put(args[0].Data, 2)
			flat(t, c.executions, func() {
				if err := f.Run(context.Background(), runtime.RunOptions{}, args, results); err != nil {
					t.Fatal(err)
				}
			})
			assert.Equal(t, c.want, get(results[0].Data))
			p.Trim()
			assert.Empty(t, host.Allocator().(*runtime.ProfileAllocator).Leak())
		}
	})
}

// canceller is a tracer that cancels before a given kernel runs.
type canceller struct {
	mu     sync.Mutex
	left   int
	cancel func()
}

func (c *canceller) Begin(int, string, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		c.cancel()
	}
}

func (c *canceller) End(int, string, string) {}

// cancelPoints are where cancellation strikes: before the n-th kernel, or on another goroutine while n others had their turn.
func cancelPoints(t *testing.T, kernels int, run func(point string, tracer runtime.Tracer, ctx context.Context)) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		n := rng.IntN(kernels)
		ctx, cancel := context.WithCancel(t.Context())
		if i%2 == 0 {
			run(fmt.Sprintf("kernel %d", n), &canceller{left: n, cancel: cancel}, ctx)
		} else {
			var wg sync.WaitGroup
			wg.Go(func() {
				for range n {
					goruntime.Gosched()
				}
				cancel()
			})
			run(fmt.Sprintf("after %d turns", n), nil, ctx)
			wg.Wait()
		}
		cancel()
	}
}

const cancellable = `
func.func @body(%a: i32, %b: i32) -> (i32, i32) {
  %c = "t.later"(%a) : (i32) -> i32
  %v = "t.noisy"() {value = 1 : i32} : () -> !vt.value
  %w = "t.noisy-later"(%v) : (!vt.value) -> !vt.value
  %x = "t.noisy-add"(%v, %w) : (!vt.value, !vt.value) -> !vt.value
  %d = "t.add"(%c, %b) : (i32, i32) -> i32
  tfrt.return %d, %b : i32, i32
}
func.func @main() -> (i32, !vt.value, !t.buffer) attributes {tfrt.cost_threshold = 1 : i64} {
  %one = "t.const"() {value = 1 : i32} : () -> i32
  %t = "t.true"() : () -> i1
  %a:2 = "t.call"(%one, %one) {callee = @body} : (i32, i32) -> (i32, i32)
  %b:2 = "t.async-call"(%a#0, %one) {callee = @body} : (i32, i32) -> (i32, i32)
  %c:2 = "t.if"(%t, %b#0, %a#1) {a = @body, b = @body} : (i1, i32, i32) -> (i32, i32)
  %v = "t.noisy"() {value = 7 : i32} : () -> !vt.value
  %w = "t.noisy-later"(%v) : (!vt.value) -> !vt.value
  %x = "t.buffer"() : () -> !t.buffer
  %y = "t.buffer-add"(%x, %x) : (!t.buffer, !t.buffer) -> !t.buffer
  %f = "t.foreign"(%c#0) : (i32) -> i32
  %d:2 = "t.call"(%f, %one) {callee = @body} : (i32, i32) -> (i32, i32)
  tfrt.return %d#0, %w, %y : i32, !vt.value, !t.buffer
}
`

// TestCancelAnywhere cancels requests at a thousand points: every result becomes available all the same, as a value or as the error, and
// nothing is left over.
func TestCancelAnywhere(t *testing.T) {
	onBothQueues(t, cancellable, func(t *testing.T, h *hostTest) {
		profile := &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}
		host := runtime.NewHost(runtime.HostOptions{Queue: h.host.Queue(), Allocator: profile})
		h.journal.silent = true
		f := h.program.Function("main")
		cancelled, finished := 0, 0
		cancelPoints(t, 40, func(point string, tracer runtime.Tracer, ctx context.Context) {
			req := runtime.NewRequest(ctx, host, runtime.RequestOptions{Tracer: tracer})
			defer req.Close()
			results := make([]*async.Value, f.NumResults())
			require.NoError(t, f.Execute(req.NewExecContext(), nil, results))
			require.NoError(t, host.Queue().Await(context.Background(), results...), point)
			host.Quiesce()
			for _, v := range results {
				if st := v.Status(); st != nil {
					require.Equal(t, async.Cancelled, st.Code, "%s: %v", point, st)
					cancelled++
				} else {
					finished++
				}
				v.DropRef()
			}
			require.Zero(t, h.journal.live.Load(), point)
			require.Empty(t, profile.Leak(), point)
		})
		assert.NotZero(t, cancelled)
		assert.NotZero(t, finished)
	})
}

// TestCancelTensorAnywhere is the same for a tensor function, whose runs fail as a whole.
func TestCancelTensorAnywhere(t *testing.T) {
	onEveryQueue(t, func(t *testing.T, host *runtime.Host) {
		p := loadTensor(t, host, tensorEndurance)
		f := p.Function("main")
		args, results := argsOf(f), f.NewResults()
		cancelled := 0
		cancelPoints(t, 40, func(point string, tracer runtime.Tracer, ctx context.Context) {
			if err := f.Run(ctx, runtime.RunOptions{Tracer: tracer}, args, results); err != nil {
				require.Equal(t, async.Cancelled, async.StatusOf(err).Code, "%s: %v", point, err)
				cancelled++
			}
			// The same instance gives the right answer afterwards.
			require.NoError(t, f.Run(context.Background(), runtime.RunOptions{}, args, results), point)
			require.EqualValues(t, 5, get(results[0].Data), point)
		})
		assert.NotZero(t, cancelled)
		host.Quiesce()
		p.Trim()
		assert.Empty(t, host.Allocator().(*runtime.ProfileAllocator).Leak())
	})
}
