package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	handlers[hlo.OpTuple] = func(s *scope, in hlo.Instruction, _ []*Tiling) ([]*value, error) { return s.operands(in), nil }
	handlers[hlo.OpGetTupleElement] = element
	handlers[hlo.OpConstant] = constant
	handlers[hlo.OpIota] = counting
	handlers[hlo.OpBroadcast] = broadcast
	handlers[hlo.OpReshape] = reshape
	handlers[hlo.OpOptBarrier] = barrier
	factorsOfOp[hlo.OpBroadcast] = broadcastFactors
	factorsOfOp[hlo.OpTranspose] = func(in hlo.Instruction) (all []factor) {
		for to, from := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
			all = append(all, along(1, passFactor, to, [2]int{0, int(from)}))
		}
		return all
	}
	factorsOfOp[hlo.OpBitcastConvert] = func(in hlo.Instruction) (all []factor) {
		for k := range min(in.Shape().Rank(), in.OperandInstr(0).Shape().Rank()) {
			all = append(all, along(1, passFactor, k, [2]int{0, k}))
		}
		return all
	}
	factorsOfOp[hlo.OpReducePrecision] = elementwiseFactors
	factorsOfOp[hlo.OpCopy] = elementwiseFactors
	factorsOfOp[hlo.OpMap] = elementwiseFactors
}

// element picks the arrays of one part of a tuple.
func element(s *scope, in hlo.Instruction, _ []*Tiling) ([]*value, error) {
	index := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
	tuple := in.OperandInstr(0).Shape()
	at := 0
	for i := range index {
		at += tuple.Elem(i).NumLeaves()
	}
	n := tuple.Elem(index).NumLeaves()
	return slices.Clone(s.values[in.Operand(0)][at : at+n]), nil
}

// constant is a splat of parts, or the whole, of which each device keeps its part.
func constant(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	l := in.Literal()
	if l == nil || !in.Shape().IsArray() {
		return s.whole(in, want)
	}
	t := replicated(want[0].Mesh, in.Shape().Rank())
	t.Manual = want[0].Manual
	if !l.IsElided() && in.Shape().Rank() > 0 && in.Shape().NumElements() > 0 && l.IsSplat() {
		one, err := hlo.NewLiteral(hlo.MakeArray(l.Shape().Type(), nil, nil, hlo.DefaultLayout(0)), l.Bytes()[:l.Shape().Type().ByteSize()])
		if err == nil {
			scalar := s.d.b.Constant(one)
			return []*value{{v: s.d.splat(scalar, want[0].shard(in.Shape()).Dimensions()), scalar: scalar, shape: in.Shape(), t: want[0]}}, nil
		}
	}
	x := &value{v: s.d.b.As(in.Name()).With(commonOf(in)).Constant(l), shape: in.Shape(), t: t}
	if in.Shape().IsScalar() {
		x.scalar = x.v
	}
	return []*value{x}, nil
}

// counting is an iota: it counts from where the device's part begins.
func counting(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	k := int(hlo.AttrsOf[hlo.IotaAttrs](in).Dimension)
	t := want[0]
	shape := t.shard(in.Shape())
	v := s.emit(in, shape, in.Attrs(), nil)
	if len(t.Dims[k]) > 0 {
		from := s.d.offset(t, k, shape.Dim(k))
		if from.Shape().Type() != shape.Type() {
			from = s.d.b.Convert(from, shape.Type())
		}
		v = s.d.b.Add(v, s.d.splat(from, shape.Dimensions()))
	}
	return []*value{{v: v, shape: in.Shape(), t: t}}, nil
}

func broadcastFactors(in hlo.Instruction) (all []factor) {
	dims := hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions
	for k := range in.Shape().Rank() {
		f := along(1, passFactor, k)
		if i := slices.Index(dims, int64(k)); i >= 0 && in.OperandInstr(0).Shape().Dim(i) == in.Shape().Dim(k) {
			f.operands[0] = i
		}
		all = append(all, f)
	}
	return all
}

// broadcast makes parts as they are wanted, from parts of the operand.
func broadcast(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	x := s.operands(in)[0]
	values, err := s.general(in, want, nil)
	if err == nil && x.shape.IsScalar() {
		values[0].scalar = s.d.reshard(x, replicatedLike(x.t, 0)).v
	}
	return values, err
}

// replicatedLike is whole arrays of some rank, in the same manual region.
func replicatedLike(t *Tiling, rank int) *Tiling {
	r := replicated(t.Mesh, rank)
	r.Manual = t.Manual
	return r
}

// barrier hands on what it holds back.
func barrier(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	have := s.operands(in)
	tilings := make([]*Tiling, len(have))
	local := make([]*value, len(have))
	for i, x := range have {
		tilings[i] = x.t
		if len(x.t.Unreduced) > 0 || len(want[i].Manual) > len(x.t.Manual) {
			tilings[i] = want[i]
		}
		local[i] = s.d.reshard(x, tilings[i])
	}
	v := s.emit(in, hlo.Shape{}, in.Attrs(), []hlo.Value{s.join(in.Shape(), local)})
	return s.split(v, in.Shape(), tilings), nil
}
