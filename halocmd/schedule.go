package halocmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/schedule"
	"github.com/gohalo/halo/profile"
)

// scheduleCmd estimates how much asynchronous latency is hidden.
type scheduleCmd struct {
	Files      []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	MinOverlap float64  `help:"Fail if less than this part of the asynchronous time is hidden: 0.8." placeholder:"PART"`
	Devices    int64    `help:"Estimate collectives among so many devices: groups grow in proportion. Needs --link." placeholder:"N"`
	Link       string   `help:"What connects devices: a latency and a bandwidth, as 10us,25GB/s." placeholder:"LINK"`
	Profile    string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON       bool     `name:"json" help:"One JSON object for each file."`

	measuredFlag `embed:""`
	readFlags    `embed:""`
}

// Help is what --help says beyond the flags.
func (scheduleCmd) Help() string {
	return `Reports, for each computation with asynchronous chains, its estimated time in program order and without asynchrony, and for
each chain its start, its length, and the wait at its done. = is time that other work hides, . is waiting.

  halo opt --passes=cpu-async model.hlo | halo schedule -
  halo schedule --min-overlap=0.8 scheduled.hlo

The times come from halo's cost model: they compare schedules, and do not predict a machine. halo run --trace shows a real execution,
and --measured writes what a profile measured beside the estimates:

  halo profile --json scheduled.hlo > times.json
  halo schedule --measured=times.json scheduled.hlo`
}

// estimated is a timeline as --json shows it.
type estimated struct {
	Computation string  `json:"computation"`
	Seconds     float64 `json:"seconds"`
	Sync        float64 `json:"sync_seconds"`
	Hidden      float64 `json:"hidden"`
	// Measured is the hidden part of the chains whose latency and wait a profile measured.
	Measured *float64 `json:"measured_hidden,omitempty"`
	Chains   []chain  `json:"chains"`
}

type chain struct {
	Start   string  `json:"start"`
	Done    string  `json:"done"`
	Begins  float64 `json:"begins"`
	Latency float64 `json:"latency"`
	Wait    float64 `json:"wait"`
	// What a profile measured, in seconds of one execution.
	MeasuredLatency *float64 `json:"measured_latency,omitempty"`
	MeasuredWait    *float64 `json:"measured_wait,omitempty"`
}

func (c *scheduleCmd) Run(e *env) error {
	if !(c.MinOverlap >= 0 && c.MinOverlap <= 1) { // nor NaN
		return usageError{fmt.Errorf("--min-overlap=%v: want a part of 1", c.MinOverlap)}
	}
	link, err := c.link()
	if err != nil {
		return usageError{err}
	}
	return c.eachMeasured(e, c.Files, moduleOptions{profile: c.Profile}, c.JSON, func(in *input, r *record, m hlo.Module, times *profile.Measurements) error {
		if c.Link != "" {
			if halo.NeedsPartition(halo.Trust(m)) {
				fmt.Fprintf(e.stderr, "%s: note: the program is not partitioned, so that nothing is exchanged: halo opt --passes=spmd partitions it\n", in.name)
			}
			s := scaleOf(m, c.Devices, link)
			r.add("communication", s)
			if !c.JSON {
				s.print(e.stdout)
			}
		}
		all := []estimated{}
		latency, wait := 0.0, 0.0
		for _, t := range schedule.Estimate(m, rates()) {
			line := estimated{Computation: t.Computation.Name(), Seconds: t.Seconds, Sync: t.Sync, Hidden: t.Hidden()}
			for _, k := range t.Chains {
				x := chain{Start: k.Start.Name(), Done: k.Done.Name(), Begins: k.Begins, Latency: k.Latency, Wait: k.Wait}
				if times != nil {
					of := times.Chain(k.Start, k.Done)
					x.MeasuredLatency, x.MeasuredWait = of.Latency, of.Wait
				}
				line.Chains = append(line.Chains, x)
				latency += k.Latency
				wait += k.Wait
			}
			line.Measured = measuredHidden(line.Chains)
			all = append(all, line)
			if !c.JSON {
				line.print(e.stdout)
			}
		}
		hidden := 1.0
		if latency > 0 {
			hidden = 1 - wait/latency
		}
		r.add("hidden", hidden)
		r.add("computations", all)
		if len(all) == 0 && !c.JSON {
			fmt.Fprintf(e.stdout, "%s: nothing is asynchronous\n", m.Name())
		}
		if hidden < c.MinOverlap {
			return fmt.Errorf("%s: error: %.0f%% of the asynchronous time is hidden, less than %.0f%%", in.name, hidden*100, c.MinOverlap*100)
		}
		return nil
	})
}

// columns is the width of the bars.
const columns = 60

func (t *estimated) print(out io.Writer) {
	fmt.Fprintf(out, "%%%s: %.1f µs, %.1f without asynchrony, %.0f%% hidden", t.Computation, t.Seconds*1e6, t.Sync*1e6, t.Hidden*100)
	if t.Measured != nil {
		fmt.Fprintf(out, "; measured %.0f%%", *t.Measured*100)
	}
	fmt.Fprintln(out)
	for _, c := range t.Chains {
		at := func(seconds float64) int { return min(int(seconds/max(t.Seconds, 1e-12)*columns), columns) }
		from, waits, until := at(c.Begins), at(c.Begins+c.Latency-c.Wait), at(c.Begins+c.Latency)
		bar := strings.Repeat(" ", from) + strings.Repeat("=", max(waits-from, 0)) + strings.Repeat(".", max(until-max(waits, from), 0))
		fmt.Fprintf(out, "  |%-*s| %%%s: %.1f µs, waited for %.1f%s\n", columns, bar, c.Start, c.Latency*1e6, c.Wait*1e6, c.measured())
	}
}

// measured is what the line of a chain says of a profile.
func (c *chain) measured() string {
	switch latency, wait := c.MeasuredLatency, c.MeasuredWait; {
	case latency != nil && wait != nil:
		return fmt.Sprintf("; measured %.1f, waited for %.1f", *latency*1e6, *wait*1e6)
	case latency != nil:
		return fmt.Sprintf("; measured %.1f", *latency*1e6)
	case wait != nil:
		return fmt.Sprintf("; measured waiting %.1f", *wait*1e6)
	}
	return ""
}

// measuredHidden is the part of the measured latencies that was not waited for: nil, if no chain has both.
func measuredHidden(chains []chain) *float64 {
	latency, wait := 0.0, 0.0
	for _, c := range chains {
		if c.MeasuredLatency != nil && c.MeasuredWait != nil {
			latency += *c.MeasuredLatency
			wait += min(*c.MeasuredWait, *c.MeasuredLatency)
		}
	}
	if latency == 0 {
		return nil
	}
	hidden := 1 - wait/latency
	return &hidden
}
