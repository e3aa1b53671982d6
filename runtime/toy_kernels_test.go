package runtime_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// journal is what the kernels of a test print.
type journal struct {
	mu    sync.Mutex
	lines []string
	live  atomic.Int32 // noisy payloads

	meeting chan struct{}
	walked  chan struct{} // closed when the caller has begun all that it can; nil: nobody says so
	silent  bool
}

func (j *journal) printf(format string, args ...any) {
	if j.silent {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := strings.Join(j.lines, "\n")
	j.lines = nil
	return text
}

// noisy is a counted payload that tells when it is made and destroyed.
type noisy struct {
	j    *journal
	n    int32
	refs *atomic.Int32
}

func (j *journal) noisy(n int32) noisy {
	v := noisy{j: j, n: n, refs: new(atomic.Int32)}
	v.refs.Store(1)
	j.live.Add(1)
	j.printf("made %d", n)
	return v
}

func (v noisy) AddRef() { v.refs.Add(1) }
func (v noisy) DropRef() {
	if v.refs.Add(-1) == 0 {
		v.j.live.Add(-1)
		v.j.printf("destroyed %d", v.n)
	}
}

type chain = async.Chain

// hostKernels are toys for the executor: arithmetic, printing, asynchrony, failures, noisy values and plain control flow.
func hostKernels(j *journal) *runtime.Registry {
	reg := runtime.NewRegistry()
	pure := func(name string, k runtime.Kernel) {
		reg.Kernel("t."+name, k)
		if k.Sync != nil {
			reg.Sync("s."+name, k)
		}
	}
	pure("const", runtime.FromAttribute(func(x int32) (int32, error) { return x, nil }))
	pure("true", runtime.PureNone(func() bool { return true }))
	pure("false", runtime.PureNone(func() bool { return false }))
	pure("chain", runtime.PureNone(func() chain { return chain{} }))
	pure("add", runtime.Pure2(func(a, b int32) int32 { return a + b }))
	pure("less", runtime.Pure2(func(a, b int32) bool { return a < b }))
	pure("div", runtime.Try2x2(func(a, b int32) (int32, int32, error) {
		if b == 0 {
			return 0, 0, errors.New("Divide by zero")
		}
		return a / b, a % b, nil
	}))
	pure("sum", runtime.PureN(func(xs []int32) (s int32) {
		for _, x := range xs {
			s += x
		}
		return s
	}))
	pure("print", runtime.Pure2(func(a int32, _ chain) chain { j.printf("int32 = %d", a); return chain{} }))
	pure("hello", runtime.Pure1(func(chain) chain { j.printf("hello"); return chain{} }))
	pure("fail", runtime.Kernel{
		Run:  func(f *runtime.Frame) { f.ReportError(errors.New("something bad happened")) },
		Sync: func(*runtime.SyncFrame) error { return errors.New("something bad happened") },
	})
	pure("quiet-fail", runtime.Kernel{Run: func(f *runtime.Frame) { f.SetError(errors.New("something bad happened")) }})
	pure("panic", runtime.Kernel{Run: func(*runtime.Frame) { panic("oh no") }, Sync: func(*runtime.SyncFrame) error { panic("oh no") }})
	pure("forgets", runtime.Kernel{Run: func(*runtime.Frame) {}})
	pure("count3", runtime.Params4(func(a runtime.Argument[int32], x, y, z runtime.Result[int32]) error {
		x.Emplace(a.Get() + 1)
		y.Emplace(a.Get() + 2)
		z.Emplace(a.Get() + 3)
		return nil
	}))
	pure("partial-fail", runtime.Params2(func(x, _ runtime.Result[int32]) error {
		x.Emplace(1)
		return errors.New("something bad happened")
	}))
	identity := func(args runtime.RemainingArguments, res runtime.RemainingResults) error {
		for i, v := range args.Values[len(args.Values)-res.Len():] {
			v.AddRef()
			res.Set(i, v)
		}
		return nil
	}
	pure("identity", runtime.Params2(identity)) // the last arguments
	pure("share", runtime.Params2(func(a runtime.Argument[noisy], res runtime.RemainingResults) error {
		for i := range res.Len() {
			res.Set(i, a.Ref().Value())
		}
		return nil
	}))
	pure("merge", runtime.Params2(func(_ runtime.RemainingArguments, out runtime.Result[chain]) error {
		out.Emplace(chain{})
		return nil
	}))
	pure("id", runtime.Params3(func(ctx runtime.ExecContext, out runtime.Result[int32], id runtime.Attribute[int64]) error {
		j.printf("id %d", id.Get())
		out.Emplace(int32(id.Get()))
		return nil
	}))
	pure("attributes", runtime.Params5(func(out runtime.RemainingResults, b runtime.Attribute[bool], c runtime.ArrayAttribute[int64], f runtime.Attribute[float32], s runtime.StringAttribute) error {
		j.printf("%v %v %v %q", b.Get(), c.Get(), f.Get(), s.Get())
		out.Set(0, async.ReadyChain().Value())
		return nil
	}))
	pure("location", runtime.Kernel{Run: func(f *runtime.Frame) {
		j.printf("%d %s", f.LocationID(), f.Location().DebugInfo())
		f.Set(0, async.ReadyChain().Value())
	}})
	addAsyncKernels(pure, j)
	addNoisyKernels(pure, j)
	addBufferKernels(pure, j)
	addControlKernels(pure, j)
	addNatives(reg, j)
	return reg
}

func addAsyncKernels(pure func(string, runtime.Kernel), j *journal) {
	async2 := func(fail, indirect bool) func(runtime.ExecContext, runtime.Reporter, runtime.Argument[int32], runtime.RemainingResults) error {
		return func(ctx runtime.ExecContext, rep runtime.Reporter, in runtime.Argument[int32], res runtime.RemainingResults) error {
			src := in.Ref()
			var out *async.Value
			if indirect {
				out = &res.AllocateIndirect(0).Value
			} else {
				out = async.MakeUnconstructed[int32]().Value()
				res.Set(0, out)
			}
			ctx.Queue.AddTask(func() {
				if fail {
					out.SetError(rep.Report(errors.New("something bad happened asynchronously")))
				} else {
					async.Emplace(out, src.Get())
				}
				src.Drop()
				if indirect {
					out.DropRef()
				}
			})
			return nil
		}
	}
	pure("later", runtime.Params4(async2(false, false)))
	pure("later-indirect", runtime.Params4(async2(false, true)))
	pure("fail-later", runtime.Params4(async2(true, false)))
	pure("fail-later-indirect", runtime.Params4(async2(true, true)))
	pure("async-add", runtime.Params4(func(ctx runtime.ExecContext, a, b runtime.Argument[int32], out runtime.Result[int32]) error {
		x, y := a.Get(), b.Get()
		out.Set(async.MakeAsync(ctx.Queue, func() (int32, error) { return x + y, nil }))
		return nil
	}))
	// The first result is there at once, the second later.
	pure("partly-later", runtime.Params4(func(ctx runtime.ExecContext, in runtime.Argument[int32], now, later runtime.Result[int32]) error {
		x := in.Get()
		now.Emplace(x)
		later.Set(async.MakeAsync(ctx.Queue, func() (int32, error) { return x + 1, nil }))
		return nil
	}))
	// Sets its first result, leaves the second unavailable, and fails.
	pure("fail-midway", runtime.Params3(func(a, b, c runtime.Result[int32]) error {
		a.Emplace(1)
		ref := b.Allocate()
		ref.Drop()
		return errors.New("midway")
	}))
	foreign := runtime.Params3(func(_ runtime.ExecContext, in runtime.Argument[int32], out runtime.Result[int32]) error {
		x, ref, walked := in.Get(), out.Allocate(), j.walked
		go func() {
			if walked != nil {
				<-walked // so that somebody waits for the value
			} else {
				time.Sleep(time.Millisecond)
			}
			ref.Emplace(x)
		}()
		return nil
	})
	foreign.ForeignThread = true
	pure("foreign", foreign)
	pure("in-worker", runtime.Params3(func(ctx runtime.ExecContext, _ runtime.Argument[int32], out runtime.Result[bool]) error {
		out.Emplace(ctx.Queue.IsInWorkerThread())
		return nil
	}))
	pure("sleep", runtime.Params3(func(ctx runtime.ExecContext, in runtime.Argument[int32], out runtime.Result[chain]) error {
		us, ref := in.Get(), out.Allocate()
		ctx.Queue.AddBlockingTask(func() {
			time.Sleep(time.Duration(us) * time.Microsecond)
			j.printf("slept %d", us)
			ref.Emplace(chain{})
		}, workqueue.MayQueue)
		return nil
	}))
	// Returns when two of its kind run at the same time.
	pure("meet", runtime.Params3(func(_ runtime.ExecContext, _ runtime.RemainingArguments, out runtime.Result[chain]) error {
		select {
		case j.meeting <- struct{}{}:
		case <-j.meeting:
		case <-time.After(20 * time.Second): // only if nobody comes
			return errors.New("nobody came")
		}
		out.Emplace(chain{})
		return nil
	}))
	pure("cancel", runtime.Params3(func(ctx runtime.ExecContext, _ runtime.RemainingArguments, out runtime.Result[chain]) error {
		ctx.Request.Cancel()
		out.Emplace(chain{})
		return nil
	}))
}

func addNoisyKernels(pure func(string, runtime.Kernel), j *journal) {
	pure("noisy", runtime.FromAttribute(func(n int32) (noisy, error) { return j.noisy(n), nil }))
	pure("noisy-add", runtime.Pure2(func(a, b noisy) noisy { return j.noisy(a.n + b.n) }))
	pure("noisy-print", runtime.Pure2(func(a noisy, _ chain) chain { j.printf("noisy %d", a.n); return chain{} }))
	pure("noisy-later", runtime.Params3(func(ctx runtime.ExecContext, in runtime.Argument[noisy], out runtime.Result[noisy]) error {
		src, dst := in.Ref(), out.Allocate()
		ctx.Queue.AddTask(func() {
			dst.Emplace(j.noisy(src.Get().n + 100))
			dst.Drop()
			src.Drop()
		})
		return nil
	}))
	pure("unique", runtime.Params2(func(args runtime.RemainingArguments, res runtime.RemainingResults) error {
		for i, v := range args.Values {
			res.Set(i, async.Bool(v.IsUnique()))
		}
		return nil
	}))
}

// addBufferKernels adds kernels on counted tensor memory of 4 KiB; the sum works in place where it may.
func addBufferKernels(pure func(string, runtime.Kernel), j *journal) {
	allocate := func(ctx runtime.ExecContext) (*runtime.HostBuffer, error) {
		return runtime.NewHostBuffer(ctx.Host().Allocator(), 4096, runtime.BufferAlign)
	}
	pure("buffer", runtime.Params2(func(ctx runtime.ExecContext, out runtime.Result[*runtime.HostBuffer]) error {
		b, err := allocate(ctx)
		if err == nil {
			out.Emplace(b)
		}
		return err
	}))
	pure("buffer-add", runtime.Params4(func(ctx runtime.ExecContext, x, y runtime.Argument[*runtime.HostBuffer], out runtime.Result[*runtime.HostBuffer]) error {
		b := x.Get()
		if x.Value().IsUnique() && b.IsExclusiveOwner() {
			b.AddRef()
		} else {
			var err error
			if b, err = allocate(ctx); err != nil {
				return err
			}
			copy(b.Data(), x.Get().Data())
		}
		for i, v := range y.Get().Data() {
			b.Data()[i] += v
		}
		out.Emplace(b)
		return nil
	}))
}

// addControlKernels adds a call, a branch and a loop, all non-strict.
func addControlKernels(pure func(string, runtime.Kernel), j *journal) {
	call := runtime.Params4(func(ctx runtime.ExecContext, args runtime.RemainingArguments, res runtime.RemainingResults, f runtime.Callee) error {
		return f.Execute(ctx, args.Values, res.Slots())
	})
	call.Check = func(u *runtime.KernelUse) error { return u.Funcs[0].CheckCall(u.NumArgs, u.NumResults) }
	call.NonStrict = true
	pure("call", call)
	pure("async-call", runtime.Params4(func(ctx runtime.ExecContext, args runtime.RemainingArguments, res runtime.RemainingResults, f runtime.Callee) error {
		return f.ExecuteAsync(ctx, args.Values, res.Slots())
	}))
	branch := runtime.Params5(func(ctx runtime.ExecContext, cond runtime.Argument[bool], args runtime.RemainingArguments, res runtime.RemainingResults, fs runtime.RemainingFunctions) error {
		run := func(args, results []*async.Value) {
			if st := cond.Value().Status(); st != nil {
				for i := range results {
					results[i] = async.MakeError(st)
				}
				return
			}
			f := fs.Funcs[1]
			if cond.Get() {
				f = fs.Funcs[0]
			}
			_ = f.Execute(ctx, args, results)
		}
		if cond.Value().IsAvailable() {
			run(args.Values, res.Slots())
			return nil
		}
		kept := append([]*async.Value(nil), args.Values...)
		promised := make([]*async.Indirect, res.Len())
		for i := range promised {
			promised[i] = res.AllocateIndirect(i)
		}
		c := cond.Ref()
		for _, v := range kept {
			v.AddRef()
		}
		c.AndThen(func() {
			results := make([]*async.Value, len(promised))
			run(kept, results)
			for i, p := range promised {
				p.ForwardTo(results[i])
				p.DropRef()
			}
			for _, v := range kept {
				v.DropRef()
			}
			c.Drop()
		})
		return nil
	})
	branch.NonStrict = true
	pure("if", branch)
	// Calls a function n times, each time with the results of the last; all work must be synchronous.
	pure("repeat", runtime.Params5(func(ctx runtime.ExecContext, n runtime.Argument[int32], args runtime.RemainingArguments, res runtime.RemainingResults, f runtime.Callee) error {
		carried := append([]*async.Value(nil), args.Values...)
		for _, v := range carried {
			v.AddRef()
		}
		for range n.Get() {
			if err := f.ExecuteByValue(ctx, carried, carried); err != nil {
				return err
			}
		}
		for i, v := range carried {
			res.Set(i, v)
		}
		return nil
	}))
}

func addNatives(reg *runtime.Registry, j *journal) {
	reg.Native("native_add", runtime.Pure2(func(a, b int32) int32 { return a + b }))
	reg.Native("native_async_add", runtime.Params4(func(ctx runtime.ExecContext, a, b runtime.Argument[int32], out runtime.Result[int32]) error {
		x, y := a.Get(), b.Get()
		out.Set(async.MakeAsync(ctx.Queue, func() (int32, error) { return x + y, nil }))
		return nil
	}))
	reg.Native("native_error", runtime.Kernel{Run: func(f *runtime.Frame) { f.SetError(errors.New("something bad happened")) }})
	reg.Native("native_print", runtime.Pure1(func(a int32) chain { j.printf("native %d", a); return chain{} }))
	reg.Native("native_panic", runtime.Kernel{Run: func(*runtime.Frame) { panic("native oh no") }})
}
