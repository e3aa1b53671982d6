package spmd

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpConcatenate] = concatenateFactors
	handlers[hlo.OpConcatenate] = concatenate
}

func concatAxis(in hlo.Instruction) int { return int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]) }

func concatenateFactors(in hlo.Instruction) (all []factor) {
	for k := range in.Shape().Rank() {
		all = append(all, factor{kind: kindIf(k == concatAxis(in)), operands: dimOfEach(in, k, func(int) bool { return true }), result: k})
	}
	return all
}

// concatenate fetches the elements that lie where the device's tile of the result does, if the result is to be split along the axis and that is cheaper
// than to split it along another one.
func concatenate(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	have, t, axis := s.operands(in), want[0], concatAxis(in)
	if len(t.Dims[axis]) == 0 || len(t.Unreduced) > 0 {
		return s.general(in, want, nil)
	}
	best := s.joining(in, t, func(i int) (*value, int64) { return have[i], 0 })
	if through := s.joining(in, t, func(i int) (*value, int64) { return s.origin(in.OperandInstr(i), axis) }); through.cost <= best.cost {
		best = through // rotations are concatenations of slices
	}
	q := &question{in: in, factors: concatenateFactors(in), have: have, want: t, mesh: s.meshOf(want, have), manual: manualOf(want, have)}
	if best.m == nil || best.cost >= s.d.plans(q).cost {
		return s.general(in, want, nil)
	}
	for i, start := range best.starts {
		best.m.sources[i].x = s.d.reshard(best.m.sources[i].x, start)
	}
	return []*value{s.d.moved(best.m, in.Shape())}, nil
}

// joined is a way to concatenate: a move, and the tilings that its sources are brought to first.
type joined struct {
	m      *move
	starts []*Tiling
	cost   float64
}

// joining plans a concatenation. Each operand is part of an array, from an element on.
func (s *scope) joining(in hlo.Instruction, t *Tiling, operand func(i int) (*value, int64)) (j joined) {
	axis, at := concatAxis(in), int64(0)
	var sources, planned []*value
	var segments []segment
	for i := range in.NumOperands() {
		x, from := operand(i)
		if x.t.Mesh != t.Mesh || x.t.Maximal {
			return joined{cost: math.Inf(1)}
		}
		n := in.OperandInstr(i).Shape().Dim(axis)
		k := slices.Index(sources, x)
		if k < 0 {
			start := t
			if len(x.t.Dims[axis]) == 0 || x.isBroadcast() {
				start = t.untiled(axis)
			}
			k = len(sources)
			sources, planned, j.starts = append(sources, x), append(planned, &value{shape: x.shape, t: start}), append(j.starts, start)
			j.cost += s.p.routeCost(x.shape, x.t, start) + float64(start.bytes(x.shape))*s.p.cost.Byte*0.01
		}
		segments = append(segments, segment{source: k, from: from, stride: 1, at: at, spread: 1, n: n, group: i})
		at += n
	}
	m, ok := newMove(t, axis, at, planned, segments)
	if !ok {
		return joined{cost: math.Inf(1)}
	}
	for i, x := range sources {
		m.sources[i].x = x
	}
	j.m, j.cost = m, j.cost+m.cost(s.p, in.Shape())+float64(t.bytes(in.Shape()))*s.p.cost.Byte*0.01
	return j
}

// origin is the array that an instruction is a slice of along an axis, and where the slice begins; itself if it is none.
func (s *scope) origin(in hlo.Instruction, axis int) (*value, int64) {
	x, from := s.values[in.ID()][0], int64(0)
	for in.Opcode() == hlo.OpSlice {
		for k, r := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
			if k == axis && r.Stride != 1 || k != axis && !isWholeSlice(in, k) {
				return x, from
			}
		}
		from += hlo.AttrsOf[hlo.SliceAttrs](in).Slice[axis].Start
		in = in.OperandInstr(0)
		x = s.values[in.ID()][0]
	}
	return x, from
}
