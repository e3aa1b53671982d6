package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// device builds a computation of the program of one device. Its methods emit what only such a program has: collectives, and values that
// depend on which device runs.
type device struct {
	p       *partitioner
	b       *hlo.Builder
	id      hlo.Value // partition-id as s32
	known   map[string]hlo.Value
	numbers map[string]hlo.Value
}

func (p *partitioner) newDevice(b *hlo.Builder) *device {
	return &device{p: p, b: b, known: make(map[string]hlo.Value), numbers: make(map[string]hlo.Value)}
}

// scalar is a constant of a type, of a value that it can hold.
func (d *device) scalar(t hlo.PrimitiveType, v int64) hlo.Value {
	key := fmt.Sprint(t, v)
	if c, ok := d.numbers[key]; ok {
		return c
	}
	c := d.b.Constant(scalarLiteral(t, v))
	d.numbers[key] = c
	return c
}

func (d *device) s32(v int64) hlo.Value { return d.scalar(hlo.S32, v) }

// splat is an array of one value.
func (d *device) splat(v hlo.Value, dims []int64) hlo.Value {
	if len(dims) == 0 {
		return v
	}
	return d.b.Broadcast(v, nil, dims...)
}

// position is where in a mesh the device is.
func (d *device) position(m *Mesh) hlo.Value {
	if d.id == (hlo.Value{}) {
		id := d.b.OpOf(hlo.OpPartitionId, hlo.MakeShape(hlo.U32), nil)
		d.id = d.b.Convert(id, hlo.S32)
	}
	if m.Order == nil {
		return d.id
	}
	key := fmt.Sprintf("position %p", m)
	if v, ok := d.known[key]; ok {
		return v
	}
	places := make([]int32, m.N)
	for i, device := range m.Order {
		places[device] = int32(i)
	}
	v := d.lookup(places, d.id)
	d.known[key] = v
	return v
}

// lookup is the element of a table at an index.
func (d *device) lookup(table []int32, index hlo.Value) hlo.Value {
	l, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32, int64(len(table))).WithDefaultLayout(), table...)
	if err != nil {
		panic(err)
	}
	return d.b.Reshape(d.b.DynamicSlice(d.b.Constant(l), []hlo.Value{index}, 1))
}

// coordinate is the index of the device along some axes, major first: s32[].
func (d *device) coordinate(m *Mesh, axes []int) hlo.Value {
	if len(axes) == 0 {
		return d.s32(0)
	}
	key := fmt.Sprintf("coordinate %p %v", m, axes)
	if v, ok := d.known[key]; ok {
		return v
	}
	var sum hlo.Value
	weight := m.size(axes)
	for i := 0; i < len(axes); {
		// Axes that follow each other in the mesh are one number.
		j, n := i+1, m.Sizes[axes[i]]
		for j < len(axes) && axes[j] == axes[j-1]+1 {
			n *= m.Sizes[axes[j]]
			j++
		}
		v, stride := d.position(m), m.stride(axes[j-1])
		if stride > 1 {
			v = d.b.Divide(v, d.s32(stride))
		}
		if stride*n < m.N {
			v = d.b.Binary(hlo.OpRemainder, v, d.s32(n))
		}
		weight /= n
		if weight > 1 {
			v = d.b.Multiply(v, d.s32(weight))
		}
		if i == 0 {
			sum = v
		} else {
			sum = d.b.Add(sum, v)
		}
		i = j
	}
	d.known[key] = sum
	return sum
}

// offset is where the device's tile of dimension k begins, for tiles of some size: s32[].
func (d *device) offset(t *Tiling, k int, tile int64) hlo.Value {
	if len(t.Dims[k]) == 0 {
		return d.s32(0)
	}
	c := d.coordinate(t.Mesh, t.Dims[k])
	if tile == 1 {
		return c
	}
	return d.b.Multiply(c, d.s32(tile))
}

func (d *device) channel() hlo.OptInt {
	d.p.channels++
	return hlo.SomeInt(d.p.channels)
}

// pad adds elements behind dimension k up to a size.
func (d *device) pad(v hlo.Value, k int, size int64) hlo.Value {
	s := v.Shape()
	if s.Dim(k) == size {
		return v
	}
	a := &hlo.PadAttrs{Padding: make([]hlo.PaddingDim, s.Rank())}
	a.Padding[k].High = size - s.Dim(k)
	return d.b.Op(hlo.OpPad, a, v, d.scalar(s.Type(), 0))
}

