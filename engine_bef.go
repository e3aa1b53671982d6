package halo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// compiled is a program on the runtime.
type compiled struct {
	program   *runtime.Program
	queue     workqueue.Queue // to close; nil if it is the caller's
	watch     kernels.Watch
	needsMesh bool // even where one device runs
}

func (c *compiled) close() {
	if c.queue != nil {
		c.queue.Close()
	}
}

func (c *compiled) execute(ctx context.Context, s *Signature, x *Execution) ([][]*hlo.Literal, error) {
	args, results := make([][]runtime.Buffer, len(x.Args)), make([][]runtime.Buffer, len(x.Args))
	from, to := x.held()
	for d := from; d < to; d++ {
		var err error
		if args[d], err = argumentBuffers(s, x.Args[d]); err != nil {
			return nil, err
		}
		var given []*hlo.Literal
		if x.Results != nil {
			given = x.Results[d]
		}
		results[d] = c.resultBuffers(s, given)
	}
	valid := make([]bool, len(results[from]))
	failed := c.run(ctx, x, args, results, valid)
	if failed != nil && !slices.Contains(valid, true) {
		return nil, failed
	}
	all := make([][]*hlo.Literal, len(results))
	for d := from; d < to; d++ {
		if failed == nil {
			valid = nil // all of them
		}
		var err error
		if all[d], err = literalsOf(s, results[d], valid); err != nil {
			return nil, err
		}
	}
	return all, failed
}

// run executes the program on one device or several. If one device fails, valid says which results the failure did not reach; several devices fail
// together.
func (c *compiled) run(ctx context.Context, x *Execution, args, results [][]runtime.Buffer, valid []bool) error {
	if len(args) == 1 && !c.needsMesh {
		return c.program.Entry().Run(ctx, runtime.RunOptions{Tracer: c.watch.Tracer, Meter: c.watch.Meter, Update: c.watch.Update, Valid: valid}, args[0], results[0])
	}
	m, _ := kernels.Module(c.program)
	transport, err := x.transport(ctx, BEF, m, c.hash)
	if err != nil {
		return err
	}
	world := &kernels.World{Mesh: devices.NewMeshOver(transport, x.Replicas, x.Partitions), Host: x.Host}
	return kernels.Devices(ctx, c.program, world, args, results, c.watch)
}

// hash hashes the program.
func (c *compiled) hash() (string, error) {
	data, err := bef.Marshal(c.program.File(), bef.EncodeOptions{Extensions: true})
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// argumentBuffers are the arguments as the runtime takes them. They share the literals' memory where nothing is dynamic.
func argumentBuffers(s *Signature, args []*hlo.Literal) ([]runtime.Buffer, error) {
	buffers := make([]runtime.Buffer, len(args))
	for i, a := range args {
		v := &s.Parameters[i]
		if v.Shape.IsToken() {
			buffers[i] = runtime.Buffer{Type: uint8(hlo.TOKEN)}
			continue
		}
		data, err := a.Buffer(v.Shape)
		if err != nil {
			return nil, &ArgumentError{Device: -1, Index: i, Name: v.Name, Problem: err.Error()}
		}
		memory := v.Shape.InMemory()
		buffers[i] = runtime.Buffer{Data: data, Type: uint8(memory.Type()), Dims: memory.Dimensions()}
	}
	return buffers, nil
}

// resultBuffers is memory for the results, the caller's where there is some.
func (c *compiled) resultBuffers(s *Signature, given []*hlo.Literal) []runtime.Buffer {
	types := c.program.Entry().ResultTypes()
	buffers := make([]runtime.Buffer, len(types))
	for i, t := range types {
		if i < len(given) && given[i] != nil && s.Results[i].Shape.IsStatic() {
			buffers[i] = runtime.Buffer{Data: given[i].Bytes(), Type: t.Type, Dims: t.Dims}
		} else {
			buffers[i] = t.NewBuffer()
		}
	}
	return buffers
}

// literalsOf are the results of a device: the valid ones, and nil in the places of the others. A nil valid is all.
func literalsOf(s *Signature, buffers []runtime.Buffer, valid []bool) ([]*hlo.Literal, error) {
	literals := make([]*hlo.Literal, len(buffers))
	for i, b := range buffers {
		if valid != nil && !valid[i] {
			continue
		}
		var err error
		if literals[i], err = hlo.LiteralOfBuffer(s.Results[i].Shape, b.Data); err != nil {
			return nil, err
		}
	}
	return literals, nil
}
