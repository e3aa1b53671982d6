// Package passcases runs cases of passes that are text. Package passtest describes them, and is the front of this one for go test; the command
// halo check is the other.
//
//	file        what
//	case.go     files to cases
//	run.go      running a case, and what is asked of it
//	update.go   writing CHECK lines
package passcases

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/filecheck"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// Options say how cases are run.
type Options struct {
	// Parse reads pipeline text.
	Parse func(string) (*pass.Pipeline, error)
	// Verify is how modules are verified, but for the profile, which a case may choose.
	Verify verifier.Config
	// NoExec leaves out evaluating.
	NoExec bool
	// Strict asks what the tests of a project should keep: a case that does not say so must not stay as it is, what cannot be evaluated says
	// NOEXEC and why, and classes of rewrites are declared by FP.
	Strict bool
	// NoChecks leaves out the CHECK lines, as when they are to be written.
	NoChecks bool
}

const unchanged = "CHECK-UNCHANGED"

// ErrNoPasses is the error of a case that names no passes.
var ErrNoPasses = errors.New("say what to run: a line // PASS: name, or --passes")

// Run runs the passes of a case and returns the module that they made, as text. The error says what is wrong with it.
func (c *Case) Run(ctx context.Context, o Options) (output string, err error) {
	if c.Pipeline == "" {
		return "", ErrNoPasses
	}
	pipeline, err := o.Parse(c.Pipeline)
	if err != nil {
		return "", err
	}
	m, err := (parser.Config{LinesBefore: c.linesAhead}).Parse(c.Name, c.Text)
	if err != nil {
		return "", err
	}
	after, worst, err := c.Transform(ctx, pipeline, m, o)
	if err != nil {
		return "", err
	}
	output = printer.String(after)
	if _, err := parser.Parse(c.Name, output); err != nil {
		return output, fmt.Errorf("the result does not read back: %w", err)
	}
	if again, _, err := c.Transform(ctx, pipeline, m, o); err != nil || printer.String(again) != output {
		return output, errors.New("a second run does something else")
	}
	if owned, err := handOn(ctx, pipeline, m); err != nil || printer.String(owned) != output {
		if err == nil {
			err = errors.New("passes that hand on what they make do something else")
		}
		return output, err
	}
	if _, skip := c.says("NOEXEC"); !o.NoExec && !skip {
		cfg := shadow.Config{Class: worst}
		if o.Strict {
			cfg.Rounds = 3
			if cfg.Class, err = c.class(); err != nil {
				return output, err
			}
		}
		if err := shadow.Compare(ctx, m, after, cfg); errors.Is(err, shadow.ErrSkipped) && o.Strict {
			return output, fmt.Errorf("%w: say NOEXEC with the reason", err)
		} else if err != nil && !errors.Is(err, shadow.ErrSkipped) {
			return output, err
		}
	}
	if o.NoChecks {
		return output, nil
	}
	return output, c.check(m, after, output, o.Strict)
}

// Transform runs the passes with the verifier around each, and returns the worst class of the rewrites that they made.
func (c *Case) Transform(ctx context.Context, p *pass.Pipeline, m hlo.Module, o Options) (after hlo.Module, worst pass.FP, err error) {
	cfg := o.Verify
	switch profile, _ := c.says("PROFILE"); {
	case profile == "xla":
		cfg.Profile = verifier.XLA
	case !o.Strict && verifier.Verify(m, cfg).Err() != nil: // legal in XLA only
		cfg.Profile = verifier.XLA
	}
	digest, before := m.Digest(), printer.String(m)
	note := pass.Instrument{After: func(r pass.Report) { worst = max(worst, r.Class()) }}
	runner := &pass.Runner{Check: func(m hlo.Module) error { return verifier.Verify(m, cfg).Err() }, Instruments: []pass.Instrument{note}}
	if after, err = runner.Run(ctx, p, m); err != nil {
		return after, worst, err
	}
	if m.Digest() != digest || printer.String(m) != before {
		return after, worst, errors.New("the passes wrote to the module that they were given")
	}
	return after, worst, nil
}

// class is what `// FP: rounding` lets rewrites change, after the names of [pass.FP].
func (c *Case) class() (pass.FP, error) {
	name, ok := c.says("FP")
	if !ok {
		return pass.Exact, nil
	}
	for f := pass.Exact; f <= pass.FastMath; f++ {
		if f.String() == name {
			return f, nil
		}
	}
	return pass.Exact, fmt.Errorf("FP: %s: there is no such class", name)
}

func (c *Case) check(before, after hlo.Module, output string, strict bool) error {
	text := strings.ReplaceAll(c.Text, unchanged, "")
	same := text != c.Text || strings.HasSuffix(c.Name, ".same.hlo")
	switch {
	case same && before != after:
		return fmt.Errorf("the passes changed the module, which says %s; it is now:\n%s", unchanged, output)
	case strict && !same && before == after:
		return errors.New("the passes left the module as it was, which does not say CHECK-UNCHANGED and is not named .same.hlo")
	case !strings.Contains(text, "CHECK") && c.Prefixes == nil:
		return nil
	}
	if err := filecheck.Check([]byte(text), []byte(output), filecheck.Options{Prefixes: c.Prefixes, CheckName: c.Name, OutputName: "output"}); err != nil {
		return fmt.Errorf("%w\nthe output:\n%s", err, output)
	}
	return nil
}
