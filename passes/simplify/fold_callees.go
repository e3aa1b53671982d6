package simplify

import (
	"iter"

	"github.com/gohalo/halo/hlo"
)

const neverFolded = hlo.TraitRandom | hlo.TraitCollective | hlo.TraitAsyncStart | hlo.TraitAsyncDone | hlo.TraitTokens

// callees tells of every computation whether it may be evaluated in place of the program, and whether it computes with floating-point numbers.
type callees struct {
	callable callable
	floating floating // if that is asked
}

// callable and floating are facts of a module of these kinds.
type (
	callable map[hlo.CompID]bool
	floating map[hlo.CompID]bool
)

// findCallable looks at every computation once, callees first.
func findCallable(m hlo.Module) callable {
	k := callees{callable: callable{}}
	for c := range m.PostOrder() {
		k.callable[c.ID()] = !c.Opcodes().Meets(neverSame) && k.all(c.Callees())
	}
	return k.callable
}

// findFloating does, too.
func findFloating(m hlo.Module) floating {
	k := callees{floating: floating{}}
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			if !k.movesOrCounts(in) {
				k.floating[c.ID()] = true
				break
			}
		}
	}
	return k.floating
}

// neverSame are the opcodes that do not give the same whenever and wherever they run, or are not evaluated alone. Loops may take any time.
//
//halo:allow opswitch each of those listed is left for a reason of its own
var neverSame = hlo.OpcodesWith(neverFolded | hlo.TraitStays).With(hlo.OpcodesOf(hlo.OpAsyncUpdate, hlo.OpCustomCall, hlo.OpWhile, hlo.OpFft, hlo.OpPartitionId, hlo.OpReplicaId))

// all reports whether all of some computations may be evaluated.
func (k callees) all(ids iter.Seq[hlo.CompID]) bool {
	for id := range ids {
		if !k.callable[id] {
			return false
		}
	}
	return true
}

// movesOrCounts reports whether no floating-point number is computed.
func (k callees) movesOrCounts(in hlo.Instruction) bool {
	if in.Opcode() == hlo.OpSelect || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitMovesData) {
		return true
	}
	floating := func(s hlo.Shape) (found bool) {
		if s.NumLeaves() > maxLeaves {
			return true
		}
		for _, leaf := range s.Leaves {
			found = found || leaf.IsArray() && (leaf.Type().IsFloat() || leaf.Type().IsComplex())
			if found {
				break
			}
		}
		return found
	}
	if floating(in.Shape()) {
		return false
	}
	for o := range in.Operands() {
		if floating(o.Shape()) {
			return false
		}
	}
	for id := range in.Callees() {
		if k.floating[id] {
			return false
		}
	}
	return true
}
