package halocmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/reduce"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
)

// reduceCmd makes a module small on which something fails.
type reduceCmd struct {
	File string `arg:"" help:"A program, or the reproducer of a failing pass, which names the passes itself."`

	Passes  string        `help:"Passes that fail: fix(algsimp,dce),cse." placeholder:"TEXT"`
	Command string        `help:"A shell command that fails on the program; the file's name is appended. A status other than 0 means failure." placeholder:"TEXT"`
	Time    time.Duration `help:"Stop after this time with the smallest program so far." default:"5m"`
	Output  string        `short:"o" help:"Write the module here." type:"path" default:"-"`

	shapeFlags `embed:""`
	passChecks `embed:""`
}

// Help is what --help says beyond the flags.
func (reduceCmd) Help() string {
	return `The program loses outputs, instructions, callees and attributes as long as the same thing fails in the same way.

  halo reduce model.algsimp.repro.hlo -o small.hlo
  halo reduce model.hlo --passes=O2 --check=exec
  halo reduce model.hlo --command='python3 crashes.py'`
}

func (c *reduceCmd) Run(e *env) error {
	if c.Passes != "" && c.Command != "" {
		return usageError{errors.New("--passes and --command exclude each other")}
	}
	if err := c.valid(); err != nil {
		return err
	}
	return e.each([]string{c.File}, false, func(in *input, _ *record) error {
		checks := &c.passChecks
		if text, ok := marked(string(in.data), replayMark); ok && c.Passes == "" && c.Command == "" {
			replay, err := replayChecks(string(in.data))
			if err != nil {
				return fmt.Errorf("%s: error: %w", in.name, err)
			}
			c.Passes, checks = text, replay
		}
		checks.Reproducer = "none"
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, c.Time)
		defer cancel()
		fails, err := c.oracle(ctx, checks)
		if err != nil {
			return usageError{fmt.Errorf("%s: error: %w", in.name, err)}
		}
		m, err := parseModule(in)
		if err != nil {
			return err
		}
		want := fails(m)
		if want == "" {
			return fmt.Errorf("%s: error: nothing fails on it", in.name)
		}
		fmt.Fprintf(e.stderr, "%d instructions: %s\n", m.NumInstructions(), want)
		tried := 0
		m = reduce.Module(ctx, m, func(m hlo.Module) bool {
			tried++
			e.progress.at(fmt.Sprintf("attempt %d, with %d instructions", tried, m.NumInstructions()))
			return fails(m) == want
		})
		fmt.Fprintf(e.stderr, "%d instructions, after %d attempts\n", m.NumInstructions(), tried)
		cfg := printer.Config{LargeConstants: true}
		out, err := printer.Append(nil, m, cfg)
		if err != nil {
			return err
		}
		if c.Passes != "" {
			out = append([]byte(checks.head(c.Passes)+"\n"), out...)
		}
		return e.writeResult(c.Output, in.beside(), ".reduced.hlo", out)
	})
}

// oracle returns a function that says in what way something fails on a module, "" when nothing does. Modules that fail in the same way are
// the same defect.
func (c *reduceCmd) oracle(ctx context.Context, checks *passChecks) (func(hlo.Module) string, error) {
	if c.Command != "" {
		dir, err := os.MkdirTemp("", "halo-reduce-")
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { os.RemoveAll(dir) })
		return func(m hlo.Module) string { return commandFails(ctx, c.Command, filepath.Join(dir, "module.hlo"), m) }, nil
	}
	if c.Passes == "" {
		return nil, errors.New("no reproducer, which would name passes: --passes=TEXT or --command=TEXT says what fails")
	}
	pipeline, err := catalogue.Parse(c.Passes)
	if err != nil {
		return nil, err
	}
	return func(m hlo.Module) string {
		// Test the module that the file will hold: one read back from text.
		text, err := printer.Append(nil, m, printer.Config{LargeConstants: true})
		if err != nil {
			return ""
		}
		if m, err = parser.Parse("reduced", string(text)); err != nil {
			return ""
		}
		trial := *checks
		_, err = trial.run(ctx, io.Discard, pipeline, m, nil)
		return wayOfFailing(err)
	}, nil
}

var ruleID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([A-Z]+-[A-Z]?[0-9]+)\]`) })

// wayOfFailing is what the failures of one defect have in common: the pass, and the panic, the verifier's rule, or that results differ.
func wayOfFailing(err error) string {
	var failed *pass.Error
	if !errors.As(err, &failed) {
		return ""
	}
	var panicked *pass.Panic
	var differ *shadow.Difference
	switch {
	case errors.As(err, &panicked):
		return fmt.Sprintf("pass %s panics: %v", failed.Failed.Name, panicked.Value)
	case errors.As(err, &differ):
		return fmt.Sprintf("pass %s changes the result", failed.Failed.Name)
	}
	if id := ruleID().FindStringSubmatch(err.Error()); id != nil {
		return fmt.Sprintf("after pass %s the verifier finds %s", failed.Failed.Name, id[1])
	}
	first, _, _ := strings.Cut(failed.Err.Error(), "\n")
	return fmt.Sprintf("pass %s: %s", failed.Failed.Name, first)
}

// commandFails runs a command on the text of a module.
func commandFails(ctx context.Context, command, path string, m hlo.Module) string {
	text, err := printer.Append(nil, m, printer.Config{LargeConstants: true})
	if err != nil || os.WriteFile(path, text, 0o666) != nil {
		return ""
	}
	err = exec.CommandContext(ctx, "sh", "-c", command+` "$0"`, path).Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Exited() {
		return fmt.Sprintf("exit status %d", exit.ExitCode())
	}
	return ""
}
