package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/workqueue"
)

// begin starts a request and returns its context.
func (h *hostTest) begin(t testing.TB, o runtime.RequestOptions) (*runtime.Request, runtime.ExecContext) {
	req := runtime.NewRequest(t.Context(), h.host, o)
	t.Cleanup(req.Close)
	return req, req.NewExecContext()
}

func onBothQueues(t *testing.T, text string, f func(t *testing.T, h *hostTest)) {
	for _, queue := range []string{"single", "multi:4"} {
		t.Run(queue, func(t *testing.T) { f(t, loadHost(t, queue, text, runtime.LoadOptions{})) })
	}
}

// A09: many asynchronous kernels merged through chains.
func TestA09ManyMergedThroughChains(t *testing.T) {
	var text strings.Builder
	text.WriteString("func.func @main() -> (!tfrt.chain, i32) {\n  %one = \"t.const\"() {value = 1 : i32} : () -> i32\n")
	names, types := make([]string, 1024), make([]string, 1024)
	for i := range names {
		fmt.Fprintf(&text, "  %%v%d = \"t.async-add\"(%%one, %%one) : (i32, i32) -> i32\n", i)
		names[i], types[i] = fmt.Sprintf("%%v%d", i), "i32"
	}
	operands, signature := strings.Join(names, ", "), strings.Join(types, ", ")
	fmt.Fprintf(&text, "  %%c = \"t.merge\"(%s) : (%s) -> !tfrt.chain\n", operands, signature)
	fmt.Fprintf(&text, "  %%s = \"t.sum\"(%s) : (%s) -> i32\n", operands, signature)
	text.WriteString("  tfrt.return %c, %s : !tfrt.chain, i32\n}\n")
	onBothQueues(t, text.String(), func(t *testing.T, h *hostTest) {
		for range 5 {
			assert.Equal(t, "returned value,2048", h.run(t, "main"))
		}
	})
}

// dependents is a function whose argument has n users.
func dependents(n int) string {
	var text strings.Builder
	text.WriteString("func.func @main(%a: i32) -> i32 {\n")
	for i := range n {
		fmt.Fprintf(&text, "  %%v%d = \"t.add\"(%%a, %%a) : (i32, i32) -> i32\n", i)
	}
	fmt.Fprintf(&text, "  tfrt.return %%v%d : i32\n}\n", n-1)
	return text.String()
}

func TestA15ManyUsersOfOneLateValue(t *testing.T) {
	onBothQueues(t, dependents(10000), func(t *testing.T, h *hostTest) {
		_, ctx := h.begin(t, runtime.RequestOptions{})
		f := h.program.Function("main")
		late := async.MakeUnconstructed[int32]()
		results := make([]*async.Value, 1)
		require.NoError(t, f.Execute(ctx, []*async.Value{late.Value()}, results))
		assert.True(t, results[0].IsUnavailable())
		late.Emplace(21)
		h.host.Quiesce()
		assert.EqualValues(t, 42, async.Get[int32](results[0]))
		drop(results)
	})
}

// A16: a chain of executions, each waiting for the one before. One publication sets them all off.
func TestA16LongChainOfContinuations(t *testing.T) {
	onBothQueues(t, dependents(1), func(t *testing.T, h *hostTest) {
		_, ctx := h.begin(t, runtime.RequestOptions{})
		f := h.program.Function("main")
		first := async.MakeUnconstructed[int32]()
		results := []*async.Value{first.Value()}
		for range 100000 {
			require.NoError(t, f.ExecuteByValue(ctx, results, results))
		}
		last := results[0]
		assert.True(t, last.IsUnavailable())
		first.Emplace(0)
		h.host.Quiesce()
		require.True(t, last.IsConcrete())
		assert.EqualValues(t, 0, async.Get[int32](last))
		last.DropRef()
	})
}

