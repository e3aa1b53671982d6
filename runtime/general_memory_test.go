package runtime_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Who owns what general functions work on, and when it is given back: values, buffers, resources.

// U06: an argument given away is unique at its last use.
func TestU06U07ExecuteByValue(t *testing.T) {
	onBothQueues(t, `func.func @main(%a: !vt.value) -> i1 {
  %u = "t.unique"(%a) : (!vt.value) -> i1
  tfrt.return %u : i1
}`, func(t *testing.T, h *hostTest) {
		_, ctx := h.begin(t, runtime.RequestOptions{})
		f := h.program.Function("main")
		results := make([]*async.Value, 1)
		value := async.MakeAvailable(h.journal.noisy(1)).Value()
		require.NoError(t, f.Execute(ctx, []*async.Value{value}, results))
		assert.Equal(t, "false", show(results[0]), "the caller holds it too")
		require.NoError(t, f.ExecuteByValue(ctx, []*async.Value{value}, results))
		assert.Equal(t, "true", show(results[0]))
		assert.Zero(t, h.journal.live.Load())
		// U07: a static value never is.
		static := async.MakeStatic(h.journal.noisy(2)).Value()
		require.NoError(t, f.ExecuteByValue(ctx, []*async.Value{static}, results))
		assert.Equal(t, "false", show(results[0]))
	})
}

// L11: executions with counted values, synchronous and asynchronous, leave nothing behind.
func TestL11ManyExecutions(t *testing.T) {
	onBothQueues(t, `func.func @main() -> !vt.value {
  %a = "t.noisy"() {value = 1 : i32} : () -> !vt.value
  %b = "t.noisy-later"(%a) : (!vt.value) -> !vt.value
  %c = "t.noisy-add"(%a, %b) : (!vt.value, !vt.value) -> !vt.value
  tfrt.return %c : !vt.value
}`, func(t *testing.T, h *hostTest) {
		for range 500 {
			h.run(t, "main")
		}
		assert.Zero(t, h.journal.live.Load())
	})
}

const bufferProgram = `
func.func @main() -> !t.buffer {
  %a = "t.buffer"() : () -> !t.buffer
  %b = "t.buffer"() : () -> !t.buffer
  %c = "t.buffer-add"(%a, %b) : (!t.buffer, !t.buffer) -> !t.buffer
  %d = "t.buffer-add"(%c, %a) : (!t.buffer, !t.buffer) -> !t.buffer
  %e = "t.buffer-add"(%d, %b) : (!t.buffer, !t.buffer) -> !t.buffer
  tfrt.return %e : !t.buffer
}`

// L12: tensor memory goes back at its last use, not when the collector finds it, and is used again. U03: the second and
// third addition work in place, so three buffers are enough.
func TestL12BuffersWithoutCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	h := loadHost(t, "single", bufferProgram, runtime.LoadOptions{})
	profile := &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}
	h.host = runtime.NewHost(runtime.HostOptions{Queue: h.host.Queue(), Allocator: profile})
	for range 1000 {
		require.Equal(t, "returned value", h.run(t, "main"))
	}
	stats := profile.Stats()
	assert.Empty(t, profile.Leak())
	assert.EqualValues(t, 3, stats.PeakAllocations)
	assert.EqualValues(t, 3000, stats.Allocations)
}

func TestU04U05HostBuffers(t *testing.T) {
	profile := &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}
	parent, err := runtime.NewHostBuffer(profile, 100, runtime.BufferAlign)
	require.NoError(t, err)
	assert.True(t, parent.IsExclusiveOwner())
	slice := parent.Slice(10, 20)
	assert.Len(t, slice.Data(), 20)
	assert.False(t, slice.IsExclusiveOwner(), "the parent is shared")
	parent.DropRef()
	assert.True(t, slice.IsExclusiveOwner(), "the slice holds the parent alone")
	assert.EqualValues(t, 164, profile.Stats().LiveBytes)
	slice.DropRef()
	assert.Empty(t, profile.Leak())
	assert.Panics(t, slice.DropRef)

	released := 0
	external := runtime.NewExternalBuffer(make([]byte, 4), func() { released++ })
	assert.False(t, external.IsExclusiveOwner())
	external.DropRef()
	assert.Equal(t, 1, released)
}

func TestI03BudgetAllocator(t *testing.T) {
	var log strings.Builder
	a := &runtime.BudgetAllocator{Base: runtime.NewHeapAllocator(), Limit: 1024, Exempt: 32, Log: &log}
	x, err := runtime.NewHostBuffer(a, 128, 8)
	require.NoError(t, err)
	_, err = runtime.NewHostBuffer(a, 4096, 8)
	require.Error(t, err)
	assert.Equal(t, async.ResourceExhausted, async.StatusOf(err).Code)
	x.DropRef()
	small, err := a.Allocate(32, 8)
	require.NoError(t, err)
	a.Deallocate(small)
	assert.Equal(t, "Allocating 192 bytes. 832 remaining.\nAttempted to allocate 4160 bytes. However current capacity is only 832.\nFreeing 192 bytes. 1024 available.\n", log.String())
	_, err = runtime.NewHeapAllocator().Allocate(1<<50, 8)
	assert.Error(t, err)
}

func TestI04LeakCheck(t *testing.T) {
	a := &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}
	b, err := a.Allocate(4, 4)
	require.NoError(t, err)
	assert.Equal(t, "Memory leak detected: 1 alive allocations, 4 alive bytes", a.Leak())
	assert.Panics(t, func() { a.Deallocate(make([]byte, 4)) })
	a.Deallocate(b)
	assert.Empty(t, a.Leak())
	var report strings.Builder
	a.Report(&report)
	assert.Contains(t, report.String(), "Max number of bytes allocated = 4\n")
}

type closer struct {
	name string
	log  *[]string
}

func (c closer) Close() error {
	*c.log = append(*c.log, c.name)
	return nil
}

// G12: resources are made once and closed in reverse order.
func TestG12ResourceContext(t *testing.T) {
	c := runtime.NewResourceContext()
	var log []string
	made := 0
	get := func(name string) closer {
		v, err := runtime.GetOrCreateResource(c, name, func() (closer, error) { made++; return closer{name, &log}, nil })
		require.NoError(t, err)
		return v
	}
	get("a")
	get("b")
	assert.Equal(t, "a", get("a").name)
	assert.Equal(t, 2, made)
	_, err := runtime.GetOrCreateResource(c, "a", func() (int, error) { return 0, nil })
	assert.ErrorContains(t, err, `resource "a" is a runtime_test.closer, not a int`)
	require.NoError(t, c.Close())
	assert.Equal(t, []string{"b", "a"}, log)
}

func TestB22SharedContext(t *testing.T) {
	host := runtime.NewHost(runtime.HostOptions{})
	n := 0
	create := func() *int { n++; return new(int) }
	assert.Same(t, runtime.Shared(host, create), runtime.Shared(host, create))
	assert.Equal(t, 1, n)
}
