package collectives

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// P2PSchedulePreparation gives sends and receives of a channel one order.
var P2PSchedulePreparation = &pass.Pass{
	Name: "latency-hiding-scheduler-preparation",
	Doc: `order the instructions of each channel, and the communication around them

The four instructions of a channel between devices get the order recv, send, recv-done, send-done by control dependencies. Two channels of a pipeline, with the frontend
attribute _xla_send_recv_pipeline, whose pairs make one cycle are begun together and ended together. Other collectives, custom calls, and loops, calls and branches that
communicate run before the recv, or behind the send-done if they depend on the channel. Transfers to the host, and channels of which a part is missing, stay as they are.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		talks := communicating(m)
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			if channels := channelsOf(c); len(channels) > 0 {
				orderChannels(ctx, e.Computation(c.ID()), c, channels, talks)
			}
		}
		return e.Freeze(), nil
	},
}

// channel is the instructions of a channel between devices in one computation.
type channel struct {
	recv, send, recvDone, sendDone hlo.Instruction
}

func (p *channel) complete() bool {
	return !p.recv.IsZero() && !p.send.IsZero() && !p.recvDone.IsZero() && !p.sendDone.IsZero()
}

// chain is the order that the instructions of a channel get.
func (p *channel) chain() []hlo.Instruction {
	return []hlo.Instruction{p.recv, p.send, p.recvDone, p.sendDone}
}

// channelsOf finds the complete channels of a computation, in program order. A channel that has one of its instructions twice is none.
func channelsOf(c hlo.Computation) (all []*channel) {
	byID := map[int64]*channel{}
	var order []int64
	twice := map[int64]bool{}
	for in := range c.Instructions() {
		a, ok := in.Attrs().(*hlo.SendRecvAttrs)
		if !ok || a.IsHostTransfer || !a.ChannelID.Set {
			continue
		}
		id := a.ChannelID.Value
		if byID[id] == nil {
			byID[id] = &channel{}
			order = append(order, id)
		}
		at := byID[id].place(in.Opcode())
		if at == nil {
			continue
		}
		twice[id] = twice[id] || !at.IsZero()
		*at = in
	}
	for _, id := range order {
		if byID[id].complete() && !twice[id] {
			all = append(all, byID[id])
		}
	}
	return all
}

func (p *channel) place(op hlo.Opcode) *hlo.Instruction {
	switch op {
	case hlo.OpRecv:
		return &p.recv
	case hlo.OpSend:
		return &p.send
	case hlo.OpRecvDone:
		return &p.recvDone
	case hlo.OpSendDone:
		return &p.sendDone
	}
	return nil
}

// communicating is the set of computations that talk to others when they run: by collectives, transfers, custom calls, or what they call.
func communicating(m hlo.Module) map[hlo.CompID]bool {
	talks := map[hlo.CompID]bool{}
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			if _, transfer := in.Attrs().(*hlo.SendRecvAttrs); transfer || mayTalk(in, talks) {
				talks[c.ID()] = true
				break
			}
		}
	}
	return talks
}

// mayTalk reports whether an instruction that is no transfer communicates.
func mayTalk(in hlo.Instruction, talks map[hlo.CompID]bool) bool {
	if isCollective(in) || in.Opcode() == hlo.OpCustomCall {
		return true
	}
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && slices.ContainsFunc(slices.Collect(in.Callees()), func(id hlo.CompID) bool { return talks[id] })
}

// sequence is instructions that follow each other: a channel, two of them, or something else that communicates.
type sequence struct {
	steps   []hlo.Instruction
	channel bool
}

func (s *sequence) first() hlo.InstrID { return s.steps[0].ID() }
func (s *sequence) last() hlo.InstrID  { return s.steps[len(s.steps)-1].ID() }

// orderChannels adds the dependencies of one computation.
func orderChannels(ctx *pass.Context, ce hlo.CompEdit, c hlo.Computation, channels []*channel, talks map[hlo.CompID]bool) {
	g := &precedence{deps: analysis.FindDependencies(c), edges: map[int][]int{}, back: map[int][]int{}}
	var chains []*sequence
	for i := 0; i < len(channels); i++ {
		if i+1 < len(channels) {
			if both := cycleOf(channels[i], channels[i+1]); both != nil && g.takes(both) {
				chains = append(chains, &sequence{both, true})
				i++
				continue
			}
		}
		if one := channels[i].chain(); g.takes(one) {
			chains = append(chains, &sequence{one, true})
		}
	}
	kept := chains[:0]
	for _, s := range chains {
		if ctx.Spend("channel") {
			kept = append(kept, s)
			g.chain(ce, s.steps)
			ctx.Count("channels", 1)
		}
	}
	if len(kept) == 0 {
		return
	}
	others := otherTalk(c, talks)
	for i, s := range kept {
		g.around(ce, s, append(others, kept[i+1:]...))
	}
	emit.Reorder(ce)
}

// otherTalk lists what communicates in a computation and is no transfer, from start to done.
func otherTalk(c hlo.Computation, talks map[hlo.CompID]bool) (all []*sequence) {
	for in := range c.Instructions() {
		if !mayTalk(in, talks) {
			continue
		}
		s := &sequence{steps: []hlo.Instruction{in}}
		if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitAsyncStart) {
			done, ok := soleUser(in)
			for ok && !hlo.Info(done.Opcode()).Traits.Has(hlo.TraitAsyncDone) {
				done, ok = soleUser(done)
			}
			if !ok {
				continue // the value of the start goes elsewhere
			}
			s.steps = append(s.steps, done)
		}
		all = append(all, s)
	}
	return all
}

// cycleOf is the order of two channels of a pipeline whose pairs of devices make one cycle, the edge that closes it first; nil for others.
func cycleOf(a, b *channel) []hlo.Instruction {
	pa, oka := pipelinedPairs(a)
	pb, okb := pipelinedPairs(b)
	if !oka || !okb {
		return nil
	}
	if len(pb) == 1 && len(pa) > 1 {
		a, b, pa, pb = b, a, pb, pa
	}
	if len(pa) != 1 {
		return nil
	}
	next := map[int64]int64{}
	for _, p := range append(slices.Clone(pa), pb...) {
		if _, twice := next[p[0]]; twice {
			return nil
		}
		next[p[0]] = p[1]
	}
	n, at := 0, pa[0][0]
	for to, ok := next[at]; ok && n < len(next); to, ok = next[at] {
		at = to
		n++
	}
	if n != len(next) || at != pa[0][0] {
		return nil
	}
	return []hlo.Instruction{a.recv, a.send, b.recv, b.send, a.recvDone, b.recvDone, a.sendDone, b.sendDone}
}

// pipelinedPairs reads between which devices a channel of a pipeline runs; false for others.
func pipelinedPairs(p *channel) ([][]int64, bool) {
	common := p.recv.Common()
	if common == nil {
		return nil, false
	}
	if _, ok := common.FrontendAttributes.Get("_xla_send_recv_pipeline"); !ok {
		return nil, false
	}
	text, _ := common.FrontendAttributes.Get("_xla_send_recv_source_target_pairs")
	return pairsOf(text)
}

// pairsOf reads {{0,1},{1,2}}.
func pairsOf(text string) (pairs [][]int64, ok bool) {
	if err := json.Unmarshal([]byte(strings.NewReplacer("{", "[", "}", "]").Replace(text)), &pairs); err != nil {
		return nil, false
	}
	return pairs, len(pairs) > 0 && !slices.ContainsFunc(pairs, func(p []int64) bool { return len(p) != 2 })
}

// precedence is the order of a computation with what the pass has added to it.
type precedence struct {
	deps        *analysis.Dependencies
	edges, back map[int][]int
}

// reach marks the positions that come after any of those given, themselves included, or before them if backwards.
func (g *precedence) reach(backwards bool, from ...hlo.InstrID) []bool {
	seen := make([]bool, len(g.deps.Order))
	var todo []int
	visit := func(i int) {
		if !seen[i] {
			seen[i] = true
			todo = append(todo, i)
		}
	}
	for _, id := range from {
		visit(g.deps.Position(id))
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, added := g.deps.After(i), g.edges[i]
		if backwards {
			next, added = g.deps.Before(i), g.back[i]
		}
		for _, j := range next {
			visit(j)
		}
		for _, j := range added {
			visit(j)
		}
	}
	return seen
}

// takes reports whether a chain contradicts no dependency; if so, it is part of the order from here on.
func (g *precedence) takes(chain []hlo.Instruction) bool {
	for i := 1; i < len(chain); i++ {
		after := g.reach(false, chain[i].ID())
		for _, in := range chain[:i] {
			if after[g.deps.Position(in.ID())] {
				return false
			}
		}
	}
	for i := 1; i < len(chain); i++ {
		g.add(chain[i-1].ID(), chain[i].ID())
	}
	return true
}

func (g *precedence) add(a, b hlo.InstrID) {
	i, j := g.deps.Position(a), g.deps.Position(b)
	g.edges[i] = append(g.edges[i], j)
	g.back[j] = append(g.back[j], i)
}

// chain adds the control dependencies of a chain.
func (g *precedence) chain(ce hlo.CompEdit, steps []hlo.Instruction) {
	for i := 1; i < len(steps); i++ {
		ce.Instr(steps[i].ID()).AddControlPredecessor(steps[i-1].ID())
	}
}

// around puts other sequences before a channel, or behind it if they depend on it.
func (g *precedence) around(ce hlo.CompEdit, s *sequence, others []*sequence) {
	for _, o := range others {
		after, before := g.reach(false, s.first()), g.reach(true, s.last())
		first, last := g.deps.Position(o.first()), g.deps.Position(o.last())
		a, b := o.last(), s.first()
		switch {
		case after[last] && before[first]:
			continue // it is inside
		case after[last]:
			a, b = s.last(), o.first()
		}
		if g.reach(false, b)[g.deps.Position(a)] || g.reach(false, a)[g.deps.Position(b)] {
			continue
		}
		g.add(a, b)
		ce.Instr(b).AddControlPredecessor(a)
	}
}
