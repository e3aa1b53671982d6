package pass

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func (w *rewriting) replaceable(in hlo.Instruction) bool {
	return in.NumControlPredecessors() == 0 && in.Opcode() != hlo.OpParameter && (in.UserCount() > 0 || in.IsRoot()) && in.NumControlSuccessors() == 0
}

// fitsPlace reports whether a value can stand for in: of its shape, and not losing its sharding.
func (w *rewriting) fitsPlace(in hlo.Instruction, to Expr) bool {
	if to.IsNew() {
		if c := in.Common(); c != nil && c.ResultAccuracy != nil && to.spec.Opcode != in.Opcode() {
			return false // the accuracy was asked of another computation
		}
		return to.Shape().EqualIgnoringLayout(in.Shape()) && (to.settled || !w.mixes(in, mixingDepth))
	}
	if to.id == in.ID() || !to.Shape().Equal(in.Shape()) && !w.anyLayout(in, to) || w.operandsMix(in) {
		return false
	}
	is, other := shardingOf(in), shardingOf(in.Computation().MustAt(to.id))
	// The sharding of a root is that of a result, which a conditional holds against those of other branches.
	return is == nil && (other == nil || !in.IsRoot()) || is != nil && other != nil && hlo.EqualAttr(is, other)
}

// anyLayout reports whether a value in another layout can stand for in: layouts are not chosen yet, and nobody takes in as it lies in memory, or hands it on with
// its layout.
func (w *rewriting) anyLayout(in hlo.Instruction, to Expr) bool {
	if w.layouts || in.IsRoot() || !in.Shape().IsArray() || !to.Shape().EqualIgnoringLayout(in.Shape()) || !plainLayout(in.Shape()) || !plainLayout(to.Shape()) {
		return false
	}
	for user := range in.Users() {
		const hands = hlo.TraitControl | hlo.TraitCollective | hlo.TraitForwards | hlo.TraitSideEffect | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
		if user.Opcode() == hlo.OpBitcast || user.Opcode() == hlo.OpCustomCall || user.NumCallees() > 0 || hlo.Info(user.Opcode()).Traits&hands != 0 {
			return false
		}
	}
	return true
}

// plainLayout reports whether a layout says nothing but the order of dimensions.
func plainLayout(s hlo.Shape) bool {
	l, ok := s.Layout()
	return !ok || len(l.Tiles) == 0 && l.MemorySpace == 0 && l.ElementSizeInBits == 0
}

// inSchedule reports whether all that an expression uses is scheduled before in. A rule may have found a value that is not made of in's operands.
func inSchedule(in hlo.Instruction, to Expr) bool {
	c := in.Computation()
	if !c.IsScheduled() {
		return true
	}
	if !to.IsNew() {
		return c.Less(to.id, in.ID())
	}
	return !slices.ContainsFunc(to.operands, func(e Expr) bool { return !inSchedule(in, e) })
}

func shardingOf(in hlo.Instruction) *hlo.Sharding {
	if c := in.Common(); c != nil {
		return c.Sharding
	}
	return nil
}
