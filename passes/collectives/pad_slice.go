package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllGatherPadSliceSimplifier sends the parts of a gathered array to the one device that keeps it.
var AllGatherPadSliceSimplifier = &pass.Pass{
	Name: "all-gather-pad-ds-simplifier",
	Doc: `dynamic-slice of a padded all-gather of which one device of each group takes all → messages to that device

The gathered dimension is padded on one side, and each device takes a window of the padded array: one the window with the gathered parts, the others padding alone. Each part then goes
to that device by a collective-permute; the others make padding. Windows must follow the order of the group.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				if in.Opcode() != hlo.OpDynamicSlice {
					continue
				}
				ce := e.Computation(c.ID())
				p, ok := paddedPart(m, ce.At(in.ID()))
				if !ok || !ctx.Spend("part") {
					continue
				}
				if err := takePart(ce, in.ID(), p.gather.ID(), p.make(ce)); err != nil {
					return m, err
				}
				ctx.Count("parts", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// padded is a slice of a padded gather of which one device in each group takes the gathered array.
type padded struct {
	slice, pad, gather hlo.Instruction
	f                  facts
	dim                int
	low                int64 // padding in front of the gathered array in the window that has it
	window             int64
	groups             [][]int64
	keeper             []int64 // of each group
	d                  devices
}

// paddedPart recognises one.
func paddedPart(m hlo.Module, slice hlo.Instruction) (p padded, ok bool) {
	p.slice, p.pad, p.d = slice, slice.OperandInstr(0), devicesOf(m)
	if p.pad.Opcode() != hlo.OpPad || p.pad.UserCount() != 1 || p.d.replicas > 1 && p.d.partitions > 1 || !p.pad.Shape().IsStatic() {
		return p, false
	}
	p.gather = p.pad.OperandInstr(0)
	if p.gather.Opcode() != hlo.OpAllGather || p.gather.NumOperands() != 1 || p.gather.UserCount() != 1 || !p.gather.Shape().IsArray() ||
		p.gather.NumControlPredecessors()+p.gather.NumControlSuccessors() > 0 {
		return p, false
	}
	p.f = factsOf(m, p.gather)
	p.dim = int(p.f.dims[0])
	cut, ok := slicedDim(slice)
	if !ok || cut != p.dim || p.d.partitions > 1 && !(p.f.global && p.f.channel.Set) || p.d.partitions == 1 && p.f.channel.Set && !p.f.global {
		return p, false
	}
	for i, d := range hlo.AttrsOf[hlo.PadAttrs](p.pad).Padding {
		if d.Interior != 0 || d.Low < 0 || d.High < 0 || i != cut && (d.Low != 0 || d.High != 0) || i == cut && (d.Low == 0) == (d.High == 0) {
			return p, false
		}
		if i == cut {
			p.low = d.Low
		}
	}
	places, members, ok := p.d.places(p.f)
	if !ok {
		return p, false
	}
	offsets, ok := p.d.onEach(slice.OperandInstr(1 + cut))
	if !ok {
		return p, false
	}
	p.window = slice.Shape().Dim(cut)
	first, end := p.low, p.low+p.gather.Shape().Dim(cut)
	low := int64(-1)
	for device, place := range places {
		group, o := members[device], offsets[device]
		if o < 0 || o > p.pad.Shape().Dim(cut)-p.window || place > 0 && offsets[group[place-1]] >= o {
			return p, false
		}
		switch {
		case o <= first && end <= o+p.window:
			if low >= 0 && low != first-o {
				return p, false
			}
			low = first - o
			p.groups, p.keeper = append(p.groups, group), append(p.keeper, int64(device))
		case o+p.window > first && o < end:
			return p, false // takes a part of it
		}
	}
	p.low = low
	return p, len(p.groups) > 0 && len(p.groups)*len(p.groups[0]) == int(p.d.count())
}

// make builds what stands for the slice.
func (p padded) make(c hlo.CompEdit) hlo.InstrID {
	at := emit.Before(c, p.slice)
	x, value, shape := p.gather.Operand(0), p.pad.Operand(1), p.slice.Shape()
	size, gathered, pad := len(p.groups[0]), p.gather.Shape().Dim(p.dim), value
	filled := func(n int64) hlo.InstrID {
		dims := slices.Clone(shape.Dimensions())
		dims[p.dim] = n
		return at.Fill(pad, dims...)
	}
	channel := p.f.channel
	if p.d.partitions == 1 {
		channel = hlo.OptInt{}
	}
	part, common := p.gather.OperandInstr(0).Shape(), emit.HandedOn(p.gather.Common())
	var parts []hlo.InstrID
	if p.low > 0 {
		parts = append(parts, filled(p.low))
	}
	for k := range size {
		var pairs [][]int64
		own := true
		for g, group := range slices.Backward(p.groups) {
			own = own && group[k] == p.keeper[g]
			pairs = append(pairs, []int64{group[k], p.keeper[g]})
		}
		if own {
			parts = append(parts, x)
			continue
		}
		parts = append(parts, at.Spec(hlo.InstrSpec{Opcode: hlo.OpCollectivePermute, Shape: part, Operands: []hlo.InstrID{x},
			Attrs: &hlo.CollectivePermuteAttrs{ChannelID: channel, SourceTargetPairs: pairs}, Common: common}))
	}
	if rest := p.window - p.low - gathered; rest > 0 {
		parts = append(parts, filled(rest))
	}
	whole := at.Concatenate(int64(p.dim), parts...)

	keeps := make([]int64, p.d.count())
	for _, device := range p.keeper {
		keeps[device] = 1
	}
	number := hlo.OpPartitionId
	if p.d.partitions == 1 {
		number = hlo.OpReplicaId
	}
	own := at.OpOf(number, hlo.MakeShape(hlo.U32), nil)
	kept := at.Reshape(at.DynamicSlice(at.Ints(hlo.S64, keeps...), []hlo.InstrID{own}, 1))
	is := at.Compare(hlo.NE, kept, at.Int(hlo.S64, 0))
	if shape.Rank() > 0 {
		return at.OpOf(hlo.OpSelect, shape, nil, is, whole, filled(p.window))
	}
	return at.Select(is, whole, filled(p.window))
}
