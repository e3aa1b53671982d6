package halocmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/printer"
)

// optCmd runs passes and prints the module.
type optCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input. For host programs, --passes=canonicalize or print-stream."`

	printFlags `embed:""`
	readFlags  `embed:""`

	Passes      string   `help:"Passes to run: fix(algsimp,dce),cse." placeholder:"TEXT"`
	O           string   `name:"opt-level" short:"O" aliases:"o,xla_backend_optimization_level" help:"Optimisation level: 0, 1, 2 or 3; 2 unless --passes is given." default:"" enum:"0,1,2,3," placeholder:"LEVEL"`
	ListPasses  bool     `help:"List the passes and pipelines."`
	Excess      bool     `name:"xla_allow_excess_precision" help:"Before the passes, remove roundings to a narrow type between operations in f32, as run does."`
	Explain     string   `help:"Explain a pass, a rule of one (algsimp.A01) or a pipeline; or, with a file, where an instruction (%add.7) comes from and what became of it." placeholder:"NAME"`
	PrintIR     []string `name:"print" help:"Print on standard error: changed (the module after each pass that changed it), diff (what it changed, as text), instructions (what it changed, instruction by instruction), before, after." enum:"changed,diff,instructions,before,after"`
	Where       string   `help:"Show what became of an instruction of the input (%dot.3), and what computes its value in the result." placeholder:"NAME"`
	Remarks     []string `bare:"all" help:"Print remarks of passes on standard error: all (the default), passed, missed or analysis, or those of one pass: missed:fusion." placeholder:"KIND[:PASS]"`
	Timing      bool     `help:"Print time, memory, statistics of each pass, and what it added to the module, on standard error; --json has them always."`
	Trace       string   `help:"Write when each pass ran as a Chrome trace." placeholder:"FILE" type:"path"`
	StrictFlags bool     `help:"Refuse unknown flags that begin with --xla_ instead of warning."`
	Thorough    bool     `help:"Run every pass on everything, even where nothing changed since its last run."`

	passSelection `embed:""`
	passChecks    `embed:""`
	dumpFlags     `embed:""`
	hloOptFlags   `embed:""`

	Output string `short:"o" help:"Write the module here." type:"path" default:"-"`
	JSON   bool   `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (optCmd) Help() string {
	return `The module is verified before the passes and after each that changed it. A pass that fails leaves a reproducer for halo replay.

  halo opt -O2 model.hlo
  halo opt --passes='fix{limit=5}(algsimp,cse,dce),cpu{fp=xla}' model.hlo
  halo opt -O2 --check=exec model.hlo            does each pass keep the results? which rewrite does not?
  halo opt -O2 --timing model.hlo                time, memory, statistics, sizes
  halo opt -O2 --remarks=missed:fusion model.hlo why was something not done?
  halo opt -O2 --where=%dot.3 model.hlo          what became of an instruction
  halo opt -O2 --disable-pass=O2/simplify#2/cse model.hlo

As in XLA's dumps after passes, asynchronous instructions are printed as async-start and async-done; --sugar=on prints op-start and op-done.

