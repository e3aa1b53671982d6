package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// picked compiles a gather from an array that is an input: the indices that a point needs are computed there.
func (c *compiler) picked(in hlo.Instruction, at access) (tile.Value, bool) {
	p, ok := analysis.FindPoints(in)
	if !ok || c.lanes || at.turns() || !tile.Supports(in.Shape().Type()) {
		return 0, false
	}
	array, indices := in.OperandInstr(0), in.OperandInstr(1)
	arg, ok := c.leaf(array)
	if !ok {
		return 0, false
	}
	still := func(offset int64) index { return index{offset: offset, factors: make([]int64, len(c.space.Dims))} }
	own := still(0)
	for axis, stride := range p.Strides {
		own = own.plus(at[axis].scaled(stride, 0))
	}
	var picks []tile.Pick
	for k, component := range p.Components {
		to := make(access, len(p.IndexAxes))
		for i, axis := range p.IndexAxes {
			if axis < 0 {
				to[i] = still(int64(k))
			} else {
				to[i] = at[axis]
			}
		}
		v, ok := c.value(indices, to)
		if !ok {
			return 0, false
		}
		picks = append(picks, tile.Pick{At: v, Highest: component.Highest, Stride: component.Stride})
	}
	return c.b.Pick(arg, array.Shape().Type(), array.Shape().NumElements(), tile.View{Base: own.offset, Strides: own.factors}, picks)
}
