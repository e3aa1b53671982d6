package halocmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/passes/schedule"
)

// scheduleCmd estimates how much asynchronous latency is hidden.
type scheduleCmd struct {
	Files      []string `arg:"" name:"file" help:"Programs: .hlo, .pb, directories, - for standard input."`
	MinOverlap float64  `help:"Fail if less than this part of the asynchronous time is hidden: 0.8." placeholder:"PART"`
	Devices    int64    `help:"Estimate collectives among so many devices: groups grow in proportion. Needs --link." placeholder:"N"`
	Link       string   `help:"What connects devices: a latency and a bandwidth, as 10us,25GB/s." placeholder:"LINK"`
	Profile    string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON       bool     `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (scheduleCmd) Help() string {
	return `Reports, for each computation with asynchronous chains, its estimated time in program order and without asynchrony, and for
each chain its start, its length, and the wait at its done. = is time that other work hides, . is waiting.

  halo opt --passes=cpu-async model.hlo | halo schedule -
  halo schedule --min-overlap=0.8 scheduled.hlo

The times come from halo's cost model: they compare schedules, and do not predict a machine. halo run --trace shows a real execution.`
}

// estimated is a timeline as --json shows it.
type estimated struct {
	Computation string  `json:"computation"`
	Seconds     float64 `json:"seconds"`
	Sync        float64 `json:"sync_seconds"`
	Hidden      float64 `json:"hidden"`
	Chains      []chain `json:"chains"`
}

type chain struct {
	Start   string  `json:"start"`
	Done    string  `json:"done"`
	Begins  float64 `json:"begins"`
	Latency float64 `json:"latency"`
	Wait    float64 `json:"wait"`
}

func (c *scheduleCmd) Run(e *env) error {
	if !(c.MinOverlap >= 0 && c.MinOverlap <= 1) { // nor NaN
		return usageError{fmt.Errorf("--min-overlap=%v: want a part of 1", c.MinOverlap)}
	}
	link, err := c.link()
	if err != nil {
		return usageError{err}
	}
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
		if err != nil {
			return err
		}
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
			line := estimated{t.Computation.Name(), t.Seconds, t.Sync, t.Hidden(), nil}
			for _, k := range t.Chains {
				line.Chains = append(line.Chains, chain{k.Start.Name(), k.Done.Name(), k.Begins, k.Latency, k.Wait})
				latency += k.Latency
				wait += k.Wait
			}
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
	fmt.Fprintf(out, "%%%s: %.1f µs, %.1f without asynchrony, %.0f%% hidden\n", t.Computation, t.Seconds*1e6, t.Sync*1e6, t.Hidden*100)
	for _, c := range t.Chains {
		at := func(seconds float64) int { return min(int(seconds/max(t.Seconds, 1e-12)*columns), columns) }
		from, waits, until := at(c.Begins), at(c.Begins+c.Latency-c.Wait), at(c.Begins+c.Latency)
		bar := strings.Repeat(" ", from) + strings.Repeat("=", max(waits-from, 0)) + strings.Repeat(".", max(until-max(waits, from), 0))
		fmt.Fprintf(out, "  |%-*s| %%%s: %.1f µs, waited for %.1f\n", columns, bar, c.Start, c.Latency*1e6, c.Wait*1e6)
	}
}
