package halocmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/memplan"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime/kernels"
)

// memCmd reports on the memory of programs.
type memCmd struct {
	Files []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, .bef, directories, - for standard input."`
	Level optLevel `embed:""`

	readFlags `embed:""`

	Savings bool     `help:"Look for changes that save memory." default:"true" negatable:""`
	Apply   []string `help:"Make these changes, as the report names them, and report on the result." placeholder:"CHANGE"`
	Output  string   `short:"o" help:"Write the program with the changes of --apply, after the passes." placeholder:"FILE.hlo"`
	HTML    string   `name:"html" help:"Write a page with the plan as a picture." placeholder:"FILE.html"`
	XLA     string   `name:"xla" help:"XLA's buffer assignment or memory usage report of the same module. Default: one beside the file, as XLA dumps it." placeholder:"FILE.txt"`
	Top     natural  `help:"How many lines of each list the text shows; 0 is all." default:"12"`
	Profile string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (memCmd) Help() string {
	return `Compiles a program and reports its memory plan: the size of an execution's memory, the peak, the values alive at the peak by line of the user's
program, the place of each buffer, and the instruction that keeps it alive. Changes that would save memory (another order, recomputed values, values in a narrower type
across the peak, donated parameters) are planned in full, so their savings are exact.

  halo mem step.hlo
  halo mem --apply=order -o small.hlo step.hlo
  halo mem --html=plan.html --xla=module_0010.jit_step.cpu_after_optimizations-buffer-assignment.txt step.hlo`
}

func (c *memCmd) Run(e *env) error {
	switch {
	case c.Output != "" && len(c.Apply) == 0:
		return usageError{errors.New("--output writes what --apply changes: give --apply")}
	case (c.Output != "" || c.HTML != "" || c.XLA != "") && len(c.Files) > 1:
		return usageError{fmt.Errorf("--output, --html and --xla go with one program, but there are %d", len(c.Files))}
	}
	ctx, stop := interruptible(e)
	defer stop()
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		report, m, err := c.report(ctx, e, in)
		if err != nil {
			return err
		}
		if c.Output != "" {
			if err := create(c.Output, func(w io.Writer) error { return printer.Fprint(w, m, printer.Config{LargeConstants: true}) }); err != nil {
				return err
			}
		}
		if c.HTML != "" {
			if err := create(c.HTML, report.WriteHTML); err != nil {
				return err
			}
		}
		r.add("memory", report)
		if e.records {
			return nil
		}
		return report.WriteText(e.stdout, int(c.Top))
	})
}

// report makes the report on a file, after the changes, and returns the module that it is about.
func (c *memCmd) report(ctx context.Context, e *env, in *input) (*memplan.Report, hlo.Module, error) {
	text, m, p, err := c.compile(ctx, e, in)
	if err != nil {
		return nil, m, err
	}
	defer func() { p.Close() }()
	report, err := memplan.New(p.Runtime(), m, text)
	if err != nil {
		return nil, m, fmt.Errorf("%s: error: %w", in.name, err)
	}
	if len(c.Apply) > 0 {
		if in.kind == source.BEF {
			return nil, m, usageError{fmt.Errorf("%s: error: --apply changes programs, not BEF files", in.name)}
		}
		if m, err = report.Apply(ctx, m, c.Apply); err != nil {
			return nil, m, usageError{fmt.Errorf("%s: error: --apply=%w", in.name, err)}
		}
		p.Close()
		if p, err = plain(ctx, m); err != nil {
			return nil, m, in.compileError(err)
		}
		if report, err = memplan.New(p.Runtime(), m, text); err != nil {
			return nil, m, fmt.Errorf("%s: error: %w", in.name, err)
		}
	}
	if c.Savings && in.kind != source.BEF {
		e.progress.at("looking for what would save memory")
		if err := report.FindSavings(ctx, m); err != nil {
			return nil, m, fmt.Errorf("%s: error: %w", in.name, err)
		}
	}
	report.XLA, err = c.xla(in.name)
	return report, m, err
}

// compile compiles a file. It returns the module as it was read, and as it is after the passes; of a BEF file there is one only.
func (c *memCmd) compile(ctx context.Context, e *env, in *input) (text, m hlo.Module, p *halo.Program, err error) {
	if in.kind == source.BEF {
		if p, err = halo.LoadProgramBytes(in.name, in.data, options(halo.Options{MaxBytes: available()})); err != nil {
			return text, m, nil, err
		}
		m, _ = kernels.Module(p.Runtime())
		return text, m, p, nil
	}
	v, err := e.verifiedModule(in, moduleOptions{profile: c.Profile, fill: true})
	if err != nil {
		return text, m, nil, err
	}
	pipeline, err := c.Level.pipeline("cpu")
	if err != nil {
		return text, m, nil, usageError{err}
	}
	e.progress.at("compiling")
	if m, err = (&pass.Runner{}).Run(ctx, pipeline, v.HLO()); err != nil {
		return text, m, nil, in.compileError(err)
	}
	if p, err = plain(ctx, m); err != nil {
		return text, m, nil, in.compileError(err)
	}
	return v.HLO(), m, p, nil
}

// plain compiles a module that has been through the passes.
func plain(ctx context.Context, m hlo.Module) (*halo.Program, error) {
	return halo.Compile(ctx, halo.Trust(m), options(halo.Options{Pipeline: new(pass.Pipeline), MaxBytes: available()}))
}

// reports are the endings of the files that XLA dumps beside a module, the more exact one first.
var reports = []string{"-buffer-assignment.txt", "-memory-usage-report.txt"}

// xla reads XLA's report: that of the flag, or one beside the program.
func (c *memCmd) xla(program string) (*memplan.XLA, error) {
	path := c.XLA
	for _, ending := range reports {
		if path != "" || program == "-" {
			break
		}
		beside := strings.TrimSuffix(program, filepath.Ext(program)) + ending
		if _, err := os.Stat(beside); err == nil {
			path = beside
		}
	}
	if path == "" {
		return nil, nil
	}
	data, err := readFile(path, inputLimit())
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", path, unwrapPath(err))
	}
	return memplan.ParseXLA(path, data)
}
