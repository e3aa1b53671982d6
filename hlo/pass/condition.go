package pass

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// conditions are what `if(CONDITION,…)` in pipeline text may ask of the module as it is then; not-CONDITION asks for the contrary.
var conditions = map[string]func(hlo.Module) bool{
	"async":       anyOpcode(hlo.OpcodesOf(hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone).With(hlo.OpcodesWith(hlo.TraitAsyncStart))),
	"calls":       anyOpcode(hlo.OpcodesOf(hlo.OpCall)),
	"collectives": anyOpcode(hlo.OpcodesWith(hlo.TraitCollective)),
	"dynamic":     isDynamic,
	"fusions":     anyOpcode(hlo.OpcodesOf(hlo.OpFusion)),
	"loops":       anyOpcode(hlo.OpcodesOf(hlo.OpWhile)),
	"scheduled":   func(m hlo.Module) bool { return m.Config().IsScheduled },
}

// anyOpcode asks for instructions of some opcodes.
func anyOpcode(wanted hlo.OpcodeSet) func(hlo.Module) bool {
	return func(m hlo.Module) bool {
		for c := range m.Computations() {
			if c.Opcodes().Meets(wanted) {
				return true
			}
		}
		return false
	}
}

func isDynamic(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if !in.Shape().IsStatic() {
				return true
			}
		}
	}
	return false
}

const negation = "not-"

// holds decides a condition that the reader of pipelines has accepted.
func holds(condition string, m hlo.Module) bool {
	name, negated := strings.CutPrefix(condition, negation)
	return conditions[name](m) != negated
}

// onThreads leaves those of a set of computations, nil for all, that lie on the threads that passes are held to.
func (r *Runner) onThreads(m hlo.Module, only *idmap.Set[hlo.CompID]) *idmap.Set[hlo.CompID] {
	if r.threads == nil {
		return only
	}
	set := new(idmap.Set[hlo.CompID])
	for c := range m.Computations() {
		if (only == nil || only.Has(c.ID())) && slices.Contains(r.threads, c.ExecutionThread()) {
			set.Add(c.ID())
		}
	}
	return set
}
