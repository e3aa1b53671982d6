package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// NewPropagation makes the pass that finds shardings.
func NewPropagation(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("is-spmd", "propagate-metadata", "allow-spmd-sharding-propagation-to-output", "allow-spmd-sharding-propagation-to-parameters",
		"cse-prevention-only", "num-partitions"); err != nil {
		return nil, err
	}
	n, err := o.Int("num-partitions", 0)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name:    "sharding-propagation",
		Options: o,
		Params: []pass.Param{
			{Name: "num-partitions", Doc: "devices (what the header says, or the shardings)"},
			{Name: "is-spmd", Doc: "true: the program will be partitioned, so what stands before a barrier of shardings is replicated; false: it will not; either: parameters and results that may not change and have no sharding stay without one, and nothing follows from them"},
			{Name: "propagate-metadata", Doc: "true: a sharding that follows carries the metadata of the one that it follows from; false: no sharding keeps its metadata"},
			{Name: "allow-spmd-sharding-propagation-to-parameters", Doc: "which parameters may get another sharding (what the header says)"},
			{Name: "allow-spmd-sharding-propagation-to-output", Doc: "which results may (what the header says)"},
			{Name: "cse-prevention-only", Doc: "read for the sake of XLA's pipelines; no effect"},
		},
		Doc: `find a sharding for every instruction

Shardings that are given stay. Those of other instructions follow from their operands and users, in rounds of growing eagerness: first through
ops that cannot be wrong, then through all but broadcasts, then through these. A custom-call to Sharding becomes a copy. Parameters and results
change only if the header allows it. A program that is one device's already stays as it is.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			how := manner{spmd: flags(o, "is-spmd"), metadata: flags(o, "propagate-metadata")}
			if how.dropsMetadata() {
				m = withoutMetadata(ctx, m)
			}
			return propagate(ctx, m, int64(n), how, permissions{flags(o, "allow-spmd-sharding-propagation-to-parameters"), flags(o, "allow-spmd-sharding-propagation-to-output")})
		},
	}, nil
}

// flags reads a list of truth values; nil if there is none.
func flags(o pass.Options, key string) (all []bool) {
	for _, opt := range o {
		if opt.Key != key {
			continue
		}
		for _, word := range append(slices.Clone(opt.List), opt.Value) {
			if word != "" {
				all = append(all, word == "true")
			}
		}
	}
	return all
}

// manner is two options of XLA's pass, each at most one truth value; without it, programs are partitioned, and given metadata stay.
type manner struct{ spmd, metadata []bool }

// asXLA: arrays that a caller sees and that have no sharding stay without one, as with XLA's pass.
func (h manner) asXLA() bool           { return len(h.spmd) > 0 }
func (h manner) partitions() bool      { return len(h.spmd) == 0 || h.spmd[0] }
func (h manner) replicates() bool      { return len(h.spmd) > 0 && h.spmd[0] }
func (h manner) carriesMetadata() bool { return len(h.metadata) > 0 && h.metadata[0] }
func (h manner) dropsMetadata() bool   { return len(h.metadata) > 0 && !h.metadata[0] }

// withoutMetadata takes the metadata off all shardings.
func withoutMetadata(ctx *pass.Context, m hlo.Module) hlo.Module {
	e := ctx.Edit(m)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if k := in.Common(); k != nil && k.Sharding != nil {
				if bare := stripped(k.Sharding); bare != k.Sharding {
					common := *k
					common.Sharding = bare
					e.Computation(c.ID()).Instr(in.ID()).SetCommon(&common)
				}
			}
		}
	}
	return e.Freeze()
}

// stripped is a sharding without metadata; the same one if it has none.
func stripped(s *hlo.Sharding) *hlo.Sharding {
	bare := s
	own := func() *hlo.Sharding {
		if bare == s {
			c := *s
			c.Elements = slices.Clone(s.Elements)
			bare = &c
		}
		return bare
	}
	if s.HasMetadata || len(s.Metadata) > 0 {
		own().Metadata, own().HasMetadata = nil, false
	}
	for i, e := range s.Elements {
		if b := stripped(e); b != e {
			own().Elements[i] = b
		}
	}
	return bare
}

// permissions say which parameters and results may get another sharding; nil: what the header says.
type permissions struct{ parameters, output []bool }

func allowed(flags []bool, i int) bool {
	switch {
	case len(flags) == 1:
		return flags[0]
	case i < len(flags):
		return flags[i]
	}
	return false
}

func propagate(ctx *pass.Context, m hlo.Module, n int64, how manner, allow permissions) (hlo.Module, error) {
	if n == 0 {
		n = Devices(m)
	}
	if n <= 1 && saysHow(m) {
		n = 2 // manual arrays are so on any number
	}
	if n <= 1 || n > maxDevices || IsOneDevices(m) || !ctx.Spend("propagate") {
		return m, nil
	}
	cfg := m.Config()
	if allow.parameters == nil {
		allow.parameters = cfg.AllowSPMDToParameters
	}
	if allow.output == nil {
		allow.output = cfg.AllowSPMDToOutput
	}
	m = constraintsToCopies(ctx, m)
	p := &propagator{ctx: ctx, m: m, world: NewWorld(n, shardings(m)), nodes: make(map[place]*node), allow: allow, manner: how}
	p.world.Partial = true
	if err := p.begin(); err != nil {
		return m, err
	}
	p.run()
	return p.write(), nil
}

// constraintsToCopies replaces custom-calls to Sharding: copies need no care of their own.
func constraintsToCopies(ctx *pass.Context, m hlo.Module) hlo.Module {
	e := ctx.Edit(m)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if isTarget(in, shardingCall) && in.NumOperands() == 1 {
				e.Computation(c.ID()).Instr(in.ID()).SetOpcode(hlo.OpCopy).SetAttrs(nil)
			}
		}
	}
	coverRoot(e.Computation(m.Entry().ID()))
	return e.Freeze()
}

// coverRoot puts something over a root that calls computations: the arrays of a loop are tiled as in its body, whatever a caller wants.
func coverRoot(c hlo.CompEdit) {
	root := c.At(c.Root())
	if !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitControl) || root.NumCallees() == 0 || root.Common() != nil && root.Common().Sharding != nil {
		return
	}
	var over hlo.InstrID
	switch s := root.Shape(); {
	case s.IsArray():
		over = c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpCopy, Shape: s, Operands: []hlo.InstrID{root.ID()}}).ID()
	case s.IsTuple():
		var parts []hlo.InstrID
		for i := range s.NumElems() {
			parts = append(parts, c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: s.Elem(i), Operands: []hlo.InstrID{root.ID()},
				Attrs: &hlo.TupleElementAttrs{Index: int64(i)}}).ID())
		}
		over = c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: s, Operands: parts}).ID()
	default:
		return
	}
	c.SetRoot(over)
}

// write puts what was found on the instructions.
func (p *propagator) write() hlo.Module {
	e := p.ctx.Edit(p.m)
	entry := p.m.Entry()
	for c := range p.m.Computations() {
		if p.isApplied(c) {
			continue
		}
		for _, in := range slices.Collect(c.Instructions()) {
			tilings := make([]*Tiling, in.Shape().NumLeaves())
			known := false
			i := 0
			for _, leaf := range in.Shape().Leaves {
				n := p.node(in, i)
				tilings[i] = n.t
				if _, parameter := in.ParameterNumber(); c.ID() == entry.ID() && (parameter && p.partitions() || in.IsRoot()) {
					tilings[i] = p.atBoundary(in, i, leaf, p.mayChange(in, i))
				}
				known = known || tilings[i] != nil
				i++
			}
			p.explain(in, tilings)
			if !known || in.Opcode() == hlo.OpOutfeed {
				continue
			}
			common := hlo.Common{}
			if k := in.Common(); k != nil {
				common = *k
			}
			if in.Opcode() == hlo.OpCopy && len(openDims(in)) > 0 {
				common.BackendConfig = ""
			}
			grouped := common.Sharding != nil && common.Sharding.Group != hlo.NoShardGroup
			if p.unchanged(in, tilings) && common.BackendConfig == in.Common().BackendConfig && !grouped {
				continue
			}
			common.Sharding = shardingOf(in.Shape(), tilings)
			if p.carriesMetadata() {
				p.label(in, common.Sharding)
			}
			e.Computation(c.ID()).Instr(in.ID()).SetCommon(&common)
		}
		dropBarriers(e.Computation(c.ID()), c)
	}
	return e.Freeze()
}

// dropBarriers takes out the barriers of shardings, which have done what they are for.
func dropBarriers(e hlo.CompEdit, c hlo.Computation) {
	for in := range c.Instructions() {
		if (isTarget(in, barrierFrom) || isTarget(in, barrierTo)) && in.NumOperands() == 1 {
			_ = e.ReplaceInstruction(in.ID(), e.At(in.ID()).OperandInstr(0).ID()) // fails only for parameters
		}
	}
}

// label gives shardings the metadata of those that they follow from.
func (p *propagator) label(in hlo.Instruction, s *hlo.Sharding) {
	leaves := s.Elements
	if s.Kind != hlo.ShardingTuple {
		leaves = []*hlo.Sharding{s}
	}
	for i, leaf := range leaves {
		n := p.node(in, i)
		for range 1000 { // a chain back to what is given
			if n.metadata != nil || n.from == nil {
				break
			}
			n = n.from.find()
		}
		leaf.Metadata, leaf.HasMetadata = n.metadata, len(n.metadata) > 0
	}
}

// unchanged reports whether an instruction has these tilings already.
func (p *propagator) unchanged(in hlo.Instruction, tilings []*Tiling) bool {
	if in.Common() == nil || in.Common().Sharding == nil {
		return false
	}
	was, err := p.world.leafTilings(in)
	return err == nil && slices.EqualFunc(was, tilings, func(a, b *Tiling) bool { return a == b || a != nil && b != nil && a.equal(b) })
}

// atBoundary is the tiling of an array that a caller sees: what was given, unless it may change; then tiles are even.
func (p *propagator) atBoundary(in hlo.Instruction, leaf int, shape hlo.Shape, free bool) *Tiling {
	given, err := p.world.leafTilings(in)
	if err == nil && given[leaf] != nil && !free {
		return given[leaf]
	}
	t := p.node(in, leaf).t
	if t != nil && t.isManual() {
		return t
	}
	if t == nil && free && in.IsRoot() || !free && p.asXLA() && (err != nil || given[leaf] == nil) {
		return nil
	}
	if !free || t == nil || len(t.Manual) > 0 {
		return replicated(p.world.Main, shape.Rank())
	}
	if in.IsRoot() && in.Shape().IsTuple() && in.Shape().NumElems() != len(p.allow.output) {
		return t // XLA asks for even tiles where it is asked for each element
	}
	for k := range t.Dims {
		if !t.isEven(k, shape.Dim(k)) {
			if err == nil && given[leaf] != nil {
				return given[leaf]
			}
			t = t.untiled(k)
		}
	}
	return t
}
