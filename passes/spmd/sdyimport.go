package spmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/directive"
)

// Attributes and targets of Shardy.
const (
	sdyMeshesKey   = "xla.sdy.meshes"
	sdyShardingKey = "xla.sdy.sharding"
	sdyRuleKey     = "xla.sdy.sharding_rule"
	sdyResult      = "xla.sdy.FuncResultSharding"
	sdyToLocal     = directive.ToLocal
	sdyToGlobal    = directive.ToGlobal
)

// Import turns Shardy's custom calls and attributes into shardings and SPMD custom-calls.
var Import = &pass.Pass{
	Name: "sdy-import",
	Doc: `turn Shardy's strings into shardings

JAX writes shardings as frontend attributes xla.sdy.*, which say more than the sharding attribute beside them: dimensions that may be split
further, and manual regions. They become sharding attributes, custom-calls to Sharding with unspecified_dims, and regions between
SPMDFullToShardShape and SPMDShardToFullShape. A module without such strings stays as it is.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		i := &importer{ctx: ctx, m: m, meshes: make(map[string]*hlo.Mesh), regions: make(map[hlo.CompID][]string)}
		return i.run()
	},
}

type importer struct {
	ctx    *pass.Context
	m      hlo.Module
	ed     *hlo.Editor
	meshes map[string]*hlo.Mesh
	// regions are the manual axes of computations that are the bodies of manual regions.
	regions map[hlo.CompID][]string
}

func (i *importer) run() (hlo.Module, error) {
	text, ok := i.m.Config().FrontendAttributes.Get(sdyMeshesKey)
	if !ok && !i.hasStrings() {
		return i.m, nil
	}
	if !i.ctx.Spend("import") {
		return i.m, nil
	}
	i.ed = i.ctx.Edit(i.m)
	n := int64(1)
	if ok {
		parsed, err := parseMeshes(text)
		if err != nil {
			return i.m, err
		}
		for _, named := range parsed.Meshes {
			m := named.Mesh.mesh()
			i.meshes[named.Name] = m
			if !m.Maximal {
				n = max(n, newMeshTiles(m).n)
			}
		}
	}
	i.findRegions(i.m.Entry(), nil, make(map[hlo.CompID]bool))
	for c := range i.m.Computations() {
		for _, in := range slices.Collect(c.PostOrder()) {
			if err := i.instruction(c, in); err != nil {
				return i.m, fmt.Errorf("%v %%%s: %w", in.Opcode(), in.Name(), err)
			}
		}
	}
	cfg := *i.ed.Config()
	cfg.FrontendAttributes = withoutShardy(cfg.FrontendAttributes)
	if cfg.NumPartitions <= 1 {
		cfg.NumPartitions = n
	}
	i.ed.SetConfig(&cfg)
	return i.ed.Freeze(), nil
}

func (i *importer) hasStrings() bool {
	for c := range i.m.Computations() {
		for in := range c.Instructions() {
			if k := in.Common(); k != nil && k.FrontendAttributes != nil {
				if _, ok := k.FrontendAttributes.Get(sdyShardingKey); ok {
					return true
				}
			}
		}
	}
	return false
}

// findRegions notes the manual axes of bodies, those of regions around them included.
func (i *importer) findRegions(c hlo.Computation, outer []string, seen map[hlo.CompID]bool) {
	if seen[c.ID()] {
		return
	}
	seen[c.ID()] = true
	i.regions[c.ID()] = outer
	for in := range c.Instructions() {
		own := outer
		if in.Opcode() == hlo.OpCall {
			region, ok := directive.ManualRegion(in)
			if !ok {
				region = in
			}
			own = slices.Concat(outer, manualAxes(region))
		}
		for id := range in.Callees() {
			i.findRegions(i.m.MustComputation(id), own, seen)
		}
	}
}

func manualAxes(in hlo.Instruction) []string {
	if k := in.Common(); k != nil {
		if text, ok := k.FrontendAttributes.Get("xla.sdy.manual_axes"); ok {
			if m, err := parseManual(text); err == nil {
				return m.Axes
			}
		}
	}
	return nil
}

// instruction rewrites one instruction.
func (i *importer) instruction(c hlo.Computation, in hlo.Instruction) error {
	k := in.Common()
	if k == nil || k.FrontendAttributes == nil {
		return nil
	}
	e := i.ed.Computation(c.ID())
	manual := i.regions[c.ID()]
	switch {
	case isTarget(in, sdyToLocal):
		return i.toLocal(e, in, manual)
	case isTarget(in, sdyToGlobal):
		return i.toGlobal(e, in, manual)
	}
	text, ok := k.FrontendAttributes.Get(sdyShardingKey)
	common := *k
	common.FrontendAttributes = keepRule(k.FrontendAttributes)
	if !ok {
		e.Instr(in.ID()).SetCommon(&common)
		return nil
	}
	bodies, err := bodiesOf(text)
	if err != nil {
		return err
	}
	var open []int
	common.Sharding, open, err = i.sharding(bodies, in.Shape(), manual)
	if err != nil {
		return err
	}
	if isTarget(in, sdyResult) {
		return i.result(e, in, common.Sharding)
	}
	if isTarget(in, shardingCall) && len(open) > 0 {
		common.BackendConfig = unspecified(open)
	}
	e.Instr(in.ID()).SetCommon(&common)
	return nil
}

func unspecified(dims []int) string {
	words := make([]string, len(dims))
	for i, d := range dims {
		words[i] = strconv.Itoa(d)
	}
	return "unspecified_dims=[" + strings.Join(words, ",") + "]"
}

// keepRule is what the partitioner reads of Shardy's attributes: the rule of a custom-call.
func keepRule(f *hlo.FrontendAttributes) *hlo.FrontendAttributes {
	kept := withoutShardy(f)
	rule, ok := f.Get(sdyRuleKey)
	if !ok {
		return kept
	}
	all := []hlo.FrontendAttribute{{Key: sdyRuleKey, Value: rule}}
	if kept != nil {
		all = append(all, kept.Entries...)
	}
	slices.SortFunc(all, func(a, b hlo.FrontendAttribute) int { return strings.Compare(a.Key, b.Key) })
	return &hlo.FrontendAttributes{Entries: all}
}

func bodiesOf(text string) ([]sdyBody, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "#sdy.sharding_per_value") {
		v, err := parsePerValue(text)
		if err != nil {
			return nil, err
		}
		return v.Bodies, nil
	}
	v, err := parseSharding(text)
	if err != nil {
		return nil, err
	}
	return []sdyBody{v.Body}, nil
}

// sharding is that of a value of some shape in a region of manual axes, and the dimensions of a single array that may be split further.
func (i *importer) sharding(bodies []sdyBody, s hlo.Shape, manual []string) (*hlo.Sharding, []int, error) {
	if !s.IsTuple() && len(bodies) == 1 {
		return i.leaf(&bodies[0], s, manual)
	}
	if len(bodies) != s.NumLeaves() {
		return nil, nil, fmt.Errorf("%d shardings for %v", len(bodies), s)
	}
	all := &hlo.Sharding{Kind: hlo.ShardingTuple}
	var err error
	k := 0
	for _, leaf := range s.Leaves {
		var one *hlo.Sharding
		one, _, err = i.leaf(&bodies[k], leaf, manual)
		all.Elements = append(all.Elements, one)
		k++
		if err != nil {
			break
		}
	}
	return all, nil, err
}

// leaf is the sharding of an array, and its open dimensions.
func (i *importer) leaf(b *sdyBody, s hlo.Shape, manual []string) (*hlo.Sharding, []int, error) {
	mesh, err := i.meshOf(b)
	if err != nil {
		return nil, nil, err
	}
	if mesh.Maximal {
		return &hlo.Sharding{Kind: hlo.ShardingMaximal, Devices: []int64{mesh.MaximalDevice}}, nil, nil
	}
	n := &hlo.NamedSharding{Mesh: mesh, Body: hlo.ShardingTiled}
	var open []int
	for k := range b.Dims {
		var d hlo.DimSharding
		for _, item := range b.Dims[k].Items {
			if item.Open {
				open = append(open, k)
				continue
			}
			if slices.Contains(manual, item.Ref.Axis) {
				continue
			}
			a, err := ref(mesh, *item.Ref)
			if err != nil {
				return nil, nil, err
			}
			d.Axes = append(d.Axes, a)
		}
		n.Dims = append(n.Dims, d)
	}
	for _, name := range manual {
		a, err := ref(mesh, sdyRef{Axis: name})
		if err != nil {
			return nil, nil, err
		}
		n.Manual = append(n.Manual, a)
	}
	if n.Unreduced, err = refs(mesh, b.Unreduced); err != nil {
		return nil, nil, err
	}
	t, err := tiledOf(n, hlo.ReductionSum, s.Rank())
	return t, open, err
}

func (i *importer) meshOf(b *sdyBody) (*hlo.Mesh, error) {
	if b.Inline != nil {
		return b.Inline.mesh(), nil
	}
	if m := i.meshes[strings.TrimPrefix(b.Mesh, "@")]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("the module has no mesh %s", b.Mesh)
}

// result removes the marker of a result, whose sharding goes to the root.
func (i *importer) result(e hlo.CompEdit, in hlo.Instruction, s *hlo.Sharding) error {
	root := e.At(e.Root())
	tuple := root
	if root.Opcode() == hlo.OpGetTupleElement {
		tuple = root.OperandInstr(0)
	}
	switch {
	case root.ID() == in.ID():
		// The operand becomes the root, under a copy that says how it is sharded.
		copied := e.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpCopy, Shape: in.Shape(), Operands: []hlo.InstrID{e.At(in.ID()).Operand(0)}, Common: &hlo.Common{Sharding: s}})
		return e.ReplaceInstruction(in.ID(), copied.ID())
	case tuple.Opcode() == hlo.OpTuple && root.ID() == tuple.ID():
		common := hlo.Common{}
		if k := root.Common(); k != nil {
			common = *k
		}
		all := &hlo.Sharding{Kind: hlo.ShardingTuple}
		at := 0
		for k := range tuple.NumOperands() {
			n := tuple.OperandInstr(k).Shape().NumLeaves()
			for j := range n {
				one := &hlo.Sharding{Kind: hlo.ShardingUnknown}
				switch {
				case tuple.Operand(k) == in.ID():
					one = s
				case common.Sharding != nil && common.Sharding.Kind == hlo.ShardingTuple && at+j < len(common.Sharding.Elements):
					one = common.Sharding.Elements[at+j]
				case common.Sharding != nil && common.Sharding.Kind != hlo.ShardingTuple:
					one = common.Sharding
				}
				all.Elements = append(all.Elements, one)
			}
			at += n
		}
		common.Sharding = all
		e.Instr(root.ID()).SetCommon(&common)
	case tuple.Opcode() == hlo.OpTuple:
		if tuple.Operand(int(hlo.AttrsOf[hlo.TupleElementAttrs](root).Index)) == in.ID() {
			common := hlo.Common{}
			if k := root.Common(); k != nil {
				common = *k
			}
			common.Sharding = s
			e.Instr(root.ID()).SetCommon(&common)
		}
	}
	return e.ReplaceInstruction(in.ID(), e.At(in.ID()).Operand(0))
}
