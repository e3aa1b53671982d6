package runtime_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
)

// TestKernelForms: kernels that return a reference get their arguments in order, whatever their number, and so do those of any number of one type.
func TestKernelForms(t *testing.T) {
	type arg = runtime.Argument[int32]
	reg := runtime.NewRegistry()
	reg.Kernel("t.one", runtime.Returns1(func(a arg) async.Ref[int32] { return async.MakeAvailable(a.Get() + 1) }))
	reg.Kernel("t.three", runtime.Returns3(func(a, b, c arg) async.Ref[int32] { return async.MakeAvailable(100*a.Get() + 10*b.Get() + c.Get()) }))
	reg.Kernel("t.four", runtime.Returns4(func(a, b, c, d arg) async.Ref[int32] {
		return async.MakeAvailable(1000*a.Get() + 100*b.Get() + 10*c.Get() + d.Get())
	}))
	reg.Kernel("t.digits", runtime.Params2(func(all runtime.RepeatedArguments[int32], out runtime.Result[int32]) error {
		n := int32(0)
		for i := range all.Len() {
			n = 10*n + all.Get(i)
		}
		out.Emplace(n)
		return nil
	}))
	text, err := hostprog.Parse("forms.mlir", `
func.func @f(%a: i32, %b: i32, %c: i32, %d: i32) -> (i32, i32, i32, i32, i32) {
  %0 = "t.one"(%a) : (i32) -> i32
  %1 = "t.three"(%a, %b, %c) : (i32, i32, i32) -> i32
  %2 = "t.four"(%a, %b, %c, %d) : (i32, i32, i32, i32) -> i32
  %3 = "t.digits"(%d, %c, %b) : (i32, i32, i32) -> i32
  %4 = "t.digits"() : () -> i32
  tfrt.return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}`)
	require.NoError(t, err)
	file, err := hostprog.Assemble(text, hostprog.AssembleOptions{})
	require.NoError(t, err)
	prog, err := runtime.Load(file, reg, runtime.LoadOptions{})
	require.NoError(t, err)
	req := runtime.NewRequest(context.Background(), prog.Host(), runtime.RequestOptions{})
	defer req.Close()
	results := make([]*async.Value, 5)
	args := []*async.Value{async.Int32(1), async.Int32(2), async.Int32(3), async.Int32(4)}
	require.NoError(t, prog.Function("f").Execute(req.NewExecContext(), args, results))
	prog.Host().Quiesce()
	for i, want := range []int32{2, 123, 1234, 432, 0} {
		assert.Equal(t, want, async.Get[int32](results[i]), "result %d", i)
	}
}