const recursion = `
func.func @down(%n: i32, %minus: i32) -> i32 {
  %m = "t.add"(%n, %minus) : (i32, i32) -> i32
  %zero = "t.const"() {value = 0 : i32} : () -> i32
  %more = "t.less"(%zero, %m) : (i32, i32) -> i1
  %r = "t.if"(%more, %m, %minus) {a = @down, b = @bottom} : (i1, i32, i32) -> i32
  tfrt.return %r : i32
}
func.func @bottom(%n: i32, %minus: i32) -> i32 {
  tfrt.return %n : i32
}
func.func @forever(%n: i32) -> i32 {
  %r = "t.call"(%n) {callee = @forever} : (i32) -> i32
  tfrt.return %r : i32
}
`

func TestF25DeepRecursion(t *testing.T) {
	onBothQueues(t, recursion, func(t *testing.T, h *hostTest) {
		_, ctx := h.begin(t, runtime.RequestOptions{})
		results := make([]*async.Value, 1)
		args := []*async.Value{async.Int32(10000), async.Int32(-1)}
		require.NoError(t, h.program.Function("down").Execute(ctx, args, results))
		h.host.Quiesce()
		assert.Equal(t, "0", show(results[0]))
		drop(results)
	})
	t.Run("endless", func(t *testing.T) {
		h := loadHost(t, "single", recursion, runtime.LoadOptions{})
		_, ctx := h.begin(t, runtime.RequestOptions{})
		results := make([]*async.Value, 1)
		require.NoError(t, h.program.Function("forever").Execute(ctx, []*async.Value{async.Int32(1)}, results))
		h.host.Quiesce()
		require.True(t, results[0].IsError())
		assert.Equal(t, async.ResourceExhausted, results[0].Status().Code)
		drop(results)
	})
}

const onePrint = `
func.func @skip(%a: i32) -> (i32, i32, i32) {
  %x:3 = "t.count3"(%a) : (i32) -> (i32, i32, i32)
  tfrt.return %x#0, %x#1, %x#2 : i32, i32, i32
}
func.func @same(%a: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  tfrt.return %a, %a, %a : !tfrt.chain, !tfrt.chain, !tfrt.chain
}
func.func @panics() -> i32 {
  %a = "t.panic"() : () -> i32
  tfrt.return %a : i32
}
func.func @waits(%a: i32) -> (i32, i32) {
  %b = "t.add"(%a, %a) : (i32, i32) -> i32
  %one = "t.const"() {value = 1 : i32} : () -> i32
  tfrt.return %b, %one : i32, i32
}
`

func TestE14SkippedResultsAreOneError(t *testing.T) {
	onBothQueues(t, onePrint, func(t *testing.T, h *hostTest) {
		_, ctx := h.begin(t, runtime.RequestOptions{})
		failed := async.MakeError(errors.New("bad"))
		results := make([]*async.Value, 3)
		require.NoError(t, h.program.Function("skip").Execute(ctx, []*async.Value{failed}, results))
		for _, v := range results {
			assert.Same(t, failed, v)
		}
	})
}

// One value stays one value where a function returns its argument several times (section 19, row 3).
func TestSharedArgumentStaysOneValue(t *testing.T) {
	h := loadHost(t, "single", onePrint, runtime.LoadOptions{})
	_, ctx := h.begin(t, runtime.RequestOptions{})
	late := async.MakeUnconstructed[async.Chain]().Value()
	results := make([]*async.Value, 3)
	require.NoError(t, h.program.Function("same").Execute(ctx, []*async.Value{late}, results))
	for _, v := range results {
		assert.Same(t, late, v)
	}
	async.Emplace(late, async.Chain{})
}

func TestE18KernelPanics(t *testing.T) {
	onBothQueues(t, onePrint, func(t *testing.T, h *hostTest) {
		got := h.run(t, "panics")
		assert.Contains(t, got, "10: kernel panicked: oh no")
		assert.Contains(t, got, "returned <<error: kernel panicked: oh no")
	})
}

// deadline is a context whose deadline passes when the channel is closed.
type deadline struct {
	context.Context
	passed chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.passed }

func (d deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return d.Context.Err()
	}
}

