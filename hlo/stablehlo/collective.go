package stablehlo

import (
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// groups are the replica groups of a collective: rows, in which -1 pads; or devices that differ only in some axes of a mesh.
func (c *comp) groups() *hlo.ReplicaGroups {
	if s, ok := c.op.Attrs.Get("replica_groups").(mlir.Struct); ok && s.Name == "replica_group_mesh_axes" {
		return c.meshGroups(s)
	}
	g := &hlo.ReplicaGroups{}
	for _, row := range c.table("replica_groups", 0) {
		list := make([]int64, 0, len(row))
		for _, d := range row {
			if d >= 0 {
				list = append(list, d)
			}
		}
		g.Lists = append(g.Lists, list)
	}
	return g
}

// meshGroups are groups by the axes of a mesh, which is given in place or by its name.
func (c *comp) meshGroups(s mlir.Struct) *hlo.ReplicaGroups {
	var mesh *hlo.Mesh
	switch m := s.Fields.Get("mesh").(type) {
	case mlir.Symbol:
		mesh = c.meshes.named(c.converter, c.op, string(m))
	case mlir.Struct:
		mesh = c.meshOf(m)
	default:
		c.fail(c.op, "the replica groups of '%s' have no mesh", c.op.Name)
	}
	g := &hlo.ReplicaGroups{Mesh: mesh}
	axes, _ := s.Fields.Get("axes").(mlir.Array)
	for _, a := range axes {
		ref, _ := a.(mlir.Struct)
		name := stringOf(ref.Fields.Get("name"))
		axis := -1
		for i, x := range mesh.Axes {
			if x.Name == name {
				axis = i
			}
		}
		if axis < 0 {
			c.fail(c.op, "the mesh of the replica groups has no axis %q", name)
		}
		r := hlo.AxisRef{Axis: axis}
		if sub, ok := mlir.Ints(ref.Fields.Get("sub_axis_info")); ok && len(sub) == 2 {
			r.PreSize, r.Size, r.IsSub = sub[0], sub[1], true
		}
		g.Axes = append(g.Axes, r)
	}
	return g
}

// meshOf is a mesh given in place.
func (c *comp) meshOf(s mlir.Struct) *hlo.Mesh {
	m := new(hlo.Mesh)
	axes, _ := s.Fields.Get("axes").(mlir.Array)
	for _, a := range axes {
		x, _ := a.(mlir.Struct)
		m.Axes = append(m.Axes, hlo.MeshAxis{Name: stringOf(x.Fields.Get("name")), Size: c.fieldInt(x, "size")})
	}
	if ids, ok := mlir.Ints(s.Fields.Get("device_ids")); ok {
		m.DeviceIDs = ids
	}
	return m
}

// spreadOperands makes the operands of a collective the elements of a tuple of them, as XLA's builder does when there are several.
func (c *comp) spreadOperands() []hlo.InstrID {
	ids := c.operands()
	if len(ids) == 1 {
		return ids
	}
	all := c.tuple(ids...)
	for i := range ids {
		ids[i] = c.element(all, i)
	}
	return ids
}

func (c *comp) allReduce(*mlir.Op) {
	a := &hlo.AllReduceAttrs{ChannelID: c.channelID(), ReplicaGroups: c.groups(), UseGlobalDeviceIDs: c.flag("use_global_device_ids")}
	region := c.simpleRegion(0)
	ids := c.spreadOperands()
	c.setAll(c.addCalling(hlo.OpAllReduce, c.allShape(), a, []hlo.CompID{region}, ids...))
}

// crossReplicaSum adds over all replicas of a group.
func (c *comp) crossReplicaSum(op *mlir.Op) {
	id, scalar := c.operand(0), arrayShape(op.Operands[0].Type.Elem)
	sum := newComp(c.converter, "sum")
	sum.op, sum.pos = op, c.pos
	sum.name = "x"
	x := sum.add(hlo.OpParameter, scalar, &hlo.ParameterAttrs{})
	sum.name = "y"
	y := sum.add(hlo.OpParameter, scalar, &hlo.ParameterAttrs{Number: 1})
	sum.name = ""
	sum.root = sum.add(hlo.OpAdd, scalar, nil, x, y)
	a := &hlo.AllReduceAttrs{ReplicaGroups: c.groups()}
	c.set(c.addCalling(hlo.OpAllReduce, c.resultShape(0), a, []hlo.CompID{sum.finish()}, id))
}

func (c *comp) allGather(op *mlir.Op) {
	a := &hlo.AllGatherAttrs{
		ChannelID: c.channelID(), ReplicaGroups: c.groups(), Dimensions: []int64{c.int("all_gather_dim")},
		UseGlobalDeviceIDs: c.flag("use_global_device_ids"),
	}
	ids := c.spreadOperands()
	c.setAll(c.add(hlo.OpAllGather, c.allShape(), a, ids...))
}

func (c *comp) reduceScatter(*mlir.Op) {
	a := &hlo.ReduceScatterAttrs{
		ChannelID: c.channelID(), ReplicaGroups: c.groups(), Dimensions: []int64{c.int("scatter_dimension")},
		UseGlobalDeviceIDs: c.flag("use_global_device_ids"),
	}
	region := c.simpleRegion(0)
	c.setAll(c.addCalling(hlo.OpReduceScatter, c.allShape(), a, []hlo.CompID{region}, c.operands()...))
}

// allToAll of one operand exchanges pieces of a dimension; when they are put together along another one, that is done by a reshape, a
// transpose and a reshape.
func (c *comp) allToAll(op *mlir.Op) {
	ids := c.operands()
	a := &hlo.AllToAllAttrs{ChannelID: c.channelID(), ReplicaGroups: c.groups()}
	if len(ids) > 1 {
		c.setAll(c.add(hlo.OpAllToAll, c.allShape(), a, ids...))
		return
	}
	split, concat := c.int("split_dimension"), c.int("concat_dimension")
	s := c.shape(ids[0])
	count := c.intOr("split_count", 1)
	if split < 0 || split >= int64(s.Rank()) || concat < 0 || concat >= int64(s.Rank()) || count <= 0 || s.Dim(int(split))%count != 0 {
		c.fail(op, "'%s' splits dimension %d of %v into %d pieces along dimension %d", op.Name, split, op.Operands[0].Type, count, concat)
	}
	a.Dimensions = []int64{split}
	id := c.add(hlo.OpAllToAll, s, a, ids[0])
	if split == concat {
		c.set(id)
		return
	}
	var dims, perm []int64
	for i := range int64(s.Rank()) {
		if i == split {
			dims = append(dims, count, s.Dim(int(i))/count)
		} else {
			dims = append(dims, s.Dim(int(i)))
		}
	}
	for i := range int64(s.Rank()) {
		at := i // in dims, once the count stands before split
		if i >= split {
			at++
		}
		if i == concat {
			perm = append(perm, split)
		}
		perm = append(perm, at)
	}
	pieces := c.reshape(id, arrayShape(s.Type(), dims...))
	c.set(c.reshape(c.transposed(pieces, perm), c.resultShape(0)))
}

func (c *comp) collectivePermute(*mlir.Op) {
	pairs := c.table("source_target_pairs", 2)
	if pairs == nil {
		pairs = [][]int64{}
	}
	a := &hlo.CollectivePermuteAttrs{ChannelID: c.channelID(), SourceTargetPairs: pairs}
	c.set(c.add(hlo.OpCollectivePermute, c.resultShape(0), a, c.operand(0)))
}

func (c *comp) collectiveBroadcast(*mlir.Op) {
	a := &hlo.CollectiveBroadcastAttrs{ChannelID: c.channelID(), ReplicaGroups: c.groups(), HasDynamicRoot: c.flag("has_dynamic_root")}
	c.setAll(c.add(hlo.OpCollectiveBroadcast, c.allShape(), a, c.operands()...))
}

// asyncStart begins the one operation of its region. Those that HLO has two halves of become the first half; others are wrapped.
func (c *comp) asyncStart(op *mlir.Op) {
	b := op.Regions[0].Block()
	if len(b.Ops) != 2 || len(b.Args) != len(op.Operands) {
		c.fail(op, "the region of '%s' is not one operation of its arguments", op.Name)
	}
	inner := b.Ops[0]
	ids := c.operands()
	for i, id := range ids {
		c.values[&b.Args[i]] = id
	}
	if start, ok := nativeStarts[inner.Name]; ok {
		start(c, op, inner)
		return
	}
	region := newComp(c.converter, "async_computation_"+strconv.Itoa(c.regions))
	c.regions++
	region.op, region.pos = op, c.pos
	params := make([]hlo.Shape, len(ids))
	for i := range b.Args {
		params[i] = c.shape(ids[i])
		region.values[&b.Args[i]] = region.parameter(i, params[i], argLoc(b, i))
	}
	wrapped := region.body(b)
	result := c.e.View(wrapped).Root().Shape()
	shape := hlo.MakeTuple(hlo.MakeTuple(params...), result, arrayShape(hlo.U32))
	c.set(c.addCalling(hlo.OpAsyncStart, shape, &hlo.AsyncStartAttrs{ExecutionThread: hlo.MainThread}, []hlo.CompID{wrapped}, ids...))
}

// nativeStarts make the first halves of operations that have two in HLO.
var nativeStarts map[string]func(c *comp, op, inner *mlir.Op)

func init() {
	nativeStarts = map[string]func(c *comp, op, inner *mlir.Op){
		"stablehlo.all_gather": func(c *comp, op, inner *mlir.Op) {
			o := c.inner(inner)
			a := &hlo.AllGatherAttrs{
				ChannelID: o.channelID(), ReplicaGroups: o.groups(), Dimensions: []int64{o.int("all_gather_dim")},
				UseGlobalDeviceIDs: o.flag("use_global_device_ids"), ConstrainLayout: true,
			}
			ids := o.operands()
			c.set(c.add(hlo.OpAllGatherStart, hlo.MakeTuple(o.bundleShape(ids), o.allShape()), a, ids...))
		},
		"stablehlo.all_reduce": func(c *comp, op, inner *mlir.Op) {
			o := c.inner(inner)
			a := &hlo.AllReduceAttrs{ChannelID: o.channelID(), ReplicaGroups: o.groups(),
				UseGlobalDeviceIDs: o.flag("use_global_device_ids"), ConstrainLayout: true}
			region := o.simpleRegion(0)
			c.set(c.addCalling(hlo.OpAllReduceStart, o.allShape(), a, []hlo.CompID{region}, o.operands()...))
		},
		"stablehlo.collective_permute": func(c *comp, op, inner *mlir.Op) {
			o := c.inner(inner)
			a := &hlo.CollectivePermuteAttrs{ChannelID: o.channelID(), SourceTargetPairs: o.table("source_target_pairs", 2)}
			ids := o.operands()
			in := o.shape(ids[0])
			shape := hlo.MakeTuple(in, o.allShape(), arrayShape(hlo.U32), arrayShape(hlo.U32))
			c.set(c.add(hlo.OpCollectivePermuteStart, shape, a, ids...))
		},
	}
}

// inner is c at another operation.
func (c *comp) inner(op *mlir.Op) *comp {
	o := *c
	o.op = op
	return &o
}

func (c *comp) bundleShape(ids []hlo.InstrID) hlo.Shape {
	if len(ids) == 1 {
		return c.shape(ids[0])
	}
	shapes := make([]hlo.Shape, len(ids))
	for i, id := range ids {
		shapes[i] = c.shape(id)
	}
	return hlo.MakeTuple(shapes...)
}

func (c *comp) asyncDone(op *mlir.Op) {
	id := c.operand(0)
	done, ok := map[hlo.Opcode]hlo.Opcode{
		hlo.OpAllGatherStart: hlo.OpAllGatherDone, hlo.OpAllReduceStart: hlo.OpAllReduceDone,
		hlo.OpCollectivePermuteStart: hlo.OpCollectivePermuteDone, hlo.OpAsyncStart: hlo.OpAsyncDone,
	}[c.b.Opcode(id)]
	if !ok {
		c.fail(op, "'%s' of a value that no async_start in the same block gives", op.Name)
	}
	var attrs hlo.OpAttrs
	if done == hlo.OpAsyncDone {
		attrs = &hlo.AsyncDoneAttrs{}
	}
	c.setAll(c.add(done, c.allShape(), attrs, id))
}
