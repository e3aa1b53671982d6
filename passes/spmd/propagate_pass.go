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
			{Name: "is-spmd", Doc: "read for the sake of XLA's pipelines; no effect: programs are always partitioned"},
			{Name: "propagate-metadata", Doc: "read for the sake of XLA's pipelines; no effect: shardings that follow carry no metadata"},
			{Name: "allow-spmd-sharding-propagation-to-parameters", Doc: "which parameters may get another sharding (what the header says)"},
			{Name: "allow-spmd-sharding-propagation-to-output", Doc: "which results may (what the header says)"},
			{Name: "cse-prevention-only", Doc: "read for the sake of XLA's pipelines; no effect"},
		},
		Doc: `find a sharding for every instruction

Shardings that are given stay. Those of other instructions follow from their operands and users, in rounds of growing eagerness: first through
ops that cannot be wrong, then through all but broadcasts, then through these. A custom-call to Sharding becomes a copy. Parameters and results
change only if the header allows it. A program that is one device's already stays as it is.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return propagate(ctx, m, int64(n), permissions{flags(o, "allow-spmd-sharding-propagation-to-parameters"), flags(o, "allow-spmd-sharding-propagation-to-output")})
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

func propagate(ctx *pass.Context, m hlo.Module, n int64, allow permissions) (hlo.Module, error) {
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
	p := &propagator{ctx: ctx, m: m, world: NewWorld(n, shardings(m)), nodes: make(map[place]*node), allow: allow}
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
	return e.Snapshot()
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
			in.Shape().Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
				n := p.node(in, i)
				tilings[i] = n.t
				if _, parameter := in.ParameterNumber(); c.ID() == entry.ID() && (parameter || in.IsRoot()) {
					tilings[i] = p.atBoundary(in, i, leaf, p.mayChange(in, i))
				}
				known = known || tilings[i] != nil
				i++
				return true
			})
			if !known {
				continue
			}
			common := hlo.Common{}
			if k := in.Common(); k != nil {
				common = *k
			}
			if in.Opcode() == hlo.OpCopy && len(openDims(in)) > 0 {
				common.BackendConfig = ""
			}
			if p.unchanged(in, tilings) && common.BackendConfig == in.Common().BackendConfig {
				continue
			}
			common.Sharding = shardingOf(in.Shape(), tilings)
			e.Computation(c.ID()).Instr(in.ID()).SetCommon(&common)
			p.explain(in)
		}
	}
	return e.Freeze()
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
	if !free || t == nil || len(t.Manual) > 0 {
		return replicated(p.world.Main, shape.Rank())
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

// explain says where an instruction's sharding comes from: the chain back to what was given.
func (p *propagator) explain(in hlo.Instruction) {
	if !p.ctx.Remarks() || in.Shape().NumLeaves() == 0 {
		return
	}
	n := p.node(in, 0)
	text := n.t.String() + ": " + n.why
	for k := n.from; k != nil && len(text) < 400; k = k.find().from {
		text += "; that: " + k.find().why
	}
	p.ctx.Passed(in, "%s", text)
}
