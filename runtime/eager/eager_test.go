package eager_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/eager"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

func vector(xs ...float32) eager.TensorHandle {
	l, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, int64(len(xs))), xs...)
	if err != nil {
		panic(err)
	}
	return eager.Of(l)
}

func floats(t testing.TB, rt *eager.Runtime, h eager.TensorHandle) []float32 {
	t.Helper()
	l, err := rt.Literal(t.Context(), h)
	require.NoError(t, err)
	return hlo.Values[float32](l)
}

func makeOp(t testing.TB, rt *eager.Runtime, name string, attrs eager.Attrs) *eager.Op {
	t.Helper()
	op, err := rt.MakeOp(name, attrs)
	require.NoError(t, err)
	return op
}

// pending is a handle of a tensor that comes when publish is called.
func pending(shape hlo.Shape) (h eager.TensorHandle, publish func(eager.TensorHandle)) {
	in := async.MakeIndirectOf[eager.Tensor]()
	in.AddRef()
	return eager.NewHandle(shape, async.Cast[eager.Tensor](&in.Value)), func(from eager.TensorHandle) {
		from.CopyRef()
		in.ForwardTo(from.Value())
		in.DropRef()
	}
}

func multi(t testing.TB) *runtime.Host {
	q := workqueue.NewMulti(workqueue.Config{Workers: 2})
	t.Cleanup(q.Close)
	return runtime.NewHost(runtime.HostOptions{Queue: q})
}

func TestSmallOpsRunAtOnce(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{})
	sum, err := rt.Execute(nil, "add", eager.Attrs{}, vector(1, 2), vector(3, 4))
	require.NoError(t, err)
	require.Len(t, sum, 1)
	_, there := sum[0].Tensor()
	assert.True(t, there)
	assert.Equal(t, []float32{4, 6}, floats(t, rt, sum[0]))
}

func TestShapesAreKnownWithoutWaiting(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	x, publish := pending(hlo.MakeShape(hlo.F32, 2))
	add, mul := makeOp(t, rt, "add", eager.Attrs{}), makeOp(t, rt, "multiply", eager.Attrs{})
	y, err := add.Call(nil, x, vector(10, 20))
	require.NoError(t, err)
	z, err := mul.Call(nil, y[0], y[0])
	require.NoError(t, err)
	s, known := z[0].Metadata()
	assert.True(t, known)
	assert.Equal(t, "f32[2]{0}", s.String())
	assert.True(t, z[0].AsyncMetadata().IsConcrete())
	_, there := z[0].Tensor()
	assert.False(t, there)

	_, err = add.Call(nil, z[0], vector(1, 2, 3)) // refused before anything is there
	require.ErrorContains(t, err, "add")
	publish(vector(1, 2))
	assert.Equal(t, []float32{121, 484}, floats(t, rt, z[0]))
}

func TestShapesThatComeLate(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	rt.RegisterOp("positive", eager.OpDef{Results: 1, Make: func(ctx runtime.ExecContext, args []eager.Tensor, _ any) ([]eager.Tensor, error) {
		l, _ := hlo.NewLiteral(args[0].Shape(), args[0].Data())
		var kept []float32
		for _, x := range hlo.Values[float32](l) {
			if x > 0 {
				kept = append(kept, x)
			}
		}
		l, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, int64(len(kept))), kept...)
		if err != nil {
			return nil, err
		}
		made, err := eager.NewTensor(l.Shape(), runtime.NewExternalBuffer(l.Bytes(), nil))
		return []eager.Tensor{made}, err
	}})
	x, publish := pending(hlo.MakeShape(hlo.F32, 4))
	p, err := rt.Execute(nil, "positive", eager.Attrs{}, x)
	require.NoError(t, err)
	_, known := p[0].Metadata()
	assert.False(t, known)
	chain := async.ReadyChain()
	inv := eager.Invocation{Args: []eager.TensorHandle{p[0]}, Chain: &chain}
	require.NoError(t, makeOp(t, rt, "negate", eager.Attrs{}).Execute(&inv))
	metadata := inv.Results[0].AsyncMetadata()
	publish(vector(1, -1, 2, -2))
	assert.Equal(t, []float32{-1, -2}, floats(t, rt, inv.Results[0]))
	require.NoError(t, rt.Host().Queue().Await(t.Context(), metadata.Value()))
	assert.Equal(t, "f32[2]{0}", metadata.Get().String())
	require.NoError(t, rt.Host().Queue().Await(t.Context(), chain.Value()))
	assert.NoError(t, chain.Err())
}

