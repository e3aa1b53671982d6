package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
)

// What goes wrong in general functions, and what is said of it: kernels that fail, panic or skip results, deadlines, programs and calls that are refused.

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

func TestExecuteRefusesWrongCounts(t *testing.T) {
	h := loadHost(t, "single", onePrint, runtime.LoadOptions{})
	_, ctx := h.begin(t, runtime.RequestOptions{})
	f := h.program.Function("waits")
	assert.ErrorContains(t, f.Execute(ctx, nil, make([]*async.Value, 2)), `function "waits" takes 1 arguments and gives 2 results, got 0 and 2`)
	assert.Error(t, f.ExecuteAsync(ctx, nil, nil))
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
