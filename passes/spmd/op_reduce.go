package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

func init() {
	factorsOfOp[hlo.OpReduce] = reduceFactors
	handlers[hlo.OpReduce] = reduce
}

func reduceFactors(in hlo.Instruction) (all []factor) {
	dims := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	n := in.NumOperands()
	arrays := n / 2
	to := 0
	for k := range in.OperandInstr(0).Shape().Rank() {
		f := factor{kind: passFactor, operands: dimOfEach(in, k, func(i int) bool { return i < arrays }), result: to}
		if slices.Contains(dims, int64(k)) {
			f.kind, f.result = reduceFactor, -1
		} else {
			to++
		}
		all = append(all, f)
	}
	return all
}

// reduce combines the parts of split dimensions. Parts start from the identity unless the initial value is one, which is then combined with
// the result once.
func reduce(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	if in.NumOperands() != 2 {
		return variadicReduce(s, in, want)
	}
	c := s.p.m.MustComputation(in.Callee(0))
	op, ok := binaryOp(c)
	t := in.Shape().Type()
	if !ok || c.Root().Shape().Type() != t || in.OperandInstr(0).Shape().Type() != t {
		return s.general(in, want, nil)
	}
	id, _ := emit.Identity(op, t)
	own := s.d.b.Constant(id)
	d := &details{combine: by(in.Callee(0)), mask: func(i int) hlo.Value { return own }}
	init := s.values[in.Operand(1)][0]
	if l := in.OperandInstr(1).Literal(); l != nil && isIdentity(op, l) || !s.splitsReduced(in, want) {
		return s.general(in, want, d)
	}
	scalar := s.d.reshard(init, replicatedLike(init.t, 0))
	neutral := &value{v: own, scalar: own, shape: init.shape, t: scalar.t}
	s.values[in.Operand(1)] = []*value{neutral}
	parts, err := s.general(in, want, d)
	s.values[in.Operand(1)] = []*value{init}
	if err != nil {
		return nil, err
	}
	whole := parts[0].t.withDims(parts[0].t.Dims)
	whole.Unreduced = nil
	y := *s.d.reshard(parts[0], whole)
	y.v, y.copies = s.d.b.Binary(op, s.d.splat(scalar.v, y.v.Shape().Dimensions()), y.v), nil
	return []*value{&y}, nil
}

// splitsReduced reports whether some reduced dimension may be split.
func (s *scope) splitsReduced(in hlo.Instruction, _ []*Tiling) bool {
	x := s.values[in.Operand(0)][0]
	for _, k := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		if len(x.t.Dims[k]) > 0 {
			return true
		}
	}
	return false
}

// variadicReduce reduces parts, gathers what they give, and reduces that in the order of the devices, which is the order of the elements.
func variadicReduce(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	n := in.NumOperands() / 2
	have := s.operands(in)
	f := reduceFactors(in)
	q := &question{in: in, factors: f, have: have, want: want[0], mesh: s.meshOf(want, have), combines: false, manual: manualOf(want, have)}
	first := have[0].t
	split := -1 // the reduced dimension that stays split
	if first.Mesh == q.mesh {
		for _, k := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
			if len(first.Dims[k]) > 0 {
				split = int(k)
			}
		}
	}
	if split < 0 {
		return s.general(in, want, nil)
	}
	q.combines = true
	p := q.assign([]int{0, -1})
	for i := range q.factors {
		if q.factors[i].kind == reduceFactor && q.factors[i].operands[0] != split {
			p.axes[i] = nil
		}
	}
	p.operands, p.result = nil, nil
	q.project(p)
	axes := p.operands[0].Dims[split]
	if len(axes) == 0 {
		return s.general(in, want, nil)
	}
	operands := make([]hlo.Value, len(have))
	for i, x := range have {
		y := s.d.reshard(x, p.operands[i])
		if i < n && !y.t.isEven(split, y.shape.Dim(split)) {
			init := s.d.reshard(have[n+i], replicatedLike(have[n+i].t, 0))
			operands[i] = s.d.fillPadding(y, split, init.v)
			continue
		}
		operands[i] = y.v
	}
	result := p.result.withDims(p.result.Dims)
	result.Unreduced = nil
	tilings := slices.Repeat([]*Tiling{result}, len(want))
	local := s.split(s.emit(in, shards(in.Shape(), tilings), in.Attrs(), operands), in.Shape(), tilings)
	// Gather along a new first dimension, and reduce that.
	again := make([]hlo.Value, 0, 2*n)
	for _, x := range local {
		dims := append([]int64{1}, x.v.Shape().Dimensions()...)
		again = append(again, s.d.allGather(s.d.b.Reshape(x.v, dims...), 0, q.mesh, axes))
	}
	again = append(again, operands[n:]...)
	v := s.emit(in, shards(in.Shape(), tilings), &hlo.DimensionsAttrs{Dimensions: []int64{0}}, again)
	return s.split(v, in.Shape(), tilings), nil
}
