package collectives

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// replicated marks the instructions of a computation whose value is the same on every replica: parameters that say so, constants, what
// collectives between all replicas return, and what is computed from such values alone.
func replicated(m hlo.Module, c hlo.Computation) map[hlo.InstrID]bool {
	same := map[hlo.InstrID]bool{}
	effects := analysis.FindSideEffects(m)
	for in := range c.PostOrder() {
		same[in.ID()] = isReplicated(m, in, same, effects)
	}
	return same
}

func isReplicated(m hlo.Module, in hlo.Instruction, same map[hlo.InstrID]bool, effects *analysis.SideEffects) bool {
	const varies = hlo.TraitRandom | hlo.TraitTokens | hlo.TraitControl | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	all := func() bool {
		for id := range in.OperandIDs() {
			if !same[id] {
				return false
			}
		}
		return true
	}
	switch in.Opcode() {
	case hlo.OpParameter:
		common := in.Common()
		if common == nil || common.ParameterReplication == nil {
			return false
		}
		for _, yes := range common.ParameterReplication {
			if !yes {
				return false
			}
		}
		return true
	case hlo.OpAllReduce, hlo.OpAllGather:
		f := factsOf(m, in)
		if _, listed := f.lists(); !listed && !f.channel.Set {
			return true
		}
		return all() && !f.channel.Set
	case hlo.OpReplicaId, hlo.OpPartitionId, hlo.OpCustomCall:
		return false
	}
	traits := hlo.Info(in.Opcode()).Traits
	return traits&varies == 0 && !traits.Has(hlo.TraitCollective) && !hlo.IsAsync(in.Opcode()) && !effects.Of(in) && all()
}
