package hostkernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func registerLoops(reg *runtime.Registry) {
	reg.Kernel("tfrt.repeat.i32", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(1), Results: runtime.AtLeast(0), Funcs: 1},
		NonStrict: true,
		Check: func(u *runtime.KernelUse) error {
			if err := checkCarried(u); err != nil {
				return err
			}
			return u.Funcs[0].CheckCall(u.NumArgs-1, u.NumResults)
		},
		Run: repeatKernel,
	})
	reg.Kernel("tfrt.while", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(1), Results: runtime.AtLeast(0), Attrs: 1, Funcs: 1},
		NonStrict: true,
		Check: func(u *runtime.KernelUse) error {
			if err := checkCarried(u); err != nil {
				return err
			}
			return u.Funcs[0].CheckCall(u.NumArgs-1, u.NumResults+1)
		},
		Run: whileKernel,
	})
}

// checkCarried holds a loop to giving what it is given, after the argument that controls it.
func checkCarried(u *runtime.KernelUse) error {
	if u.NumArgs != u.NumResults+1 {
		return async.Errorf(async.InvalidArgument, "carries %d values and gives %d", u.NumArgs-1, u.NumResults)
	}
	return nil
}

// carried is the state of a loop between iterations: the values, with a reference to each, and once the kernel has returned, the promises
// that stand for its results.
type carried struct {
	ctx      runtime.ExecContext
	body     *runtime.Function
	values   []*async.Value
	results  []*async.Value // of the frame, until the kernel returns
	promised promises
	detached bool
	turns    int // iterations since the loop last let others go first
}

// fairTurns is how many iterations a loop runs before it goes to the end of the queue: tasks that it has started, one that ends it
// perhaps, may have no other worker.
const fairTurns = 1024

// yields counts an iteration. Every so often it hands the rest of the loop to the queue and reports true.
func (c *carried) yields(resume func()) bool {
	c.turns++
	if c.turns < fairTurns {
		return false
	}
	c.turns = 0
	c.detach()
	c.ctx.Queue.AddTask(resume)
	return true
}

// detach makes promises the kernel's results: the loop goes on after the kernel has returned.
func (c *carried) detach() {
	if !c.detached {
		c.detached = true
		c.promised = makePromises(c.results)
		c.results = nil
	}
}

// finish gives the values out.
func (c *carried) finish() {
	if c.detached {
		c.promised.keep(c.values)
	} else {
		copy(c.results, c.values)
	}
}

// fail makes v all values. v itself stays the caller's.
func (c *carried) fail(v *async.Value) {
	v.AddRef() // it may be one of the values
	dropAll(c.values)
	setAll(c.values, v)
	v.DropRef()
}

func (c *carried) cancelled() *async.Value {
	if c.ctx.Request == nil {
		return nil
	}
	return c.ctx.Request.Cancelled()
}

// repeat is a loop with a trip count. Iterations start one after the other, whether the values of the last are there or not, but
// only so many at once: a long loop must not become a long queue of waiting executions.
type repeat struct {
	carried
	left int32
}

const repeatBlock = 32

func repeatKernel(f *runtime.Frame) {
	count := f.Arg(0)
	if count.IsAvailable() {
		r := &repeat{carried: carried{ctx: f.Ctx(), body: f.Func(0), values: keep(f.Args()[1:]), results: f.Results()}}
		r.start(count)
		return
	}
	body := f.Func(0)
	later(f, func(ctx runtime.ExecContext, args, results []*async.Value) {
		r := &repeat{carried: carried{ctx: ctx, body: body, values: keep(args[1:]), results: results}}
		r.start(args[0])
	})
}

func (r *repeat) start(count *async.Value) {
	n, failed := payload[int32](count)
	if failed != nil {
		r.fail(failed)
		r.finish()
		return
	}
	r.left = n
	if r.left < 0 {
		r.fail(async.MakeError(async.Errorf(async.InvalidArgument, "tfrt.repeat.i32 of a negative count %d", r.left)))
		r.left = 0
	}
	r.run()
}

// run goes on until the loop ends or has to wait.
func (r *repeat) run() {
	for {
		for block := int32(repeatBlock); r.left > 0 && (block > 0 || len(r.values) == 0); block-- {
			if st := r.cancelled(); st != nil {
				r.fail(st)
				r.finish()
				return
			}
			r.left--
			// The number of values has been checked.
			_ = r.body.ExecuteByValue(r.ctx, r.values, r.values)
			if r.left > 0 && r.yields(r.run) {
				return
			}
		}
		if r.left == 0 {
			r.finish()
			return
		}
		if first := r.values[0]; first.IsUnavailable() {
			r.detach()
			first.AndThen(r.run)
			return
		}
	}
}

// while is a loop with a condition, which the body computes.
type while struct {
	carried
	cond *async.Value
	next []*async.Value // results of the body: values, then the condition
	// parallel loops start every iteration as a task and go on as soon as its condition is known.
	parallel bool
}

func whileKernel(f *runtime.Frame) {
	iterations, err := runtime.AttrValue[int64](f.Pool(), f.Attr(0))
	if err != nil {
		f.ReportError(err)
		return
	}
	args := keep(f.Args())
	w := &while{
		carried:  carried{ctx: f.Ctx(), body: f.Func(0), values: args[1:], results: f.Results()},
		cond:     args[0],
		next:     make([]*async.Value, len(args)),
		parallel: iterations > 1,
	}
	w.run()
}

func (w *while) run() {
	for {
		if w.cond.IsUnavailable() {
			w.detach()
			resume := w.run
			if !w.parallel {
				// The loop works on where it is: not on the goroutine that happens to publish a condition.
				resume = func() { w.ctx.Queue.AddTask(w.run) }
			}
			w.cond.AndThen(resume)
			return
		}
		if st := w.cancelled(); st != nil {
			w.fail(st)
			break
		}
		more, failed := payload[bool](w.cond)
		if failed != nil {
			w.failWhenDone(failed)
			return
		}
		if !more {
			break
		}
		w.iterate()
		if w.yields(w.run) {
			return
		}
	}
	w.cond.DropRef()
	w.finish()
}

func (w *while) iterate() {
	w.cond.DropRef()
	// The numbers of values have been checked.
	if w.parallel {
		_ = w.body.ExecuteAsync(w.ctx, w.values, w.next)
		dropAll(w.values)
	} else {
		_ = w.body.ExecuteByValue(w.ctx, w.values, w.next)
	}
	n := copy(w.values, w.next)
	w.cond = w.next[n]
}

// failWhenDone makes the condition's error all results, when nothing is outstanding.
func (w *while) failWhenDone(failed *async.Value) {
	for _, v := range w.values {
		if v.IsUnavailable() {
			w.detach()
			break
		}
	}
	async.RunWhenReady(w.values, func() {
		w.fail(failed)
		w.cond.DropRef()
		w.finish()
	})
}
