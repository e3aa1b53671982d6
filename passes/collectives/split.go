package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/async"
	"github.com/gohalo/halo/passes/emit"
)

const splitterDoc = `reduce in two steps where the result is sliced in between

dynamic-slice(all-reduce(x)), of which each device of a group keeps one of a few parts, becomes an all-reduce between devices with different parts, the slice, and an
all-reduce of the parts between devices with the same one. It is done where another all-reduce runs between the groups of the first step already, so that the two can be
combined; ignore-profitability-check does it everywhere. Floating-point sums are added in another order: policy xla or fast.

Only a program that was partitioned (SPMD) has partitions that run the same instructions, which is what the text says with num_partitions. XLA's module configuration can say
otherwise: use-spmd-partitioning=false leaves the module as it is.

An all-reduce that has been begun is split into two that are begun likewise, by opcodes of their own or as chains: the first where it was, and waited for by the slice; the
second behind the slice, and waited for where its value is used. In a schedule, which says where both would be, it stays.`

// NewAllReduceSplitter makes the pass all-reduce-splitter.
func NewAllReduceSplitter(o pass.Options) (*pass.Pass, error) {
	const key, spmd = "ignore-profitability-check", "use-spmd-partitioning"
	if err := o.Known(key, spmd); err != nil {
		return nil, err
	}
	always, err := o.Bool(key)
	if err != nil {
		return nil, err
	}
	partitioned, err := o.BoolOr(spmd, true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "all-reduce-splitter", Doc: splitterDoc, Options: o, Params: []pass.Param{
		{Name: key, Doc: "split although nothing else runs between the groups; false"},
		{Name: spmd, Doc: "the module was partitioned: all its partitions run the same program; true"},
	},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			if !partitioned {
				return m, nil
			}
			e := ctx.Edit(m)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				for in := range c.PostOrder() {
					if in.Opcode() != hlo.OpDynamicSlice {
						continue
					}
					if pair, ok := async.PairOf(m, in.OperandInstr(0)); ok && pair.Op == hlo.OpAllReduce {
						if err := splitPair(ctx, e, m, c, in, pair, always); err != nil {
							return m, err
						}
						continue
					}
					first, second, ok := splitGroups(ctx, m, in)
					if !ok {
						continue
					}
					if !always && !runsBetween(m, c, first, in.Operand(0)) {
						ctx.Missed(in.OperandInstr(0), "not split: nothing else runs between its %d groups", len(first))
						continue
					}
					if !ctx.Spend("split") {
						continue
					}
					ctx.Passed(in.OperandInstr(0), "split: %d bytes within %d groups, and then a slice of %d bytes within %d",
						in.OperandInstr(0).Shape().ByteSize(), len(first), in.Shape().ByteSize(), len(second))
					if _, _, err := split(e.Computation(c.ID()), in.ID(), first, second); err != nil {
						return m, err
					}
					ctx.Count("all-reduces", 1)
				}
			}
			return e.Freeze(), nil
		}}, nil
}

// splitGroups finds the groups of the two steps.
func splitGroups(ctx *pass.Context, m hlo.Module, slice hlo.Instruction) (first, second [][]int64, ok bool) {
	all := slice.OperandInstr(0)
	if _, ok := soleUser(all); !ok || all.Opcode() != hlo.OpAllReduce || all.NumOperands() != 1 || !all.Shape().IsArray() || all.NumControlPredecessors() > 0 {
		return nil, nil, false
	}
	f, d := factsOf(m, all), devicesOf(m)
	lists, listed := f.lists()
	cut, one := slicedDim(slice)
	if !f.global || !f.reducer.ok || !listed || !one || d.replicas != 1 || d.partitions < 2 || !mayReorder(ctx, f.reducer.op, slice.Shape().Type()) {
		return nil, nil, false
	}
	offsets, known := d.onEach(slice.OperandInstr(1 + cut))
	size, whole := slice.Shape().Dim(cut), all.Shape().Dim(cut)
	if !known || size == 0 || whole%size != 0 {
		return nil, nil, false
	}
	parts := whole / size
	for _, g := range lists {
		if parts < 2 || int64(len(g)) <= parts || int64(len(g))%parts != 0 {
			return nil, nil, false
		}
		with := make([][]int64, parts) // the devices of the group that take a part
		for _, id := range g {
			if id < 0 || id >= d.count() || offsets[id]%size != 0 || offsets[id]/size >= parts {
				return nil, nil, false
			}
			with[offsets[id]/size] = append(with[offsets[id]/size], id)
		}
		for j := range len(g) / int(parts) {
			var step []int64
			for _, same := range with {
				if len(same) != len(g)/int(parts) {
					return nil, nil, false
				}
				step = append(step, same[j])
			}
			first = append(first, step)
		}
		second = append(second, with...)
	}
	return first, second, true
}

