package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Collectives. A start does the whole exchange, its done projects the result. A device that runs alone is a group of one.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpAllGather:              allGather,
		hlo.OpAllGatherStart:         started(allGather),
		hlo.OpAllGatherDone:          func(c *Call) (*hlo.Literal, error) { return part(c.Args[0], 1) },
		hlo.OpAllReduce:              allReduce,
		hlo.OpAllReduceStart:         allReduce,
		hlo.OpAllReduceDone:          argument,
		hlo.OpReduceScatter:          reduceScatter,
		hlo.OpAllToAll:               allToAll,
		hlo.OpRaggedAllToAll:         raggedAllToAll,
		hlo.OpCollectiveBroadcast:    collectiveBroadcast,
		hlo.OpCollectivePermute:      collectivePermute,
		hlo.OpCollectivePermuteStart: started(collectivePermute),
		hlo.OpCollectivePermuteDone:  func(c *Call) (*hlo.Literal, error) { return part(c.Args[0], 1) },
		hlo.OpPartitionId:            partitionID,
		hlo.OpReplicaId:              replicaID,
	})
}

func partitionID(c *Call) (*hlo.Literal, error) {
	return packInts(c.In.Shape(), []int64{int64(c.e.o.Partition)})
}

func replicaID(c *Call) (*hlo.Literal, error) {
	return packInts(c.In.Shape(), []int64{int64(c.e.o.Replica)})
}

// started is the start of a collective, (operands, results, contexts...), around the collective itself.
func started(k Kernel) Kernel {
	return func(c *Call) (*hlo.Literal, error) {
		s := c.In.Shape()
		if !s.IsTuple() || s.NumElems() < 2 {
			return nil, fmt.Errorf("result of shape %v", s)
		}
		inner := *c
		inner.result = s.Elem(1)
		v, err := k(&inner)
		if err != nil {
			return nil, err
		}
		operand := c.Args[0]
		if s.Elem(0).IsTuple() && !operand.Shape().IsTuple() {
			operand = hlo.NewTupleLiteral(c.Args...)
		}
		return withContexts(s, operand, v)
	}
}

// resultShape is the shape of the result proper, also inside a start.
func (c *Call) resultShape() hlo.Shape {
	if c.result.IsValid() {
		return c.result
	}
	return c.In.Shape()
}

// each assembles the results of a collective that treats each operand by itself.
func (c *Call) each(f func(i int, s hlo.Shape) (*hlo.Literal, error)) (*hlo.Literal, error) {
	s := c.resultShape()
	parts := make([]*hlo.Literal, len(c.Args))
	for i := range parts {
		e := s
		if s.IsTuple() && i < s.NumElems() {
			e = s.Elem(i)
		}
		var err error
		if parts[i], err = f(i, e); err != nil {
			return nil, err
		}
	}
	return tupleUnlessOne(s, parts), nil
}

func allGather(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.AllGatherAttrs](c.In)
	group, err := c.e.group(a.ReplicaGroups, modeOf(a.ChannelID, a.UseGlobalDeviceIDs))
	if err != nil {
		return nil, err
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	return c.each(func(i int, s hlo.Shape) (*hlo.Literal, error) {
		var pieces []*hlo.Literal
		size := int64(0)
		for _, b := range brought {
			pieces = append(pieces, b[i])
			size += b[i].Shape().Dim(int(a.Dimensions[0]))
		}
		if size != s.Dim(int(a.Dimensions[0])) {
			return nil, fmt.Errorf("%d devices gather %v to %v", len(brought), c.Args[i].Shape(), s)
		}
		return concatenated(s, int(a.Dimensions[0]), pieces)
	})
}

