package halo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

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

	args, results []runtime.TensorType // of the entry
	idle          sync.Pool            // of *oneExecution
}

func (c *compiled) close() {
	if c.queue != nil {
		c.queue.Close()
	}
}

func (c *compiled) execute(ctx context.Context, s *Signature, x *Execution) ([][]*hlo.Literal, error) {
	args, results := make([][]runtime.Buffer, len(x.Args)), make([][]runtime.Buffer, len(x.Args))
	from, to := x.held()
	given := func(d int) []*hlo.Literal {
		if x.Results == nil {
			return nil
		}
		return x.Results[d]
	}
	for d := from; d < to; d++ {
		args[d], results[d] = make([]runtime.Buffer, len(x.Args[d])), make([]runtime.Buffer, len(c.results))
		if err := c.argumentBuffers(s, x.Args[d], args[d]); err != nil {
			return nil, err
		}
		c.resultBuffers(s, given(d), results[d])
	}
	valid := make([]bool, len(c.results))
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
		if all[d], err = literalsOf(s, given(d), results[d], valid); err != nil {
			return nil, err
		}
	}
	return all, failed
}

// oneExecution is what an execution on one device needs beside the instance of the program, kept for the next one.
type oneExecution struct {
	args, results []runtime.Buffer
	valid         []bool
	apart         extents
}

func (c *compiled) take() *oneExecution {
	if x, ok := c.idle.Get().(*oneExecution); ok {
		return x
	}
	return &oneExecution{args: make([]runtime.Buffer, len(c.args)), results: make([]runtime.Buffer, len(c.results)), valid: make([]bool, len(c.results))}
}

// put keeps x, without the memory that it is over.
func (c *compiled) put(x *oneExecution) {
	clear(x.args)
	clear(x.results)
	clear(x.valid)
	c.idle.Put(x)
}

// executeOne is execute for a device that meets no other.
func (c *compiled) executeOne(ctx context.Context, s *Signature, x *oneExecution, given, args []*hlo.Literal) ([]*hlo.Literal, error) {
	if err := c.argumentBuffers(s, args, x.args); err != nil {
		return nil, err
	}
	c.resultBuffers(s, given, x.results)
	failed := c.runOne(ctx, x.args, x.results, x.valid)
	if failed == nil {
		return literalsOf(s, given, x.results, nil)
	}
	if !slices.Contains(x.valid, true) {
		return nil, failed
	}
	all, err := literalsOf(s, given, x.results, x.valid)
	if err != nil {
		return nil, err
	}
	return all, failed
}

// runOne executes the program on a device that meets no other. After a failure, valid says which results it did not reach.
func (c *compiled) runOne(ctx context.Context, args, results []runtime.Buffer, valid []bool) error {
	return c.program.Entry().Run(ctx, runtime.RunOptions{Tracer: c.watch.Tracer, Meter: c.watch.Meter, Rounds: c.watch.Rounds, Update: c.watch.Update, Valid: valid}, args, results)
}

// run executes the program on one device or several. If one device fails, valid says which results the failure did not reach; several devices fail
// together.
func (c *compiled) run(ctx context.Context, x *Execution, args, results [][]runtime.Buffer, valid []bool) error {
	if len(args) == 1 && !c.needsMesh {
		return c.runOne(ctx, args[0], results[0], valid)
	}
	m, _ := kernels.Module(c.program)
	transport, over, err := x.transport(ctx, BEF, m, c.hash)
	if err != nil {
		return err
	}
	defer over()
	world := &kernels.World{Mesh: devices.NewMeshOver(transport, x.Replicas, x.Partitions), Host: x.Host}
	return kernels.Devices(ctx, c.program, world, args, results, c.watch)
}

// hash hashes the program.
func (c *compiled) hash() (string, error) {
	data, err := bef.Marshal(c.program.File(), bef.EncodeOptions{Extensions: true})
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// argumentBuffers makes buffers of arguments. They share the literals' memory where nothing is dynamic.
func (c *compiled) argumentBuffers(s *Signature, args []*hlo.Literal, buffers []runtime.Buffer) error {
	for i, a := range args {
		v, t := &s.Parameters[i], &c.args[i]
		buffers[i] = runtime.Buffer{Type: t.Type, Dims: t.Dims}
		if v.Shape.IsToken() {
			continue
		}
		var err error
		if buffers[i].Data, err = a.Buffer(v.Shape); err != nil {
			return &ArgumentError{Device: -1, Index: i, Name: v.Name, Problem: err.Error()}
		}
	}
	return nil
}

// isGiven reports whether the caller gave the memory for result i.
func isGiven(s *Signature, given []*hlo.Literal, i int) bool {
	return i < len(given) && given[i] != nil && s.Results[i].Shape.IsStatic()
}

// resultBuffers makes buffers for the results, in the caller's memory where there is some.
func (c *compiled) resultBuffers(s *Signature, given []*hlo.Literal, buffers []runtime.Buffer) {
	for i := range c.results {
		t := &c.results[i]
		if isGiven(s, given, i) {
			buffers[i] = runtime.Buffer{Data: given[i].Bytes(), Type: t.Type, Dims: t.Dims}
		} else {
			buffers[i] = t.NewBuffer()
		}
	}
}

// literalsOf are the results of a device: the valid ones, and nil in the places of the others. A nil valid is all. If all are given, so is
// the slice.
func literalsOf(s *Signature, given []*hlo.Literal, buffers []runtime.Buffer, valid []bool) ([]*hlo.Literal, error) {
	var literals []*hlo.Literal // nil as long as all are given
	for i := range buffers {
		isValid := valid == nil || valid[i]
		if isValid && isGiven(s, given, i) {
			given[i].Overwritten()
			if literals != nil {
				literals[i] = given[i]
			}
			continue
		}
		if literals == nil {
			literals = make([]*hlo.Literal, len(buffers))
			copy(literals, given[:min(i, len(given))])
		}
		if !isValid {
			continue
		}
		var err error
		if literals[i], err = hlo.LiteralOfBuffer(s.Results[i].Shape, buffers[i].Data); err != nil {
			return nil, err
		}
	}
	if literals == nil {
		return given, nil
	}
	return literals, nil
}
