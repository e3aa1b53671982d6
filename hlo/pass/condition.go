package pass

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// conditions are what `if(CONDITION,…)` in pipeline text may ask of the module as it is then; not-CONDITION asks for the contrary.
var conditions = map[string]func(hlo.Module) bool{
	"async":       anyInstruction(func(in hlo.Instruction) bool { return hlo.IsAsync(in.Opcode()) || has(in, hlo.TraitAsyncStart) }),
	"calls":       anyInstruction(func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpCall }),
	"collectives": anyInstruction(func(in hlo.Instruction) bool { return has(in, hlo.TraitCollective) }),
	"dynamic":     anyInstruction(func(in hlo.Instruction) bool { return !in.Shape().IsStatic() }),
	"fusions":     anyInstruction(func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpFusion }),
	"loops":       anyInstruction(func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpWhile }),
	"scheduled":   func(m hlo.Module) bool { return m.Config().IsScheduled },
}

func has(in hlo.Instruction, t hlo.Trait) bool { return hlo.Info(in.Opcode()).Traits.Has(t) }

func anyInstruction(is func(hlo.Instruction) bool) func(hlo.Module) bool {
	return func(m hlo.Module) bool {
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if is(in) {
					return true
				}
			}
		}
		return false
	}
}

const negation = "not-"

// holds decides a condition that the reader of pipelines has accepted.
func holds(condition string, m hlo.Module) bool {
	name, negated := strings.CutPrefix(condition, negation)
	return conditions[name](m) != negated
}

// onThreads leaves those of a set of computations, nil for all, that lie on the threads that passes are held to.
func (r *Runner) onThreads(m hlo.Module, only map[hlo.CompID]bool) map[hlo.CompID]bool {
	if r.threads == nil {
		return only
	}
	set := map[hlo.CompID]bool{}
	for c := range m.Computations() {
		if (only == nil || only[c.ID()]) && slices.Contains(r.threads, c.ExecutionThread()) {
			set[c.ID()] = true
		}
	}
	return set
}

// runKey identifies a run of a pass by what it does, not by which value the pass is: a pipeline that is parsed twice has its passes twice.
type runKey struct {
	pass, options string
	fp            FP
	threads       string
}

func (r *Runner) key(p *Pass) runKey {
	return runKey{p.Name, r.options(p), r.FP, strings.Join(r.threads, ",")}
}

// options are the options of a pass as text, which is made once.
func (r *Runner) options(p *Pass) string {
	if len(p.Options) == 0 {
		return ""
	}
	text, known := r.texts[p]
	if !known {
		text = p.Options.String()
		r.texts[p] = text
	}
	return text
}
