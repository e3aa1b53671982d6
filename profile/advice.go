package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/analysis"
)

// Advice is something that would make the program faster.
type Advice struct {
	Kind    string   `json:"kind"` // evaluator, dispatch, memory, compute, functions, kernel, wait, loop
	Text    string   `json:"text"`
	Ops     []string `json:"ops"`     // the most expensive first
	Seconds float64  `json:"seconds"` // that they take of a run
}

// worthAdvice is the share of the time from which a cause is spoken of.
const worthAdvice = 0.05

// reasons are what each limit means, of what the ops reach a share, and what helps.
var reasons = []struct {
	by             Limit
	text, of, help string
}{
	{ByEvaluator, "no fast kernel", "", "each call goes through the reference evaluator: another op or type that has a kernel would be many times as fast"},
	{ByDispatch, "dispatch-bound", "", "their arrays are so small that the way to the kernel is the time: fuse them (-O2), or do more in one op, over a batch for instance"},
	{ByMemory, "memory-bound", "rate of memory", "fuse them with what makes or reads their arrays (-O2), or use a narrower type"},
	{ByCompute, "compute-bound", "peak", "only less work, a narrower type or more threads help"},
	{ByFunctions, "bound by exponentials, roots and the like", "rate of these", "only fewer of them or more threads help"},
	{ByNothing, "far below what the machine can do", "", "the kernel itself is slow for these shapes: other layouts or dimension orders may suit it better"},
}

// advise says what would help, most worthwhile first.
func (p *Profile) advise() []Advice {
	list := []Advice{}
	for _, r := range reasons {
		a := Advice{Kind: string(r.by), Ops: []string{}}
		needed := 0.0
		for i := range p.Ops {
			if o := &p.Ops[i]; o.Limit == r.by {
				a.Ops = append(a.Ops, o.Name)
				a.Seconds += o.Seconds
				needed += o.Share * o.Seconds
			}
		}
		if len(a.Ops) == 0 || a.Seconds < worthAdvice*p.OpSeconds && r.by != ByEvaluator {
			continue
		}
		names := a.Ops
		if r.by != ByEvaluator { // of these every one is named
			names = abridge(names)
		}
		a.Text = fmt.Sprintf("%s of the time is %s (%s)", percent(a.Seconds/p.OpSeconds), r.text, strings.Join(names, ", "))
		if r.of != "" {
			a.Text += fmt.Sprintf(", at %.0f %% of %s %s", 100*needed/a.Seconds, p.machine(), r.of)
		}
		a.Text += ": " + r.help
		list = append(list, a)
	}
	list = append(list, p.adviseWaits()...)
	slices.SortStableFunc(list, func(x, y Advice) int { return cmp.Compare(y.Seconds, x.Seconds) })
	return list
}

// machine names what the limits are those of.
func (p *Profile) machine() string {
	if p.Machine == analysis.OneCore {
		return "a typical core's"
	}
	return "this machine's"
}

// adviseWaits speaks of time in which nothing was done but wait.
func (p *Profile) adviseWaits() []Advice {
	a := Advice{Kind: "wait", Ops: []string{}}
	for i := range p.Ops {
		if o := &p.Ops[i]; o.Kind == Wait {
			a.Ops = append(a.Ops, o.Name)
			a.Seconds += o.Seconds
		}
	}
	if a.Seconds < worthAdvice*p.OpSeconds {
		return nil
	}
	a.Text = fmt.Sprintf("%s of the time is waiting for asynchronous operations or other devices (%s): halo overlap says what stands in the way of hiding it",
		percent(a.Seconds/p.OpSeconds), strings.Join(abridge(a.Ops), ", "))
	return []Advice{a}
}

func abridge(names []string) []string {
	const most = 4
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
