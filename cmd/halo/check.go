package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/filecheck"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
)

// checkCmd runs tests of passes, and proves rules.
type checkCmd struct {
	Files  []string `arg:"" name:"file" help:"Tests: .hlo, of one module or several separated by // -----, or .txtar. Rules: .rules."`
	Passes string   `help:"The passes of tests that do not say them." placeholder:"TEXT"`
	Exec   bool     `help:"Evaluate each module before and after as well: the results must be the same." default:"true" negatable:""`
	Update bool     `help:"Write the CHECK lines of each test anew, after what the passes make now. Read the difference before you commit it."`
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

Archives in a folder that is named for a pass need no such line. In an archive a test whose name ends in .same.hlo must stay as it is. A line // RUN: hlo-opt %s --passes=a,b | FileCheck %s is understood too. // CHECK-UNCHANGED asks that the passes change nothing, // NOEXEC: reason that the
module is not evaluated. It is verified before and after, and read back from its text.

A file of rules is proven: each rule is made into modules of every element type and shape, and both of its sides are evaluated where wrong algebra
shows. docs/rules.md says how rules are written.`
}

func (c *checkCmd) Run(e *env) error {
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if isRules(in.name) {
			return c.checkRules(context.Background(), e, in, r)
		}
		tests := testsOf(in)
		r.add("tests", len(tests))
		var failed several
		passed := 0
		for i := range tests {
			t := &tests[i]
			if t.pipeline == "" {
				t.pipeline = c.Passes
			}
			if err := c.test(t); err != nil {
				failed = append(failed, fmt.Errorf("%s: error: %w", t.name, err))
				continue
			}
			passed++
		}
		r.add("passed", passed)
		if c.Update && len(failed) == 0 {
			return updateTests(in, tests)
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

// passTest is a module with its checks.
type passTest struct {
	name, text string
	linesAhead int
	pipeline   string
	prefixes   []string
	output     string // what the passes made
}

// Expressions are made when they are first needed: most commands never are.
var (
	passLine   = lazily(`(?m)^\s*// PASS: *(.+?)\s*$`)
	runLine    = lazily(`(?m)^\s*// RUN:.*?--passes=['"]?([^\s'"|]+)`)
	prefixFlag = lazily(`(?m)^\s*// RUN:.*--check-prefix(?:es)?=(\S+)`)
	noExecLine = lazily(`(?m)^\s*// NOEXEC:`)
	checkLine  = lazily(`(?m)^[ \t]*// CHECK.*\n?`)
	nameInText = lazily(`%[A-Za-z_][\w.-]*`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// testsOf cuts a file into tests. What the first says about passes holds for those that say nothing; in an archive it is the name of its folder,
// if that is a pass.
func testsOf(in *input) (tests []passTest) {
	if strings.HasSuffix(in.name, ".txtar") {
		folder := filepath.Base(filepath.Dir(in.name))
		if _, err := passes.Parse(folder); err != nil {
			folder = ""
		}
		for _, f := range txtar.Parse(in.data).Files {
			tests = append(tests, passTest{name: in.name + ":" + f.Name, text: string(f.Data), pipeline: folder})
		}
	} else {
		for i, p := range parser.Split(string(in.data)) {
			name := in.name
			if i > 0 {
				name = fmt.Sprintf("%s:%d", in.name, p.LinesBefore+1)
			}
			tests = append(tests, passTest{name: name, text: p.Text, linesAhead: p.LinesBefore})
		}
	}
	for i := range tests {
		t := &tests[i]
		if i > 0 && !strings.HasSuffix(in.name, ".txtar") {
			t.pipeline, t.prefixes = tests[0].pipeline, tests[0].prefixes
		}
		for _, re := range []*regexp.Regexp{runLine(), passLine()} {
			if found := re.FindStringSubmatch(t.text); found != nil {
				t.pipeline = found[1]
			}
		}
		if found := prefixFlag().FindStringSubmatch(t.text); found != nil {
			t.prefixes = strings.Split(found[1], ",")
		}
	}
	return tests
}

func (c *checkCmd) test(t *passTest) error {
	if t.pipeline == "" {
		return errors.New("say what to run: a line // PASS: name, or --passes")
	}
	pipeline, err := passes.Parse(t.pipeline)
	if err != nil {
		return err
	}
	m, err := (parser.Config{LinesBefore: t.linesAhead}).Parse(t.name, t.text)
	if err != nil {
		return err
	}
	checks := &passChecks{Profile: "doc"}
	worst := pass.Exact // class of the rewrites that were made
	note := pass.Instrument{After: func(rep pass.Report) { worst = max(worst, rep.Class()) }}
	r := &pass.Runner{Check: checks.verify(m), Instruments: []pass.Instrument{note}}
	after, err := r.Run(context.Background(), pipeline, m)
	if err != nil {
		return err
	}
	t.output = printer.String(after)
	if _, err := parser.Parse(t.name, t.output); err != nil {
		return fmt.Errorf("the result does not read back: %w", err)
	}
	if c.Exec && !noExecLine().MatchString(t.text) {
		if err := shadow.Compare(context.Background(), m, after, shadow.Config{Class: worst}); err != nil && !errors.Is(err, shadow.ErrSkipped) {
			return err
		}
	}
	if c.Update {
		return nil
	}
	return t.check(m, after)
}

func (t *passTest) check(before, after hlo.Module) error {
	const unchanged = "CHECK-UNCHANGED"
	text := strings.ReplaceAll(t.text, unchanged, "")
	if (text != t.text || strings.HasSuffix(t.name, ".same.hlo")) && before != after {
		return fmt.Errorf("the passes changed the module, which says %s; it is now:\n%s", unchanged, t.output)
	}
	if !strings.Contains(text, "CHECK") && t.prefixes == nil {
		return nil
	}
	if err := filecheck.Check([]byte(text), []byte(t.output), filecheck.Options{Prefixes: t.prefixes, CheckName: t.name, OutputName: "output"}); err != nil {
		return fmt.Errorf("%w\nthe output:\n%s", err, t.output)
	}
	return nil
}

// updateTests writes the CHECK lines of a file anew.
func updateTests(in *input, tests []passTest) error {
	if in.name == "-" {
		return fmt.Errorf("%s: error: --update writes files", in.name)
	}
	text := string(in.data)
	for _, t := range tests {
		if !strings.Contains(text, t.text) {
			return fmt.Errorf("%s: error: cannot find the test in its file", t.name)
		}
		text = strings.Replace(text, t.text, t.updated(), 1)
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

// updated is the test with CHECK lines for every line of the output's computations, in front of its module. Names are captured where they are
// defined, so that another numbering is no difference.
func (t *passTest) updated() string {
	text := checkLine().ReplaceAllString(t.text, "")
	var b strings.Builder
	_, body, _ := strings.Cut(t.output, "\n\n")
	known := map[string]bool{}
	next := "CHECK"
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || line == "}" {
			next = "CHECK"
			continue
		}
		fmt.Fprintf(&b, "// %s: %s\n", next, captureNames(line, known))
		next = "CHECK-NEXT"
	}
	at := strings.Index(text, "HloModule")
	if at < 0 {
		at = 0
	}
	return text[:at] + b.String() + text[at:]
}

// captureNames makes a pattern of a line.
func captureNames(line string, known map[string]bool) string {
	line = strings.ReplaceAll(line, "{{", "{{[{][{]}}") // FileCheck's own brackets
	return nameInText().ReplaceAllStringFunc(line, func(name string) string {
		v := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' {
				return r
			}
			return '_'
		}, name[1:])
		if known[v] {
			return "[[" + v + "]]"
		}
		known[v] = true
		return "[[" + v + ":%[^ ,)]+]]"
	})
}
