package hostkernels_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// The example kernels of TFRT's design documents, as an author outside of this module writes them. In C++ they are between one and thirty lines;
// they should not be longer here.

type chain = async.Chain

// prints is where the examples print.
type prints struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *prints) printf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.text, format, args...)
}

// The first example: a kernel that takes its frame apart by hand.
func tfrtAdd(f *runtime.Frame) {
	v1 := runtime.Arg[int32](f, 0)
	v2 := runtime.Arg[int32](f, 1)
	runtime.Return(f, 0, v1+v2)
}

func tfrtAddI32(a, b int32) int32 { return a + b }

func (o *prints) tfrtPrintI32(x int32, ch chain) chain {
	o.printf("%d\n", x)
	return ch
}

func (o *prints) tfrtPrintI32Unordered(x int32) chain {
	o.printf("%d\n", x)
	return chain{}
}

func testAtomicGetI32(in runtime.Argument[*atomic.Int32], chainIn runtime.Argument[chain], out runtime.Result[int32], chainOut runtime.Result[chain]) error {
	out.Emplace(in.Get().Load())
	chainOut.Set(chainIn.Ref())
	return nil
}

// matMul2D computes C = alpha * A @ B + beta * C in place. KernelErrorHandler is the error that is returned.
func matMul2D(alpha runtime.Argument[float32], a, b hostkernels.MatrixArgument[float32], beta runtime.Argument[float32],
	c hostkernels.MatrixArgument[float32], chainIn runtime.Argument[chain], chainOut runtime.Result[chain]) error {
	A, B, C := a.Get(), b.Get(), c.Get()
	if A.Cols != B.Rows {
		return fmt.Errorf("MatMul argument tensors inner dimension mismatch: %v vs. %v", A.Shape(), B.Shape())
	}
	if C.Rows != A.Rows || C.Cols != B.Cols {
		return fmt.Errorf("MatMul result shape %v does not match product shape of arguments: %v * %v", C.Shape(), A.Shape(), B.Shape())
	}
	for i := range C.Rows {
		for j := range C.Cols {
			sum := beta.Get() * C.At(i, j)
			for k := range A.Cols {
				sum += alpha.Get() * A.At(i, k) * B.At(k, j)
			}
			C.Row(i)[j] = sum
		}
	}
	chainOut.Set(chainIn.Ref())
	return nil
}

// tfrtIf with the typed parameters: the condition, what is passed on, and two functions.
func tfrtIf(condition runtime.Argument[bool], args runtime.RemainingArguments, results runtime.RemainingResults, trueFn, falseFn runtime.Callee, ctx runtime.ExecContext) error {
	fn := falseFn
	if condition.Get() {
		fn = trueFn
	}
	return fn.Execute(ctx, args.Values, results.Slots())
}

func tfrtAddI32Async(a, b runtime.Argument[int32], output runtime.Result[int32], ctx runtime.ExecContext) error {
	x, y, result := a.Get(), b.Get(), output.Allocate()
	ctx.Queue.AddTask(func() {
		result.Emplace(x + y)
		result.Drop()
	})
	return nil
}

func tfrtAddI32SyncAsync(a, b runtime.Argument[int32], syncResult, asyncResult runtime.Result[int32], ctx runtime.ExecContext) error {
	syncResult.Emplace(a.Get() + b.Get())
	return tfrtAddI32Async(a, b, asyncResult, ctx)
}

func tfrtAsyncReadFromMars(output runtime.Result[int32], ctx runtime.ExecContext) error {
	result := output.Allocate()
	ctx.Queue.AddBlockingTask(func() {
		result.Emplace(blockingRead())
		result.Drop()
	}, workqueue.MayQueue)
	return nil
}

func blockingRead() int32 { return 42 }

// The control flow kernels that take their frames apart.
func tfrtCall(f *runtime.Frame) {
	if err := f.Func(0).Execute(f.Ctx(), f.Args(), f.Results()); err != nil {
		f.ReportError(err)
	}
}

