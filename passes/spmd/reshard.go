package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// value is an array of the whole program, of which each device has a part. What a device has beyond the end of the array is undefined.
type value struct {
	v     hlo.Value
	shape hlo.Shape
	t     *Tiling
	// combine is the computation that reduces along unreduced axes; nil: what the tiling says.
	combine *hlo.CompID
	// scalar is what v is a broadcast of, if it is.
	scalar hlo.Value
	copies map[string]*value
}

// isBroadcast reports whether the value is a scalar, repeated.
func (x *value) isBroadcast() bool { return x.scalar != hlo.Value{} }

// reshard is x under another tiling.
func (d *device) reshard(x *value, t *Tiling) *value {
	if !x.shape.IsArray() || x.t.equal(t) {
		return x
	}
	if t.Maximal {
		t = replicated(t.Mesh, len(t.Dims)) // every device may have what one has to have
	}
	key := t.key()
	if c, ok := x.copies[key]; ok {
		return c
	}
	if x.copies == nil {
		x.copies = make(map[string]*value)
	}
	y := &value{shape: x.shape, t: t}
	if x.isBroadcast() && len(x.t.Unreduced) == 0 && len(t.Unreduced) == 0 {
		y.v, y.scalar = d.splat(x.scalar, t.shard(x.shape).Dimensions()), x.scalar
	} else {
		y = x
		for _, s := range route(x.shape, x.t, t) {
			y = &value{v: d.take(y, &s), shape: x.shape, t: s.result, combine: x.combine}
		}
	}
	x.copies[key] = y
	return y
}

// take carries a step out.
func (d *device) take(x *value, s *step) hlo.Value {
	m := x.t.Mesh
	switch s.kind {
	case sliceStep:
		tile := ceilDiv(x.shape.Dim(s.dim), s.result.tiles(s.dim))
		n := m.size(s.axes)
		v := d.pad(x.v, s.dim, tile*n)
		at := d.coordinate(m, s.axes)
		if tile > 1 {
			at = d.b.Multiply(at, d.s32(tile))
		}
		return d.sliceAt(v, s.dim, at, tile)
	case gatherStep:
		v := d.allGather(x.v, s.dim, m, s.axes)
		return d.cut(v, s.dim, s.result.shard(x.shape).Dim(s.dim))
	case bringStep:
		return d.allReduce(d.ownPart(x, s.dim, d.s32(0), x.shape.Dim(s.dim)), d.p.binary(bringing(x.shape.Type())), m, s.axes)
	case exchangeStep:
		return d.exchange(x, s)
	case permuteStep:
		return d.permute(x.v, tilePairs(x.t, s.result))
	case reduceStep:
		return d.allReduce(x.v, d.reducer(x), m, s.axes)
	case scatterStep:
		return d.reduceScatter(x.v, s.dim, d.reducer(x), m, s.axes)
	case broadcastStep:
		return d.fromDevice(x)
	}
	return x.v
}

// reducer is the computation that combines parts of an unreduced value.
func (d *device) reducer(x *value) hlo.CompID {
	if x.combine != nil {
		return *x.combine
	}
	op := [...]hlo.Opcode{hlo.ReductionSum: hlo.OpAdd, hlo.ReductionMax: hlo.OpMaximum, hlo.ReductionMin: hlo.OpMinimum}[x.t.Reduction]
	return d.p.binary(op, x.shape.Type())
}

// exchange moves axes from dimension i to dimension j: each device cuts its part along j into one piece for each member of its group, and puts
// what it gets together along i.
func (d *device) exchange(x *value, s *step) hlo.Value {
	i, j, n := s.dim, s.to, x.t.Mesh.size(s.axes)
	after := s.result.shard(x.shape)
	v := d.pad(x.v, j, after.Dim(j)*n)
	dims := v.Shape().Dimensions()
	split := slices.Insert(slices.Clone(dims), j, n) // [..., n, piece, ...]
	split[j+1] = dims[j] / n
	v = d.b.Reshape(v, split...)
	v = d.allToAll(v, j, x.t.Mesh, s.axes)
	// The pieces come from tiles of i in order: put them in front of i.
	front := i
	if i > j {
		front = i + 1
	}
	var perm []int64
	for k := range split {
		if k == front {
			perm = append(perm, int64(j))
		}
		if k != j {
			perm = append(perm, int64(k))
		}
	}
	v = d.b.Transpose(v, perm...)
	dims[i] *= n
	dims[j] /= n
	return d.cut(d.b.Reshape(v, dims...), i, after.Dim(i))
}

// tilePairs connects, for each tile, the devices that have it under one tiling with those that have it under another, which has the same
// tiles.
func tilePairs(from, to *Tiling) [][]int64 {
	holders := make(map[int64][]int64)
	wanters := make(map[int64][]int64)
	var order []int64
	for p := range from.Mesh.N {
		k := from.tileOf(p)
		if holders[k] == nil {
			order = append(order, k)
		}
		holders[k] = append(holders[k], from.Mesh.device(p))
	}
	for p := range to.Mesh.N {
		wanters[to.tileOf(p)] = append(wanters[to.tileOf(p)], to.Mesh.device(p))
	}
	var pairs [][]int64
	for _, k := range order {
		have, want := holders[k], wanters[k]
		both := make(map[int64]bool)
		for _, id := range have {
			if slices.Contains(want, id) {
				both[id] = true
				pairs = append(pairs, []int64{id, id})
			}
		}
		stays := func(id int64) bool { return both[id] }
		have, want = slices.DeleteFunc(have, stays), slices.DeleteFunc(want, stays)
		for i := range min(len(have), len(want)) {
			pairs = append(pairs, []int64{have[i], want[i]})
		}
	}
	return pairs
}

// tileOf numbers the tile that a position has, and the coordinates along which devices run code of their own.
func (t *Tiling) tileOf(position int64) int64 {
	n := t.Mesh.coordinate(position, t.Manual)
	for _, axes := range t.Dims {
		n = n*t.Mesh.size(axes) + t.Mesh.coordinate(position, axes)
	}
	return n
}

// fromDevice gives every device the value that one of them has, bit by bit.
func (d *device) fromDevice(x *value) hlo.Value {
	m, s := x.t.Mesh, x.v.Shape()
	mine := d.b.Compare(hlo.EQ, d.position(d.p.world.Main), d.s32(x.t.Device))
	one := func(v hlo.Value) hlo.Value {
		to, from := d.bits(v)
		dims, t := s.Dimensions(), to.Shape().Type()
		v = d.b.Select(d.splat(mine, dims), to, d.splat(d.scalar(t, 0), dims))
		return from(d.allReduce(v, d.p.binary(hlo.OpOr, t), m, m.all()))
	}
	if t := s.Type(); t.IsComplex() {
		part := s.WithType(t.ComponentType())
		return d.b.OpOf(hlo.OpComplex, s, nil, one(d.b.OpOf(hlo.OpReal, part, nil, x.v)), one(d.b.OpOf(hlo.OpImag, part, nil, x.v)))
	}
	return one(x.v)
}
