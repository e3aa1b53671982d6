package passes_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/passcases"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/async"
	"github.com/gohalo/halo/passes/schedule"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// ordering are the passes that may have one chain wait for another, and why.
var ordering = map[string]string{
	"async-unwrapper":                      "makes chains synchronous",
	"sync-useless-pairs":                   "makes chains synchronous that hide nothing",
	"collectives-schedule-linearizer":      "puts collectives in an order",
	"control-dep-rewriter":                 "makes the order that the program asks for by custom calls",
	"hlo-memory-scheduler":                 "writes a schedule, by memory",
	"hlo-trivial-scheduler":                "writes a schedule, as the instructions stand",
	"latency-hiding-scheduler-preparation": "orders what shares a resource",
	"rematerialization":                    "writes a schedule where there is none, by memory",
	"outline-dynamic":                      "hands programs of dynamic sizes to the evaluator as a whole",
}

// TestNoPassNarrows puts chains that sleep between the instructions of each pass's own test programs, and asks the simulator: no pass may make a
// program sleep longer than before, as it would if it joined what comes after one chain with what stands beside it, nor make a chain synchronous.
func TestNoPassNarrows(t *testing.T) {
	archives, err := filepath.Glob("../testdata/passes/*/*.txtar")
	require.NoError(t, err)
	tried := 0
	for _, path := range archives {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, c := range passcases.Cases(path, data, passes.Parse) {
			p, err := passes.Parse(c.Pipeline)
			require.NoError(t, err)
			m, err := parser.Parse(c.Name, c.Text)
			if err != nil || m.Entry().IsScheduled() {
				continue
			}
			orders := slices.ContainsFunc(p.Passes(), func(p *pass.Pass) bool { return ordering[p.Name] != "" })
			for seed := range uint64(12) {
				before, ok := withSleeps(m, seed)
				if !ok || verifier.Verify(before, verifier.Config{Profile: verifier.XLA}).Err() != nil {
					continue
				}
				after, err := (&pass.Runner{}).Run(t.Context(), p, before)
				if err != nil { // some test programs are to fail
					continue
				}
				tried++
				was, is := asleep(before), asleep(after)
				if in := awake(after); in != "" && awake(before) == "" && !orders {
					t.Errorf("%s, seed %d: the chain of %s is synchronous now", c.Name, seed, in)
				}
				if is > was+0.6*napSeconds && !orders {
					t.Errorf("%s, seed %d: %.0f ms before, %.0f after", c.Name, seed, was*1e3, is*1e3)
					if testing.Verbose() {
						t.Logf("%s\n%s", printer.String(before), printer.String(after))
					}
				}
			}
		}
	}
	t.Log(tried, "programs")
}

const napSeconds = 0.1

// asleep is the time that the entry takes on a machine that does all at once but for sleeping.
func asleep(m hlo.Module) float64 {
	free := make(map[string]bool)
	for in := range m.Entry().Instructions() {
		sleeps := in.Opcode() == hlo.OpAsyncStart && m.MustComputation(in.Callee(0)).Root().Opcode() == hlo.OpCustomCall
		free[in.Name()] = !sleeps
	}
	return schedule.Simulate(m, m.Entry(), analysis.FindCosts(m), schedule.Machine{Rates: analysis.OneCore, Workers: 64, Free: free}).Seconds
}

// awake names a sleep that is no longer asynchronous.
func awake(m hlo.Module) string {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() != hlo.OpCustomCall || hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != hlo.TargetSleep {
				continue
			}
			for comp, id := range m.Callers(c.ID()) {
				if m.MustComputation(comp).MustAt(id).Opcode() != hlo.OpAsyncStart {
					return in.Name()
				}
			}
			if c.ID() == m.Entry().ID() {
				return in.Name()
			}
		}
	}
	return ""
}

