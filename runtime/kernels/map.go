package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// mapElements runs the computation of a map as a tile program over all elements.
func mapElements(s *site) (runtime.Bound, bool) {
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || !s.in.Shape().IsArray() || comp.NumParameters() != s.in.NumOperands() {
		return runtime.Bound{}, false
	}
	for i := range s.in.NumOperands() {
		if comp.Parameter(i).Shape().Type() != s.shape(i).Type() || s.shape(i).NumElements() != s.in.Shape().NumElements() {
			return runtime.Bound{}, false
		}
	}
	if comp.Root().Shape().Type() != s.in.Shape().Type() || s.in.Shape().NumElements() == 0 {
		return runtime.Bound{}, false
	}
	var p *tile.Program
	if p, ok = compileLanes(s.m, comp, int(s.in.Shape().NumElements())); !ok {
		return runtime.Bound{}, false
	}
	return runTiles(p), true
}