func tfrtIfByFrame(f *runtime.Frame) {
	fn := f.Func(1)
	if runtime.Arg[bool](f, 0) {
		fn = f.Func(0)
	}
	if err := fn.Execute(f.Ctx(), f.Args()[1:], f.Results()); err != nil {
		f.ReportError(err)
	}
}

// The kernels of the document about async values.

func asyncCopy(in runtime.Argument[int32], ctx runtime.ExecContext) async.Ref[int32] {
	ref := in.Ref()
	return async.MakeAsync(ctx.Queue, func() (int32, error) { return ref.Get(), nil })
}

func testAsyncCopy(in runtime.Argument[int32], out runtime.Result[int32], ctx runtime.ExecContext) error {
	src, dst := in.Ref(), out.Allocate()
	ctx.Queue.AddTask(func() { dst.Emplace(src.Get()); src.Drop(); dst.Drop() })
	return nil
}

func copyToTwo(in runtime.Argument[int32], out1, out2 runtime.Result[int32]) error {
	out1.Set(in.Ref())
	out2.Set(in.Ref())
	return nil
}

func (o *prints) myKernel(in runtime.Argument[int32], ctx runtime.ExecContext) error {
	ref := in.Ref()
	ctx.Queue.AddTask(func() { o.printf("later %d\n", ref.Get()); ref.Drop() })
	return nil
}

// concat shows attributes: one of a type, an array and a text.
func concat(numbers runtime.ArrayAttribute[int32], scale runtime.Attribute[int64], separator runtime.StringAttribute, out runtime.Result[string]) error {
	parts := make([]string, len(numbers.Get()))
	for i, n := range numbers.Get() {
		parts[i] = fmt.Sprint(int64(n) * scale.Get())
	}
	out.Emplace(strings.Join(parts, separator.Get()))
	return nil
}

// registerIntegerKernels is how a library of kernels presents itself.
func (o *prints) registerIntegerKernels(reg *runtime.Registry) {
	reg.Kernel("my.add.frame", runtime.Kernel{Run: tfrtAdd, Signature: &runtime.Signature{Args: 2, Results: 1, Payloads: true}})
	reg.Kernel("my.add.i32", runtime.Pure2(tfrtAddI32))
	reg.Kernel("my.print.i32", runtime.Pure2(o.tfrtPrintI32))
	reg.Kernel("my.print.i32.unordered", runtime.Pure1(o.tfrtPrintI32Unordered))
	reg.Kernel("my.atomic.create", runtime.PureNone(func() *atomic.Int32 { return new(atomic.Int32) }))
	reg.Kernel("my.atomic.get.i32", runtime.Params4(testAtomicGetI32))
	reg.Kernel("my.matmul.f32", runtime.Params7(matMul2D))
	reg.Kernel("my.if", runtime.Params6(tfrtIf))
	reg.Kernel("my.if.frame", runtime.Kernel{Run: tfrtIfByFrame})
	reg.Kernel("my.call", runtime.Kernel{Run: tfrtCall, NonStrict: true})
	reg.Kernel("my.add.async", runtime.Params4(tfrtAddI32Async))
	reg.Kernel("my.add.sync_async", runtime.Params5(tfrtAddI32SyncAsync))
	reg.Kernel("my.read.from.mars", runtime.Params2(tfrtAsyncReadFromMars))
	reg.Kernel("my.async.copy", runtime.Returns2(asyncCopy))
	reg.Kernel("my.async.copy.into", runtime.Params3(testAsyncCopy))
	reg.Kernel("my.copy.to.two", runtime.Params3(copyToTwo))
	reg.Kernel("my.look.later", runtime.Params2(o.myKernel))
	reg.Kernel("my.concat", runtime.Params4(concat))
}

