package eager_test

import (
	"context"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/eager"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
)

// BenchmarkDispatch is the cost of an op that does next to nothing, f32[4] + f32[4], on each way to have it done.
func BenchmarkDispatch(b *testing.B) {
	x, y := vector(1, 2, 3, 4), vector(5, 6, 7, 8)
	rt := eager.NewRuntime(eager.Options{Register: []func(*runtime.Registry){hostkernels.Register}})
	b.Run("op", func(b *testing.B) {
		op := makeOp(b, rt, "add", eager.Attrs{})
		inv := eager.Invocation{Args: []eager.TensorHandle{x, y}}
		b.ReportAllocs()
		for b.Loop() {
			inv.Results = inv.Results[:0]
			if err := op.Execute(&inv); err != nil {
				b.Fatal(err)
			}
			inv.Results[0].Drop()
		}
	})
	b.Run("op,consumed", func(b *testing.B) {
		op := makeOp(b, rt, "negate", eager.Attrs{})
		first, err := op.Call(nil, x)
		if err != nil {
			b.Fatal(err)
		}
		inv := eager.Invocation{Args: first, Consume: true}
		b.ReportAllocs()
		for b.Loop() {
			inv.Results = inv.Results[:0]
			if err := op.Execute(&inv); err != nil {
				b.Fatal(err)
			}
			inv.Args, inv.Results = inv.Results, inv.Args
		}
	})
	b.Run("by name", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out, err := rt.Execute(nil, "add", eager.Attrs{}, x, y)
			if err != nil {
				b.Fatal(err)
			}
			out[0].Drop()
		}
	})
	b.Run("by name with attributes", func(b *testing.B) {
		attrs := eager.Attrs{HLO: &hlo.SliceAttrs{Slice: []hlo.SliceDim{{Start: 1, Limit: 3, Stride: 1}}}}
		b.ReportAllocs()
		for b.Loop() {
			out, err := rt.Execute(nil, "slice", attrs, x)
			if err != nil {
				b.Fatal(err)
			}
			out[0].Drop()
		}
	})
	b.Run("general path", func(b *testing.B) {
		rt := eager.NewRuntime(eager.Options{General: true})
		op := makeOp(b, rt, "add", eager.Attrs{})
		b.ReportAllocs()
		for b.Loop() {
			out, err := op.Call(nil, x, y)
			if err == nil {
				err = rt.Await(context.Background(), out...)
			}
			if err != nil {
				b.Fatal(err)
			}
			out[0].Drop()
		}
	})
	b.Run("host kernel", func(b *testing.B) {
		k, err := rt.MakeKernel(eager.KernelSpec{Name: "tfrt.add.i32", Args: 2, Results: 1})
		if err != nil {
			b.Fatal(err)
		}
		args, results := []*async.Value{async.Int32(1), async.Int32(2)}, make([]*async.Value, 1)
		b.ReportAllocs()
		for b.Loop() {
			if err := k.Execute(nil, args, results); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("BEF run", func(b *testing.B) {
		fn := program(b, 1)
		args, results := runtimeArgs(fn), fn.NewResults()
		b.ReportAllocs()
		for b.Loop() {
			if err := fn.Run(context.Background(), runtime.RunOptions{}, args, results); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkGraph is a chain of 100 small ops, per op: eager beside a program.
func BenchmarkGraph(b *testing.B) {
	const n = 100
	b.Run("eager", func(b *testing.B) {
		rt := eager.NewRuntime(eager.Options{})
		op := makeOp(b, rt, "cosine", eager.Attrs{})
		x := vector(1, 2, 3, 4)
		inv := eager.Invocation{Args: make([]eager.TensorHandle, 1), Consume: true}
		b.ReportAllocs()
		for b.Loop() {
			inv.Args[0] = x.CopyRef()
			for range n {
				inv.Results = inv.Results[:0]
				if err := op.Execute(&inv); err != nil {
					b.Fatal(err)
				}
				inv.Args, inv.Results = inv.Results, inv.Args
			}
			inv.Args[0].Drop()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/op-in-graph")
	})
	b.Run("BEF", func(b *testing.B) {
		fn := program(b, n)
		args, results := runtimeArgs(fn), fn.NewResults()
		b.ReportAllocs()
		for b.Loop() {
			if err := fn.Run(context.Background(), runtime.RunOptions{}, args, results); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/op-in-graph")
	})
}

// program is n ops on f32[4], one after the other, not fused.
func program(b *testing.B, n int) *runtime.Function {
	hb := hlo.NewBuilder("chain")
	v := hb.Parameter("x", hlo.MakeShape(hlo.F32, 4))
	for range n {
		v = hb.Unary(hlo.OpCosine, v)
	}
	m, err := hb.Build(v)
	if err != nil {
		b.Fatal(err)
	}
	file, err := lower.Module(b.Context(), m)
	if err != nil {
		b.Fatal(err)
	}
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return p.Entry()
}

func runtimeArgs(fn *runtime.Function) []runtime.Buffer {
	var args []runtime.Buffer
	for _, t := range fn.ArgTypes() {
		args = append(args, t.NewBuffer())
	}
	return args
}
