package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const arCrsDoc = `reduce between partitions and between replicas at once

	all-reduce[replicas](f(all-reduce[partitions](x))) → all-reduce[all](f'(x)), f linear

f is made of reshapes, transposes, bitcasts, conversions between floating-point types, products, and sums and differences, of which the other operand is divided by the
number of partitions. Other operands must be the same on all partitions. Floating-point sums are then rounded otherwise: policy xla or fast; of integers there are
products only.`

var arCrsParams = []pass.Param{
	{Name: "num-spatial-partitions", Doc: "partitions of a replica; those of the module"},
	{Name: "spmd-partition", Doc: "all partitions run one program; else each has its own instructions in the module, one for each partition; true"},
}

// crossing is the pass ar-crs-combiner with its options.
type crossing struct {
	partitions int64
	spmd       bool
}

// NewArCrsCombiner makes the pass ar-crs-combiner.
func NewArCrsCombiner(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(arCrsParams[0].Name, arCrsParams[1].Name); err != nil {
		return nil, err
	}
	n, err := o.Int(arCrsParams[0].Name, 0)
	if err != nil {
		return nil, err
	}
	spmd, err := o.BoolOr(arCrsParams[1].Name, true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "ar-crs-combiner", Doc: arCrsDoc, Options: o, Params: arCrsParams, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		d := devicesOf(m)
		x := &crossing{partitions: int64(n), spmd: spmd}
		if n == 0 {
			x.partitions = d.partitions
		}
		if x.partitions < 2 || d.replicas < 2 {
			return m, nil
		}
		e := ctx.Edit(m)
		for c := range m.Computations() {
			if err := x.combine(ctx, m, e, c); err != nil {
				return m, err
			}
		}
		return e.Freeze(), nil
	}}, nil
}

// path leads from an all-reduce between partitions to one between replicas.
type path struct {
	from, to hlo.Instruction
	steps    []hlo.Instruction // between them
}

// combine rewrites the paths of a computation.
//
//  1. Paths are found, and those that end at the same all-reduce dropped but for the longest.
//  2. Those of one channel belong together, and are kept only if every partition computes the same on the way.
//  3. The first all-reduce goes, the steps are mended, and the last one gets its channel.
func (x *crossing) combine(ctx *pass.Context, m hlo.Module, e *hlo.Editor, c hlo.Computation) error {
	longest := map[hlo.InstrID]*path{}
	var ends []hlo.InstrID
	for in := range c.PostOrder() {
		p := x.pathFrom(m, in)
		if p == nil {
			continue
		}
		old := longest[p.to.ID()]
		if old == nil {
			ends = append(ends, p.to.ID())
		}
		if old == nil || len(p.steps) > len(old.steps) {
			longest[p.to.ID()] = p
		}
	}
	byChannel := map[int64][]*path{}
	var channels []int64
	for _, id := range ends {
		p := longest[id]
		channel := hlo.AttrsOf[hlo.AllReduceAttrs](p.from).ChannelID.Value
		if byChannel[channel] == nil {
			channels = append(channels, channel)
		}
		byChannel[channel] = append(byChannel[channel], p)
	}
	for _, channel := range channels {
		group := byChannel[channel]
		class := pass.Exact
		if !group[0].from.Shape().Type().IsInteger() {
			class = pass.Overflow
		}
		if !x.sameOnAll(m, group) || !ctx.SpendAs("combine", class) {
			continue
		}
		for _, p := range group {
			if err := x.rewrite(m, e.Computation(c.ID()), p); err != nil {
				return err
			}
		}
		ctx.Count("combined", 1)
	}
	return nil
}

// pathFrom follows the only use of an all-reduce between partitions; nil if that does not lead to one between replicas.
func (x *crossing) pathFrom(m hlo.Module, in hlo.Instruction) *path {
	if !x.crossesPartitions(m, in) {
		return nil
	}
	p := &path{from: in}
	prev := in
	for {
		next, ok := soleUser(prev)
		if !ok || next.IsRoot() && next.Opcode() != hlo.OpAllReduce || next.NumControlPredecessors() > 0 {
			return nil
		}
		if next.Opcode() == hlo.OpAllReduce {
			p.to = next
			if isSum(m, next) && !factsOf(m, next).channel.Set {
				return p
			}
			return nil
		}
		if !linear(next, prev.ID()) {
			return nil
		}
		p.steps = append(p.steps, next)
		prev = next
	}
}

// isSum reports an all-reduce of one array by addition.
func isSum(m hlo.Module, in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpAllReduce && in.NumOperands() == 1 && factsOf(m, in).reducer == reducer{hlo.OpAdd, in.Shape().Type(), true}
}

// crossesPartitions reports a sum between all partitions of each replica.
func (x *crossing) crossesPartitions(m hlo.Module, in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpAllReduce || in.NumControlPredecessors() > 0 || !isSum(m, in) {
		return false
	}
	f := factsOf(m, in)
	lists, ok := f.lists()
	if !f.channel.Set || !ok || int64(len(lists)) != devicesOf(m).replicas {
		return false
	}
	for _, group := range lists {
		if !f.global {
			if len(group) != 1 {
				return false
			}
			continue
		}
		seen := map[int64]bool{}
		for _, id := range group {
			if id/x.partitions != group[0]/x.partitions {
				return false
			}
			seen[id] = true
		}
		if int64(len(seen)) != x.partitions {
			return false
		}
	}
	return true
}

// linear reports whether a sum may be taken behind an instruction of which one operand is the value to be summed.
func linear(in hlo.Instruction, sum hlo.InstrID) bool {
	n := 0
	for id := range in.OperandIDs() {
		if id == sum {
			n++
		}
	}
	if n != 1 {
		return false
	}
	holds := additive[in.Opcode()]
	return holds != nil && holds(in)
}

