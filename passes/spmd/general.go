package spmd

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// details adjust the general method to an op.
type details struct {
	// attrs are the attributes of the op on parts: what contains sizes changes.
	attrs func(in hlo.Instruction, p *plan, operands []*value) hlo.OpAttrs
	// combine is the computation that combines parts of reduced factors; nil: they must not be split.
	combine *hlo.CompID
	// mask replaces padding of reduced dimensions in an operand; nil: none is needed.
	mask func(operand int) hlo.Value
	// fill is what lies outside of an operand for slides; nil: they are not split.
	fill func(operand int) hlo.Value
	// operands and result adjust what an op is given, and what it gives.
	operands func(p *plan, local []*value)
	result   func(p *plan, v hlo.Value) hlo.Value
}

func by(id hlo.CompID) *hlo.CompID { return &id }

// general partitions by factors: it brings operands to the cheapest plan, runs the op on parts, and combines what was reduced.
func (s *scope) general(in hlo.Instruction, want []*Tiling, d *details) ([]*value, error) {
	f, ok := factors(in)
	if !ok || !in.Shape().IsStatic() {
		return s.whole(in, want)
	}
	have := s.operands(in)
	if len(have) != in.NumOperands() || len(want) == 0 {
		return s.whole(in, want)
	}
	if d == nil {
		d = &details{}
	}
	q := &question{in: in, factors: f, have: have, want: want[0], mesh: s.meshOf(want, have), combines: d.combine != nil, slides: d.fill != nil, manual: manualOf(want, have)}
	p := s.d.plans(q)
	s.remark(q, p)
	local := make([]*value, len(have))
	operands := make([]hlo.Value, len(have))
	for i, x := range have {
		local[i] = s.d.reshard(x, p.operands[i])
		if d.mask != nil {
			local[i] = s.masked(q, local[i], i, d.mask)
		}
		if d.fill != nil {
			local[i] = s.fetched(q, p, local[i], i, d.fill)
		}
	}
	if d.operands != nil {
		d.operands(p, local)
	}
	for i, x := range local {
		operands[i] = x.v
	}
	attrs := in.Attrs()
	if d.attrs != nil {
		attrs = d.attrs(in, p, local)
	}
	tilings := make([]*Tiling, len(want))
	i := 0
	for _, leaf := range in.Shape().Leaves {
		tilings[i] = p.result.ofRank(leaf.Rank())
		i++
	}
	v := s.emit(in, shards(in.Shape(), tilings), attrs, operands)
	if d.result != nil {
		v = d.result(p, v)
	}
	values := s.split(v, in.Shape(), tilings)
	for _, x := range values {
		x.combine = d.combine
	}
	return values, nil
}

// remark says which operands are gathered since the op needs a dimension whole that was split.
func (s *scope) remark(q *question, p *plan) {
	for i, x := range q.have {
		for _, f := range q.factors {
			k := f.operands[i]
			if k < 0 || q.have[i].isBroadcast() || len(p.operands[i].Dims[k]) > 0 || len(without(x.t.Dims[k], p.operands[i].used())) == 0 {
				continue
			}
			if moved := p.operands[i].bytes(x.shape); f.kind == wholeFactor && moved > 0 {
				s.p.ctx.Missed(q.in, "%v needs all of dimension %d of operand %d, which gathers %d bytes", q.in.Opcode(), k, i, moved)
			}
		}
	}
}

// masked replaces what lies beyond the end of split dimensions that are reduced.
func (s *scope) masked(q *question, x *value, operand int, with func(int) hlo.Value) *value {
	for _, f := range q.factors {
		if k := f.operands[operand]; k >= 0 && f.kind == reduceFactor && !x.t.isEven(k, x.shape.Dim(k)) {
			y := *x
			y.v, y.copies = s.d.fillPadding(x, k, with(operand)), nil
			x = &y
		}
	}
	return x
}

// fetched adds to an operand what its slides read of neighbours.
func (s *scope) fetched(q *question, p *plan, x *value, operand int, fill func(int) hlo.Value) *value {
	for f := range q.factors {
		if k := q.factors[f].operands[operand]; q.factors[f].slid(operand) && len(p.axes[f]) > 0 {
			y := *x
			y.v, y.copies, y.scalar = s.d.fetch(x, k, q.factors[f].slides[operand].halo(q.mesh.size(p.axes[f])), fill(operand)), nil, hlo.Value{}
			x = &y
		}
	}
	return x
}

// slides reports whether a dimension of the result is computed from what was fetched.
func (p *plan) slides(q []factor, result int) bool {
	for f := range q {
		if q[f].kind == slideFactor && q[f].result == result && len(p.axes[f]) > 0 {
			return true
		}
	}
	return false
}

