package kernels

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/devices"
)

// collective is the kernel of an op of several devices. A device that comes leaves its frame at the meeting and suspends; when all have come,
// one computes for all of this process, straight into their outputs and before anybody's operands may be overwritten, and they go on.
type collective struct {
	in   hlo.Instruction
	name string
	// visit computes what the device of rank gets from what the members brought, into its frame.
	visit func(t *gathering, rank int, f *runtime.TensorFrame) error
	// fold, of an op that reduces, folds a piece of leaf i of what the members brought.
	fold func(f *runtime.TensorFrame, i int, brought [][]byte, out []byte) error
	// common says that all members get the same: it is computed for one, and copied.
	common bool
	// optional says that a device may be in no group: it gets zeros.
	optional bool
}

// gathering is what the members of a group bring to a collective, by rank, and who they are.
type gathering struct {
	group   []devices.Device
	brought [][]*hlo.Literal
}

// operand is what a member brings as operand i.
func (t *gathering) operand(rank, i int) *hlo.Literal { return t.brought[rank][i] }

func newCollective(make func(*site) (*collective, error)) chooser {
	return func(s *site) (runtime.Bound, bool) {
		k, err := make(s)
		if err != nil {
			return runtime.Bound{RunAsync: func(*runtime.TensorFrame) *async.Value { return async.MakeError(err) }}, true
		}
		k.in, k.name = s.in, s.name()
		return runtime.Bound{RunAsync: k.run}, true
	}
}

// name is how reports call the instruction of a site.
func (s *site) name() string { return s.in.Opcode().String() + " " + s.b.Location.Name }

func (k *collective) run(f *runtime.TensorFrame) *async.Value {
	ctx, on := f.Ctx().Context(), deviceOf(f)
	grid := devices.Grid{Replicas: 1, Partitions: 1}
	if on.Mesh != nil {
		grid = on.Mesh.Grid
	}
	group, err := grid.Members(k.in, on.Device)
	if err != nil {
		return async.MakeError(err)
	}
	if len(group) == 0 && !k.optional {
		return async.MakeError(fmt.Errorf("%s is in none of the groups", grid.Name(on.Device)))
	}
	operands, err := operandLiterals(k.in, f)
	if err != nil {
		return async.MakeError(err)
	}
	if len(group) <= 1 {
		return outcome(k.visit(&gathering{group, [][]*hlo.Literal{operands}[:len(group)]}, 0, f))
	}
	w := newWaiter(ctx, on.Mesh)
	v := &devices.Visitor{Device: on.Device, Operands: operands, Frame: f, Resume: w.resume, Complete: k.complete}
	if k.fold != nil {
		v.Fold = func(i int, brought [][]byte, out []byte) error { return k.fold(f, i, brought, out) }
		v.Result = func(i int) []byte { return f.Out(i).Data }
	}
	_, done, err := on.Mesh.Meet(k.in, k.name, group, v)
	if !done && err == nil {
		return w.done.Value()
	}
	w.stop()
	return outcome(err)
}

// complete computes what each visitor gets.
func (k *collective) complete(t *devices.Meeting) error {
	if t.Reduced != nil {
		k.spread(t)
		return nil
	}
	from := &gathering{t.Group, t.Brought}
	here := make([]int, 0, len(t.Visitors)) // ranks of this process
	for rank, v := range t.Visitors {
		if v != nil {
			here = append(here, rank)
		}
	}
	frame := func(i int) *runtime.TensorFrame { return t.Visitors[here[i]].Frame.(*runtime.TensorFrame) }
	computed := len(here)
	if k.common {
		computed = 1
	}
	errs := make([]error, len(here))
	frame(0).ParallelFor(computed, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			errs[i] = k.visit(from, here[i], frame(i))
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	for i := computed; i < len(here); i++ {
		for o := range k.in.Shape().NumLeaves() {
			copy(frame(i).Out(o).Data, frame(0).Out(o).Data)
		}
	}
	return nil
}

// spread gives every visitor what has been computed for all.
func (k *collective) spread(t *devices.Meeting) {
	for _, v := range t.Visitors {
		for i, from := range t.Reduced {
			if v == nil {
				break
			}
			if to := v.Frame.(*runtime.TensorFrame).Out(i).Data; len(to) > 0 && &to[0] != &from[0] {
				copy(to, from)
			}
		}
	}
}

// outcome is what a kernel returns that is done.
func outcome(err error) *async.Value {
	if err != nil {
		return async.MakeError(err)
	}
	return nil
}

// waiter is a kernel that waits for another device. When its own execution fails meanwhile, the mesh fails, so that no other device waits for it.
type waiter struct {
	done async.Ref[async.Chain]
	once sync.Once
	stop func() bool
}

func newWaiter(ctx context.Context, mesh *devices.Mesh) *waiter {
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