// reduced folds what the members of a group brought, in rank order.
func (c *Call) reduced(brought [][]*hlo.Literal, i int) (*hlo.Literal, error) {
	p, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	if err := p.folds(brought[0][i:i+1], brought[0][i:i+1]); err != nil {
		return nil, err
	}
	acc, k := brought[0][i], &tiled{p: p}
	for _, b := range brought[1:] {
		if acc, err = k.overArrays(acc.Shape(), []*hlo.Literal{acc, b[i]}); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

func allReduce(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.AllReduceAttrs](c.In)
	group, err := c.e.group(a.ReplicaGroups, modeOf(a.ChannelID, a.UseGlobalDeviceIDs))
	if err != nil {
		return nil, err
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	return c.each(func(i int, _ hlo.Shape) (*hlo.Literal, error) { return c.reduced(brought, i) })
}

func reduceScatter(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.ReduceScatterAttrs](c.In)
	group, err := c.e.group(a.ReplicaGroups, modeOf(a.ChannelID, a.UseGlobalDeviceIDs))
	if err != nil {
		return nil, err
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	rank := slices.Index(group, c.e.here())
	return c.each(func(i int, s hlo.Shape) (*hlo.Literal, error) {
		all, err := c.reduced(brought, i)
		if err != nil {
			return nil, err
		}
		return nthPart(all, s, int(a.Dimensions[0]), rank)
	})
}

// nthPart is part n of l along an axis, of shape s.
func nthPart(l *hlo.Literal, s hlo.Shape, axis, n int) (*hlo.Literal, error) {
	dims := dimsOf(s)
	strides := rowMajor(dimsOf(l.Shape()))
	if axis < 0 || axis >= len(dims) || len(dims) != l.Shape().Rank() || (n+1)*dims[axis] > int(l.Shape().Dim(axis)) {
		return nil, fmt.Errorf("part %d of %v as %v", n, l.Shape(), s)
	}
	out := make([]byte, s.ByteSize())
	from := place{bytesOf(l), n * dims[axis] * strides[axis], strides}
	moveBlock(place{out, 0, rowMajor(dims)}, from, dims, s.Type().ByteSize())
	return hlo.NewLiteral(s, out)
}

func allToAll(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.AllToAllAttrs](c.In)
	group, err := c.e.group(a.ReplicaGroups, channelMode(a.ChannelID))
	if err != nil {
		return nil, err
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	rank := slices.Index(group, c.e.here())
	if len(a.Dimensions) == 0 { // operand j goes to member j
		if len(brought) != len(c.Args) {
			return nil, fmt.Errorf("%d operands for %d devices", len(c.Args), len(brought))
		}
		parts := make([]*hlo.Literal, len(brought))
		for j, b := range brought {
			parts[j] = b[rank]
		}
		return tupleUnlessOne(c.resultShape(), parts), nil
	}
	axis := int(a.Dimensions[0])
	return c.each(func(i int, s hlo.Shape) (*hlo.Literal, error) {
		sizes := s.Dimensions()
		if axis >= len(sizes) || sizes[axis]%int64(len(brought)) != 0 {
			return nil, fmt.Errorf("%v among %d devices", s, len(brought))
		}
		sizes[axis] /= int64(len(brought))
		piece := hlo.MakeShape(s.Type(), sizes...)
		pieces := make([]*hlo.Literal, len(brought))
		for j, b := range brought {
			var err error
			if pieces[j], err = nthPart(b[i], piece, axis, rank); err != nil {
				return nil, err
			}
		}
		return concatenated(s, axis, pieces)
	})
}

// collectiveBroadcast gives everyone the value of the first of the group; who is in no group gets zeros.
func collectiveBroadcast(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.CollectiveBroadcastAttrs](c.In)
	group, err := c.e.group(a.ReplicaGroups, channelMode(a.ChannelID))
	if err != nil {
		return nil, err
	}
	if a.HasDynamicRoot {
		return nil, fmt.Errorf("has_dynamic_root is not supported")
	}
	if group == nil {
		return c.each(func(_ int, s hlo.Shape) (*hlo.Literal, error) { return zeroLiteral(s) })
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	return c.each(func(i int, _ hlo.Shape) (*hlo.Literal, error) { return brought[0][i], nil })
}

// collectivePermute gives each target what its source holds, and zeros to who is no target. All devices along the axis meet, since each
// may be source and target in one.
func collectivePermute(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.CollectivePermuteAttrs](c.In)
	mode := channelMode(a.ChannelID)
	group, err := c.e.group(nil, mode)
	if err != nil {
		return nil, err
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	me := int64(c.e.o.Replica)
	if mode == crossPartition {
		me = int64(c.e.o.Partition)
	}
	if len(a.SliceSizes) > 0 {
		return c.permuteInPlace(&a, brought, me)
	}
	for _, pair := range a.SourceTargetPairs {
		if len(pair) == 2 && pair[1] == me {
			if pair[0] < 0 || pair[0] >= int64(len(brought)) {
				return nil, fmt.Errorf("source %d of %d devices", pair[0], len(brought))
			}
			return c.each(func(i int, _ hlo.Shape) (*hlo.Literal, error) { return brought[pair[0]][i], nil })
		}
	}
	return c.each(func(_ int, s hlo.Shape) (*hlo.Literal, error) { return zeroLiteral(s) })
}

// permuteInPlace writes blocks of the source's input over blocks of the target's output. Operands are input, output, input offsets and
// output offsets; each may be a tuple, and the k-th pair with me as target is for the k-th offsets.
func (c *Call) permuteInPlace(a *hlo.CollectivePermuteAttrs, brought [][]*hlo.Literal, me int64) (*hlo.Literal, error) {
	if len(c.Args) != 4 {
		return nil, fmt.Errorf("%d operands, want input, output and their offsets", len(c.Args))
	}
	output := c.Args[1]
	if output.Shape().IsTuple() {
		return nil, fmt.Errorf("several buffers are not supported")
	}
	dims := dimsOf(output.Shape())
	out := slices.Clone(bytesOf(output))
	for k, sizes := range a.SliceSizes {
		if k >= len(a.SourceTargetPairs) && len(a.SliceSizes) != 1 {
			return nil, fmt.Errorf("%d slices for %d pairs", len(a.SliceSizes), len(a.SourceTargetPairs))
		}
		for n, pair := range a.SourceTargetPairs {
			if len(pair) != 2 || pair[1] != me || len(a.SliceSizes) > 1 && n != k || pair[0] < 0 || pair[0] >= int64(len(brought)) {
				continue
			}
			src := brought[pair[0]]
			from, err := blockStart(src[2], k, dimsOf(src[0].Shape()), ints(sizes))
			if err != nil {
				return nil, err
			}
			to, err := blockStart(src[3], k, dims, ints(sizes))
			if err != nil {
				return nil, err
			}
			fs, ts := rowMajor(dimsOf(src[0].Shape())), rowMajor(dims)
			moveBlock(place{out, dot(to, ts), ts}, place{bytesOf(src[0]), dot(from, fs), fs}, ints(sizes), output.Shape().Type().ByteSize())
		}
	}
	return hlo.NewLiteral(output.Shape(), out)
}

// blockStart reads the k-th offsets out of a tuple of scalars, or of a tuple of such tuples.
func blockStart(l *hlo.Literal, k int, dims, sizes []int) ([]int, error) {
	if l.NumParts() > k && l.Part(k).Shape().IsTuple() {
		l = l.Part(k)
	}
	return starts(leavesOf(l, nil), dims, sizes)
}

// raggedAllToAll moves rows: peer j's update u goes from its input to where it says in the output of each receiver. The offset vectors
// are of the form [peers × updates].
func raggedAllToAll(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.RaggedAllToAllAttrs](c.In)
	group, err := c.e.group(a.ReplicaGroups, channelMode(a.ChannelID))
	if err != nil {
		return nil, err
	}
	if len(c.Args) != 6 {
		return nil, fmt.Errorf("%d operands, want 6", len(c.Args))
	}
	brought, err := c.exchange(group, c.Args)
	if err != nil {
		return nil, err
	}
	rank := max(0, slices.Index(group, c.e.here()))
	output := c.Args[1]
	out := slices.Clone(bytesOf(output))
	row := 1
	for i := 1; i < output.Shape().Rank(); i++ {
		row *= int(output.Shape().Dim(i))
	}
	row *= output.Shape().Type().ByteSize()
	for _, b := range brought {
		var vectors [3][]int64
		for i := range vectors {
			if vectors[i], err = indicesOf(b[2+i]); err != nil {
				return nil, err
			}
		}
		from, size, to := vectors[0], vectors[1], vectors[2]
		if len(size) != len(from) || len(to) != len(from) {
			return nil, fmt.Errorf("offsets of %v and sizes of %v", b[2].Shape(), b[3].Shape())
		}
		updates := len(from) / max(1, len(brought))
		data := bytesOf(b[0])
		for u := range updates {
			k := rank*updates + u
			n, src, dst := int(size[k])*row, int(from[k])*row, int(to[k])*row
			if size[k] < 0 || from[k] < 0 || to[k] < 0 || src+n > len(data) || dst+n > len(out) {
				return nil, fmt.Errorf("%d rows from %d to %d do not fit", size[k], from[k], to[k])
			}
			copy(out[dst:dst+n], data[src:src+n])
		}
	}
	return hlo.NewLiteral(output.Shape(), out)
}