const authorsProgram = `
func.func @seven() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i32 4
  %x = "my.add.frame"(%a, %b) : (i32, i32) -> i32
  %y = "my.add.i32"(%a, %b) : (i32, i32) -> i32
  %z = "my.add.async"(%a, %b) : (i32, i32) -> i32
  tfrt.return %x, %y, %z : i32, i32, i32
}
func.func @print() -> !tfrt.chain {
  %c = tfrt.new.chain
  %a = tfrt.constant.i32 3
  %d = "my.print.i32"(%a, %c) : (i32, !tfrt.chain) -> !tfrt.chain
  %b = "my.add.i32"(%a, %a) : (i32, i32) -> i32
  %e = "my.print.i32"(%b, %d) : (i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %e : !tfrt.chain
}
func.func @unordered() {
  %a = tfrt.constant.i32 5
  "my.print.i32.unordered"(%a) : (i32) -> !tfrt.chain
  tfrt.return
}
func.func @atomic() -> i32 {
  %c = tfrt.new.chain
  %a = "my.atomic.create"() : () -> !my.atomic
  %v, %d = "my.atomic.get.i32"(%a, %c) : (!my.atomic, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %v : i32
}
func.func @both() -> (i32, i32) {
  %a = tfrt.constant.i32 3
  %x, %y = "my.add.sync_async"(%a, %a) : (i32, i32) -> (i32, i32)
  tfrt.return %x, %y : i32, i32
}
func.func @mars() -> i32 {
  %x = "my.read.from.mars"() : () -> i32
  %y = "my.add.i32"(%x, %x) : (i32, i32) -> i32
  tfrt.return %y : i32
}
func.func @copies() -> (i32, i32, i32, i32) {
  %a = tfrt.constant.i32 9
  %b = "my.async.copy"(%a) : (i32) -> i32
  %c = "my.async.copy.into"(%b) : (i32) -> i32
  %d, %e = "my.copy.to.two"(%c) : (i32) -> (i32, i32)
  tfrt.return %b, %c, %d, %e : i32, i32, i32, i32
}
func.func @later() {
  %a = tfrt.constant.i32 11
  "my.look.later"(%a) : (i32) -> ()
  tfrt.return
}
func.func @choose() -> (i32, i32) {
  %t = tfrt.constant.i1 true
  %f = tfrt.constant.i1 false
  %a = tfrt.constant.i32 21
  %x = "my.if"(%t, %a) ({
  ^bb0(%i: i32):
    %j = "my.add.i32"(%i, %i) : (i32, i32) -> i32
    tfrt.return %j : i32
  }, {
  ^bb0(%i: i32):
    tfrt.return %i : i32
  }) : (i1, i32) -> i32
  %y = "my.if.frame"(%f, %x) ({
  ^bb0(%i: i32):
    tfrt.return %i : i32
  }, {
  ^bb0(%i: i32):
    %j = "my.add.i32"(%i, %i) : (i32, i32) -> i32
    tfrt.return %j : i32
  }) : (i1, i32) -> i32
  tfrt.return %x, %y : i32, i32
}
func.func @callee(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @call() -> i32 {
  %a = tfrt.constant.i32 1
  %b = "my.read.from.mars"() : () -> i32
  %z = "my.call"(%a, %b) {fn = @callee} : (i32, i32) -> i32
  tfrt.return %z : i32
}
func.func @concat() -> !tfrt.string {
  %s = "my.concat"() {a_numbers = [1 : i32, 2 : i32], b_scale = 10, c_separator = "+"} : () -> !tfrt.string
  tfrt.return %s : !tfrt.string
}
func.func @matmul() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2, 2]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %c0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %r = tfrt_dht.create_uninitialized_tensor.f32.2 [2, 2]
  %c2 = tfrt_dht.fill_tensor_with_constant.f32 %r, %c1 1.0 : f32
  %alpha = tfrt.constant.f32 2.0
  %c3 = "my.matmul.f32"(%alpha, %a, %a, %alpha, %r, %c2) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %r, %c3
  tfrt.return %c4 : !tfrt.chain
}
func.func @mismatch() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2, 3]
  %alpha = tfrt.constant.f32 2.0
  %c3 = "my.matmul.f32"(%alpha, %a, %a, %alpha, %a, %c0) : (f32, !tfrt_tensor.tensor, !tfrt_tensor.tensor, f32, !tfrt_tensor.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c3 : !tfrt.chain
}
`

