package runtime_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// The benchmarks are named after the rows of the performance table; those of async values and queues (P1 to P3, P9) are
// beside them in their packages. All of them:
//
//	go test -run '^$' -bench '^BenchmarkP[0-9]' ./runtime ./runtime/async ./runtime/workqueue

// chainOf is a function of n additions, each of the result of the one before and an argument, in one stream or in
// two that alternate.
func chainOf(tb testing.TB, n, streams int, kind bef.Kind) *bef.File {
	b := bef.NewBuilder()
	i32 := b.Type("i32")
	fn := b.Function("main", kind, []bef.TypeID{i32}, []bef.TypeID{i32})
	name := "t.add"
	if kind == bef.Sync {
		name = "s.add"
	}
	r := fn.Arg(0)
	for i := range n {
		r = fn.Kernel(bef.KernelSpec{Name: name, Args: []bef.RegID{r, fn.Arg(0)}, Results: []bef.TypeID{i32}, Stream: uint32(i % streams)})[0]
	}
	fn.Return(r)
	f, err := b.File()
	require.NoError(tb, err)
	return f
}

func loadBench(tb testing.TB, f *bef.File, o runtime.LoadOptions) *runtime.Function {
	p, err := runtime.Load(f, hostKernels(&journal{}), o)
	require.NoError(tb, err)
	return p.Function("main")
}

func benchExecute(b *testing.B, f *runtime.Function, unit string, per int, args ...*async.Value) {
	req := runtime.NewRequest(b.Context(), runtime.NewHost(runtime.HostOptions{}), runtime.RequestOptions{})
	defer req.Close()
	ctx := req.NewExecContext()
	results := make([]*async.Value, f.NumResults())
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Execute(ctx, args, results); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(per), "ns/"+unit)
}

// BenchmarkP4 runs 100 additions with ready counts: of numbers that need a value each, and of small ones that do not.
func BenchmarkP4(b *testing.B) {
	f := loadBench(b, chainOf(b, 100, 1, bef.Async), runtime.LoadOptions{})
	b.Run("int32", func(b *testing.B) { benchExecute(b, f, "kernel", 100, async.Int32(1000)) })
	b.Run("shared", func(b *testing.B) { benchExecute(b, f, "kernel", 100, async.Int32(0)) })
}

// BenchmarkP5 is P4 as a sequential plan.
func BenchmarkP5(b *testing.B) {
	f := loadBench(b, chainOf(b, 100, 1, bef.Async), runtime.LoadOptions{Sequential: true})
	b.Run("int32", func(b *testing.B) { benchExecute(b, f, "kernel", 100, async.Int32(1000)) })
	b.Run("shared", func(b *testing.B) { benchExecute(b, f, "kernel", 100, async.Int32(0)) })
}

