package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// A reduction that folds a few elements into each of its results is elementwise code over the results: each operand is computed once for each of the few, at
// an index of its own, and the computation is written out between them, in order.

// fusedFolds serves fusions that end in a reduction of several arrays which folds a few elements.
func fusedFolds(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return runtime.Bound{}, false
	}
	return foldsOf(&site{m: s.m, in: c.Root(), b: s.b, reg: s.reg}, arrayParameters)
}

// reduceFolds serves such reductions alone.
func reduceFolds(s *site) (runtime.Bound, bool) { return foldsOf(s, operandsOf(s.in)) }

func foldsOf(s *site, leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	if !analysis.FoldsFew(s.in) || s.in.Shape().IsArray() && !isOfRuns(s.in) {
		return runtime.Bound{}, false
	}
	out := firstLeaf(s.in.Shape())
	p, ok := compileOver(s.m, out.Dimensions(), leaf, func(c *compiler) bool {
		at, ok := c.start(out.Dimensions())
		if !ok {
			return false
		}
		values, ok := c.folded(s.in, at)
		for i, v := range values {
			c.b.Store(i, v)
		}
		return ok
	})
	if !ok {
		return runtime.Bound{}, false
	}
	return runTiles(p), true
}

// isOfRuns reports whether windows have but one element along the last axis, so that neighbours in the result are folded of neighbours.
func isOfRuns(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduceWindow {
		return false
	}
	dims := hlo.AttrsOf[hlo.WindowAttrs](in).Window.Dims
	last := dims[len(dims)-1]
	return last.Size == 1 && last.Stride == 1
}

// folded defines the results of a reduction that folds a few elements at an access. There have to be no fewer results than points of the space, or elements
// would be computed again and again.
func (c *compiler) folded(in hlo.Instruction, at access) ([]tile.Value, bool) {
	comp, ok := c.m.Computation(in.Callee(0))
	if !ok || !analysis.FoldsFew(in) || at.turns() || firstLeaf(in.Shape()).NumElements() < c.space.Len() {
		return nil, false
	}
	if v, ok := c.foldedExtreme(in, at); ok {
		return v, true
	}
	k := in.NumOperands() / 2
	state := make([]tile.Value, k, 2*k)
	for i := range k {
		if state[i], ok = c.value(in.OperandInstr(k+i), nil); !ok {
			return nil, false
		}
	}
	for _, point := range analysis.FoldedPoints(in) {
		next, operand := state[:k:k], c.foldedAt(in, at, point)
		for i := range k {
			v, ok := c.value(in.OperandInstr(i), operand)
			if !ok {
				return nil, false
			}
			next = append(next, v)
		}
		if state, ok = c.inline(comp, next); !ok {
			return nil, false
		}
	}
	return state, true
}

// foldedAt is the access to the operands of a reduction at one of its points.
func (c *compiler) foldedAt(in hlo.Instruction, at access, point []int64) access {
	operand, kept := make(access, len(point)), 0
	for axis, offset := range point {
		switch {
		case in.Opcode() == hlo.OpReduceWindow:
			d := &hlo.AttrsOf[hlo.WindowAttrs](in).Window.Dims[axis]
			operand[axis] = at[axis].scaled(d.Stride, offset*d.WindowDilation)
		case offset < 0:
			operand[axis] = at[kept]
			kept++
		default:
			operand[axis] = index{offset: offset, factors: make([]int64, len(c.space.Dims))}
		}
	}
	return operand
}

// inline defines the results of a computation on scalars.
func (c *compiler) inline(comp hlo.Computation, args []tile.Value) ([]tile.Value, bool) {
	roots, ok := fusionRoots(comp)
	if !ok {
		return nil, false
	}
	values := make(map[hlo.InstrID]tile.Value)
	for i, id := range comp.Parameters() {
		values[id] = args[i]
	}
	for in := range comp.PostOrder() {
		if _, is := values[in.ID()]; is || in.Opcode() == hlo.OpTuple {
			continue
		}
		if in.Opcode() == hlo.OpConstant { // which is none of the instructions that c knows by their ids
			if values[in.ID()], ok = c.define(in, nil); !ok {
				return nil, false
			}
			continue
		}
		if c.budget--; c.budget < 0 || !in.IsElementwise() || in.NumOperands() == 0 {
			return nil, false
		}
		var operands []tile.Value
		for o := range in.Operands() {
			operands = append(operands, values[o.ID()])
		}
		if values[in.ID()], ok = c.b.Op(in, operands...); !ok {
			return nil, false
		}
	}
	results := make([]tile.Value, len(roots), 2*len(roots))
	for i, root := range roots {
		results[i] = values[root.ID()]
		if c.b.Type(results[i]) != c.b.Type(args[i]) {
			return nil, false
		}
	}
	return results, 2*len(results) == len(args)
}
