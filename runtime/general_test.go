package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
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