func TestErrorsHaveALocationAndTravel(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{})
	rt.RegisterOp("picky", eager.OpDef{
		Metadata: func(args []hlo.Shape, _ any) ([]hlo.Shape, error) { return args[:1], nil },
		Dispatch: func(f *runtime.TensorFrame, values any) error {
			if values == "panic" {
				panic("no")
			}
			return errors.New("not today")
		},
	})
	at := async.Location{File: "model.py", Line: 7, Col: 3}
	inv := eager.Invocation{Args: []eager.TensorHandle{vector(1)}, Location: at}
	require.NoError(t, makeOp(t, rt, "picky", eager.Attrs{}).Execute(&inv))
	after, err := rt.Execute(nil, "negate", eager.Attrs{}, inv.Results[0])
	require.NoError(t, err)
	assert.EqualError(t, rt.Await(t.Context(), after...), "model.py:7:3: picky: not today")
	s, known := after[0].Metadata()
	assert.True(t, known, "%v", s)

	inv = eager.Invocation{Args: []eager.TensorHandle{vector(1)}, Location: at}
	require.NoError(t, makeOp(t, rt, "picky", eager.Attrs{Values: "panic"}).Execute(&inv))
	assert.ErrorContains(t, inv.Results[0].Err(), "picky: kernel panicked: no")
}

// TestRefusals lists what is told at once.
func TestRefusals(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{})
	for _, c := range []struct {
		name  string
		attrs eager.Attrs
		args  []eager.TensorHandle
		want  string
	}{
		{"no-such-op", eager.Attrs{}, nil, `no handler knows op "no-such-op"`},
		{"parameter", eager.Attrs{}, nil, "no op by itself"},
		{"constant", eager.Attrs{}, nil, "no value"},
		{"add", eager.Attrs{}, []eager.TensorHandle{vector(1)}, "Expected 2 operands"},
		{"add", eager.Attrs{}, []eager.TensorHandle{vector(1), {}}, "operand 1 is no tensor"},
		{"add", eager.Attrs{}, []eager.TensorHandle{vector(1), vector(1, 2)}, "add"},
		{"add", eager.Attrs{HLO: &hlo.DotAttrs{}}, []eager.TensorHandle{vector(1), vector(1)}, "attributes are of type *hlo.DotAttrs"},
		{"convert", eager.Attrs{}, []eager.TensorHandle{vector(1)}, "convert"},
		{"reshape", eager.Attrs{Shape: hlo.MakeShape(hlo.F32, 3)}, []eager.TensorHandle{vector(1)}, "reshape"},
		{"call", eager.Attrs{}, []eager.TensorHandle{vector(1)}, "call must call 1 computations"},
		{"get-tuple-element", eager.Attrs{}, []eager.TensorHandle{vector(1)}, "get-tuple-element"},
		{"get-tuple-element", eager.Attrs{Operands: []hlo.Shape{hlo.MakeTuple(hlo.MakeShape(hlo.F32))}}, []eager.TensorHandle{vector(1)}, "leaf 0 of the operands"},
		{"async-done", eager.Attrs{}, []eager.TensorHandle{vector(1)}, "async-done"},
		{"negate", eager.Attrs{}, []eager.TensorHandle{eager.Failed(hlo.Shape{}, errors.New("gone"))}, "gone"},
	} {
		_, err := rt.Execute(nil, c.name, c.attrs, c.args...)
		require.ErrorContains(t, err, c.want, c.name)
		var status *runtime.Error
		assert.ErrorAs(t, err, &status)
	}
}

func TestChainsOrderEffects(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	var mu sync.Mutex
	var order []int
	rt.RegisterOp("note", eager.OpDef{
		Metadata: func([]hlo.Shape, any) ([]hlo.Shape, error) { return nil, nil },
		Dispatch: func(_ *runtime.TensorFrame, values any) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, values.(int))
			if values == 3 {
				return errors.New("three")
			}
			return nil
		},
	})
	start := async.MakeUnconstructed[async.Chain]()
	chain := start.CopyRef()
	for i := range 3 {
		require.NoError(t, makeOp(t, rt, "note", eager.Attrs{Values: i}).Execute(&eager.Invocation{Chain: &chain}))
	}
	assert.Empty(t, order)
	start.Emplace(async.Chain{})
	require.NoError(t, rt.Host().Queue().Await(t.Context(), chain.Value()))
	assert.Equal(t, []int{0, 1, 2}, order)

	// An error goes along the chain, and what comes after does not run.
	for i := 3; i < 5; i++ {
		require.NoError(t, makeOp(t, rt, "note", eager.Attrs{Values: i}).Execute(&eager.Invocation{Chain: &chain}))
	}
	require.NoError(t, rt.Host().Queue().Await(t.Context(), chain.Value()))
	assert.ErrorContains(t, chain.Err(), "three")
	assert.Equal(t, []int{0, 1, 2, 3}, order)
}

