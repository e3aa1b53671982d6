package eager_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/eager"
	"github.com/gohalo/halo/runtime/workqueue"
)

// What ops that run one by one take of memory: operands written over, what is given back, and what is kept.

func TestConsumedOperandsAreWrittenOver(t *testing.T) {
	account := runtime.NewHeapAllocator()
	rt := eager.NewRuntime(eager.Options{Host: runtime.NewHost(runtime.HostOptions{Allocator: account})})
	neg := makeOp(t, rt, "negate", eager.Attrs{})
	first, err := neg.Call(nil, vector(1, 2))
	require.NoError(t, err)
	before, _ := first[0].Tensor()
	data := &before.Data()[0]
	inv := eager.Invocation{Args: first, Consume: true}
	require.NoError(t, neg.Execute(&inv))
	after, _ := inv.Results[0].Tensor()
	assert.Same(t, data, &after.Data()[0], "the memory is that of the operand")
	assert.Equal(t, []float32{1, 2}, floats(t, rt, inv.Results[0]))

	shared := inv.Results[0].CopyRef()
	inv = eager.Invocation{Args: inv.Results, Consume: true}
	require.NoError(t, neg.Execute(&inv))
	assert.Equal(t, []float32{1, 2}, floats(t, rt, shared), "somebody else holds it")
	assert.Equal(t, []float32{-1, -2}, floats(t, rt, inv.Results[0]))
}

// TestMemoryIsGivenBack counts what the allocator gave.
func TestMemoryIsGivenBack(t *testing.T) {
	async.CheckLeaks(t)
	for _, general := range []bool{false, true} {
		alloc := &counting{HostAllocator: runtime.NewHeapAllocator()}
		q := workqueue.NewMulti(workqueue.Config{Workers: 2})
		rt := eager.NewRuntime(eager.Options{General: general, Host: runtime.NewHost(runtime.HostOptions{Queue: q, Allocator: alloc})})
		x := vector(1, 2, 3)
		for range 100 {
			y, err := rt.Execute(nil, "add", eager.Attrs{}, x, x)
			require.NoError(t, err)
			late, publish := pending(hlo.MakeShape(hlo.F32, 3))
			z, err := rt.Execute(nil, "multiply", eager.Attrs{}, y[0], late)
			require.NoError(t, err)
			y[0].Drop()
			publish(x)
			require.NoError(t, rt.Await(t.Context(), z...))
			z[0].Drop()
			late.Drop()
		}
		x.Drop()
		rt.Quiesce()
		q.Close()
		if !general { // programs keep their arenas
			assert.Zero(t, alloc.live())
		}
	}
}

type counting struct {
	runtime.HostAllocator
	mu sync.Mutex
	n  int
}

func (c *counting) Allocate(size, align int64) ([]byte, error) {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.HostAllocator.Allocate(size, align)
}

func (c *counting) Deallocate(b []byte) {
	c.mu.Lock()
	c.n--
	c.mu.Unlock()
	c.HostAllocator.Deallocate(b)
}

func (c *counting) live() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func TestOutOfMemoryIsAnError(t *testing.T) {
	budget := &runtime.BudgetAllocator{Base: runtime.NewHeapAllocator(), Limit: 1 << 10}
	rt := eager.NewRuntime(eager.Options{Host: runtime.NewHost(runtime.HostOptions{Allocator: budget})})
	zero, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32), float32(0))
	require.NoError(t, err)
	out, err := rt.Execute(nil, "broadcast", eager.Attrs{Shape: hlo.MakeShape(hlo.F32, 1<<10)}, eager.Of(zero))
	require.NoError(t, err)
	require.Error(t, rt.Await(t.Context(), out...))
}

// TestCacheIsBounded executes more kinds of op than are kept.
func TestCacheIsBounded(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{CacheSize: 8})
	for round := range 2 {
		for n := range 20 {
			x := vector(make([]float32, n+1)...)
			_, err := rt.Execute(nil, "negate", eager.Attrs{}, x)
			require.NoError(t, err)
			_ = round
		}
	}
	s := rt.Stats()
	assert.Equal(t, 8, s.Entries)
	assert.Equal(t, 32, s.Evictions)
	for range 10 {
		_, err := rt.Execute(nil, "negate", eager.Attrs{}, vector(make([]float32, 20)...))
		require.NoError(t, err)
	}
	assert.Equal(t, s.Misses, rt.Stats().Misses, "nothing is prepared twice in a row")
}
