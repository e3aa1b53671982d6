package halocmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/internal/deadlock"
	"github.com/gohalo/halo/internal/timeline"
	"github.com/gohalo/halo/passes/schedule"
	"github.com/gohalo/halo/runtime/devices"
)

// overlapCmd simulates programs.
type overlapCmd struct {
	Files    []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	Workers  int      `help:"Threads that compute." default:"2"`
	Speed    float64  `help:"How many times as fast this machine computes." default:"1"`
	Link     float64  `name:"link-speed" help:"How many times as fast other devices are reached." default:"1"`
	Free     []string `help:"Instructions that take no time, by name." placeholder:"NAME"`
	Timeline string   `help:"Write a timeline for chrome://tracing and Perfetto." placeholder:"FILE.json"`
	Devices  natural  `help:"Devices on which it runs, for the search for deadlocks. Default: those of the module." placeholder:"N"`
	Profile  string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON     bool     `name:"json" help:"One JSON object for each file."`

	readFlags `embed:""`
}

// Help is what --help says beyond the flags.
func (overlapCmd) Help() string {
	return `Simulates the executor on the entry and on each computation with asynchronous chains: ready instructions run on the workers, in program order;
in a module with a schedule all but asynchronous work runs as written. Times come from the cost model (halo calibrate).

Exposed time is the time in which chains are under way and nothing else runs; chains that are exposed together count once. For each chain the report has the
time that other work hides and the obstacle to more: a dependency, the number of workers, or the order of the schedule. It ends with the effect
of a link twice as fast, of one more worker, and of the longest operations being free.

A buffer that a chain and a concurrent instruction both use, and that one of them writes, is a race: an output aliases an operand
(output_to_operand_aliasing), or is read before the done. Races are reported, and the exit status is 1.

In a module for several devices every thread of every device is followed through its collectives and transfers. If some wait for one another,
the cycle is reported, and the exit status is 1.

  halo overlap --workers=4 --link-speed=2 step.hlo
  halo overlap --timeline=step.json step.hlo`
}

// simulated is a simulation as --json shows it.
type simulated struct {
	Computation string        `json:"computation"`
	Scheduled   bool          `json:"scheduled"`
	Workers     int           `json:"workers"`
	Seconds     float64       `json:"seconds"`
	Serial      float64       `json:"serial_seconds"`
	Exposed     float64       `json:"exposed_seconds"`
	Chains      []hiddenChain `json:"chains"`
	WhatIf      []whatIf      `json:"what_if"`
}

type hiddenChain struct {
	Start   string  `json:"start"`
	Done    string  `json:"done"`
	Begin   float64 `json:"begin"`
	End     float64 `json:"end"`
	Hidden  float64 `json:"hidden_seconds"`
	Exposed float64 `json:"exposed_seconds"`
	Why     string  `json:"why,omitempty"`
}

// whatIf is a change and the time that it would give.
type whatIf struct {
	Change  string  `json:"change"`
	Seconds float64 `json:"seconds"`
}

func (c *overlapCmd) Run(e *env) error {
	if c.Workers < 1 || c.Link <= 0 || c.Speed <= 0 {
		return usageError{fmt.Errorf("--workers=%d --speed=%v --link-speed=%v: want positive numbers", c.Workers, c.Speed, c.Link)}
	}
	var lines []timeline.Process
	found := make(map[string]bool)
	err := e.each(c.Files, c.JSON, func(in *input, r *record) error {
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
		if err != nil {
			return err
		}
		for comp := range m.Computations() {
			for in := range comp.Instructions() {
				found[in.Name()] = true
			}
		}
		costs := analysis.FindCosts(m)
		all := []simulated{}
		for comp := range analysis.FindExecuted(m).In(m) {
			s := schedule.Simulate(m, comp, costs, c.machine())
			if len(s.Chains) == 0 && comp.ID() != m.Entry().ID() {
				continue
			}
			line := simulationOf(s)
			line.WhatIf = c.whatIf(m, comp, costs, s)
			all = append(all, line)
			lines = append(lines, timeline.Process{Name: s.Computation.Name(), Workers: s.Workers, Spans: spansOf(s)})
			if !c.JSON {
				line.print(e.stdout)
			}
		}
		r.add("computations", all)
		if err := racesIn(in.name, m); err != nil {
			return err
		}
		if g := c.grid(m); g.NumDevices() > 1 {
			cycle, err := deadlock.Find(m, g)
			switch {
			case err != nil:
				return fmt.Errorf("%s: error: %w", in.name, err)
			case cycle != nil:
				return fmt.Errorf("%s: error: devices wait for one another: %v", in.name, cycle)
			case !c.JSON:
				fmt.Fprintf(e.stdout, "%d devices never wait for one another\n", g.NumDevices())
			}
		}
		return nil
	})
	for _, name := range c.Free {
		if name = strings.TrimPrefix(name, "%"); err == nil && !found[name] {
			err = fmt.Errorf("--free=%s: no instruction is called so%s", name, closeTo(name, slices.Sorted(maps.Keys(found))))
		}
	}
	if err == nil && c.Timeline != "" {
		err = writeTimeline(c.Timeline, lines)
	}
	return err
}

