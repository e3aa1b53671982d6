package spmd

import "github.com/gohalo/halo/hlo"

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

// concatenate fetches the tiles that lie where the device's tile of the result does, if the result is to be split along the axis and that is cheaper than
// to split it along another one.
func concatenate(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	have, t, axis := s.operands(in), want[0], concatAxis(in)
	if len(t.Dims[axis]) == 0 || len(t.Manual) > 0 || len(t.Unreduced) > 0 {
		return s.general(in, want, nil)
	}
	parts := make([]part, len(have))
	cost, at := 0.0, int64(0)
	for i, x := range have {
		parts[i] = newPart(x, t, axis, at, in.Shape().Dim(axis))
		cost += parts[i].cost(s.p)
		at += x.shape.Dim(axis)
	}
	q := &question{in: in, factors: concatenateFactors(in), have: have, want: t, mesh: s.meshOf(want, have), manual: manualOf(want, have)}
	if cost >= s.d.plans(q).cost {
		return s.general(in, want, nil)
	}
	tile := t.shard(in.Shape())
	dims := tile.Dimensions()
	begin := s.d.offset(t, axis, dims[axis])
	index := s.d.b.Add(s.d.b.Iota(hlo.MakeShape(hlo.S32, dims...).WithDefaultLayout(), int64(axis)), s.d.splat(begin, dims))
	var v hlo.Value
	for i := range parts {
		piece := s.d.under(&parts[i], begin)
		if i == 0 {
			v = piece
			continue
		}
		v = s.d.b.Select(s.d.b.Compare(hlo.GE, index, s.d.splat(s.d.s32(parts[i].at), dims)), piece, v)
	}
	return []*value{{v: v, shape: in.Shape(), t: t}}, nil
}

// part is an operand of a concatenation, as the devices that have a tile of the result see it.
type part struct {
	x      *value
	t      *Tiling // of the operand, once it is split like the result
	axis   int
	at     int64 // where it begins in the result
	ci, co int64 // tiles of the operand and of the result
	// slots are the tiles of the operand that lie at most where one of the result does; 0: the operand is gathered.
	slots int64
}

func newPart(x *value, t *Tiling, axis int, at, total int64) part {
	n := t.tiles(axis)
	p := part{x: x, t: t, axis: axis, at: at, ci: ceilDiv(x.shape.Dim(axis), n), co: ceilDiv(total, n)}
	if p.ci > 0 && !x.isBroadcast() {
		p.slots = ceilDiv(p.co, p.ci) + 1
	}
	if p.slots >= n {
		p.slots = 0
	}
	if p.slots == 0 {
		p.t = t.withDim(axis, nil)
	}
	return p
}

func (p *part) cost(m *partitioner) float64 {
	return m.routeCost(p.x.shape, p.x.t, p.t) + float64(p.slots)*(m.cost.Latency+m.cost.Byte*float64(p.t.bytes(p.x.shape)))
}

// under is what lies of an operand where the device's tile of the result does, which begins at an index; anything where the operand does not reach.
func (d *device) under(p *part, begin hlo.Value) hlo.Value {
	x := d.reshard(p.x, p.t)
	if p.slots == 0 {
		pad := &hlo.PadAttrs{Padding: make([]hlo.PaddingDim, x.v.Shape().Rank())}
		pad.Padding[p.axis] = hlo.PaddingDim{Low: p.co, High: p.co}
		return d.sliceAt(d.b.Op(hlo.OpPad, pad, x.v, d.scalar(x.shape.Type(), 0)), p.axis, d.b.Add(begin, d.s32(p.co-p.at)), p.co)
	}
	var pieces []hlo.Value
	for slot := range p.slots {
		pieces = append(pieces, d.permute(x.v, p.pairs(slot)))
	}
	// The first tile is the one that the result's begins in.
	up := ceilDiv(p.at, p.ci) * p.ci
	from := d.b.Binary(hlo.OpRemainder, d.b.Add(begin, d.s32(up-p.at)), d.s32(p.ci))
	return d.sliceAt(d.b.Concatenate(int64(p.axis), pieces...), p.axis, from, p.co)
}

// pairs connect devices with those whose tile of the result begins some tiles before their tile of the operand.
func (p *part) pairs(slot int64) (pairs [][]int64) {
	axes, m := p.t.Dims[p.axis], p.t.Mesh
	n := m.size(axes)
	order := m.listed(append(m.others(axes), axes...))
	up := ceilDiv(p.at, p.ci)
	for i, to := range order {
		c := int64(i) % n
		if from := (c*p.co-p.at+up*p.ci)/p.ci - up + slot; from >= 0 && from < n {
			pairs = append(pairs, []int64{order[int64(i)-c+from], to})
		}
	}
	return pairs
}
