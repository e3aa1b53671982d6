package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
)

// optCmd runs passes and prints the module.
type optCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"HLO programs; for host programs --passes=canonicalize or print-stream."`

	printFlags `embed:""`

	Passes      string   `help:"Passes to run: fix(algsimp,dce),cse." placeholder:"TEXT"`
	O           string   `short:"O" aliases:"xla_backend_optimization_level" help:"Optimisation level: 0, 1, 2 or 3; 2 unless --passes is given." default:"" enum:"0,1,2,3," placeholder:"LEVEL"`
	ListPasses  bool     `help:"List the passes and pipelines."`
	Explain     string   `help:"Explain a pass, a rule of one (algsimp.A01) or a pipeline; or, with a file, where an instruction (%%add.7) comes from and what became of it." placeholder:"NAME"`
	PrintIR     []string `name:"print" help:"Print on standard error: changed (the module after each pass that changed it), diff (what it changed, as text), instructions (what it changed, instruction by instruction), before, after." enum:"changed,diff,instructions,before,after"`
	Remarks     bool     `help:"Print what passes say about instructions on standard error."`
	Timing      bool     `help:"Print time and statistics of each pass on standard error; --json has them always."`
	Trace       string   `help:"Write when each pass ran as a Chrome trace." placeholder:"FILE" type:"path"`
	StrictFlags bool     `help:"Refuse flags that begin with --xla_ and that nobody knows, instead of warning."`
	Thorough    bool     `help:"Run every pass on everything, also where nothing changed since its last run."`

	passSelection `embed:""`
	passChecks    `embed:""`

	DumpTo   string `aliases:"xla_dump_to" help:"Write the module into this folder before and after, and after each pass that --dump-pass selects." placeholder:"DIR" type:"path"`
	DumpPass string `aliases:"xla_dump_hlo_pass_re" help:"Passes to dump after: a regular expression; .* is all that changed something." placeholder:"REGEXP"`
	Output   string `short:"o" help:"Write the module here." type:"path" default:"-"`
	JSON     bool   `name:"json" help:"One JSON object for each file."`
}

func (c *optCmd) Run(e *env) error {
	switch {
	case c.ListPasses:
		listPasses(e.stdout)
		return nil
	case c.Explain != "" && !strings.HasPrefix(c.Explain, "%"):
		return explainPass(e.stdout, c.Explain)
	case len(c.Files) == 0:
		return usageError{fmt.Errorf("opt needs a file")}
	case c.Passes != "" && c.O != "":
		return usageError{fmt.Errorf("--passes and -O exclude each other: a level is a pass too, --passes=O1,dce")}
	}
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	skip, err := c.skip()
	if err != nil {
		return usageError{err}
	}
	text := c.Passes
	if text == "" {
		text = "O" + c.O
		if c.O == "" {
			text = "O2"
		}
	}
	number := 0
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
		w := &watch{stderr: e.stderr, cfg: cfg}
		instruments := append([]pass.Instrument{skip(e.stderr)}, w.print(c.PrintIR)...)
		instruments = append(instruments, w.unstable())
		if c.Remarks {
			instruments = append(instruments, w.remarks())
		}
		if c.DumpTo != "" {
			d, err := newDump(c.DumpTo, c.DumpPass, number, m, cfg)
			if err != nil {
				return usageError{err}
			}
			instruments = append(instruments, d.instrument())
			defer d.finish(e.stderr)
		}
		number++
		instruments = append(instruments, w.time(c.Timing))
		c.thorough = c.Thorough
		var history pass.History
		if c.Explain != "" {
			instruments = append(instruments, history.Instrument())
		}
		after, err := c.run(context.Background(), e.stderr, pipeline, m, instruments)
		r.Extra = map[string]any{"passes": w.steps}
		if c.Timing {
			summary(e.stderr, w.reports)
		}
		if c.Trace != "" {
			if err := writeTrace(c.Trace, w.reports); err != nil {
				return err
			}
		}
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		if c.Explain != "" {
			return explainInstruction(context.Background(), e.stdout, &history, m, after, c.Explain)
		}
		out, err := printer.Append(nil, after, cfg)
		if err != nil {
			return err
		}
		if c.JSON && c.Output == "-" {
			r.add("text", string(out))
		}
		return e.writeResult(c.Output, in.name, ".opt.hlo", out)
	})
}

// title is the first line of a documentation.
func title(doc string) string {
	first, _, _ := strings.Cut(doc, "\n")
	return first
}
