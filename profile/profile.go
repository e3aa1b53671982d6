// Package profile says where the time of executions goes: by instruction, by line of the user's program, by loop, and against what the machine can do.
// It makes a [Profile] of what a runtime.Meter measured; text, JSON, HTML, traces and pprof files are made of that.
//
// Whoever compiles a program gives it a meter ([halo.Observer] has it), runs it between Begin and End of the meter, and calls [New]. [Profile.For] gives
// the figures back to a pass that wants to know what was measured.
package profile

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/runtime"
)

// Profile is what executions of a program took. Times are of one execution, in seconds: the mean of those that no other
// process disturbed.
type Profile struct {
	Module  string `json:"module"`
	File    string `json:"file,omitempty"` // of the text
	Runs    int    `json:"runs"`
	Threads int    `json:"threads"`
	// Seconds is what a run took from outside; OpSeconds is the sum of what its ops took, Beside the part of that sum that other workers computed at the
	// same time, and Rest is what a run takes besides its ops. A run is its ops, without what runs beside, and the rest.
	Seconds   float64        `json:"seconds"`
	OpSeconds float64        `json:"op_seconds"`
	Beside    float64        `json:"beside_seconds"`
	Rest      []Rest         `json:"rest"`
	Machine   analysis.Rates `json:"machine"`
	Ops       []Op           `json:"ops"`    // the most expensive first
	Lines     []Line         `json:"lines"`  // of the user's program
	Loops     []Loop         `json:"loops"`  // the most expensive first
	Advice    []Advice       `json:"advice"` // the most worthwhile first
	Tree      *Node          `json:"tree"`   // of calls, for flame graphs

	spans []runtime.MeterSpan
	instr map[*runtime.MeterCall][]hlo.Instruction // of the steps of calls
	index map[stepKey]int                          // their ops
}

// Rest is time of a run that belongs to no op.
type Rest struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// The names of such time.
const (
	Entering = "entering" // arguments, memory for results, up to the first op
	Leaving  = "leaving"  // from the last op to the caller
	Joining  = "waiting"  // for parts of the program that other workers run
	Dispatch = "dispatch" // steps that stand for no instruction: they set others going
)

// Accounted is the time of a run that its ops and the rest explain.
func (p *Profile) Accounted() float64 {
	sum := p.OpSeconds - p.Beside
	for _, r := range p.Rest {
		sum += r.Seconds
	}
	return sum
}

// Kind is what kind of work an op is.
type Kind string

// The kinds.
const (
	Kernel Kind = "kernel"
	Loop_  Kind = "loop"   // its condition and body are ops of their own, unless it is compiled to one program
	Call   Kind = "call"   // a call or a conditional: what it calls are ops of their own
	Wait   Kind = "wait"   // for an asynchronous operation or other devices
	Start  Kind = "start"  // of an asynchronous operation
	Copy   Kind = "copy"   // that the memory plan needs and the program does not have
	Return Kind = "return" // of a function: results that are copied to where the caller wants them
)

// Limit is what keeps an op from being faster.
type Limit string

// The limits.
const (
	ByCompute    Limit = "compute"
	ByFunctions  Limit = "functions" // exponentials, roots and so on
	ByMemory     Limit = "memory"
	ByDispatch   Limit = "dispatch"  // the work is less than the way to the kernel
	ByEvaluator  Limit = "evaluator" // no fast implementation exists
	ByNothing    Limit = "kernel"    // the machine could do more: the kernel is the limit
	notClassifed Limit = ""
)

// Op is an instruction.
type Op struct {
	origin.Origin
	Kind  Kind    `json:"kind"`
	Calls float64 `json:"calls"` // in a run
	// Seconds is what all calls of a run take, without what they call; Total is with it.
	Seconds float64 `json:"seconds"`
	Total   float64 `json:"total_seconds"`
	// What one call does, by the cost model.
	Flops           int64 `json:"flops"`
	Transcendentals int64 `json:"transcendentals"`
	Bytes           int64 `json:"bytes"`
	// Share is the time that the machine needs at least for that, by what limits it, divided by the time it took.
	Share float64 `json:"share_of_machine"`
	Limit Limit   `json:"limit,omitempty"`
	// Rounds is how many rounds a loop makes on average; 0 where that is not known.
	Rounds    float64 `json:"rounds,omitempty"`
	Evaluated bool    `json:"evaluated,omitempty"`
	Compiled  bool    `json:"compiled,omitempty"` // a loop that is one program of the processor's instructions
	Workers   []int   `json:"workers,omitempty"`  // that it was seen on
}

// Line is the ops of one line of the user's program.
type Line struct {
	Source  string   `json:"source"` // or the operation's name, where there are no lines
	Frames  []string `json:"frames,omitempty"`
	Ops     []string `json:"ops"` // the most expensive first
	Calls   float64  `json:"calls"`
	Seconds float64  `json:"seconds"`
	Flops   float64  `json:"flops"` // of a run
	Bytes   float64  `json:"bytes"`
}

// Loop is a loop and what a round of it takes.
type Loop struct {
	origin.Origin
	Executions float64 `json:"executions"`
	Rounds     float64 `json:"rounds"` // of each; 0 where that is not known
	Seconds    float64 `json:"seconds"`
	PerRound   float64 `json:"seconds_per_round"`
	Compiled   bool    `json:"compiled,omitempty"`
	// Inside is what a compiled loop consists of, the most expensive first. Its parts are not measured: their shares are those of the cost model.
	Inside []Inside `json:"inside,omitempty"`
}

// Inside is an instruction in a loop that is one program.
type Inside struct {
	origin.Origin
	Share float64 `json:"estimated_share"`
}

