package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllGatherSimplifier removes gathers of which each device keeps its own part.
var AllGatherSimplifier = &pass.Pass{
	Name: "all-gather-simplifier",
	Doc: `dynamic-slice of an all-gather that takes each device's own part → operand of the all-gather

The index is computed for every device: from the numbers of replica and partition, constants, tables of them, and arithmetic.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return takeParts(ctx, m, ownPart(ownRules{severalUsers: true}))
	},
}

// AllGatherPermutedSimplifier makes gathers of which each device keeps the part of another into messages.
var AllGatherPermutedSimplifier = &pass.Pass{
	Name: "all-gather-to-collective-permute-simplifier",
	Doc: `dynamic-slice of an all-gather that takes the part of one other device → collective-permute

Every device must take the part of another one, and no two that of the same.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) { return takeParts(ctx, m, permutedPart) },
}

const ownDoc = `dynamic-slice of an all-gather that takes each device's own part → operand of the all-gather

A reshape that leaves the gathered dimension alone may stand between. allow-multiple-users: also when something else uses the gathered array.`

// NewAllGatherDynamicSliceSimplifier makes the pass all-gather-dynamic-slice-simplifier.
func NewAllGatherDynamicSliceSimplifier(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "allow-multiple-users", Doc: "although something else uses the gathered array; false"},
		{Name: "allow-intervening-reshape", Doc: "through a reshape that leaves the gathered dimension alone; true"},
		{Name: "allow-intervening-bitcast", Doc: "through a bitcast that does; false"},
		{Name: "allow-multiple-split-dims", Doc: "read, and without effect: one dimension is gathered; true"},
		{Name: "min-rank", Doc: "the least rank of the gathered array; 1"},
	}
	var known []string
	for _, p := range params {
		known = append(known, p.Name)
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	rank, err := o.Int("min-rank", 1)
	if err != nil {
		return nil, err
	}
	rules := ownRules{minRank: rank}
	for key, to := range map[string]*bool{"allow-multiple-users": &rules.severalUsers, "allow-intervening-reshape": &rules.reshape, "allow-intervening-bitcast": &rules.bitcast} {
		if *to, err = o.BoolOr(key, key == "allow-intervening-reshape"); err != nil {
			return nil, err
		}
	}
	return &pass.Pass{Name: "all-gather-dynamic-slice-simplifier", Doc: ownDoc, Options: o, Params: params,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) { return takeParts(ctx, m, ownPart(rules)) }}, nil
}

// takeParts replaces dynamic slices of gathers by what replace makes of them.
func takeParts(ctx *pass.Context, m hlo.Module, replace func(c hlo.CompEdit, p part) (hlo.InstrID, bool)) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		for in := range c.PostOrder() {
			if in.Opcode() != hlo.OpDynamicSlice {
				continue
			}
			ce := e.Computation(c.ID())
			p, ok := partOf(m, ce.At(in.ID()))
			if !ok {
				continue
			}
			by, ok := replace(ce, p)
			if !ok || !ctx.Spend("part") {
				continue
			}
			if err := takePart(ce, in.ID(), p.gather.ID(), by); err != nil {
				return m, err
			}
			ctx.Count("parts", 1)
		}
	}
	return e.Freeze(), nil
}

// takePart replaces a slice of a gather, and removes the gather if nothing else reads it.
func takePart(c hlo.CompEdit, slice, gather, by hlo.InstrID) error {
	if err := emit.Forward(c, slice, by); err != nil {
		return err
	}
	if c.Has(gather) && c.UserCount(gather) == 0 && c.Root() != gather {
		return c.Remove(gather)
	}
	return nil
}

// part is a dynamic slice that takes one device's part of a gathered array.
type part struct {
	slice, gather hlo.Instruction
	between       []hlo.Instruction
	f             facts
	places        []int     // of each device in its group
	members       [][]int64 // of the group of each device
	takes         []int64   // the place of the part that each device takes
}

