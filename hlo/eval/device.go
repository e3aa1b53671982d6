package eval

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// Device is a place in the grid of replicas and partitions.
type Device = devices.Device

// Devices evaluates a program on a grid of devices at once: device (r, p), replica r and partition p, has number r·partitions + p in
// args and in the results. Each runs on a goroutine of its own. The first error ends the others. With o.Transport, the devices that other
// processes run have nil results.
func Devices(ctx context.Context, m hlo.Module, args [][]*hlo.Literal, replicas, partitions int, o Options) ([]*hlo.Literal, error) {
	if replicas < 1 || partitions < 1 || len(args) != replicas*partitions {
		return nil, fmt.Errorf("arguments for %d devices, want %d replicas of %d partitions", len(args), replicas, partitions)
	}
	mesh := devices.NewMeshOver(o.Transport, replicas, partitions)
	for i, a := range args {
		if !mesh.Holds(mesh.Device(i)) {
			continue
		}
		if err := checkArguments(m.Entry(), a); err != nil {
			err = fmt.Errorf("device %d: %w", i, err)
			mesh.Fail(err)
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { mesh.Fail(context.Cause(ctx)) })()
	results := make([]*hlo.Literal, len(args))
	var wait sync.WaitGroup
	for i, a := range args {
		d := mesh.Device(i)
		if !mesh.Holds(d) {
			continue
		}
		wait.Go(func() {
			own := o
			own.Replica, own.Partition = d.Replica, d.Partition
			e := newEvaluator(ctx, m, own)
			e.mesh = mesh
			v, err := e.run(m.Entry(), a)
			if err != nil {
				mesh.Fail(fmt.Errorf("device %d: %w", i, err))
				cancel()
			}
			results[i] = v
			mesh.Rest(true)
			mesh.Finish(d)
		})
	}
	wait.Wait()
	if err := mesh.Err(); err != nil {
		return nil, err
	}
	return results, nil
}

// exchange brings operands to the other members of a group and returns what each of them brought, by rank; or, if that may be folded
// beforehand, perhaps what all of it is folded to.
func (c *Call) exchange(group []Device, operands []*hlo.Literal, folds bool) ([][]*hlo.Literal, error) {
	e := c.e
	if len(group) <= 1 {
		return [][]*hlo.Literal{operands}, nil
	}
	var told error
	ready := make(chan struct{})
	v := &devices.Visitor{Device: e.here(), Operands: slices.Clone(operands), Resume: func(err error) {
		told = err
		e.mesh.Rest(false)
		close(ready)
	}}
	if folds {
		v.Fold = c.foldPiece
	}
	meeting, done, err := e.mesh.Meet(c.In, nameOf(c.In), group, v)
	if err != nil {
		return nil, err
	}
	if !done {
		e.mesh.Rest(true)
		<-ready
	}
	if told != nil {
		return nil, told
	}
	if meeting.Reduced == nil {
		return meeting.Brought, nil
	}
	folded := make([]*hlo.Literal, len(operands))
	for i, b := range meeting.Reduced {
		if folded[i], err = hlo.NewLiteral(operands[i].Shape(), b); err != nil {
			return nil, err
		}
	}
	return [][]*hlo.Literal{folded}, nil
}

// nameOf is how reports call an instruction.
func nameOf(in hlo.Instruction) string { return in.Opcode().String() + " " + in.Name() }

// here is the device that is evaluated.
func (e *evaluator) here() Device { return Device{Replica: e.o.Replica, Partition: e.o.Partition} }