// additive reports, for each op that may commute with a sum, whether an instruction of it does.
var additive = [hlo.NumOpcodes]func(hlo.Instruction) bool{
	hlo.OpBitcast:   func(in hlo.Instruction) bool { return in.Shape().Type() == in.OperandInstr(0).Shape().Type() },
	hlo.OpTranspose: func(hlo.Instruction) bool { return true },
	hlo.OpReshape:   func(hlo.Instruction) bool { return true },
	hlo.OpConvert:   func(in hlo.Instruction) bool { return isFloat(in) && isFloat(in.OperandInstr(0)) },
	hlo.OpMultiply:  func(in hlo.Instruction) bool { return in.Shape().Type() != hlo.PRED },
	hlo.OpAdd:       isFloat,
	hlo.OpSubtract:  isFloat,
}

func isFloat(in hlo.Instruction) bool { return in.Shape().Type().IsFloat() }

// sameOnAll reports whether the other operands on the paths of a channel have one value on all partitions.
func (x *crossing) sameOnAll(m hlo.Module, group []*path) bool {
	if !x.spmd {
		return int64(len(group)) == x.partitions && !slices.ContainsFunc(group, func(p *path) bool {
			return len(p.steps) != len(group[0].steps) || !slices.EqualFunc(p.steps, group[0].steps, func(a, b hlo.Instruction) bool { return sameValue(m, a, b, 0) })
		})
	}
	for _, p := range group {
		prev := p.from.ID()
		for _, in := range p.steps {
			for o := range in.Operands() {
				if o.ID() != prev && !x.partitioned(m, o, 0) {
					return false
				}
			}
			prev = in.ID()
		}
	}
	return true
}

// maxSame bounds how far values are followed back.
const maxSame = 12

// partitioned reports whether a value is the same on all partitions that run the program.
func (x *crossing) partitioned(m hlo.Module, in hlo.Instruction, depth int) bool {
	switch {
	case depth > maxSame:
		return false
	case in.Opcode() == hlo.OpParameter:
		return in.Common() != nil && in.Common().Sharding != nil && in.Common().Sharding.Kind == hlo.ShardingReplicated && in.Computation().ID() == m.Entry().ID()
	case x.crossesPartitions(m, in):
		return true
	}
	if !repeatable(in) {
		return false
	}
	for o := range in.Operands() {
		if !x.partitioned(m, o, depth+1) {
			return false
		}
	}
	return true
}

// repeatable reports an instruction whose value depends on its operands alone.
func repeatable(in hlo.Instruction) bool {
	const varies = hlo.TraitRandom | hlo.TraitTokens | hlo.TraitControl | hlo.TraitAsyncStart | hlo.TraitAsyncDone | hlo.TraitCollective | hlo.TraitSideEffect
	switch in.Opcode() {
	case hlo.OpReplicaId, hlo.OpPartitionId, hlo.OpCustomCall, hlo.OpParameter, hlo.OpFusion:
		return false
	}
	return hlo.Info(in.Opcode()).Traits&varies == 0 && !hlo.IsAsync(in.Opcode())
}

// sameValue reports whether two instructions, each of another partition, have one value.
func sameValue(m hlo.Module, a, b hlo.Instruction, depth int) bool {
	if a.ID() == b.ID() {
		return true
	}
	if depth > maxSame || a.Opcode() != b.Opcode() || a.NumOperands() != b.NumOperands() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.Opcode() == hlo.OpAllReduce {
		fa, fb := factsOf(m, a), factsOf(m, b)
		return fa.channel.Set && fa.channel == fb.channel
	}
	if !repeatable(a) || !hlo.EqualAttrs(a.Attrs(), b.Attrs()) || !slices.Equal(slices.Collect(a.Callees()), slices.Collect(b.Callees())) {
		return false
	}
	for i := range a.NumOperands() {
		if !sameValue(m, a.OperandInstr(i), b.OperandInstr(i), depth+1) {
			return false
		}
	}
	return true
}

// rewrite takes the first all-reduce of a path away.
func (x *crossing) rewrite(m hlo.Module, ce hlo.CompEdit, p *path) error {
	channel := hlo.AttrsOf[hlo.AllReduceAttrs](p.from).ChannelID
	prev := ce.At(p.from.ID()).Operand(0)
	if err := emit.Forward(ce, p.from.ID(), prev); err != nil {
		return err
	}
	for _, step := range p.steps {
		if step.Opcode() == hlo.OpAdd || step.Opcode() == hlo.OpSubtract {
			in := ce.At(step.ID())
			i := 0
			if in.Operand(0) == prev {
				i = 1
			}
			if err := x.divide(m, ce, in, i); err != nil {
				return err
			}
		}
		prev = step.ID()
	}
	attrs := hlo.AttrsOf[hlo.AllReduceAttrs](p.to)
	attrs.ChannelID = channel
	ce.Instr(p.to.ID()).SetAttrs(&attrs)
	return nil
}

// divide makes operand i of a sum or difference the part of it that each partition adds. An all-reduce between partitions of which that is the
// only use is not needed any more.
func (x *crossing) divide(m hlo.Module, ce hlo.CompEdit, in hlo.Instruction, i int) error {
	other := in.OperandInstr(i)
	if other.UserCount() == 1 && other.NumControlSuccessors() == 0 && x.crossesPartitions(m, other) {
		return emit.Forward(ce, other.ID(), other.Operand(0))
	}
	s, id, step := other.Shape(), other.ID(), in.ID()
	at := emit.Before(ce, in)
	part := at.Binary(hlo.OpDivide, id, at.Fill(at.Float(s.Type(), float64(x.partitions)), s.Dimensions()...))
	ce.Instr(step).SetOperand(i, part)
	return nil
}
