package rules

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// attrKind is what the attribute of an op is, as far as rules know it.
type attrKind uint8

const (
	noAttr attrKind = iota
	axesAttr
	directionAttr
	typeAttr // of a conversion that is made
)

// attrKindOf is the kind that all of some ops have.
func attrKindOf(ops []hlo.Opcode) attrKind {
	kind := noAttr
	for i, op := range ops {
		k := noAttr
		switch op {
		case hlo.OpCompare:
			k = directionAttr
		case hlo.OpConvert, hlo.OpBitcastConvert:
			k = typeAttr
		case hlo.OpTranspose, hlo.OpReverse, hlo.OpBroadcast, hlo.OpConcatenate, hlo.OpIota, hlo.OpReduce:
			k = axesAttr
		}
		if i > 0 && k != kind {
			return noAttr
		}
		kind = k
	}
	return kind
}

// axesAttrOf is the list of axes of an instruction.
func axesAttrOf(in hlo.Instruction) []int64 {
	switch a := in.Attrs().(type) {
	case *hlo.DimensionsAttrs:
		return a.Dimensions
	case *hlo.BroadcastAttrs:
		return a.Dimensions
	case *hlo.AxisAttrs:
		return a.Dimensions
	case *hlo.IotaAttrs:
		return []int64{a.Dimension}
	}
	return nil
}

// attrsOfAxes is the contrary of axesAttrOf.
func attrsOfAxes(op hlo.Opcode, axes []int64) hlo.OpAttrs {
	switch op {
	case hlo.OpTranspose, hlo.OpReverse:
		return &hlo.DimensionsAttrs{Dimensions: axes}
	case hlo.OpBroadcast:
		return &hlo.BroadcastAttrs{Dimensions: axes}
	case hlo.OpConcatenate:
		return &hlo.AxisAttrs{Dimensions: axes}
	case hlo.OpIota:
		if len(axes) == 1 {
			return &hlo.IotaAttrs{Dimension: axes[0]}
		}
	}
	return nil
}

func directionOf(name string) (hlo.Direction, bool) {
	i := slices.Index(hlo.Direction(0).EnumNames(), name)
	return hlo.Direction(max(i, 0)), i > 0
}

// axesFunction computes a list of axes.
type axesFunction struct {
	Name, Doc string
	args      int
	compute   func(args [][]int64) ([]int64, bool)
}

// axesFunctions are what may stand in brackets behind an op that is made.
var axesFunctions = []axesFunction{
	{"compose", "compose(p, q): p[q[0]], p[q[1]], …", 2, func(a [][]int64) ([]int64, bool) {
		both := make([]int64, len(a[1]))
		for i, at := range a[1] {
			if at < 0 || at >= int64(len(a[0])) {
				return nil, false
			}
			both[i] = a[0][at]
		}
		return both, true
	}},
	{"inverse", "inverse(p): the permutation that undoes p", 1, func(a [][]int64) ([]int64, bool) {
		perm := make([]int64, len(a[0]))
		for i, to := range a[0] {
			if to < 0 || to >= int64(len(perm)) {
				return nil, false
			}
			perm[to] = int64(i)
		}
		return perm, true
	}},
	{"either", "either(p, q): the axes in one of the lists and not in both, sorted", 2, func(a [][]int64) ([]int64, bool) {
		var axes []int64
		for _, x := range slices.Concat(a[0], a[1]) {
			if slices.Contains(a[0], x) != slices.Contains(a[1], x) {
				axes = append(axes, x)
			}
		}
		slices.Sort(axes)
		return axes, true
	}},
}

// directionFunctions turn a direction of compare into another one.
var directionFunctions = map[string]func(hlo.Direction) hlo.Direction{
	"swap": func(d hlo.Direction) hlo.Direction {
		return map[hlo.Direction]hlo.Direction{hlo.LT: hlo.GT, hlo.GT: hlo.LT, hlo.LE: hlo.GE, hlo.GE: hlo.LE, hlo.EQ: hlo.EQ, hlo.NE: hlo.NE}[d]
	},
	"opposite": func(d hlo.Direction) hlo.Direction {
		return map[hlo.Direction]hlo.Direction{hlo.LT: hlo.GE, hlo.GT: hlo.LE, hlo.LE: hlo.GT, hlo.GE: hlo.LT, hlo.EQ: hlo.NE, hlo.NE: hlo.EQ}[d]
	},
}
