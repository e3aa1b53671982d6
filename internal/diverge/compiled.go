package diverge

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// compiled runs a module on the runtime, twice: as it is, for its result, and made to return all values of its entry computation. If the
// two do not agree on the result, that is an error: it is the memory plan that is wrong, and looking changes it.
func (o *observation) compiled(ctx context.Context, m hlo.Module, args []*hlo.Literal, cfg *Config) error {
	plain, err := execute(ctx, m, args, cfg)
	if err != nil {
		return err
	}
	if o.result, _, err = gather(m.Entry().Root().Shape(), plain); err != nil {
		return err
	}
	shown, values := expose(m)
	leaves, err := execute(ctx, shown, args, cfg)
	if err != nil {
		return fmt.Errorf("made to show its values: %w", err)
	}
	entry := m.Entry()
	for i := range entry.NumParameters() {
		p := entry.Parameter(i)
		o.add(p, args[i])
	}
	for c := range entry.Instructions() {
		if c.Opcode() == hlo.OpConstant && c.Literal() != nil {
			o.add(c, c.Literal())
		}
	}
	for _, in := range values {
		var l *hlo.Literal
		if l, leaves, err = gather(in.Shape(), leaves); err != nil {
			return err
		}
		o.add(in, l)
		if in.ID() == entry.Root().ID() && !sameBits(l, o.result) {
			return ErrPlan
		}
	}
	return nil
}

// ErrPlan says that a program computes something else when it has to keep all its values.
var ErrPlan = errors.New("the result is another one when all values are kept: two values share memory that they must not share")

func sameBits(a, b *hlo.Literal) bool {
	x, y := a.Leaves(), b.Leaves()
	for i := range x {
		if string(x[i].Bytes()) != string(y[i].Bytes()) {
			return false
		}
	}
	return true
}

// expose makes the entry computation return the values of its instructions, in their order, as a tuple.
func expose(m hlo.Module) (hlo.Module, []hlo.Instruction) {
	var values []hlo.Instruction
	var ids []hlo.InstrID
	var shapes []hlo.Shape
	entry := m.Entry()
	order := entry.PostOrder()
	if entry.IsScheduled() {
		order = entry.Instructions()
	}
	for in := range order {
		switch in.Opcode() {
		case hlo.OpParameter, hlo.OpConstant, hlo.OpAsyncStart, hlo.OpAsyncUpdate:
			if in.ID() != entry.Root().ID() {
				continue
			}
		}
		if !in.Shape().IsStatic() || in.Shape().IsToken() {
			continue
		}
		values, ids, shapes = append(values, in), append(ids, in.ID()), append(shapes, in.Shape())
	}
	m = withEntry(m, entry.ID())
	e := m.Edit()
	c := e.Computation(entry.ID())
	c.ClearSchedule()
	all := c.Add(hlo.OpTuple, hlo.MakeTuple(shapes...), ids...)
	c.SetRoot(all.ID())
	return e.Freeze(), values
}

// execute runs a module and returns the leaves of its result.
func execute(ctx context.Context, m hlo.Module, args []*hlo.Literal, cfg *Config) ([]*hlo.Literal, error) {
	file, err := lower.Module(ctx, m)
	if err != nil {
		return nil, err
	}
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	queue := workqueue.NewMulti(workqueue.Config{Workers: cfg.Threads})
	defer queue.Close()
	program, err := runtime.Load(file, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
	if err != nil {
		return nil, err
	}
	var in []runtime.Buffer
	for _, a := range args {
		for _, l := range a.Leaves() {
			in = append(in, runtime.Buffer{Data: l.Bytes(), Type: uint8(l.Shape().Type()), Dims: l.Shape().Dimensions()})
		}
	}
	out := program.Entry().NewResults()
	if err := program.Entry().Run(ctx, runtime.RunOptions{}, in, out); err != nil {
		return nil, err
	}
	var leaves []*hlo.Literal
	i := 0
	m.Entry().Root().Shape().Leaves(func(_ hlo.ShapeIndex, s hlo.Shape) bool {
		var l *hlo.Literal
		if l, err = hlo.NewLiteral(s, out[i].Data); err == nil {
			leaves = append(leaves, l)
			i++
		}
		return err == nil
	})
	return leaves, err
}

// gather builds the literal of a shape from leaves and returns those left over.
func gather(s hlo.Shape, leaves []*hlo.Literal) (*hlo.Literal, []*hlo.Literal, error) {
	if !s.IsTuple() {
		if len(leaves) == 0 {
			return nil, nil, fmt.Errorf("no value of shape %v", s)
		}
		return leaves[0], leaves[1:], nil
	}
	parts := make([]*hlo.Literal, s.NumElems())
	for i := range parts {
		var err error
		if parts[i], leaves, err = gather(s.Elem(i), leaves); err != nil {
			return nil, nil, err
		}
	}
	return hlo.NewTupleLiteral(parts...), leaves, nil
}
