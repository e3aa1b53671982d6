package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// CSE makes equal instructions one.
var CSE = &pass.Pass{
	Name: "cse",
	Doc: `compute equal expressions once

Two instructions are equal if opcode, attributes, callees, shape and operands are; operands of commutative ops may be exchanged.
Constants are equal by their bits: zero is not minus zero. Instructions with side effects, random ones, and those with control
dependencies are left alone, and so are asynchronous ones: each start begins work of its own.`,
	Local: func(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
		return mergeEqual(ctx, ce, m.MustComputation(ce.ID()), pass.Fact(ctx, m, analysis.FindSideEffects))
	},
}

func mergeEqual(ctx *pass.Context, ce hlo.CompEdit, c hlo.Computation, effects *analysis.SideEffects) error {
	seen := make(map[uint64][]hlo.Instruction)
	merged := make(map[hlo.InstrID]hlo.InstrID)
	operands := func(in hlo.Instruction) []hlo.InstrID {
		ids := slices.Collect(in.OperandIDs())
		for i, id := range ids {
			if to, ok := merged[id]; ok {
				ids[i] = to
			}
		}
		if len(ids) == 2 && hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCommutative) && ids[0] > ids[1] {
			ids[0], ids[1] = ids[1], ids[0]
		}
		return ids
	}
	for in := range c.Instructions() {
		if !mergeable(in, effects) {
			continue
		}
		ids := operands(in)
		key := in.LocalHash()
		for _, id := range ids {
			key = (key ^ uint64(id)) * 0x9E3779B97F4A7C15
		}
		i := slices.IndexFunc(seen[key], func(o hlo.Instruction) bool {
			return hlo.EqualLocal(o, in) && slices.Equal(operands(o), ids)
		})
		if i < 0 {
			seen[key] = append(seen[key], in)
			continue
		}
		if !ctx.Spend("merge") {
			return nil
		}
		first := seen[key][i].ID()
		merged[in.ID()] = first
		if err := ce.ReplaceInstruction(in.ID(), first); err != nil {
			return err
		}
		ctx.Count("instructions", 1)
	}
	return nil
}

func mergeable(in hlo.Instruction, effects *analysis.SideEffects) bool {
	traits := hlo.Info(in.Opcode()).Traits
	return in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpAsyncUpdate &&
		traits&(hlo.TraitRandom|hlo.TraitAsyncStart|hlo.TraitAsyncDone|hlo.TraitTokens|hlo.TraitCollective) == 0 &&
		!effects.Of(in) && in.NumControlPredecessors() == 0 && !hasControlSuccessors(in)
}

func hasControlSuccessors(in hlo.Instruction) bool {
	for range in.ControlSuccessors() {
		return true
	}
	return false
}