halo list-passes and halo explain list and explain passes; docs/passes.md is the manual.`
}

func (c *optCmd) Run(e *env) error {
	switch {
	case c.ListPasses:
		return listPasses(e.stdout, c.JSON)
	case c.ListStages:
		return listStages(e.stdout)
	case c.Explain != "" && !strings.HasPrefix(c.Explain, "%"):
		known, err := explainPass(e.stdout, c.Explain)
		if err != nil || known {
			return err
		}
		if _, err = catalogue.Parse(c.Explain); err == nil { // which knows the nearest name
			err = fmt.Errorf("nothing is known about %q", c.Explain)
		}
		return usageError{err}
	case len(c.Files) == 0:
		return missingFile("opt")
	case c.Passes != "" && c.O != "":
		return usageError{fmt.Errorf("--passes and -O exclude each other: a level is a pass too, --passes=O1,dce")}
	case c.Where != "" && c.Explain != "":
		return usageError{fmt.Errorf("--where and --explain exclude each other")}
	}
	if err := c.hloOptFlags.check(c); err != nil {
		return err
	}
	plan, err := c.plan()
	if err != nil {
		return usageError{err}
	}
	if err := c.valid(); err != nil {
		return err
	}
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == source.HostProgram {
			return e.optHost(in, c.Passes)
		}
		c.hloOptFlags.read(in)
		err := c.module(context.Background(), e, in, r, plan)
		plan.number++
		return err
	})
}

// optPlan is what the flags mean for every module.
type optPlan struct {
	cfg     printer.Config
	skip    func() pass.Instrument
	remarks remarkFilter
	number  int // of the module
	dumped  int // modules
}

func (c *optCmd) plan() (*optPlan, error) {
	p := &optPlan{}
	var err error
	if p.cfg, err = c.config(); err == nil {
		p.skip, err = c.skip()
	}
	if c.Sugar == "auto" { // as XLA dumps a module after passes
		p.cfg.Sugar = printer.SugarOff
	}
	if err == nil {
		p.remarks, err = readRemarkFilter(c.Remarks)
	}
	return p, err
}

// module runs the passes on one module and says what was asked about it.
func (c *optCmd) module(ctx context.Context, e *env, in *input, r *record, plan *optPlan) error {
	pipeline, err := catalogue.Parse(c.pipelineText())
	if err != nil {
		return usageError{err}
	}
	m, err := e.loadModule(in, moduleOptions{profile: c.Profile, mixed: c.MixedPrecision})
	if err != nil {
		return err
	}
	w := &watch{stderr: e.stderr, cfg: plan.cfg, remarks: []remark{}}
	w.sizes.off = !c.Timing && !c.JSON && c.Trace == ""
	instruments := append(append(w.print(c.PrintIR), c.hloOptFlags.prints(w)...), plan.skip(), w.unstable(), w.time(c.Timing))
	if e.progress != nil {
		instruments = append(instruments, pass.Instrument{Before: func(path string, _ hlo.Module) { e.progress.at(path) }})
	}
	if plan.remarks != nil {
		instruments = append(instruments, w.remark(plan.remarks))
	}
	if c.DumpTo != "" {
		d, err := c.newDump(plan.number, plan.dumped, m, plan.cfg)
		if err != nil {
			return err
		}
		if d != nil {
			plan.dumped++
			instruments = append(instruments, d.instrument())
			defer d.finish(e.stderr)
		}
	}
	var history pass.History
	if c.Explain != "" || c.Where != "" {
		instruments = append(instruments, history.Instrument())
	}
	var said []pass.Remark
	if c.Explain != "" {
		instruments = append(instruments, remarksOn(c.Explain, &said))
	}
	if c.Passes != "" {
		adviseOrder(e.stderr, pipeline)
	}
	c.thorough, c.countMemory = c.Thorough, !w.sizes.off
	after, err := c.run(ctx, e.stderr, pipeline, m, instruments)
	if err := c.report(e, r, w, plan); err != nil {
		return err
	}
	if err == nil {
		err = c.adviseLegal(ctx, e.stderr, after)
	}
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	if c.Explain != "" || c.Where != "" {
		if c.Explain != "" {
			err = e.explainInstruction(ctx, r, &history, said, m, after, c.Explain)
		} else {
			err = e.where(ctx, r, &history, m, after, c.Where)
		}
		if err != nil {
			err = fmt.Errorf("%s: error: %w", in.name, err)
		}
		return err
	}
	out, extension, err := c.written(after, c.Output, plan.cfg)
	if err != nil {
		return err
	}
	if c.SplitInputFile && c.Output == "-" && in.part != "" && in.part != "1" && !e.records {
		out = append([]byte("// -----\n\n"), out...)
	}
	if c.JSON && c.Output == "-" {
		r.add("text", string(out))
	}
	return e.writeResult(c.Output, in.beside(), extension, out)
}

// report says what the passes did.
func (c *optCmd) report(e *env, r *record, w *watch, plan *optPlan) error {
	r.add("passes", w.steps)
	if plan.remarks != nil {
		r.add("remarks", w.remarks)
	}
	if c.Timing {
		summary(e.stderr, w.reports)
	}
	if c.Trace != "" {
		return writeTrace(c.Trace, w.reports, w.steps)
	}
	return nil
}

// pipelineText is the passes that the flags ask for.
func (c *optCmd) pipelineText() string {
	text := c.Passes
	switch own := c.ownRules(""); {
	case c.O != "":
		text = "O" + c.O
	case text == "" && own != "" && !c.Excess:
		return own
	case text == "" && c.pipeline() != "":
		text = c.pipeline()
	case text == "":
		text = "O2"
	}
	if c.Excess {
		text = excessPasses + "," + text
	}
	return c.ownRules(text)
}

// title is the first line of a documentation.
func title(doc string) string {
	first, _, _ := strings.Cut(doc, "\n")
	return first
}
