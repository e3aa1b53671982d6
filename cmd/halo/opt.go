package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// optCmd runs passes and prints the module.
type optCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"HLO programs; for host programs --passes=canonicalize or print-stream."`

	printFlags `embed:""`

	Passes     string   `help:"Passes to run: fix(algsimp,dce),cse." placeholder:"TEXT"`
	O          string   `short:"O" help:"Optimisation level: 0, 1, 2 or 3." default:"" enum:"0,1,2,3," placeholder:"LEVEL"`
	ListPasses bool     `help:"List the passes and pipelines."`
	PrintIR    []string `name:"print" help:"Print the module on standard error: changed (after each pass that changed it), before, after." enum:"changed,before,after"`
	Timing     bool     `help:"Print the time and statistics of each pass on standard error."`
	Fuel       []string `help:"Bound the number of rewrites: pass=N or pass.rule=N." placeholder:"PASS=N"`
	Profile    string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	Output     string   `short:"o" help:"Write the module here." type:"path" default:"-"`
	JSON       bool     `name:"json" help:"One JSON object for each file."`
}

func (c *optCmd) Run(e *env) error {
	if c.ListPasses {
		listPasses(e)
		return nil
	}
	if len(c.Files) == 0 {
		return usageError{fmt.Errorf("opt needs a file")}
	}
	if c.Passes != "" && c.O != "" { // kong's xor takes a default for a flag that is given
		return usageError{fmt.Errorf("--passes and -O cannot be used together")}
	}
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	fuel, err := parseFuel(c.Fuel)
	if err != nil {
		return usageError{err}
	}
	text := c.Passes
	if text == "" {
		text = "O" + max(c.O, "2")
		if c.O != "" {
			text = "O" + c.O
		}
	}
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == hostText {
			return e.optHost(in, c.Passes)
		}
		pipeline, err := passes.Parse(text)
		if err != nil {
			return usageError{err}
		}
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
		if err != nil {
			return err
		}
		runner := &pass.Runner{Fuel: fuel, Check: c.check(m), Instruments: c.instruments(e, cfg)}
		m, err = runner.Run(context.Background(), pipeline, m)
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		text, err := printer.Append(nil, m, cfg)
		if err != nil {
			return err
		}
		return e.writeResult(c.Output, in.name, ".opt.hlo", text)
	})
}

// check verifies after each pass under the profile that the input satisfies.
func (c *optCmd) check(m hlo.Module) func(hlo.Module) error {
	cfg := verifier.Config{}
	if c.Profile == "xla" || verifier.Verify(m, cfg).Err() != nil {
		cfg.Profile = verifier.XLA
	}
	return func(m hlo.Module) error { return verifier.Verify(m, cfg).Err() }
}

func (c *optCmd) instruments(e *env, cfg printer.Config) []pass.Instrument {
	var all []pass.Instrument
	dump := func(when, path string, m hlo.Module) {
		fmt.Fprintf(e.stderr, "// %s %s\n", when, path)
		printer.Fprint(e.stderr, m, cfg)
	}
	for _, when := range c.PrintIR {
		switch when {
		case "before":
			all = append(all, pass.Instrument{Before: func(path string, m hlo.Module) { dump("before", path, m) }})
		case "after", "changed":
			all = append(all, pass.Instrument{After: func(path string, before, after hlo.Module, _ map[string]int64, _ time.Duration) {
				if when == "after" || before != after {
					dump("after", path, after)
				}
			}})
		}
	}
	if c.Timing {
		all = append(all, pass.Instrument{After: func(path string, before, after hlo.Module, stats map[string]int64, took time.Duration) {
			fmt.Fprintf(e.stderr, "%10.3f ms  %s%s\n", float64(took.Microseconds())/1000, path, statsText(stats))
		}})
	}
	return append(all, pass.Instrument{Unstable: func(path string, rounds int) {
		fmt.Fprintf(e.stderr, "warning: %s still changes the module after %d rounds\n", path, rounds)
	}})
}

func statsText(stats map[string]int64) string {
	var b strings.Builder
	for _, name := range sortedKeys(stats) {
		fmt.Fprintf(&b, " %s=%d", name, stats[name])
	}
	return b.String()
}

func parseFuel(args []string) (map[string]int, error) {
	fuel := map[string]int{}
	for _, a := range args {
		name, n, ok := strings.Cut(a, "=")
		v, err := strconv.Atoi(n)
		if !ok || err != nil || v < 0 {
			return nil, fmt.Errorf("--fuel=%s: want pass=N or pass.rule=N", a)
		}
		fuel[name] = v
	}
	return fuel, nil
}

func listPasses(e *env) {
	for _, p := range passes.All() {
		title, _, _ := strings.Cut(p.Doc, "\n")
		fmt.Fprintf(e.stdout, "%-22s %s\n", p.Name, title)
	}
	for name, p := range passes.Pipelines {
		fmt.Fprintf(e.stdout, "%-22s %s: %s\n", name, p.Doc, p.Text)
	}
}

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
