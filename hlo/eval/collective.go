package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// collective is the meaning of an op of several devices, apart from how they meet: what a device gets from what the members of its group
// bring.
type collective struct {
	result func(c *Call, group []Device, brought [][]*hlo.Literal) (*hlo.Literal, error)
	// optional says that a device may be in no group: it gets zeros.
	optional bool
	// folds says that what members bring may be folded beforehand, as if one had brought it.
	folds bool
}

// collectives is indexed by opcode.
var collectives [hlo.NumOpcodes]*collective

// Collectives. A start does the whole exchange, its done projects the result. A device that runs alone is a group of one.
func init() {
	for op, k := range map[hlo.Opcode]*collective{
		hlo.OpAllGather:           {result: allGather},
		hlo.OpAllReduce:           {result: allReduce, folds: true},
		hlo.OpReduceScatter:       {result: reduceScatter},
		hlo.OpAllToAll:            {result: allToAll},
		hlo.OpRaggedAllToAll:      {result: raggedAllToAll},
		hlo.OpCollectiveBroadcast: {result: collectiveBroadcast, optional: true},
		hlo.OpCollectivePermute:   {result: collectivePermute, optional: true},
	} {
		collectives[op] = k
		register(map[hlo.Opcode]Kernel{op: k.kernel})
	}
	register(map[hlo.Opcode]Kernel{
		hlo.OpAllGatherStart:         started(collectives[hlo.OpAllGather].kernel),
		hlo.OpAllGatherDone:          func(c *Call) (*hlo.Literal, error) { return part(c.Args[0], 1) },
		hlo.OpAllReduceStart:         collectives[hlo.OpAllReduce].kernel,
		hlo.OpAllReduceDone:          argument,
		hlo.OpCollectivePermuteStart: started(collectives[hlo.OpCollectivePermute].kernel),
		hlo.OpCollectivePermuteDone:  func(c *Call) (*hlo.Literal, error) { return part(c.Args[0], 1) },
		hlo.OpPartitionId:            partitionID,
		hlo.OpReplicaId:              replicaID,
	})
}

// kernel meets the other devices and computes what this one gets.
func (k *collective) kernel(c *Call) (*hlo.Literal, error) {
	group, err := c.grid().Members(c.In, c.e.here())
	if err != nil {
		return nil, err
	}
	var brought [][]*hlo.Literal
	switch {
	case len(group) == 0 && !k.optional:
		return nil, fmt.Errorf("%s is in none of the groups", c.grid().Name(c.e.here()))
	case len(group) > 0:
		if brought, err = c.exchange(group, c.Args, k.folds); err != nil {
			return nil, err
		}
	}
	return k.result(c, group, brought)
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

func allGather(c *Call, _ []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.AllGatherAttrs](c.In)
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

// Fold reduces what the members of a group brought as operand i of a prepared all-reduce or reduce-scatter, in rank order.
func (p *Prepared) Fold(ctx context.Context, on On, brought [][]*hlo.Literal, i int) (*hlo.Literal, error) {
	st := p.state(ctx, on)
	defer p.put(st)
	return (&Call{In: p.in, e: st.e, s: &st.s}).reduced(brought, i)
}

// foldPiece folds a piece of what the members of a group brought as operand i.
func (c *Call) foldPiece(i int, brought [][]byte, out []byte) error {
	t := c.Args[i].Shape().Type()
	flat := hlo.MakeShape(t, int64(len(out)/t.ByteSize()))
	pieces := make([][]*hlo.Literal, len(brought))
	for rank, b := range brought {
		l, err := hlo.NewLiteral(flat, b)
		if err != nil {
			return err
		}
		pieces[rank] = []*hlo.Literal{l}
	}
	v, err := c.reduced(pieces, 0)
	if err == nil {
		copy(out, v.Bytes())
	}
	return err
}

func allReduce(c *Call, _ []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	return c.each(func(i int, _ hlo.Shape) (*hlo.Literal, error) { return c.reduced(brought, i) })
}

func reduceScatter(c *Call, group []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.ReduceScatterAttrs](c.In)
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

func allToAll(c *Call, group []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.AllToAllAttrs](c.In)
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

// collectiveBroadcast gives everyone the value of the first of the group, or of those whose ranks the last operand lists, one for each
// of the others; who is in no group gets zeros.
func collectiveBroadcast(c *Call, group []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	roots := make([]int64, len(c.Args))
	if hlo.AttrsOf[hlo.CollectiveBroadcastAttrs](c.In).HasDynamicRoot {
		last := len(c.Args) - 1
		var err error
		if roots, err = indicesOf(c.Args[last]); err != nil || len(roots) != last {
			return nil, fmt.Errorf("roots %v of %d operands", c.Args[last].Shape(), last)
		}
		inner := *c
		inner.Args = c.Args[:last]
		c = &inner
	}
	return c.each(func(i int, s hlo.Shape) (*hlo.Literal, error) {
		switch {
		case group == nil:
			return zeroLiteral(s)
		case roots[i] < 0 || roots[i] >= int64(len(brought)):
			return nil, fmt.Errorf("root %d of %d devices", roots[i], len(brought))
		}
		return brought[roots[i]][i], nil
	})
}

// collectivePermute gives each target what its source holds, and zeros to who is no target.
func collectivePermute(c *Call, group []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.CollectivePermuteAttrs](c.In)
	me, source := devices.ID(&a, c.e.here()), func(id int64) Device { return devices.Source(&a, c.e.here(), id) }
	if len(a.SliceSizes) > 0 {
		return c.permuteInPlace(&a, func(id int64) []*hlo.Literal {
			if from := slices.Index(group, source(id)); from >= 0 {
				return brought[from]
			}
			return nil
		}, me)
	}
	for _, pair := range a.SourceTargetPairs {
		if len(pair) == 2 && pair[1] == me {
			from := slices.Index(group, source(pair[0]))
			if from < 0 {
				return nil, fmt.Errorf("source %d does not run", pair[0])
			}
			return c.each(func(i int, _ hlo.Shape) (*hlo.Literal, error) { return brought[from][i], nil })
		}
	}
	return c.each(func(_ int, s hlo.Shape) (*hlo.Literal, error) { return zeroLiteral(s) })
}

// raggedAllToAll moves rows: peer j's update u goes from its input to where it says in the output of each receiver. The offset vectors
// are of the form [peers × updates].
func raggedAllToAll(c *Call, group []Device, brought [][]*hlo.Literal) (*hlo.Literal, error) {
	if len(c.Args) != 6 {
		return nil, fmt.Errorf("%d operands, want 6", len(c.Args))
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
			var err error
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
