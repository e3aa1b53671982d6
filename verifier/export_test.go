package verifier

import "github.com/gohalo/halo/hlo"

// ShapeContexts gives tests what the shape rules of a module's instructions may look at; each context is good until the next.
func ShapeContexts(m hlo.Module, cfg Config) func(hlo.Instruction) *hlo.ShapeContext {
	r := newRun(m, cfg)
	return r.context
}
