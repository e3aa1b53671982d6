package diverge

import (
	"context"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
)

const (
	maxOpened     = 8   // calls within calls
	maxIterations = 256 // of a loop that is searched
)

// open looks for a departure in what a departing instruction of the entry computation calls. Both engines get the operands that the
// evaluator has for it. It returns the module with the callee as its entry, and the callee's arguments; nothing if nothing departs in
// there, as when the fault is in how the call itself was compiled.
func open(ctx context.Context, m hlo.Module, args []*hlo.Literal, at *Departure, cfg *Config) (*Departure, hlo.Module, []*hlo.Literal) {
	in := at.Instruction
	if in.NumCallees() == 0 || in.Computation().ID() != m.Entry().ID() {
		return nil, m, nil
	}
	model, err := observe(ctx, Side{m, halo.Eval}, args, cfg)
	if err != nil {
		return nil, m, nil
	}
	var operands []*hlo.Literal
	for o := range in.Operands() {
		l := model.last[placeOf(o)]
		if l == nil {
			return nil, m, nil
		}
		operands = append(operands, l)
	}
	try := func(callee int, args []*hlo.Literal, execution int) (*Departure, hlo.Module, *hlo.Literal) {
		inner := withEntry(m, in.Callee(callee))
		want, err1 := observe(ctx, Side{inner, halo.Eval}, args, cfg)
		if err1 != nil {
			return nil, m, nil
		}
		got, err2 := observe(ctx, Side{inner, halo.BEF}, args, cfg)
		if err2 != nil {
			return nil, m, want.result // it cannot be compiled by itself
		}
		d := firstDeparture(want, got, cfg)
		if d != nil {
			way := fmt.Sprintf("%v %s", in.Opcode(), in.Name())
			if in.Opcode() == hlo.OpWhile {
				way += fmt.Sprintf(", iteration %d", execution)
			}
			d.Within = append(append(d.Within, at.Within...), way)
		}
		return d, inner, want.result
	}
	switch in.Opcode() {
	case hlo.OpCall, hlo.OpFusion:
		d, inner, _ := try(0, operands, 1)
		return d, inner, operands
	case hlo.OpConditional:
		branch := in.NumCallees() - 1
		if v, ok := operands[0].ScalarInt(); operands[0].Shape().Type() == hlo.PRED {
			branch = 1 - int(min(v, 1))
		} else if ok && v >= 0 && v < int64(branch) {
			branch = int(v)
		}
		args := operands[branch+1 : branch+2]
		d, inner, _ := try(branch, args, 1)
		return d, inner, args
	case hlo.OpWhile:
		state := operands
		for i := range maxIterations {
			again, err := observe(ctx, Side{withEntry(m, in.Callee(1)), halo.Eval}, state, cfg)
			if err != nil || len(again.result.Bytes()) != 1 || again.result.Bytes()[0] == 0 {
				break
			}
			d, inner, next := try(0, state, i+1)
			if d != nil {
				return d, inner, state
			}
			if next == nil {
				break
			}
			state = []*hlo.Literal{next}
		}
	}
	return nil, m, nil
}

// withEntry is m with another entry computation.
func withEntry(m hlo.Module, id hlo.CompID) hlo.Module {
	cfg := *m.Config()
	cfg.InputOutputAlias = nil
	cfg.EntryLayout = nil
	e := m.Edit()
	e.SetConfig(&cfg)
	e.SetEntry(id)
	return e.Freeze()
}
