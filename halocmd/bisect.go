package halocmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// bisectCmd finds out which pass, and which of its rewrites, makes a command fail.
type bisectCmd struct {
	Files   []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	Command string   `required:"" help:"A shell command that fails on the optimised program and not on the original; the file's name is appended." placeholder:"TEXT"`
	Passes  string   `help:"The passes: fix(algsimp,dce),cse." placeholder:"TEXT" default:"O2"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`

	shapeFlags `embed:""`
	passChecks `embed:""`
}

// Help is what --help says beyond the flags.
func (bisectCmd) Help() string {
	return `Runs the command on versions of the program by bisection: first over the passes, to find the one after which the command fails, then over the
fuel of that pass, to find the rewrite. Any command with an exit status will do: another compiler, a comparison of results, a time limit.

  halo bisect model.hlo --command='! grep -q "f32.*tanh"'
  halo bisect model.hlo --passes=cpu --command='python3 run_on_gpu.py'

Wrong results need no command: halo opt --check=exec finds the rewrite that changes them.`
}

// verdict is what a bisection found.
type verdict struct {
	Pass    string `json:"pass"` // where it stands: O2/simplify#2/algsimp@3
	Version int    `json:"version"`
	Changes int    `json:"changes"` // passes that changed something
	Rule    string `json:"rule,omitempty"`
	Rewrite int    `json:"rewrite,omitempty"`
	Of      int    `json:"of,omitempty"`
	Fuel    string `json:"fuel,omitempty"` // the flag with which it is still good
	Diff    string `json:"diff"`
}

func (c *bisectCmd) Run(e *env) error {
	if err := c.valid(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "halo-bisect-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c.Reproducer = "none"
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		pipeline, err := catalogue.Parse(c.ownRules(c.Passes))
		if err != nil {
			return usageError{err}
		}
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile, mixed: c.MixedPrecision})
		if err != nil {
			return err
		}
		var steps []pass.Report
		keep := pass.Instrument{After: func(r pass.Report) {
			if r.Changed() {
				steps = append(steps, r)
			}
		}}
		if _, err := c.run(ctx, e.stderr, pipeline, m, []pass.Instrument{keep}); err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		trials := 0
		fails := func(m hlo.Module) bool {
			trials++
			e.progress.at(fmt.Sprintf("trial %d", trials))
			return commandFails(ctx, c.Command, filepath.Join(dir, "module.hlo"), m) != ""
		}
		v, err := c.search(ctx, m, steps, fails)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		if c.JSON {
			r.add("verdict", v)
			return nil
		}
		fmt.Fprintf(e.stdout, "it begins with %s, change %d of %d\n", v.Pass, v.Version, v.Changes)
		if v.Fuel != "" {
			fmt.Fprintf(e.stdout, "by rewrite %d of %d, rule %s: with --passes=%s %s on the module before it is still good\n", v.Rewrite, v.Of, v.Rule,
				steps[v.Version-1].Pass.Name, v.Fuel)
		}
		fmt.Fprint(e.stdout, v.Diff)
		return nil
	})
}

func (c *bisectCmd) search(ctx context.Context, m hlo.Module, steps []pass.Report, fails func(hlo.Module) bool) (*verdict, error) {
	switch {
	case len(steps) == 0:
		return nil, errors.New("the passes change nothing")
	case fails(m):
		return nil, errors.New("the command fails on the program as it is")
	case !fails(steps[len(steps)-1].After):
		return nil, errors.New("the command does not fail after the passes")
	}
	good, bad := 0, len(steps)
	n := halve(good, bad, func(n int) bool {
		failed := fails(steps[n-1].After)
		switch {
		case ctx.Err() != nil: // the command was cut short
		case failed:
			bad = n
		default:
			good = n
		}
		return failed
	})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w; it is among changes %d to %d of %d, from %s to %s", context.Cause(ctx), good+1, bad, len(steps), steps[good].Path, steps[bad-1].Path)
	}
	guilty := steps[n-1]
	v := &verdict{Pass: guilty.Path, Version: n, Changes: len(steps)}
	before, after := guilty.Before, guilty.After
	fuel, err := c.fuel()
	if err != nil {
		return nil, usageError{err}
	}
	var rules []string
	with := func(n int) hlo.Module {
		rules = rules[:0]
		r := &pass.Runner{Fuel: maps.Clone(fuel), FP: guilty.FP, Instruments: []pass.Instrument{{Rewrite: func(_, rule string) { rules = append(rules, rule) }}}}
		r.Fuel[guilty.Pass.Name] = n
		m, err := r.Run(ctx, pass.Of("", guilty.Pass), guilty.Before)
		if err != nil {
			return guilty.Before
		}
		return m
	}
	// Fuel makes a pass work through everything, so that it may do more than it did in the pipeline.
	if whole := with(1 << 30); fails(whole) && !fails(with(0)) {
		with(1 << 30)
		v.Of = len(rules)
		v.Rewrite = halve(0, v.Of, func(n int) bool { return fails(with(n)) })
		before, after = with(v.Rewrite-1), with(v.Rewrite)
		v.Rule = rules[v.Rewrite-1]
		v.Fuel = fmt.Sprintf("--fuel=%s=%d", guilty.Pass.Name, v.Rewrite-1)
	}
	cfg, err := (&printFlags{Style: "default", Sugar: "auto"}).config()
	v.Diff = string(instructionDiff(before, after, cfg))
	return v, err
}

// halve finds the first number that is bad, between one that is good and one that is bad.
func halve(good, bad int, isBad func(int) bool) int {
	for bad-good > 1 {
		if half := (good + bad) / 2; isBad(half) {
			bad = half
		} else {
			good = half
		}
	}
	return bad
}
