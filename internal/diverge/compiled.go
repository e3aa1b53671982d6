package diverge

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// compiled runs a module on the runtime, twice: as it is, for its result, and made to return all values of its entry computation. If the
// two do not agree on the result, that is an error: it is the memory plan that is wrong, and looking changes it.
func (o *observation) compiled(ctx context.Context, m hlo.Module, args []*hlo.Literal, cfg *Config) error {
	var err error
	if o.result, err = execute(ctx, Side{m, halo.BEF}, args, cfg, nil); err != nil {
		return err
	}
	shown, values := expose(m, nil)
	all, err := execute(ctx, Side{shown, halo.BEF}, args, cfg, nil)
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
	for i, in := range values {
		l := all.Part(i)
		o.add(in, l)
		if in.ID() == entry.Root().ID() && !sameBits(l, o.result) {
			return errPlan
		}
	}
	return nil
}

// errPlan says that a program computes something else when it has to keep all its values.
var errPlan = errors.New("the result is another one when all values are kept: two values share memory that they must not share")

func sameBits(a, b *hlo.Literal) bool {
	x, y := a.Leaves(), b.Leaves()
	for i := range x {
		if string(x[i].Bytes()) != string(y[i].Bytes()) {
			return false
		}
	}
	return true
}

// expose makes the entry computation return the values of its instructions, in their order, as a tuple: of those that keep takes, or all if it is nil.
func expose(m hlo.Module, keep func(hlo.Instruction) bool) (hlo.Module, []hlo.Instruction) {
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
		if !in.Shape().IsStatic() || in.Shape().IsToken() || keep != nil && !keep(in) {
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

// execute runs a side and returns its result. Values sees every value of the evaluator; it may be nil.
func execute(ctx context.Context, s Side, args []*hlo.Literal, cfg *Config, values func(hlo.Instruction, *hlo.Literal)) (*hlo.Literal, error) {
	o := cfg.Options
	o.Engine, o.Passes, o.Pipeline, o.Observer = s.Engine, "", new(pass.Pipeline), halo.Observer{Values: values}
	p, err := halo.Compile(ctx, halo.Trust(s.Module), o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var leaves []*hlo.Literal
	for _, a := range args {
		leaves = append(leaves, a.Leaves()...)
	}
	results, err := p.Run(ctx, leaves...)
	if err != nil {
		return nil, err
	}
	result, _ := hlo.LiteralOfLeaves(s.Module.Entry().Root().Shape(), results)
	return result, nil
}