func TestCancellation(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	ctx, cancel := context.WithCancel(t.Context())
	req := runtime.NewRequest(ctx, rt.Host(), runtime.RequestOptions{})
	defer req.Close()
	x, publish := pending(hlo.MakeShape(hlo.F32, 1))
	y, err := rt.Execute(req, "negate", eager.Attrs{}, x)
	require.NoError(t, err)
	other, err := rt.Execute(nil, "negate", eager.Attrs{}, x)
	require.NoError(t, err)
	cancel()
	<-req.Context().Done()
	publish(vector(1))
	assert.ErrorIs(t, rt.Await(t.Context(), y...), context.Canceled)
	assert.NoError(t, rt.Await(t.Context(), other...))
	z, err := rt.Execute(req, "negate", eager.Attrs{}, vector(1))
	require.NoError(t, err)
	assert.ErrorIs(t, z[0].Err(), context.Canceled)
}

// TestCancellationEndsAProgram cancels a loop that would not end.
func TestCancellationEndsAProgram(t *testing.T) {
	m, err := parser.Parse("forever.hlo", `HloModule forever
cond { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
body { p = s32[] parameter(0) ROOT n = s32[] negate(p) }
ENTRY e { x = s32[] parameter(0) ROOT w = s32[] while(x), condition=cond, body=body }`)
	require.NoError(t, err)
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	op, err := rt.MakeComposite(m)
	require.NoError(t, err)
	req := runtime.NewRequest(t.Context(), rt.Host(), runtime.RequestOptions{})
	defer req.Close()
	one, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32), int32(1))
	require.NoError(t, err)
	out, err := op.Call(req, eager.Of(one))
	require.NoError(t, err)
	req.Cancel()
	assert.ErrorIs(t, rt.Await(t.Context(), out...), context.Canceled)
}

func TestBigOpsRunOnTheQueue(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{}) // a queue that works only when somebody waits
	one, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32), float32(1))
	require.NoError(t, err)
	big, err := rt.Execute(nil, "broadcast", eager.Attrs{Shape: hlo.MakeShape(hlo.F32, 1<<20)}, eager.Of(one))
	require.NoError(t, err)
	_, there := big[0].Tensor()
	assert.False(t, there)
	assert.Equal(t, float32(1), floats(t, rt, big[0])[1<<20-1])
}

// TestConcurrentUse executes the same ops from many goroutines.
func TestConcurrentUse(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{Host: multi(t), CacheSize: 4})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				n := (g+i)%7 + 1
				xs := make([]float32, n)
				for k := range xs {
					xs[k] = float32(k + i)
				}
				y, err := rt.Execute(nil, "add", eager.Attrs{}, vector(xs...), vector(xs...))
				if !assert.NoError(t, err) {
					return
				}
				l, err := rt.Literal(context.Background(), y[0])
				if !assert.NoError(t, err) {
					return
				}
				for k, got := range hlo.Values[float32](l) {
					assert.Equal(t, 2*xs[k], got)
				}
			}
		})
	}
	wg.Wait()
}

// TestAsyncOps starts a computation before it has all its operands.
func TestAsyncOps(t *testing.T) {
	add, err := parser.Parse("add.hlo", `HloModule m ENTRY add { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT s = f32[2] subtract(x, y) }`)
	require.NoError(t, err)
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	v := hlo.MakeShape(hlo.F32, 2)
	value := func(bound ...hlo.Shape) hlo.Shape {
		return hlo.MakeTuple(hlo.MakeTuple(bound...), v, hlo.MakeShape(hlo.U32))
	}
	thread := &hlo.AsyncStartAttrs{ExecutionThread: "main"}
	start, err := rt.Execute(nil, "async-start", eager.Attrs{HLO: thread, Shape: value(v), Callees: []hlo.Module{add}}, vector(5, 6))
	require.NoError(t, err)
	require.Len(t, start, 3)
	early := eager.Attrs{Operands: []hlo.Shape{value(v)}, Shape: v, Callees: []hlo.Module{add}}
	_, err = rt.Execute(nil, "async-done", early, start...)
	require.ErrorContains(t, err, "async-done")
	update, err := rt.Execute(nil, "async-update", eager.Attrs{Operands: []hlo.Shape{value(v), v}, Shape: value(v, v), Callees: []hlo.Module{add}}, append(start, vector(1, 2))...)
	require.NoError(t, err)
	require.Len(t, update, 4)
	done, err := rt.Execute(nil, "async-done", eager.Attrs{Operands: []hlo.Shape{value(v, v)}, Shape: v, Callees: []hlo.Module{add}}, update...)
	require.NoError(t, err)
	assert.Equal(t, []float32{4, 4}, floats(t, rt, done[0]))
}

