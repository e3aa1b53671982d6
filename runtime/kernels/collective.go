package kernels

import (
	"context"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// collective is the kernel of an op of several devices. A device that comes leaves its frame at the meeting and suspends; the last one to
// come computes for all of them, straight into their outputs and before anybody's operands may be overwritten, and lets them go on.
type collective struct {
	in   hlo.Instruction
	op   *eval.Collective
	name string
}

func newCollective(s *site) (runtime.Bound, bool) {
	op, ok := eval.PrepareCollective(s.m, s.in)
	if !ok {
		return runtime.Bound{}, false
	}
	k := &collective{in: s.in, op: op, name: s.name()}
	return runtime.Bound{RunAsync: k.run}, true
}

// name is how reports call the instruction of a site.
func (s *site) name() string { return s.in.Opcode().String() + " " + s.b.Location.Name }

func (k *collective) run(f *runtime.TensorFrame) *async.Value {
	ctx, on := f.Ctx().Context(), deviceOf(f)
	group, err := k.op.Group(ctx, on)
	if err != nil {
		return async.MakeError(err)
	}
	operands, err := operandLiterals(k.in, f)
	if err != nil {
		return async.MakeError(err)
	}
	if len(group) <= 1 {
		var brought [][]*hlo.Literal
		if len(group) == 1 {
			brought = append(brought, operands)
		}
		return outcome(k.finish(ctx, on, group, operands, brought, f))
	}
	w := newWaiter(ctx, on.Mesh)
	v := &eval.Visitor{Device: on.Device, Operands: operands, Frame: f, Resume: w.resume}
	meeting, last, err := on.Mesh.Meet(k, k.name, group, v)
	if err != nil {
		w.stop()
		return async.MakeError(err)
	}
	if !last {
		return w.done.Value()
	}
	w.stop()
	err = k.complete(ctx, on.Mesh, meeting, f)
	meeting.Release(v, err)
	return outcome(err)
}

// complete computes what each visitor gets.
func (k *collective) complete(ctx context.Context, mesh *eval.Mesh, t *eval.Meeting, f *runtime.TensorFrame) error {
	brought := t.Brought()
	if k.op.Common {
		first := t.Visitors[0]
		on := eval.On{Device: first.Device, Mesh: mesh}
		result, err := k.op.Result(ctx, on, t.Group, first.Operands, brought)
		if err != nil {
			return err
		}
		for _, v := range t.Visitors {
			if err := storeResult(result, result.Shape(), v.Frame.(*runtime.TensorFrame)); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, len(t.Visitors))
	f.ParallelFor(len(t.Visitors), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v := t.Visitors[i]
			errs[i] = k.finish(ctx, eval.On{Device: v.Device, Mesh: mesh}, t.Group, v.Operands, brought, v.Frame.(*runtime.TensorFrame))
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// finish computes what one device gets.
func (k *collective) finish(ctx context.Context, on eval.On, group []eval.Device, operands []*hlo.Literal, brought [][]*hlo.Literal, f *runtime.TensorFrame) error {
	result, err := k.op.Result(ctx, on, group, operands, brought)
	if err != nil {
		return err
	}
	return storeResult(result, result.Shape(), f)
}

// outcome is what a kernel returns that is done.
func outcome(err error) *async.Value {
	if err != nil {
		return async.MakeError(err)
	}
	return nil
}

// waiter is a kernel that waits for another device. When its own execution fails meanwhile, the mesh fails: nobody may wait for it.
type waiter struct {
	done async.Ref[async.Chain]
	once sync.Once
	stop func() bool
}

func newWaiter(ctx context.Context, mesh *eval.Mesh) *waiter {
	return &waiter{
		done: async.MakeUnconstructed[async.Chain](),
		stop: context.AfterFunc(ctx, func() { mesh.Fail(context.Cause(ctx)) }),
	}
}

func (w *waiter) resume(err error) {
	w.once.Do(func() {
		w.stop()
		if err != nil {
			w.done.SetError(err)
		} else {
			w.done.Emplace(async.Chain{})
		}
	})
}
