package halocmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/internal/passcases"
	"github.com/gohalo/halo/verifier"
)

// checkCmd runs tests of passes, and proves rules.
type checkCmd struct {
	Files  []string `arg:"" name:"file" help:"Tests: .hlo, of one module or several separated by // -----, or .txtar. Rules: .rules."`
	Passes string   `help:"Passes for tests that name none." placeholder:"TEXT"`
	Exec   bool     `help:"Also evaluate each module before and after the passes, and require equal results." default:"true" negatable:""`
	Update bool     `help:"Rewrite the CHECK lines of each test from the current output. Read the diff before you commit it."`
	JSON   bool     `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (checkCmd) Help() string {
	return `A test is a module with CHECK lines, as LLVM's and XLA's tests have them, and a line that says what to run:

  // PASS: fix(algsimp,dce)
  HloModule m
  ENTRY e {
    x = f32[4] parameter(0)
    // CHECK: ROOT %x
    // CHECK-NOT: negate
    n = f32[4] negate(x)
    ROOT r = f32[4] negate(n)
  }

Archives in a folder that is named for a pass need no such line. In an archive a test whose name ends in .same.hlo must stay as it is. A line // RUN: hlo-opt %s --passes=a,b | FileCheck %s is read too. // CHECK-UNCHANGED requires that the passes change nothing; // NOEXEC: reason skips
evaluation. It is verified before and after, and read back from its text.

A file of rules is proven: each rule is instantiated for every element type and shape, and both of its sides are evaluated on the values that expose wrong
algebra. docs/rules.md describes the language of rules.`
}

func (c *checkCmd) Run(e *env) error {
	if c.Passes != "" {
		if _, err := catalogue.Parse(c.Passes); err != nil {
			return usageError{fmt.Errorf("--passes: %w", err)}
		}
	}
	e.manyModules = true
	ctx, stop := interruptible(e)
	defer stop()
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if isRules(in.name) {
			return c.checkRules(ctx, e, in, r)
		}
		if in.kind == source.HLOProto || in.kind == source.MLIRBytecode || in.kind == source.BEF {
			return fmt.Errorf("%s: error: this is %v; want HLO text or an archive of it", in.name, in.kind)
		}
		cases := passcases.Cases(in.name, in.data, catalogue.Parse)
		if c.Passes == "" && len(cases) > 0 && !slices.ContainsFunc(cases, func(t passcases.Case) bool { return t.Pipeline != "" }) {
			return usageError{fmt.Errorf("%s: error: %w", in.name, passcases.ErrNoPasses)} // nothing is wrong with the file
		}
		outputs := make([]string, len(cases))
		r.add("tests", len(cases))
		var failed several
		passed := 0
		for i := range cases {
			if ctx.Err() != nil {
				break
			}
			e.progress.at(fmt.Sprintf("test %d of %d", i+1, len(cases)))
			t := &cases[i]
			if t.Pipeline == "" {
				t.Pipeline = c.Passes
			}
			var err error
			o := passcases.Options{Parse: catalogue.Parse, Verify: verifierConfig(verifier.Config{}), NoExec: !c.Exec, NoChecks: c.Update}
			if outputs[i], err = t.Run(ctx, o); err != nil && ctx.Err() == nil {
				if !strings.HasPrefix(err.Error(), t.Name+":") { // or else it has its place
					err = fmt.Errorf("%s: error: %w", t.Name, err)
				}
				failed = append(failed, err)
				continue
			} else if err == nil {
				passed++
			}
		}
		r.add("passed", passed)
		if ctx.Err() != nil {
			fmt.Fprintf(e.stderr, "%s: note: cut short when %d of %d tests had passed\n", in.name, passed, len(cases))
			return append(failed, fmt.Errorf("%s: error: %w", in.name, context.Cause(ctx)))
		}
		if c.Update && len(failed) == 0 {
			return updateTests(in, cases, outputs)
		}
		if len(failed) > 0 {
			return failed
		}
		if !c.JSON {
			fmt.Fprintf(e.stdout, "%s: %d passed\n", in.name, passed)
		}
		return nil
	})
}

// updateTests writes the CHECK lines of a file anew.
func updateTests(in *input, cases []passcases.Case, outputs []string) error {
	if in.name == "-" {
		return fmt.Errorf("%s: error: --update writes files", in.name)
	}
	text := string(in.data)
	for i, t := range cases {
		if !strings.Contains(text, t.Text) {
			return fmt.Errorf("%s: error: cannot find the test in its file", t.Name)
		}
		text = strings.Replace(text, t.Text, t.Updated(outputs[i]), 1)
	}
	if text == string(in.data) {
		return nil
	}
	info, err := os.Stat(in.name)
	if err != nil {
		return err
	}
	return os.WriteFile(in.name, []byte(text), info.Mode().Perm())
}
