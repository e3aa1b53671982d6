package fuse

import (
	"container/heap"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
)

// SiblingFusion is what XLA fuses for processors beside producers and consumers.
var SiblingFusion = &pass.Pass{
	Name:  "cpu-multi-output-fusion",
	Makes: []pass.Phase{pass.Fused},
	Doc: `make one fusion with several results of instructions that read the same array

Both compute arrays of one shape and layout by loops, at least one is a loop fusion, and neither depends on the other. Each has fewer than 20 operands and somebody who uses its result.
The pairs that share most bytes come first; scalar constants do not count. Instructions in asynchronous or applied computations, in scheduled modules, and with
control dependencies or shardings stay as they are.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			if c.IsScheduled() {
				continue // a fusion of two may have to stand both before a user of one result and after an operand of the other
			}
			f := &siblings{ctx: ctx, m: m, c: c, effects: effects}
			f.findPairs()
			f.merge()
			if err := f.make(e); err != nil {
				return m, err
			}
		}
		return e.Freeze(), nil
	},
}

// Limits of XLA's merging, and halo's own: of the earlier users of an array each is held against the last ones alone.
const (
	mostOperands = 20
	mostSiblings = 32
)

// siblings merges instructions of one computation that read the same array. It decides on the computation as it is, and then makes all fusions.
type siblings struct {
	ctx     *pass.Context
	m       hlo.Module
	c       hlo.Computation
	effects *analysis.SideEffects
	windows *analysis.Windows

	pairs  pairs
	groups idmap.Map[hlo.InstrID, *group] // of the instructions that are in a pair
	order  *mergedOrder
	now    idmap.Map[hlo.InstrID, hlo.InstrID] // what stands for an instruction that is gone
}

// group is what becomes one fusion: the first member is the one that the others join.
type group struct {
	members  []hlo.InstrID
	operands []hlo.InstrID // each once
	fusion   bool
	several  bool // results
	merged   bool
}

// pair is two instructions that read the same arrays, of so many bytes; the later one in the post order is x.
type pair struct {
	x, y  hlo.InstrID
	bytes int64
	made  int // pairs of equal profit: the last one made comes first
}

// findPairs lists the pairs that could be merged.
func (f *siblings) findPairs() {
	var readers idmap.Map[hlo.InstrID, []hlo.InstrID]
	for in := range f.c.PostOrder() {
		if !f.merges(in) {
			continue
		}
		g := newGroup(in)
		f.groups.Set(in.ID(), g)
		seen := map[hlo.InstrID]bool{}
		for _, o := range g.operands {
			if !profitable(f.c.MustAt(o)) {
				continue
			}
			of := readers.At(o)
			for _, other := range *of {
				if y := f.groups.Get(other); !seen[other] && (g.fusion || y.fusion) && sameResult(in, f.c.MustAt(other)) {
					seen[other] = true
					f.push(in.ID(), other, f.shared(g, y))
				}
			}
			if len(*of) == mostSiblings {
				*of = slices.Delete(*of, 0, 1)
			}
			*of = append(*of, in.ID())
		}
	}
}

func newGroup(in hlo.Instruction) *group {
	g := &group{members: []hlo.InstrID{in.ID()}, fusion: in.Opcode() == hlo.OpFusion, several: in.Shape().IsTuple()}
	g.join(slices.Collect(in.OperandIDs()))
	return g
}

func (g *group) join(operands []hlo.InstrID) {
	for _, o := range operands {
		if !slices.Contains(g.operands, o) {
			g.operands = append(g.operands, o)
		}
	}
}

// profitable reports whether reading a value once rather than twice is worth something.
func profitable(in hlo.Instruction) bool {
	return in.UserCount() > 1 && in.Shape().IsArray() && (in.Opcode() != hlo.OpConstant || in.Shape().NumElements() > 1)
}

// merges reports whether an instruction may become a part of a fusion.
func (f *siblings) merges(in hlo.Instruction) bool {
	if in.IsRoot() || in.UserCount() == 0 || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || f.effects.Of(in) {
		return false
	}
	common := in.Common()
	if common != nil && common.Sharding != nil {
		return false
	}
	if in.Opcode() != hlo.OpFusion {
		return in.Opcode() != hlo.OpBitcast && loopFuses(in) && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitStays) && in.Shape().IsArray() && in.Shape().IsStatic()
	}
	attrs := hlo.AttrsOf[hlo.FusionAttrs](in)
	if attrs.Kind != hlo.FusionLoop || len(attrs.OutputAliasing) > 0 || common != nil && (common.BackendConfig != "" || common.FrontendAttributes != nil || common.Unknown != nil) {
		return false
	}
	if in.Shape().IsArray() {
		return in.Shape().IsStatic()
	}
	if f.m.MustComputation(in.Callee(0)).Root().Opcode() != hlo.OpTuple {
		return false
	}
	for u := range in.Users() {
		if u.Opcode() != hlo.OpGetTupleElement || u.NumControlPredecessors()+u.NumControlSuccessors() > 0 {
			return false
		}
	}
	for _, part := range in.Shape().Elems() {
		if !part.IsArray() || !part.IsStatic() {
			return false
		}
	}
	return in.Shape().NumElems() > 0
}

// sameResult reports whether the results of two instructions, of several the first, have one shape and layout.
func sameResult(a, b hlo.Instruction) bool {
	first := func(in hlo.Instruction) hlo.Shape {
		if in.Shape().IsTuple() {
			return in.Shape().Elem(0)
		}
		return in.Shape()
	}
	return first(a).Equal(first(b))
}

// shared is how many bytes both groups read.
func (f *siblings) shared(a, b *group) (bytes int64) {
	for _, o := range b.operands {
		if in := f.c.MustAt(o); slices.Contains(a.operands, o) && profitable(in) {
			bytes += in.Shape().ByteSize()
		}
	}
	return bytes
}

func (f *siblings) push(x, y hlo.InstrID, bytes int64) {
	if bytes > 0 {
		f.pairs.made++
		heap.Push(&f.pairs, pair{x: x, y: y, bytes: bytes, made: f.pairs.made})
	}
}

// merge goes through the pairs, the most profitable first.
func (f *siblings) merge() {
	if f.pairs.Len() == 0 {
		return
	}
	f.windows, f.order = analysis.FindWindows(f.c), newMergedOrder(f.c)
	for f.pairs.Len() > 0 {
		p := heap.Pop(&f.pairs).(pair)
		x, y := f.groups.Get(p.x), f.groups.Get(p.y)
		if x == y {
			continue
		}
		if now := f.shared(x, y); now > p.bytes {
			f.push(p.x, p.y, now)
			continue
		}
		if reason := f.refuses(x, y); reason != "" {
			if f.ctx.Remarks() {
				f.ctx.Missed(f.c.MustAt(p.y), "not fused with %%%s: %s", f.c.MustAt(p.x).Name(), reason)
			}
			continue
		}
		if !f.order.merge(p.x, p.y) {
			f.ctx.Missed(f.c.MustAt(p.y), "not fused with %%%s: one may depend on the other", f.c.MustAt(p.x).Name())
			continue
		}
		if !f.ctx.Spend("merge") {
			return
		}
		f.ctx.Count("merged", 1)
		if y.fusion && (!x.fusion || y.several && !x.several) {
			x, y = y, x
		}
		x.members = append(x.members, y.members...)
		x.join(y.operands)
		x.several, x.merged = true, true
		for _, id := range y.members {
			f.groups.Set(id, x)
		}
	}
}

// refuses gives the reason why two groups are not merged, "" if there is none.
func (f *siblings) refuses(x, y *group) string {
	switch {
	case !x.fusion && !y.fusion:
		return "neither is a fusion"
	case len(x.operands) >= mostOperands || len(y.operands) >= mostOperands:
		return "it has 20 operands or more"
	case f.windows.Narrows(y.members[0], x.members[0]):
		return "it would wait for a done that it does not need, or a start for it"
	}
	return ""
}

// pairs is a heap, the most profitable pair first.
type pairs struct {
	list []pair
	made int
}

func (p *pairs) Len() int { return len(p.list) }
func (p *pairs) Less(i, j int) bool {
	a, b := p.list[i], p.list[j]
	return a.bytes > b.bytes || a.bytes == b.bytes && a.made > b.made
}
func (p *pairs) Swap(i, j int) { p.list[i], p.list[j] = p.list[j], p.list[i] }
func (p *pairs) Push(x any)    { p.list = append(p.list, x.(pair)) }
func (p *pairs) Pop() any {
	last := p.list[len(p.list)-1]
	p.list = p.list[:len(p.list)-1]
	return last
}
