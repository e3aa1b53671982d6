package halocmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/gohalo/halo/internal/commandline"
	"github.com/gohalo/halo/printer"
)

// replayCmd runs a reproducer: a module whose first lines say which passes to run on it, and how.
type replayCmd struct {
	Files []string `arg:"" name:"file" help:"Reproducers of failing passes."`
}

const (
	replayMark  = "// halo replay --passes=" // begins the line that holds the pipeline
	replayFlags = "// halo replay flags: "   // begins the line that holds the checks
)

// Help is what --help says beyond the flags.
func (replayCmd) Help() string {
	return `The first lines of a reproducer say which passes to run and under which checks; the rest is the module that the failing pass was given.

  halo opt -O2 --check=exec model.hlo    leaves model.PASS.repro.hlo when a pass fails
  halo replay model.PASS.repro.hlo
  halo reduce model.PASS.repro.hlo       the same on a small module`
}

func (c *replayCmd) Run(e *env) error {
	e.manyModules = true
	return e.each(c.Files, false, func(in *input, r *record) error {
		text, ok := marked(string(in.data), replayMark)
		if !ok {
			return fmt.Errorf("%s: error: not a reproducer: no line begins with %q", in.name, replayMark)
		}
		pipeline, err := catalogue.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		checks, err := replayChecks(string(in.data))
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		m, err := parseModule(in)
		if err != nil {
			return err
		}
		if m, err = checks.run(context.Background(), e.stderr, pipeline, m, nil); err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		return printer.Fprint(e.stdout, m, printer.Config{})
	})
}

// replayChecks reads the line of flags. A reproducer does not make another one.
func replayChecks(text string) (*passChecks, error) {
	c := &passChecks{}
	flags, ok := marked(text, replayFlags)
	if !ok {
		flags = "--profile=xla" // written by hand: nothing stricter than what XLA asks
	}
	if err := commandline.Flags(c, strings.Fields(flags)); err != nil {
		return nil, fmt.Errorf("flags of the reproducer: %w", err)
	}
	c.Reproducer = "none"
	return c, nil
}

// marked is the rest of the first line that begins with mark.
func marked(text, mark string) (string, bool) {
	for line := range strings.Lines(text) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			return p, true
		}
	}
	return "", false
}