func TestE19Deadline(t *testing.T) {
	h := loadHost(t, "multi:2", onePrint, runtime.LoadOptions{})
	parent := deadline{t.Context(), make(chan struct{})}
	req := runtime.NewRequest(parent, h.host, runtime.RequestOptions{})
	defer req.Close()
	late := async.MakeUnconstructed[int32]()
	results := make([]*async.Value, 2)
	require.NoError(t, h.program.Function("waits").Execute(req.NewExecContext(), []*async.Value{late.Value()}, results))
	async.BlockUntilReady(results[1])
	close(parent.passed)
	<-req.Context().Done()
	late.Emplace(1)
	h.host.Quiesce()
	require.True(t, results[0].IsError())
	assert.Equal(t, async.DeadlineExceeded, results[0].Status().Code)
	assert.Equal(t, "1", show(results[1]), "what was available stays")
	drop(results)
}

func TestD11ErrorsCarryKernelAndLocation(t *testing.T) {
	onBothQueues(t, onePrint, func(t *testing.T, h *hostTest) {
		_, ctx := h.begin(t, runtime.RequestOptions{})
		results := make([]*async.Value, 1)
		require.NoError(t, h.program.Function("panics").Execute(ctx, nil, results))
		st := results[0].Status()
		assert.Equal(t, "t.panic", st.Kernel)
		assert.Equal(t, async.Location{File: "test.mlir", Line: 10, Col: 8}, st.Location)
	})
}

func TestD08LocationsDiffer(t *testing.T) {
	onBothQueues(t, `func.func @main() {
  %a = "t.location"() : () -> !tfrt.chain
  %b = "t.location"() : () -> !tfrt.chain
  %c = "t.location"() : () -> !tfrt.chain
  tfrt.return
}`, func(t *testing.T, h *hostTest) {
		ids := strings.Fields(h.run(t, "main"))
		require.Len(t, ids, 3)
		slices.Sort(ids)
		assert.Len(t, slices.Compact(ids), 3)
	})
}