// cut leaves the first elements of dimension k.
func (d *device) cut(v hlo.Value, k int, size int64) hlo.Value {
	if v.Shape().Dim(k) == size {
		return v
	}
	return d.slice(v, k, 0, size)
}

// slice is part of dimension k.
func (d *device) slice(v hlo.Value, k int, from, to int64) hlo.Value {
	ranges := make([]hlo.SliceDim, v.Shape().Rank())
	for i := range ranges {
		ranges[i] = hlo.SliceDim{Limit: v.Shape().Dim(i), Stride: 1}
	}
	ranges[k] = hlo.SliceDim{Start: from, Limit: to, Stride: 1}
	return d.b.Slice(v, ranges...)
}

// sliceAt is part of dimension k from an index on.
func (d *device) sliceAt(v hlo.Value, k int, at hlo.Value, size int64) hlo.Value {
	indices := make([]hlo.Value, v.Shape().Rank())
	for i := range indices {
		indices[i] = d.scalar(at.Shape().Type(), 0)
	}
	indices[k] = at
	sizes := v.Shape().Dimensions()
	sizes[k] = size
	return d.b.DynamicSlice(v, indices, sizes...)
}

// allGather joins the parts along dimension k of the devices that differ along axes.
func (d *device) allGather(v hlo.Value, k int, m *Mesh, axes []int) hlo.Value {
	s := v.Shape()
	dims := s.Dimensions()
	dims[k] *= m.size(axes)
	a := &hlo.AllGatherAttrs{ChannelID: d.channel(), ReplicaGroups: m.groups(axes, d.p.replicas), Dimensions: []int64{int64(k)}, UseGlobalDeviceIDs: true}
	return d.b.OpOf(hlo.OpAllGather, hlo.MakeShape(s.Type(), dims...).WithDefaultLayout(), a, v)
}

// allReduce combines the values of the devices that differ along axes.
func (d *device) allReduce(v hlo.Value, reducer hlo.CompID, m *Mesh, axes []int) hlo.Value {
	a := &hlo.AllReduceAttrs{ChannelID: d.channel(), ReplicaGroups: m.groups(axes, d.p.replicas), UseGlobalDeviceIDs: true}
	return d.b.Emit(hlo.OpSpec{Opcode: hlo.OpAllReduce, Attrs: a, Operands: []hlo.Value{v}, Callees: []hlo.CompID{reducer}})
}

// reduceScatter combines the values of the devices that differ along axes, of which each keeps its part of dimension k.
func (d *device) reduceScatter(v hlo.Value, k int, reducer hlo.CompID, m *Mesh, axes []int) hlo.Value {
	s := v.Shape()
	dims := s.Dimensions()
	dims[k] /= m.size(axes)
	a := &hlo.ReduceScatterAttrs{ChannelID: d.channel(), ReplicaGroups: m.groups(axes, d.p.replicas), UseGlobalDeviceIDs: true, Dimensions: []int64{int64(k)}}
	return d.b.Emit(hlo.OpSpec{Opcode: hlo.OpReduceScatter, Shape: hlo.MakeShape(s.Type(), dims...).WithDefaultLayout(), Attrs: a,
		Operands: []hlo.Value{v}, Callees: []hlo.CompID{reducer}})
}

// allToAll sends part i of dimension k to the i-th of the devices that differ along axes.
func (d *device) allToAll(v hlo.Value, k int, m *Mesh, axes []int) hlo.Value {
	a := &hlo.AllToAllAttrs{ChannelID: d.channel(), ReplicaGroups: m.groups(axes, 1), Dimensions: []int64{int64(k)}}
	return d.b.OpOf(hlo.OpAllToAll, v.Shape(), a, v)
}

// permute gives each target what its source has; who is no target gets zeros.
func (d *device) permute(v hlo.Value, pairs [][]int64) hlo.Value {
	slices.SortFunc(pairs, func(a, b []int64) int { return int(a[0] - b[0]) })
	return d.b.OpOf(hlo.OpCollectivePermute, v.Shape(), &hlo.CollectivePermuteAttrs{ChannelID: d.channel(), SourceTargetPairs: pairs}, v)
}