// Node is a place in the tree of calls.
type Node struct {
	Name     string  `json:"name"`
	Op       int     `json:"op"` // index in Ops; -1 for functions
	Seconds  float64 `json:"seconds"`
	Parallel bool    `json:"parallel,omitempty"` // it runs beside its parent
	Children []*Node `json:"children,omitempty"`
}

// Config is what a profile needs to know besides the measurements.
type Config struct {
	Runs    int
	Threads int
	Rates   analysis.Rates
	Module  hlo.Module // as it was lowered
	Text    hlo.Module // as it was read; may be zero
}

// New makes a profile of what a meter measured in executions of a program, each between Begin and End of the meter. The executions have
// ended by then.
func New(p *runtime.Program, meter *runtime.Meter, c Config) *Profile {
	entries, spans := meter.Calls()
	outside := meter.Outside()
	out := &Profile{Module: c.Module.Name(), Runs: c.Runs, Threads: c.Threads, Seconds: outside.Whole * 1e-9, Machine: c.Rates, spans: spans,
		Ops: []Op{}, Rest: []Rest{}, Lines: []Line{}, Loops: []Loop{}, Advice: []Advice{}, instr: map[*runtime.MeterCall][]hlo.Instruction{}, index: map[stepKey]int{}, File: c.Module.Config().FileName}
	b := builder{p: out, program: p, config: c, costs: analysis.FindCosts(c.Module), finder: origin.NewFinder(c.Module, c.Text), ops: map[opKey]int{}}
	out.Tree = &Node{Name: c.Module.Name(), Op: -1}
	for _, e := range entries {
		b.call(out.Tree, e, 1, false)
	}
	b.rest(Entering, outside.Entering*1e-9, false)
	b.rest(Leaving, outside.Leaving*1e-9, false)
	b.workers()
	b.finish()
	return out
}

// finish sorts and sums up.
func (b *builder) finish() {
	p := b.p
	for i := range p.Ops {
		p.OpSeconds += p.Ops[i].Seconds
		b.limit(&p.Ops[i])
	}
	p.explainWaiting()
	order := make([]int, len(p.Ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(p.Ops[y].Seconds, p.Ops[x].Seconds) })
	sorted, rank := make([]Op, len(order)), make([]int, len(order))
	for i, k := range order {
		sorted[i], rank[k] = p.Ops[k], i
	}
	p.Ops = sorted
	for s, k := range p.index {
		p.index[s] = rank[k]
	}
	p.Tree.renumber(rank)
	slices.SortStableFunc(p.Loops, func(x, y Loop) int { return cmp.Compare(y.Seconds, x.Seconds) })
	p.Lines = linesOf(p.Ops)
	p.Advice = p.advise()
}

// explainWaiting takes time in which ops ran beside the program's own steps, and these waited for them, for what it is: time of ops.
func (p *Profile) explainWaiting() {
	for i := range p.Rest {
		if r := &p.Rest[i]; r.Name == Joining {
			explained := min(r.Seconds, p.Beside)
			r.Seconds -= explained
			p.Beside -= explained
		}
	}
	p.Rest = slices.DeleteFunc(p.Rest, func(r Rest) bool { return r.Seconds == 0 })
	slices.SortStableFunc(p.Rest, func(x, y Rest) int { return cmp.Compare(y.Seconds, x.Seconds) })
}

func (n *Node) renumber(rank []int) {
	if n.Op >= 0 {
		n.Op = rank[n.Op]
	}
	for _, c := range n.Children {
		c.renumber(rank)
	}
}

// linesOf groups ops by line.
func linesOf(ops []Op) []Line {
	index := map[string]int{}
	lines := []Line{}
	for i := range ops {
		o := &ops[i]
		key := o.Where()
		if o.Source == "" && o.OpName == "" {
			key = "(no source)"
		}
		k, ok := index[key]
		if !ok {
			k = len(lines)
			index[key] = k
			lines = append(lines, Line{Source: key, Frames: o.Frames})
		}
		l := &lines[k]
		if !slices.Contains(l.Ops, o.Name) {
			l.Ops = append(l.Ops, o.Name)
		}
		l.Calls += o.Calls
		l.Seconds += o.Seconds
		l.Flops += float64(o.Flops) * o.Calls
		l.Bytes += float64(o.Bytes) * o.Calls
	}
	slices.SortStableFunc(lines, func(x, y Line) int { return cmp.Compare(y.Seconds, x.Seconds) })
	return lines
}

// limit finds what the machine needs at least for an op, and what keeps the op from it.
func (b *builder) limit(o *Op) {
	if o.Calls == 0 || o.Seconds == 0 || o.Kind != Kernel && o.Kind != Copy {
		return
	}
	r, threads := b.config.Rates, float64(max(b.config.Threads, 1))
	per := o.Seconds / o.Calls
	need, by := r.Dispatch, ByDispatch
	for _, x := range []struct {
		seconds float64
		by      Limit
	}{
		{float64(o.Flops) / (r.Flops * threads), ByCompute}, {float64(o.Transcendentals) / (r.Transcendentals * threads), ByFunctions},
	} {
		if x.seconds > need {
			need, by = x.seconds, x.by
		}
	}
	// What is faster than memory has its arrays in the caches: if it computes enough, that is its limit.
	if m := float64(o.Bytes) / r.Bytes; m > need && (m < per || by == ByDispatch || need < farFromLimit*per) {
		need, by = m, ByMemory
	}
	o.Share, o.Limit = need/per, by
	switch {
	case o.Evaluated:
		o.Limit = ByEvaluator
	case o.Share < farFromLimit:
		o.Limit = ByNothing
	}
}

// farFromLimit is the share of the machine below which the kernel itself is what limits.
const farFromLimit = 0.1