// withSleeps puts chains on random edges of the entry.
func withSleeps(m hlo.Module, seed uint64) (hlo.Module, bool) {
	r := rand.New(rand.NewPCG(seed, 2))
	type edge struct {
		user    hlo.InstrID
		operand int
	}
	var edges []edge
	for in := range m.Entry().PostOrder() {
		for i := range in.NumOperands() {
			o := in.OperandInstr(i)
			if o.Shape().IsArray() && o.Shape().IsStatic() && o.Opcode() != hlo.OpConstant && (o.Opcode() == hlo.OpParameter || in.IsRoot() || r.IntN(12) == 0) && r.IntN(2) == 0 {
				edges = append(edges, edge{in.ID(), i})
			}
		}
	}
	r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	if len(edges) < 2 {
		return m, false
	}
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	for _, x := range edges[:min(len(edges), 5)] {
		in := c.At(x.user)
		o := in.OperandInstr(x.operand)
		nap := c.InsertSpecBefore(x.user, hlo.InstrSpec{Opcode: hlo.OpCustomCall, Name: "nap", Shape: o.Shape(), Operands: []hlo.InstrID{o.ID()},
			Attrs: &hlo.CustomCallAttrs{Target: hlo.TargetSleep}, Common: &hlo.Common{BackendConfig: fmt.Sprint(int(napSeconds*1e6) * (1 + r.IntN(4)))}}).ID()
		done, err := async.Make(c, nap, "")
		if err != nil {
			continue
		}
		c.Instr(x.user).SetOperand(x.operand, done)
	}
	return e.Freeze(), true
}

// withGroups makes the program wait as its scheduling groups ask: their members stand together, so what any of them needs comes before all, and what
// needs any of them comes after all. Groups for which this cannot be are none.
func withGroups(m hlo.Module) hlo.Module {
	groups := map[string][]hlo.InstrID{}
	for in := range m.Entry().PostOrder() {
		if common := in.Common(); common != nil && in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpConstant {
			if id, ok := common.FrontendAttributes.Get("_scheduling_group_id"); ok && id != "" && id != "noop" {
				groups[id] = append(groups[id], in.ID())
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		members := groups[id]
		e := m.Edit()
		c := e.Computation(m.Entry().ID())
		d := analysis.FindDependencies(m.Entry())
		for _, member := range members {
			at := d.Position(member)
			for _, others := range []struct {
				of      []int
				precede bool
			}{{d.Before(at), true}, {d.After(at), false}} {
				for _, i := range others.of {
					other := d.Order[i].ID()
					if slices.Contains(members, other) {
						continue
					}
					for _, each := range members {
						if others.precede {
							c.Instr(each).AddControlPredecessor(other)
						} else {
							c.Instr(other).AddControlPredecessor(each)
						}
					}
				}
			}
		}
		if next := e.Freeze(); verifier.Verify(next, verifier.Config{Profile: verifier.XLA}).Err() == nil {
			m = next
		}
	}
	return m
}

// TestNothingNarrowsXLATests does the same to a sample of the modules of XLA's own tests, with every pass and the pipelines that optimize.
func TestNothingNarrowsXLATests(t *testing.T) {
	var all []*pass.Pipeline
	for _, p := range passes.All() {
		if ordering[p.Name] == "" {
			all = append(all, pass.Of(p.Name, p))
		}
	}
	for _, name := range []string{"O1", "O2", "O3", "cpu", "cpu-async"} {
		p, err := passes.Parse(name)
		require.NoError(t, err)
		all = append(all, p)
	}
	tried := 0
	for i, row := range hlotest.XLATests(t, 1) {
		if i%*narrowStep != 0 || len(row.Text) > 1<<14 {
			continue
		}
		m, err := parser.Parse(row.ID, row.Text)
		if err != nil || m.Entry().IsScheduled() || strings.Contains(row.Text, `"control_dep"`) {
			continue
		}
		before, ok := withSleeps(m, uint64(i))
		if !ok || verifier.Verify(before, verifier.Config{Profile: verifier.XLA}).Err() != nil {
			continue
		}
		was := asleep(before)
		for _, p := range all {
			was := was
			if p.Name == "latency-hiding-scheduler" {
				was = asleep(withGroups(before)) // it is asked for that
			}
			after, err := (&pass.Runner{}).Run(t.Context(), p, before)
			if err != nil {
				continue
			}
			tried++
			if in := awake(after); in != "" && awake(before) == "" {
				t.Errorf("%s, %s: the chain of %s is synchronous now", p.Name, row.ID, in)
			}
			if is := asleep(after); is > was+0.6*napSeconds {
				t.Errorf("%s, %s: %.0f ms before, %.0f after", p.Name, row.ID, was*1e3, is*1e3)
				if testing.Verbose() {
					t.Logf("%s\n%s", printer.String(before), printer.String(after))
				}
			}
		}
	}
	t.Log(tried, "runs")
}

var narrowStep = flag.Int("narrowstep", 97, "look at one in so many modules of XLA's tests")