// TestAuthorsKernels runs programs of kernels that were registered from outside.
func TestAuthorsKernels(t *testing.T) {
	for _, queue := range []string{"single", "multi:2"} {
		t.Run(queue, func(t *testing.T) {
			var out prints
			var diagnostics []string
			q, err := workqueue.New(queue)
			require.NoError(t, err)
			defer q.Close()
			host := runtime.NewHost(runtime.HostOptions{Queue: q, Diagnostics: func(e *runtime.Error) { diagnostics = append(diagnostics, e.Error()) }})
			p := loadAuthors(t, host, &out)
			req := runtime.NewRequest(t.Context(), host, runtime.RequestOptions{Data: []any{hostkernels.NewConsole(&out.text, &out.text)}})
			defer req.Close()
			for _, c := range []struct{ fn, want string }{
				{"seven", "7 7 7"}, {"print", "3\n6\n{}"}, {"unordered", "5\n"}, {"atomic", "0"}, {"both", "6 6"}, {"mars", "84"},
				{"copies", "9 9 9 9"}, {"later", "later 11\n"}, {"choose", "42 84"}, {"call", "1"}, {"concat", "10+20"},
				{"matmul", "DenseHostTensor dtype = f32, shape = [2, 2], values = [1.600000e+01, 2.200000e+01, 3.200000e+01, 4.600000e+01]\n{}"},
				{"mismatch", "authors.mlir:101:9: my.matmul.f32: MatMul argument tensors inner dimension mismatch: [2, 3] vs. [2, 3]"},
			} {
				out.text.Reset()
				fn := p.Function(c.fn)
				results := make([]*async.Value, fn.NumResults())
				require.NoError(t, fn.Execute(req.NewExecContext(), nil, results))
				require.NoError(t, q.Await(context.Background(), results...))
				host.Quiesce()
				var words []string
				for _, v := range results {
					if err := v.Err(); err != nil {
						words = append(words, err.Error())
						continue
					}
					words = append(words, shown(v))
				}
				assert.Equal(t, c.want, out.text.String()+strings.Join(words, " "), c.fn)
			}
			assert.Len(t, diagnostics, 1)
		})
	}
}

func shown(v *async.Value) string {
	if x, ok := async.GetIfPresent[int32](v); ok {
		return fmt.Sprint(x)
	}
	if s, ok := async.GetIfPresent[string](v); ok {
		return s
	}
	return fmt.Sprint(async.Get[chain](v))
}

func loadAuthors(t *testing.T, host *runtime.Host, out *prints) *runtime.Program {
	text, err := hostprog.Parse("authors.mlir", authorsProgram)
	require.NoError(t, err)
	file, err := hostprog.Assemble(text, hostprog.AssembleOptions{})
	require.NoError(t, err)
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	out.registerIntegerKernels(reg)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: host})
	require.NoError(t, err)
	return p
}

// A library of kernels from outside of the module: a type of its own, kernels on it, and a program.
func Example() {
	type point struct{ X, Y int32 }
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	reg.Kernel("my.point", runtime.Pure2(func(x, y int32) point { return point{x, y} }))
	reg.Kernel("my.norm", runtime.Pure1(func(p point) int32 { return p.X*p.X + p.Y*p.Y }))

	text, err := hostprog.Parse("norm.mlir", `
func.func @norm(%x: i32) -> i32 {
  %y = tfrt.constant.i32 4
  %p = "my.point"(%x, %y) : (i32, i32) -> !my.point
  %n = "my.norm"(%p) : (!my.point) -> i32
  tfrt.return %n : i32
}`)
	if err != nil {
		panic(err)
	}
	file, err := hostprog.Assemble(text, hostprog.AssembleOptions{})
	if err != nil {
		panic(err)
	}
	program, err := runtime.Load(file, reg, runtime.LoadOptions{})
	if err != nil {
		panic(err)
	}
	req := runtime.NewRequest(context.Background(), program.Host(), runtime.RequestOptions{})
	defer req.Close()
	results := make([]*async.Value, 1)
	err = program.Function("norm").Execute(req.NewExecContext(), []*async.Value{async.Int32(3)}, results)
	fmt.Println(async.Get[int32](results[0]), err)
	// Output: 25 <nil>
}