func TestComposite(t *testing.T) {
	b := hlo.NewBuilder("mean-and-square")
	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 4))
	m, err := b.Build(b.Tuple(b.Multiply(x, x), b.Negate(x)))
	require.NoError(t, err)
	rt := eager.NewRuntime(eager.Options{Host: multi(t)})
	op, err := rt.MakeComposite(m)
	require.NoError(t, err)
	out, err := op.Call(nil, vector(1, 2, 3, 4))
	require.NoError(t, err)
	require.Len(t, out, 2)
	assert.Equal(t, []float32{1, 4, 9, 16}, floats(t, rt, out[0]))
	assert.Equal(t, []float32{-1, -2, -3, -4}, floats(t, rt, out[1]))
	_, err = op.Call(nil, vector(1))
	require.ErrorContains(t, err, "operand 0 is f32[1]{0}, want f32[4]{0}")
	shapes, err := op.Shapes(hlo.MakeShape(hlo.F32, 4))
	require.NoError(t, err)
	assert.Len(t, shapes, 2)
}

// upper is a handler that knows ops in capitals and leaves the rest to the next.
type upper struct{ rt **eager.Runtime }

func (upper) Name() string { return "upper" }

func (u upper) MakeOp(name string, attrs eager.Attrs) (*eager.Op, error) {
	lower := strings.ToLower(name)
	if lower == name {
		return nil, fmt.Errorf("%s: %w", name, eager.ErrNotHandled)
	}
	inner, err := (*u.rt).MakeOp(lower, attrs)
	if err != nil {
		return nil, err
	}
	return eager.NewOp(name, func(inv *eager.Invocation) error { return inner.Execute(inv) }), nil
}

func TestHandlersFallBack(t *testing.T) {
	var rt *eager.Runtime
	rt = eager.NewRuntime(eager.Options{Handlers: []eager.OpHandler{upper{&rt}}})
	for _, name := range []string{"NEGATE", "negate"} {
		out, err := rt.Execute(nil, name, eager.Attrs{}, vector(3))
		require.NoError(t, err)
		assert.Equal(t, []float32{-3}, floats(t, rt, out[0]))
	}
	assert.Equal(t, "upper", rt.Handler("upper").Name())
	assert.Equal(t, "cpu", rt.Handler("cpu").Name())
	assert.Nil(t, rt.Handler("gpu"))
}

// TestHostKernels executes kernels of host programs by themselves, on tensors of handles.
func TestHostKernels(t *testing.T) {
	rt := eager.NewRuntime(eager.Options{Register: []func(*runtime.Registry){hostkernels.Register}})
	add, err := rt.MakeKernel(eager.KernelSpec{Name: "tfrt.add.i32", Args: 2, Results: 1})
	require.NoError(t, err)
	out := make([]*async.Value, 1)
	require.NoError(t, add.Execute(nil, []*async.Value{async.Int32(40), async.Int32(2)}, out))
	assert.Equal(t, int32(42), async.Get[int32](out[0]))

	var text strings.Builder
	req := runtime.NewRequest(t.Context(), rt.Host(), runtime.RequestOptions{Data: []any{hostkernels.NewConsole(&text, &text)}})
	defer req.Close()
	twice, err := rt.Execute(nil, "add", eager.Attrs{}, vector(1, 2), vector(1, 2))
	require.NoError(t, err)
	host := eager.HostTensor(twice[0])
	print, err := rt.MakeKernel(eager.KernelSpec{Name: "tfrt_dht.print_tensor", Args: 2, Results: 1})
	require.NoError(t, err)
	require.NoError(t, print.Execute(req, []*async.Value{host.Value(), async.ReadyChain().Value()}, out))
	assert.Equal(t, "DenseHostTensor dtype = f32, shape = [2], values = [2.000000e+00, 4.000000e+00]\n", text.String())

	made, err := rt.MakeKernel(eager.KernelSpec{Name: "tfrt_dht.create_uninitialized_tensor.f32.1", Results: 1,
		Attrs: map[string]bef.Value{"shape": bef.Int64s(3)}})
	require.NoError(t, err)
	require.NoError(t, made.Execute(nil, nil, out))
	back, err := rt.Execute(nil, "cosine", eager.Attrs{}, eager.FromHostTensor(out[0]))
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 1, 1}, floats(t, rt, back[0]))

	_, err = rt.MakeKernel(eager.KernelSpec{Name: "no.such.kernel"})
	require.ErrorContains(t, err, "unknown kernel name 'no.such.kernel'")
	_, err = rt.MakeKernel(eager.KernelSpec{Name: "tfrt.add.i32", Args: 1, Results: 1})
	require.ErrorContains(t, err, "takes 2 arguments, got 1")
}
