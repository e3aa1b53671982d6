package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// entryParameters gives each parameter of the program its part.
func (s *scope) entryParameters() error {
	for i := range s.c.NumParameters() {
		in := s.c.Parameter(i)
		tilings, err := s.p.world.leafTilings(in)
		if err != nil {
			return &Error{in, err}
		}
		k := 0
		for _, leaf := range in.Shape().Leaves {
			if tilings[k] == nil {
				tilings[k] = replicated(s.p.world.Main, leaf.Rank())
			}
			k++
		}
		common := commonOf(in)
		if c := in.Common(); c != nil && c.Sharding != nil {
			if common == nil {
				common = &hlo.Common{}
			}
			common.Sharding = shardingOf(in.Shape(), tilings)
		}
		v := s.d.b.With(common).Parameter(in.Name(), shards(in.Shape(), tilings))
		s.values[in.ID()] = s.split(v, in.Shape(), tilings)
	}
	return nil
}

// shardingOf writes the tilings of the arrays of a shape.
func shardingOf(shape hlo.Shape, tilings []*Tiling) *hlo.Sharding {
	leaf := func(t *Tiling) *hlo.Sharding {
		if t == nil {
			return &hlo.Sharding{Kind: hlo.ShardingReplicated}
		}
		return t.Sharding()
	}
	if !shape.IsTuple() {
		return leaf(tilings[0])
	}
	s := &hlo.Sharding{Kind: hlo.ShardingTuple}
	for _, t := range tilings {
		s.Elements = append(s.Elements, leaf(t))
	}
	return s
}

// entryRoot makes the result of the program: each array as the root says, tiled over all devices or whole.
func (s *scope) entryRoot() (hlo.Value, error) {
	root := s.c.Root()
	tilings, err := s.p.world.leafTilings(root)
	if err != nil {
		return hlo.Value{}, &Error{root, err}
	}
	values := slices.Clone(s.values[root.ID()])
	for i, x := range values {
		t := tilings[i]
		if t == nil || t.Maximal {
			t = replicated(s.p.world.Main, x.shape.Rank())
		}
		if len(x.t.Manual) > 0 && len(t.Manual) == 0 {
			return hlo.Value{}, &Error{root, fmt.Errorf("result %d is a value of a manual region", i)}
		}
		tilings[i] = t
		values[i] = s.d.reshard(x, t)
	}
	common := &hlo.Common{Sharding: shardingOf(root.Shape(), tilings)}
	if !root.Shape().IsTuple() {
		// A copy carries the sharding: the value itself may be a parameter, or be used elsewhere.
		return s.d.b.With(common).Copy(values[0].v), nil
	}
	var elems []hlo.Value
	rest := values
	for k := range root.Shape().NumElems() {
		var v hlo.Value
		v, rest = s.joined(root.Shape().Elem(k), rest)
		elems = append(elems, v)
	}
	return s.d.b.With(common).Tuple(elems...), nil
}

// setConfig makes the header that of one device's program.
func (p *partitioner) setConfig(entry hlo.CompID) {
	old := p.m.Config()
	cfg := *old
	signature := p.ed.View(entry).Signature()
	if old.EntryLayout != nil {
		signature = withLayouts(signature, *old.EntryLayout)
	}
	cfg.EntryLayout = &signature
	cfg.NumPartitions = p.world.N
	cfg.IsScheduled = false
	cfg.AllowSPMDToParameters, cfg.AllowSPMDToOutput = nil, nil
	cfg.FrontendAttributes = withoutShardy(old.FrontendAttributes)
	cfg.InputOutputAlias = nil
	for _, a := range old.InputOutputAlias {
		if a.Parameter < int64(len(signature.Parameters)) {
			from, ok := signature.Parameters[a.Parameter].Sub(a.ParameterIndex)
			to, ok2 := signature.Result.Sub(a.Output)
			if ok && ok2 && from.EqualIgnoringLayout(to) {
				cfg.InputOutputAlias = append(cfg.InputOutputAlias, a)
			}
		}
	}
	p.ed.SetConfig(&cfg)
}

// withLayouts gives parts the layouts of the whole arrays.
func withLayouts(s, like hlo.ProgramShape) hlo.ProgramShape {
	out := hlo.ProgramShape{Result: relaid(s.Result, like.Result)}
	for i, p := range s.Parameters {
		if i < len(like.Parameters) {
			p = relaid(p, like.Parameters[i])
		}
		out.Parameters = append(out.Parameters, p)
	}
	return out
}

func relaid(s, like hlo.Shape) hlo.Shape {
	var layouts []*hlo.Layout
	for _, leaf := range like.Leaves {
		l, _ := leaf.Layout()
		layouts = append(layouts, l)
	}
	i := 0
	return mapLeaves(s, func(leaf hlo.Shape) hlo.Shape {
		if i < len(layouts) && layouts[i] != nil && leaf.IsArray() {
			leaf = leaf.WithLayout(layouts[i])
		}
		i++
		return leaf
	})
}

// cleanAppliedComputations removes shardings from computations that are applied to elements.
func (p *partitioner) cleanAppliedComputations() {
	for c := range p.m.Computations() {
		for in := range c.Instructions() {
			if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
				continue
			}
			for id := range in.Callees() {
				p.clean(id)
			}
		}
	}
}

func (p *partitioner) clean(id hlo.CompID) {
	e := p.ed.Computation(id)
	for _, in := range slices.Collect(p.m.MustComputation(id).Instructions()) {
		if c := in.Common(); c != nil && (c.Sharding != nil || c.FrontendAttributes != nil) {
			e.Instr(in.ID()).SetCommon(commonOf(in))
		}
		if isTarget(in, shardingCall) && in.NumOperands() == 1 {
			operand := e.At(in.ID()).Operand(0)
			if e.At(in.ID()).IsRoot() {
				e.SetRoot(operand)
			}
			e.ReplaceAllUses(in.ID(), operand)
		}
	}
}

// dropUnused removes the computations of the whole program.
func (p *partitioner) dropUnused() {
	for {
		called := map[hlo.CompID]bool{p.ed.Entry(): true}
		all := slices.Collect(p.ed.Computations())
		for _, id := range all {
			for in := range p.ed.View(id).Instructions() {
				for callee := range in.Callees() {
					called[callee] = true
				}
			}
		}
		removed := false
		for _, id := range all {
			if !called[id] {
				p.ed.RemoveComputation(id)
				removed = true
			}
		}
		if !removed {
			return
		}
	}
}
