package simplify

import (
	"context"
	"errors"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
)

// maxFoldedBytes bounds the constants that folding makes: beyond it, computing is cheaper than carrying the data about.
const maxFoldedBytes = 1 << 20

// ConstantFolding evaluates what depends on constants alone.
var ConstantFolding = &pass.Pass{
	Name: "constant-folding",
	Doc: `replace instructions whose operands are all constants by their value

Broadcasts and iotas stay as they are: they say in a few bytes what a constant would spell out. Random, asynchronous and communicating
instructions, loops, barriers, custom calls and everything with effects or control dependencies stay too, and so does what would grow the
program by more than a megabyte.`,
	Local: func(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
		if pass.Fact(ctx, m, analysis.FindClosed).Has(ce.ID()) {
			return nil
		}
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		for in := range m.MustComputation(ce.ID()).Instructions() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !foldable(in, effects) {
				continue
			}
			lit, err := fold(ctx, m, ce.At(in.ID()))
			if err != nil && ctx.Err() == nil {
				ctx.Missed(in, "not folded: %v", err)
			}
			if errors.Is(err, context.Canceled) {
				return err
			}
			if err != nil || lit == nil || !ctx.SpendOn("fold", pass.Cost{Bytes: in.Shape().ByteSize()}) {
				continue
			}
			k := ce.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: in.Shape(),
				Attrs: &hlo.ConstantAttrs{Literal: lit}, Common: in.Common(), Position: in.Position()})
			if err := ce.ReplaceInstruction(in.ID(), k.ID()); err != nil {
				return err
			}
			ctx.Count("instructions", 1)
		}
		return nil
	},
}

// foldable looks at the op alone.
func foldable(in hlo.Instruction, effects *analysis.SideEffects) bool {
	switch in.Opcode() {
	case hlo.OpTuple, hlo.OpBroadcast, hlo.OpFft, hlo.OpCustomCall, hlo.OpDomain, hlo.OpOptBarrier:
		return false
	}
	traits := hlo.Info(in.Opcode()).Traits
	return in.NumOperands() > 0 && in.Shape().IsArray() && in.Shape().IsStatic() && in.Shape().ByteSize() <= maxFoldedBytes &&
		traits&(hlo.TraitRandom|hlo.TraitCollective|hlo.TraitAsyncStart|hlo.TraitAsyncDone|hlo.TraitTokens|hlo.TraitControl) == 0 &&
		!effects.Of(in) && in.NumControlPredecessors() == 0 && in.NumControlSuccessors() == 0
}

// fold evaluates in if its operands are constants, as they stand in the session now; nil if they are not.
func fold(ctx context.Context, m hlo.Module, in hlo.Instruction) (*hlo.Literal, error) {
	operands := make([]*hlo.Literal, in.NumOperands())
	plain, bytes := false, int64(0)
	for i := range operands {
		o := in.OperandInstr(i)
		switch o.Opcode() {
		case hlo.OpConstant:
			plain = true
			operands[i] = o.Literal()
			if operands[i] == nil || operands[i].IsElided() {
				return nil, nil
			}
		case hlo.OpBroadcast, hlo.OpIota:
			l, err := constantValue(ctx, m, o)
			if l == nil || err != nil {
				return nil, err
			}
			operands[i] = l
		default:
			return nil, nil
		}
		bytes += operands[i].Shape().ByteSize()
	}
	if !plain || bytes > 16*maxFoldedBytes {
		return nil, nil
	}
	lit, err := eval.Instruction(ctx, m, in, operands)
	if err != nil {
		return nil, err
	}
	return lit.WithShape(in.Shape())
}

// constantValue is the value of a broadcast of a constant, or of an iota, if it is small.
func constantValue(ctx context.Context, m hlo.Module, in hlo.Instruction) (*hlo.Literal, error) {
	if in.Shape().ByteSize() > maxFoldedBytes {
		return nil, nil
	}
	var operands []*hlo.Literal
	if in.Opcode() == hlo.OpBroadcast {
		l := in.OperandInstr(0).Literal()
		if in.OperandInstr(0).Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
			return nil, nil
		}
		operands = append(operands, l)
	}
	return eval.Instruction(ctx, m, in, operands)
}