// partOf recognises one.
func partOf(m hlo.Module, slice hlo.Instruction) (p part, ok bool) {
	p.slice, p.gather = slice, slice.OperandInstr(0)
	for p.gather.Opcode() == hlo.OpReshape || p.gather.Opcode() == hlo.OpBitcast {
		p.between = append(p.between, p.gather)
		p.gather = p.gather.OperandInstr(0)
	}
	if p.gather.Opcode() != hlo.OpAllGather || p.gather.NumOperands() != 1 || p.gather.NumControlPredecessors() > 0 || !p.gather.Shape().IsArray() || !p.gather.Shape().IsStatic() {
		return p, false
	}
	p.f = factsOf(m, p.gather)
	dim, x := int(p.f.dims[0]), p.gather.OperandInstr(0)
	cut, ok := slicedDim(slice)
	if !ok {
		return p, false
	}
	if len(p.between) == 0 {
		if cut != dim || !slice.Shape().EqualIgnoringLayout(x.Shape()) {
			return p, false
		}
	} else if !untouched(p.gather.Shape(), p.slice.OperandInstr(0).Shape(), dim, cut) || slice.Shape().Dim(cut) != x.Shape().Dim(dim) {
		return p, false
	}
	d := devicesOf(m)
	if p.places, p.members, ok = d.places(p.f); !ok {
		return p, false
	}
	offsets, ok := d.onEach(slice.OperandInstr(1 + cut))
	if !ok {
		return p, false
	}
	size := x.Shape().Dim(dim)
	for i, o := range offsets {
		if size == 0 || o%size != 0 || o/size >= int64(len(p.members[i])) {
			return p, false
		}
		p.takes = append(p.takes, o/size)
	}
	return p, true
}

// slicedDim is the only dimension that a dynamic slice does not take as a whole.
func slicedDim(in hlo.Instruction) (int, bool) {
	from := in.OperandInstr(0).Shape()
	cut := -1
	for d := range from.Rank() {
		if from.Dim(d) != in.Shape().Dim(d) {
			if cut >= 0 {
				return 0, false
			}
			cut = d
		}
	}
	return cut, cut >= 0
}

// untouched reports whether dimension i of a shape is dimension j of another after a reshape.
func untouched(a, b hlo.Shape, i, j int) bool {
	before := func(s hlo.Shape, k int) (n int64) {
		n = 1
		for d := range k {
			n *= s.Dim(d)
		}
		return n
	}
	return a.Dim(i) == b.Dim(j) && before(a, i) == before(b, j)
}

// ownRules says where an own part may be taken.
type ownRules struct {
	severalUsers, reshape, bitcast bool
	minRank                        int
}

// ownPart replaces a slice by the operand of the gather if each device takes its own part.
func ownPart(r ownRules) func(c hlo.CompEdit, p part) (hlo.InstrID, bool) {
	return func(c hlo.CompEdit, p part) (hlo.InstrID, bool) {
		for i, place := range p.places {
			if p.takes[i] != int64(place) {
				return 0, false
			}
		}
		for _, b := range p.between {
			if b.Opcode() == hlo.OpReshape && !r.reshape || b.Opcode() == hlo.OpBitcast && !r.bitcast {
				return 0, false
			}
			if b.UserCount() != 1 && !r.severalUsers {
				return 0, false
			}
		}
		if p.gather.UserCount() != 1 && !r.severalUsers || p.gather.Shape().Rank() < r.minRank {
			return 0, false
		}
		x := p.gather.OperandInstr(0)
		if x.Shape().Equal(p.slice.Shape()) {
			return x.ID(), true
		}
		return emit.Before(c, p.slice).OpOf(hlo.OpReshape, p.slice.Shape(), &hlo.ReshapeAttrs{InferredDimension: -1}, x.ID()), true
	}
}

// permutedPart replaces a slice by a message if every device takes the part of another.
func permutedPart(c hlo.CompEdit, p part) (hlo.InstrID, bool) {
	if len(p.between) > 0 {
		return 0, false
	}
	var pairs [][]int64
	var sources []int64
	own := true
	for to, take := range p.takes {
		from := p.members[to][take]
		own = own && from == int64(to)
		sources = append(sources, from)
		pairs = append(pairs, []int64{from, int64(to)})
	}
	slices.Sort(sources)
	if own || len(slices.Compact(sources)) != len(pairs) || !p.f.global {
		return 0, false
	}
	slices.SortFunc(pairs, slices.Compare[[]int64])
	spec := hlo.InstrSpec{Opcode: hlo.OpCollectivePermute, Shape: p.slice.Shape(), Operands: []hlo.InstrID{p.gather.Operand(0)},
		Attrs: &hlo.CollectivePermuteAttrs{ChannelID: p.f.channel, SourceTargetPairs: pairs}, Common: emit.HandedOn(p.gather.Common())}
	return emit.Before(c, p.slice).Spec(spec), true
}