func TestLoadRefusesHostPrograms(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"D09", `func.func @f() {
  "no.such"() : () -> ()
  "t.chain"() : () -> !tfrt.chain
  "nor.this"() : () -> ()
  "no.such"() : () -> ()
  tfrt.return
}`, "test.mlir:2:3: unknown kernel name 'no.such'\ntest.mlir:4:3: unknown kernel name 'nor.this'"},
		{"arguments", "func.func @f(%a: i32) {\n  %b = \"t.add\"(%a) : (i32) -> i32\n  tfrt.return\n}", "kernel 't.add' takes 2 arguments, got 1"},
		{"results", "func.func @f() {\n  %b:2 = \"t.chain\"() : () -> (i32, i32)\n  tfrt.return\n}", "kernel 't.chain' takes 1 results, got 2"},
		{"attributes", "func.func @f() {\n  %b = \"t.const\"() : () -> i32\n  tfrt.return\n}", "kernel 't.const' takes 1 attributes, got 0"},
		{"functions", "func.func @f() {\n  \"t.call\"() : () -> ()\n  tfrt.return\n}", "kernel 't.call' takes 1 functions, got 0"},
		{"callee", "func.func @g(%a: i32) {\n  tfrt.return\n}\nfunc.func @f() {\n  \"t.call\"() {callee = @g} : () -> ()\n  tfrt.return\n}",
			"kernel 't.call': function \"g\" takes 1 arguments and gives 0 results, got 0 and 0"},
		{"N05", "func.func private @native_missing() attributes {tfrt.native}", "unable to find native function in global registry"},
		{"native arity", "func.func private @native_add(i32) -> i32 attributes {tfrt.native}", "kernel 'native_add' takes 2 arguments, got 1"},
		{"sync", "func.func @f() attributes {tfrt.sync} {\n  %a = \"t.const\"() {value = 1 : i32} : () -> i32\n  tfrt.return\n}", "kernel 't.const' has no synchronous implementation"},
		{"async", "func.func @f() {\n  %a = \"s.const\"() {value = 1 : i32} : () -> i32\n  tfrt.return\n}", "kernel 's.const' is for synchronous functions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := hostprog.Parse("test.mlir", c.text)
			require.NoError(t, err)
			file, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
			require.NoError(t, err)
			_, err = runtime.Load(throughBytes(t, file), hostKernels(&journal{}), runtime.LoadOptions{})
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// The order of kernels in several streams, on the single-threaded queue (host-kernels.md section 12).
func TestStreamsOnTheSingleQueue(t *testing.T) {
	h := loadHost(t, "single", `func.func @main() attributes {tfrt.cost_threshold = 1 : i64} {
  %ch = "t.chain"() : () -> !tfrt.chain
  %a = "t.id"() {id = 1 : i64} : () -> i32
  %b = "t.id"() {id = 2 : i64} : () -> i32
  %c = "t.add"(%a, %b) : (i32, i32) -> i32
  %c1 = "t.print"(%c, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %d = "t.id"() {id = 4 : i64} : () -> i32
  %e = "t.id"() {id = 5 : i64} : () -> i32
  tfrt.return
}`, runtime.LoadOptions{})
	assert.Equal(t, "id 5\nid 4\nid 1\nid 2\nint32 = 3", h.run(t, "main"))
}

// S09: one stream needs no task.
func TestS09OneStreamNeedsNoTask(t *testing.T) {
	onBothQueues(t, `func.func @main(%a: i32) -> i32 {
  %b = "t.add"(%a, %a) : (i32, i32) -> i32
  %c = "t.add"(%b, %a) : (i32, i32) -> i32
  %d = "t.add"(%c, %b) : (i32, i32) -> i32
  tfrt.return %d : i32
}`, func(t *testing.T, h *hostTest) {
		counting := &countingQueue{Queue: h.host.Queue()}
		ctx := runtime.ExecContext{Queue: counting}
		results := make([]*async.Value, 1)
		require.NoError(t, h.program.Function("main").Execute(ctx, []*async.Value{async.Int32(1)}, results))
		assert.Equal(t, "5", show(results[0]))
		assert.Zero(t, counting.tasks)
	})
}

type countingQueue struct {
	workqueue.Queue
	tasks int
}

func (q *countingQueue) AddTask(task func()) {
	q.tasks++
	q.Queue.AddTask(task)
}

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

// A14: more blocking tasks than threads for them.
func TestA14BlockingTasksShareThreads(t *testing.T) {
	var text strings.Builder
	text.WriteString("func.func @main() -> !tfrt.chain {\n  %us = \"t.const\"() {value = 100 : i32} : () -> i32\n")
	names, types := make([]string, 300), make([]string, 300)
	for i := range names {
		fmt.Fprintf(&text, "  %%c%d = \"t.sleep\"(%%us) : (i32) -> !tfrt.chain\n", i)
		names[i], types[i] = fmt.Sprintf("%%c%d", i), "!tfrt.chain"
	}
	fmt.Fprintf(&text, "  %%c = \"t.merge\"(%s) : (%s) -> !tfrt.chain\n  tfrt.return %%c : !tfrt.chain\n}\n", strings.Join(names, ", "), strings.Join(types, ", "))
	h := loadHost(t, "multi:2:4", text.String(), runtime.LoadOptions{})
	assert.Equal(t, 301, len(strings.Split(h.run(t, "main"), "\n")))
}

func TestExecuteRefusesWrongCounts(t *testing.T) {
	h := loadHost(t, "single", onePrint, runtime.LoadOptions{})
	_, ctx := h.begin(t, runtime.RequestOptions{})
	f := h.program.Function("waits")
	assert.ErrorContains(t, f.Execute(ctx, nil, make([]*async.Value, 2)), `function "waits" takes 1 arguments and gives 2 results, got 0 and 2`)
	assert.Error(t, f.ExecuteAsync(ctx, nil, nil))
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

func TestRegistryRefusesTwins(t *testing.T) {
	reg := runtime.NewRegistry()
	k := runtime.PureNone(func() int32 { return 1 })
	reg.Kernel("k", k)
	reg.Sync("k", k)
	assert.Panics(t, func() { reg.Kernel("k", k) })
	assert.Panics(t, func() { reg.Sync("k", k) })
	assert.Panics(t, func() { reg.Tensor("k", func(*runtime.Binding) (runtime.Bound, error) { return runtime.Bound{}, nil }) })
	reg.Native("n", k)
	assert.Panics(t, func() { reg.Native("n", k) })
	reg.Freeze()
	assert.Panics(t, func() { reg.Kernel("late", k) })
	assert.Equal(t, []string{"k"}, reg.Names())
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