// grid is the devices that the module is for, or as many partitions as the flag says.
func (c *overlapCmd) grid(m hlo.Module) devices.Grid {
	g := devices.Grid{Replicas: int(max(m.Config().ReplicaCount, 1)), Partitions: int(max(m.Config().NumPartitions, 1))}
	if c.Devices > 0 {
		g = devices.Grid{Replicas: 1, Partitions: int(c.Devices)}
	}
	return g
}

func (c *overlapCmd) machine() schedule.Machine {
	on := schedule.Machine{Rates: rates(), Workers: c.Workers, Free: map[string]bool{}}
	on.Rates.Link *= c.Link
	on.Rates.Latency /= c.Link
	on.Rates.Flops *= c.Speed
	on.Rates.Transcendentals *= c.Speed
	on.Rates.Bytes *= c.Speed
	for _, name := range c.Free {
		on.Free[strings.TrimPrefix(name, "%")] = true
	}
	return on
}

// whatIf simulates changes of the machine and of the longest operations.
func (c *overlapCmd) whatIf(m hlo.Module, comp hlo.Computation, costs *analysis.Costs, s *schedule.Simulation) []whatIf {
	list := []whatIf{}
	try := func(change string, on schedule.Machine) {
		list = append(list, whatIf{change, schedule.Simulate(m, comp, costs, on).Seconds})
	}
	fast := c.machine()
	fast.Rates.Link *= 2
	fast.Rates.Latency /= 2
	try("link twice as fast", fast)
	more := c.machine()
	more.Workers++
	try("one worker more", more)
	spans := slices.Clone(s.Spans)
	slices.SortStableFunc(spans, func(a, b schedule.Span) int { return cmp.Compare(b.End-b.Begin, a.End-a.Begin) })
	for _, x := range spans[:min(3, len(spans))] {
		free := c.machine()
		free.Free[x.Instr.Name()] = true
		try("%"+x.Instr.Name()+" free", free)
	}
	return list
}

func simulationOf(s *schedule.Simulation) simulated {
	line := simulated{Computation: s.Computation.Name(), Scheduled: s.Computation.IsScheduled(), Workers: s.Workers, Seconds: s.Seconds, Serial: s.Serial,
		Exposed: s.Exposed(), Chains: []hiddenChain{}}
	for _, h := range s.Chains {
		line.Chains = append(line.Chains, hiddenChain{h.Start.Name(), h.Done.Name(), h.Begin, h.End, h.Hidden, h.Exposed, h.Why})
	}
	return line
}

func (s *simulated) print(out io.Writer) {
	order := ""
	if s.Scheduled {
		order = ", in the order of its schedule"
	}
	fmt.Fprintf(out, "%%%s: %.1f µs on %d workers%s; %.1f one after the other; %.1f exposed\n", s.Computation, s.Seconds*1e6, s.Workers, order, s.Serial*1e6, s.Exposed*1e6)
	for _, c := range s.Chains {
		at := func(seconds float64) int { return min(int(seconds/max(s.Seconds, 1e-12)*columns), columns) }
		from, until := at(c.Begin), at(c.End)
		bar := strings.Repeat(" ", from) + strings.Repeat("=", max(until-from, 1))
		fmt.Fprintf(out, "  |%-*s| %%%s: hidden %.1f µs, exposed %.1f", columns, bar, c.Start, c.Hidden*1e6, c.Exposed*1e6)
		if c.Why != "" {
			fmt.Fprintf(out, "; %s", c.Why)
		}
		fmt.Fprintln(out)
	}
	for _, w := range s.WhatIf {
		fmt.Fprintf(out, "  %s: %.1f µs (%+.1f%%)\n", w.Change, w.Seconds*1e6, 100*(w.Seconds/max(s.Seconds, 1e-12)-1))
	}
}

// spansOf are the pieces of a simulation as a timeline shows them.
func spansOf(s *schedule.Simulation) (spans []timeline.Span) {
	for _, x := range s.Spans {
		span := spanOf(x.Instr)
		span.Async, span.Waits, span.Worker, span.Begin, span.End = x.Async, x.Lane >= s.Workers, x.Lane, x.Begin, x.End
		spans = append(spans, span)
	}
	return spans
}

// racesIn is the error that the races of a module's chains are.
func racesIn(name string, m hlo.Module) error {
	var all []error
	for _, r := range analysis.FindRaces(m) {
		all = append(all, fmt.Errorf("%s: error: race: %v", name, r))
	}
	return errors.Join(all...)
}
