package rules

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// operandTypes chooses the types of operands for a result.
func (n *instantiation) operandTypes(op hlo.Opcode, t hlo.PrimitiveType, count int) []hlo.PrimitiveType {
	free := func(of []hlo.PrimitiveType) hlo.PrimitiveType { return of[n.choices.choose(len(of))] }
	switch op {
	case hlo.OpCompare, hlo.OpIsFinite:
		if t != hlo.PRED {
			return nil
		}
		return slices.Repeat([]hlo.PrimitiveType{free(InstanceTypes)}, count)
	case hlo.OpSelect:
		return []hlo.PrimitiveType{hlo.PRED, t, t}
	case hlo.OpConvert, hlo.OpBitcastConvert:
		return []hlo.PrimitiveType{free(append([]hlo.PrimitiveType{n.root}, InstanceTypes...))}
	case hlo.OpComplex:
		if !t.IsComplex() {
			return nil
		}
		return slices.Repeat([]hlo.PrimitiveType{t.ComponentType()}, count)
	case hlo.OpReal, hlo.OpImag, hlo.OpAbs:
		if of, ok := t.ComplexOf(); ok && n.choices.choose(2) == 1 {
			return []hlo.PrimitiveType{of}
		}
	}
	return slices.Repeat([]hlo.PrimitiveType{t}, count)
}

// attrs chooses the attribute of an op, and says which dimensions its operands have then.
func (n *instantiation) attrs(p *pattern, op hlo.Opcode, dims []int64) (hlo.OpAttrs, []int64) {
	switch attrKindOf([]hlo.Opcode{op}) {
	case directionAttr:
		d, known := n.dirs[p.attrSlot]
		if p.attr != namedAttr || !known {
			var all []hlo.Direction
			for _, d := range []hlo.Direction{hlo.EQ, hlo.NE, hlo.LT, hlo.LE, hlo.GT, hlo.GE} {
				if p.attr != statedAttr || p.directions&(1<<d) != 0 {
					all = append(all, d)
				}
			}
			d = all[n.choices.choose(len(all))]
			if p.attr == namedAttr {
				n.dirs[p.attrSlot] = d
			}
		}
		return &hlo.CompareAttrs{Direction: d}, dims
	case axesAttr:
		axes, known := n.axes[p.attrSlot]
		switch {
		case p.attr == statedAttr:
			axes = p.axes
		case p.attr != namedAttr || !known:
			all := axesFor(op, len(dims))
			if len(all) == 0 {
				n.failed = true
				return nil, nil
			}
			if axes = all[n.choices.choose(len(all))]; p.attr == namedAttr {
				n.axes[p.attrSlot] = axes
			}
		}
		inner, ok := operandDims(op, axes, dims)
		attrs := attrsOfAxes(op, axes)
		n.failed = n.failed || !ok || attrs == nil
		return attrs, inner
	}
	if f := hlo.Info(op).NewAttrs; f != nil && attrKindOf([]hlo.Opcode{op}) == noAttr {
		return f(), dims
	}
	return nil, dims
}

// axesFor lists lists of axes that an op may have for a result of a rank.
func axesFor(op hlo.Opcode, rank int) (all [][]int64) {
	switch op {
	case hlo.OpTranspose:
		switch rank {
		case 1:
			return [][]int64{{0}}
		case 2:
			return [][]int64{{0, 1}, {1, 0}}
		case 3:
			return [][]int64{{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}, {0, 2, 1}}
		}
	case hlo.OpReverse, hlo.OpBroadcast:
		for set := range 1 << rank {
			axes := []int64{}
			for i := range rank {
				if set&(1<<i) != 0 {
					axes = append(axes, int64(i))
				}
			}
			all = append(all, axes)
		}
	case hlo.OpIota:
		for i := range rank {
			all = append(all, []int64{int64(i)})
		}
	}
	return all
}

// operandDims is the shape of the operands for a result.
func operandDims(op hlo.Opcode, axes, dims []int64) ([]int64, bool) {
	for _, a := range axes {
		if a < 0 || a >= int64(len(dims)) {
			return nil, false
		}
	}
	switch op {
	case hlo.OpTranspose:
		if len(axes) != len(dims) {
			return nil, false
		}
		inner := make([]int64, len(dims))
		for i, a := range axes {
			inner[a] = dims[i]
		}
		return inner, true
	case hlo.OpBroadcast:
		inner := []int64{}
		for _, a := range axes {
			inner = append(inner, dims[a])
		}
		return inner, true
	}
	return dims, true
}
