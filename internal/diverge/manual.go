package diverge

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Targets of the custom-calls at the borders of manual regions.
const (
	intoRegion  = "SPMDFullToShardShape"
	outOfRegion = "SPMDShardToFullShape"
)

// isManual reports whether an instruction belongs to a manual region: its value is one device's.
func isManual(in hlo.Instruction) bool {
	common := in.Common()
	return common != nil && common.Sharding != nil && hasManual(common.Sharding)
}

func hasManual(s *hlo.Sharding) bool {
	return s.Kind == hlo.ShardingManual || slices.Contains(s.Subgroups, hlo.ShardingManual) || slices.ContainsFunc(s.Elements, hasManual)
}

// hasRegions reports whether some part of a program is manual.
func hasRegions(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if isManual(in) || isCall(in, intoRegion) {
				return true
			}
		}
	}
	return false
}

func isCall(in hlo.Instruction, target string) bool {
	a, ok := in.Attrs().(*hlo.CustomCallAttrs)
	return ok && a.Target == target
}

// regionsOnly is a program of which nothing is split but what manual regions take and give: every device computes all the rest.
func regionsOnly(m hlo.Module) hlo.Module {
	e := m.Edit()
	for c := range m.Computations() {
		for in := range c.Instructions() {
			common := in.Common()
			if common == nil || common.Sharding == nil || isManual(in) || isBorder(in) {
				continue
			}
			whole := *common
			whole.Sharding = nil
			e.Computation(c.ID()).Instr(in.ID()).SetCommon(&whole)
		}
	}
	return e.Freeze()
}

// inRegions are the instructions of a computation whose values are one device's: what regions take and compute, but for what they give.
func inRegions(c hlo.Computation) map[hlo.InstrID]bool {
	inside := make(map[hlo.InstrID]bool)
	for in := range c.PostOrder() {
		if isCall(in, outOfRegion) {
			continue
		}
		local := isManual(in) || isCall(in, intoRegion)
		for id := range in.OperandIDs() {
			local = local || inside[id]
		}
		if local {
			inside[in.ID()] = true
		}
	}
	return inside
}

// isBorder reports whether the sharding of an instruction says how a region takes a value or gives one.
func isBorder(in hlo.Instruction) bool {
	if isCall(in, outOfRegion) {
		return true
	}
	for u := range in.Users() {
		if isCall(u, intoRegion) {
			return true
		}
	}
	return false
}