// runsBetween reports whether another all-reduce of the computation runs between groups.
func runsBetween(m hlo.Module, c hlo.Computation, groups [][]int64, but hlo.InstrID) bool {
	for in := range c.Instructions() {
		if in.Opcode() != hlo.OpAllReduce || in.ID() == but {
			continue
		}
		if lists, ok := factsOf(m, in).lists(); ok && slices.EqualFunc(lists, groups, slices.Equal[[]int64]) {
			return true
		}
	}
	return false
}

// splitPair splits an all-reduce that has been begun: as a plain one, and its two steps are begun like the pair. Otherwise the session is as it was.
func splitPair(ctx *pass.Context, e *hlo.Editor, m hlo.Module, c hlo.Computation, slice hlo.Instruction, pair async.Pair, always bool) error {
	if c.IsScheduled() {
		ctx.Missed(pair.Start, "not split: the schedule says when it begins and ends, and not where two would")
		return nil
	}
	try, ce := e.ViewModule().Edit(), e.Computation(c.ID())
	if _, err := pair.Plain(try.Computation(c.ID()), m); err != nil {
		return err
	}
	now := try.Freeze()
	view := now.MustComputation(c.ID())
	whole, part := slice.OperandInstr(0).Shape().ByteSize(), slice.Shape().ByteSize()
	first, second, ok := splitGroups(ctx, now, view.MustAt(slice.ID()))
	if !ok || !always && !runsBetween(now, view, first, view.MustAt(slice.ID()).Operand(0)) || !ctx.Spend("split") {
		if ok {
			ctx.Missed(pair.Start, "not split: nothing else runs between the groups of %d devices of the first step", len(first[0]))
		}
		return nil
	}
	if _, err := pair.Plain(ce, m); err != nil {
		return err
	}
	one, two, err := split(ce, slice.ID(), first, second)
	if err != nil {
		return err
	}
	for _, id := range []hlo.InstrID{one, two} {
		if err := pair.Like(ce, id); err != nil {
			return err
		}
	}
	ctx.Passed(pair.Start, "split: %d bytes among %d devices beside what it ran beside, then %d bytes among %d", whole, len(first[0]), part, len(second[0]))
	ctx.Count("all-reduces", 1)
	return nil
}

// split makes two steps of the plain all-reduce that a slice takes a part of, and returns them.
func split(c hlo.CompEdit, id hlo.InstrID, first, second [][]int64) (firstStep, secondStep hlo.InstrID, err error) {
	in := c.At(id)
	all, cut := emit.Again(in.OperandInstr(0)), emit.Again(in)
	at, gone := emit.Before(c, in), in.Operand(0)
	with := func(groups [][]int64) *hlo.AllReduceAttrs {
		a := *all.Attrs.(*hlo.AllReduceAttrs)
		a.ReplicaGroups = &hlo.ReplicaGroups{Lists: groups}
		return &a
	}
	one := all
	one.Attrs = with(first)
	firstStep = at.Spec(one)
	cut.Operands = append([]hlo.InstrID{firstStep}, cut.Operands[1:]...)
	two := emit.With(all, at.Spec(cut))
	two.Attrs, two.Shape = with(second), cut.Shape
	secondStep = at.Spec(two)
	if err := c.ReplaceInstruction(id, secondStep); err != nil {
		return 0, 0, err
	}
	return firstStep, secondStep, c.Remove(gone)
}