// fillPadding replaces what lies beyond the end of dimension k.
func (d *device) fillPadding(x *value, k int, with hlo.Value) hlo.Value {
	dims := x.v.Shape().Dimensions()
	return d.b.Select(d.inside(x, k), x.v, d.splat(with, dims))
}

// inside says which elements of a part are of the array, and not beyond its end along dimension k.
func (d *device) inside(x *value, k int) hlo.Value {
	dims := x.v.Shape().Dimensions()
	index := d.b.Iota(hlo.MakeShape(hlo.S32, dims...).WithDefaultLayout(), int64(k))
	at := d.b.Add(index, d.splat(d.offset(x.t, k, dims[k]), dims))
	return d.b.Compare(hlo.LT, at, d.splat(d.s32(x.shape.Dim(k)), dims))
}

// meshOf is the mesh in which an op is planned: that of what is split, the result first.
func (s *scope) meshOf(want []*Tiling, have []*value) *Mesh {
	for _, t := range want {
		if t.isTiled() || len(t.Manual) > 0 {
			return t.Mesh
		}
	}
	for _, x := range have {
		if x.t.isTiled() || len(x.t.Manual) > 0 {
			return x.t.Mesh
		}
	}
	return s.p.world.Main
}

// manualOf are the axes along which the operands or results of an op are manual.
func manualOf(want []*Tiling, have []*value) (manual []int) {
	for _, t := range want {
		manual = union(manual, t.Manual)
	}
	for _, x := range have {
		manual = union(manual, x.t.Manual)
	}
	return manual
}

// whole runs an op on whole arrays, on every device: right for every op without side effects.
func (s *scope) whole(in hlo.Instruction, want []*Tiling) ([]*value, error) {
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitSideEffect) {
		if a, ok := in.Attrs().(*hlo.CustomCallAttrs); ok && a.HasSideEffect {
			return nil, fmt.Errorf("a custom-call of %q with a side effect can run on one device (maximal) or in a manual region only", a.Target)
		}
	}
	have := s.operands(in)
	mesh, manual := s.meshOf(want, have), manualOf(want, have)
	moved := int64(0)
	local := make([]*value, len(have))
	for i, x := range have {
		t := replicated(mesh, x.shape.Rank())
		t.Manual = manual
		if x.t.isTiled() {
			moved += x.shape.ByteSize()
		}
		local[i] = s.d.reshard(x, t)
	}
	if moved > 0 {
		s.p.ctx.Missed(in, "%v is computed whole on every device, which gathers %d bytes of its operands", in.Opcode(), moved)
	}
	v := s.emit(in, in.Shape(), in.Attrs(), s.rejoined(in, local))
	tilings := make([]*Tiling, len(want))
	i := 0
	for _, leaf := range in.Shape().Leaves {
		tilings[i] = replicated(mesh, leaf.Rank())
		tilings[i].Manual = manual
		i++
	}
	return s.results(in, v, tilings), nil
}

// runsByItself reports whether an instruction is inside a manual region: every device runs it as it is.
func (s *scope) runsByItself(in hlo.Instruction, want []*Tiling) bool {
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) || in.Opcode() == hlo.OpTuple || in.Opcode() == hlo.OpGetTupleElement ||
		isTarget(in, toShards) || isTarget(in, toFull) {
		return false
	}
	manual := false
	for _, t := range want {
		manual = manual || t.isManual()
	}
	for _, x := range s.operands(in) {
		manual = manual || x.t.isManual()
	}
	return manual
}

// verbatim copies an instruction of a manual region.
func (s *scope) verbatim(in hlo.Instruction, want []*Tiling) ([]*value, error) {
	have := s.operands(in)
	mesh := s.meshOf(want, have)
	all := mesh.all()
	local := make([]*value, len(have))
	for i, x := range have {
		t := replicated(mesh, x.shape.Rank())
		t.Manual = all
		local[i] = s.d.reshard(x, t)
	}
	if isTarget(in, shardingCall) {
		return local, nil
	}
	v := s.emit(in, in.Shape(), in.Attrs(), s.rejoined(in, local))
	tilings := make([]*Tiling, len(want))
	i := 0
	for _, leaf := range in.Shape().Leaves {
		tilings[i] = replicated(mesh, leaf.Rank())
		tilings[i].Manual = all
		i++
	}
	values := s.results(in, v, tilings)
	for i, x := range values { // what every device computes alike is whole outside
		if len(want[i].Manual) == 0 {
			x.t = replicated(mesh, x.shape.Rank())
		}
	}
	return values, nil
}
