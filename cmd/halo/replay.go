package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// replayCmd runs a reproducer: a module whose first lines say which passes to run on it.
type replayCmd struct {
	Files []string `arg:"" name:"file" help:"Reproducers, as a failing pass leaves them."`
}

// replayMark begins the line of a reproducer that holds the pipeline.
const replayMark = "// halo replay --passes="

func (c *replayCmd) Run(e *env) error {
	return e.each(c.Files, false, func(in *input, r *record) error {
		text, ok := replayPipeline(string(in.data))
		if !ok {
			return fmt.Errorf("%s: error: not a reproducer: no line begins with %q", in.name, replayMark)
		}
		pipeline, err := passes.Parse(text)
		if err != nil {
			return err
		}
		m, err := parseModule(in)
		if err != nil {
			return err
		}
		xla := verifier.Config{Profile: verifier.XLA}
		runner := &pass.Runner{Check: func(m hlo.Module) error { return verifier.Verify(m, xla).Err() }}
		if m, err = runner.Run(context.Background(), pipeline, m); err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		return printer.Fprint(e.stdout, m, printer.Config{})
	})
}

func replayPipeline(text string) (string, bool) {
	for line := range strings.Lines(text) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), replayMark); ok {
			return p, true
		}
	}
	return "", false
}
