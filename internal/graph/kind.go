package graph

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Kind is what sort of work an instruction does, for telling instructions apart at a glance.
type Kind struct {
	Name   string
	Colour string // of a node on white
	is     func(hlo.Instruction, hlo.Trait) bool
}

// Kinds are all kinds. An instruction is of the first that takes it.
var Kinds = []Kind{
	{"parameter", "#ffd8a8", isOp(hlo.OpParameter)},
	{"constant", "#e9ecef", isOp(hlo.OpConstant, hlo.OpIota)},
	{"asynchronous", "#ffc9c9", func(in hlo.Instruction, t hlo.Trait) bool {
		return t.Has(hlo.TraitAsyncStart) || t.Has(hlo.TraitAsyncDone) || hlo.IsAsync(in.Opcode())
	}},
	{"collective", "#eebefa", has(hlo.TraitCollective)},
	{"fusion", "#c3fae8", isOp(hlo.OpFusion)},
	{"control flow", "#b2f2bb", has(hlo.TraitControl)},
	{"product", "#a5d8ff", isOp(hlo.OpDot, hlo.OpConvolution)},
	{"effect or custom call", "#ffa8a8", func(in hlo.Instruction, t hlo.Trait) bool {
		return t.Has(hlo.TraitSideEffect) || in.Opcode() == hlo.OpCustomCall
	}},
	{"applies a function", "#d0bfff", has(hlo.TraitApply)},
	{"elementwise", "#fff3bf", has(hlo.TraitElementwise)},
	{"moves data", "#ffffff", func(hlo.Instruction, hlo.Trait) bool { return true }},
}

func isOp(ops ...hlo.Opcode) func(hlo.Instruction, hlo.Trait) bool {
	return func(in hlo.Instruction, _ hlo.Trait) bool { return slices.Contains(ops, in.Opcode()) }
}

func has(trait hlo.Trait) func(hlo.Instruction, hlo.Trait) bool {
	return func(_ hlo.Instruction, t hlo.Trait) bool { return t.Has(trait) }
}

// KindOf is the index in [Kinds] of an instruction's kind.
func KindOf(in hlo.Instruction) int {
	t := hlo.Info(in.Opcode()).Traits
	return slices.IndexFunc(Kinds, func(k Kind) bool { return k.is(in, t) })
}
