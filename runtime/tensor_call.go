package runtime

import (
	"context"
	"slices"
	"sync"

	"github.com/gohalo/halo/runtime/async"
)

// AsKernel returns a kernel that executes f, a function of any kind and any program, so that other programs can call it by a name of
// their registry, as a kernel or as a native function. Values are those of the calling program.
func (f *Function) AsKernel() Kernel {
	return Kernel{
		Signature: &Signature{Args: Count(f.NumArgs()), Results: Count(f.NumResults())},
		Run: func(fr *Frame) {
			ctx := fr.Ctx()
			args := slices.Clone(fr.args)
			for _, v := range args {
				v.AddRef()
			}
			if f.tensor != nil {
				f.executeTensor(ctx, fr.kernel.fn.program.values, args, fr.results)
				return
			}
			if err := f.ExecuteByValue(ctx, args, fr.results); err != nil { // the signature has been checked
				dropAll(args)
				fr.ReportError(err)
			}
		},
	}
}

// executeTensor runs a tensor function on async values, when all of them are available. It takes over their references.
func (f *Function) executeTensor(ctx ExecContext, tv *TensorValues, args, results []*async.Value) {
	f.whenAvailable(ctx, args, results, func(ctx *ExecContext, args, results []*async.Value) {
		failed := lastError(ctx, args)
		if failed == nil && tv == nil {
			failed = async.MakeError(async.Errorf(async.FailedPrecondition, "function %q is called on tensors, and the registry does not say how values hold them", f.name))
		}
		if failed != nil {
			failAll(args, results, failed)
			return
		}
		c := &tensorCall{fn: f, tv: tv, host: ctx.Host(), args: slices.Clone(args)}
		if c.host == nil {
			c.host = f.program.host
		}
		if st := c.start(ctx); st != nil {
			failAll(args, results, async.MakeError(st.At(f.name, statusLocation(f.Location()))))
			return
		}
		c.take(results)
	})
}

// tensorCall is a run of a tensor function whose arguments and results are async values.
type tensorCall struct {
	fn     *Function
	tv     *TensorValues
	host   *Host
	args   []*async.Value
	memory *tensorMemory

	mu       sync.Mutex
	values   []*async.Value    // set when the run has ended
	promised []*async.Indirect // set if the caller was faster
}

// start runs the function on this goroutine, until it ends or has to wait.
func (c *tensorCall) start(ctx *ExecContext) *Error {
	views, st := c.tv.views(c.args)
	if st != nil {
		return st
	}
	if c.memory, st = newTensorMemory(c.host, c.fn.ResultTypes()); st != nil {
		return st
	}
	o := RunOptions{Request: ctx.Request, Replica: ctx.Replica, Partition: ctx.Partition, Tracer: ctx.tracer}
	r, err := c.fn.prepare(context.Background(), &o, views, c.memory.views)
	if err != nil {
		c.memory.drop()
		return async.StatusOf(err)
	}
	r.release = func(r *tensorRun) {
		st := r.stop.Load()
		var valid []bool
		if st != nil {
			valid = make([]bool, len(c.memory.types))
			r.valid(valid)
		}
		r.reset()
		c.fn.instances.put(r)
		c.end(st, valid)
	}
	r.main.task()
	return nil
}

// end makes the results known.
func (c *tensorCall) end(failed *Error, valid []bool) {
	values := c.memory.validValues(c.tv, failed, valid)
	dropAll(c.args)
	c.mu.Lock()
	c.values = values
	promised := c.promised
	c.mu.Unlock()
	if promised == nil {
		return
	}
	for i, p := range promised {
		p.ForwardTo(values[i])
		p.DropRef()
	}
	c.host.executionEnded()
}

// take gives the results to the caller: the values, or promises of them.
func (c *tensorCall) take(results []*async.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values != nil {
		copy(results, c.values)
		return
	}
	c.host.executionStarted()
	c.promised = make([]*async.Indirect, c.fn.NumResults())
	for i := range c.promised {
		p := async.MakeIndirect()
		p.AddRef()
		c.promised[i] = p
		results[i] = &p.Value
	}
}