// BenchmarkP6 runs 100 additions in a synchronous function.
func BenchmarkP6(b *testing.B) {
	f := loadBench(b, chainOf(b, 100, 1, bef.Sync), runtime.LoadOptions{})
	args, results := []runtime.SyncValue{runtime.MakeSyncValue(int32(1000))}, make([]runtime.SyncValue, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Call(runtime.ExecContext{}, args, results); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/kernel")
}

// BenchmarkP7 calls an empty function.
func BenchmarkP7(b *testing.B) {
	fb := bef.NewBuilder()
	fb.Function("main", bef.Async, nil, nil).Return()
	file, err := fb.File()
	require.NoError(b, err)
	benchExecute(b, loadBench(b, file, runtime.LoadOptions{}), "call", 1)
}

// BenchmarkP8 repeats a function of one addition 1000 times.
func BenchmarkP8(b *testing.B) {
	h := loadHost(b, "single", `
func.func @body(%a: i32, %b: i32) -> (i32, i32) {
  %c = "t.add"(%a, %b) : (i32, i32) -> i32
  tfrt.return %c, %b : i32, i32
}
func.func @main(%n: i32, %a: i32, %b: i32) -> (i32, i32) {
  %r:2 = "t.repeat"(%n, %a, %b) {callee = @body} : (i32, i32, i32) -> (i32, i32)
  tfrt.return %r#0, %r#1 : i32, i32
}`, runtime.LoadOptions{})
	benchExecute(b, h.program.Function("main"), "iteration", 1000, async.Int32(1000), async.Int32(1), async.Int32(1000))
}

// BenchmarkP10 is a fan-out of 1024 kernels of about 10 µs each, every one in a stream of its own, and their join.
func BenchmarkP10(b *testing.B) {
	fb := bef.NewBuilder()
	i32 := fb.Type("i32")
	fn := fb.Function("main", bef.Async, []bef.TypeID{i32}, []bef.TypeID{i32})
	var parts []bef.RegID
	for i := range 1024 {
		parts = append(parts, fn.Kernel(bef.KernelSpec{Name: "b.work", Args: []bef.RegID{fn.Arg(0)}, Results: []bef.TypeID{i32}, Stream: uint32(i + 1)})...)
	}
	fn.Return(fn.Kernel(bef.KernelSpec{Name: "t.sum", Args: parts, Results: []bef.TypeID{i32}})...)
	file, err := fb.File()
	require.NoError(b, err)
	reg := hostKernels(&journal{})
	reg.Kernel("b.work", runtime.Pure1(func(x int32) int32 {
		for range 10000 {
			x = x*1664525 + 1013904223
		}
		return x
	}))
	for _, queue := range []string{"single", "multi:1", "multi:2"} {
		b.Run(queue, func(b *testing.B) {
			h := loadHost(b, queue, "func.func @f() {\n  tfrt.return\n}", runtime.LoadOptions{})
			p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: h.host})
			require.NoError(b, err)
			_, ctx := h.begin(b, runtime.RequestOptions{})
			results := make([]*async.Value, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Function("main").Execute(ctx, []*async.Value{async.Int32(1)}, results); err != nil {
					b.Fatal(err)
				}
				if err := h.host.Queue().Await(b.Context(), results...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkP11 decodes and loads a file of about 10 MB.
func BenchmarkP11(b *testing.B) {
	fb := bef.NewBuilder()
	i32 := fb.Type("i32")
	for i := range 800 {
		fn := fb.Function(fmt.Sprintf("f%d", i), bef.Async, []bef.TypeID{i32}, []bef.TypeID{i32})
		r := fn.Arg(0)
		for range 200 {
			r = fn.Kernel(bef.KernelSpec{Name: "t.add", Args: []bef.RegID{r, r}, Results: []bef.TypeID{i32}, Loc: bef.At("file.mlir", i, 3)})[0]
		}
		fn.Return(r)
	}
	file, err := fb.File()
	require.NoError(b, err)
	var buf bytes.Buffer
	require.NoError(b, bef.Encode(&buf, file, bef.EncodeOptions{}))
	data := buf.Bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	reg := hostKernels(&journal{})
	for b.Loop() {
		f, err := bef.Decode(data, bef.DecodeOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := runtime.Load(f, reg, runtime.LoadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkP12 cancels an execution whose 100,000 kernels wait for one value, and lets the value come.
func BenchmarkP12(b *testing.B) {
	fb := bef.NewBuilder()
	i32 := fb.Type("i32")
	fn := fb.Function("main", bef.Async, []bef.TypeID{i32}, nil)
	for range 100000 {
		fn.Kernel(bef.KernelSpec{Name: "t.add", Args: []bef.RegID{fn.Arg(0), fn.Arg(0)}, Results: []bef.TypeID{i32}})
	}
	fn.Return()
	file, err := fb.File()
	require.NoError(b, err)
	f := loadBench(b, file, runtime.LoadOptions{})
	host := runtime.NewHost(runtime.HostOptions{})
	b.ReportAllocs()
	for b.Loop() {
		req := runtime.NewRequest(b.Context(), host, runtime.RequestOptions{})
		late := async.MakeUnconstructed[int32]()
		if err := f.Execute(req.NewExecContext(), []*async.Value{late.Value()}, nil); err != nil {
			b.Fatal(err)
		}
		req.Cancel()
		late.Emplace(1)
		host.Quiesce()
		req.Close()
	}
}

// BenchmarkAsyncKernel is an execution of one kernel that finishes in a task, with everything around it.
func BenchmarkAsyncKernel(b *testing.B) {
	for _, queue := range []string{"single", "multi:2"} {
		b.Run(queue, func(b *testing.B) {
			h := loadHost(b, queue, `func.func @main(%a: i32) -> i32 {
  %b = "t.later"(%a) : (i32) -> i32
  %c = "t.add"(%b, %b) : (i32, i32) -> i32
  tfrt.return %c : i32
}`, runtime.LoadOptions{})
			_, ctx := h.begin(b, runtime.RequestOptions{})
			f := h.program.Function("main")
			results := make([]*async.Value, 1)
			args := []*async.Value{async.Int32(1)}
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Execute(ctx, args, results); err != nil {
					b.Fatal(err)
				}
				if err := h.host.Queue().Await(b.Context(), results...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkP13 is a function that allocates tensor memory, in the steady state: buffers come back and are used again.
func BenchmarkP13(b *testing.B) {
	h := loadHost(b, "single", bufferProgram, runtime.LoadOptions{})
	_, ctx := h.begin(b, runtime.RequestOptions{})
	f := h.program.Function("main")
	results := make([]*async.Value, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Execute(ctx, nil, results); err != nil {
			b.Fatal(err)
		}
		results[0].DropRef()
	}
}
