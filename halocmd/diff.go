package halocmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/diff"
	"github.com/gohalo/halo/hlo/pass"
)

// diffCmd compares two programs.
type diffCmd struct {
	A string `arg:"" help:"A program."`
	B string `arg:"" help:"Another one."`

	readFlags `embed:""`

	Passes  string `help:"Run these passes on both programs first; simplify removes many irrelevant differences." placeholder:"TEXT"`
	Inline  bool   `help:"Look through fusions and calls: compare what they compute."`
	All     bool   `help:"Show every line of differences."`
	Summary bool   `help:"Show the summary only."`
	HTML    string `name:"html" help:"Write a page with the differences side by side." placeholder:"FILE.html"`
	Profile string `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	Quiet   bool   `short:"q" help:"Print nothing; the exit status is the result."`
	JSON    bool   `name:"json" help:"One JSON object for the pair."`
}

// Help is what --help says beyond the flags.
func (diffCmd) Help() string {
	return `Compares instructions, not lines: names, numbering, comments, metadata, the order of unrelated instructions, and the formatting of JSON in attributes
do not matter. A summary comes first: equal and changed parts, the cost by line of the user's program, and the reason why a compiler
that has A in its cache compiles B again. Then instructions that are only in A begin with -, those only in B with +; a pair that differs is shown
under a line that names the difference. Compilation options are compared, too, if XLA dumped them beside both (….debug_options).

  halo diff before.hlo after.hlo
  halo diff jax-0.4.hlo jax-0.5.hlo --passes=simplify
  halo diff --inline --html=diff.html unfused.hlo fused.hlo
  halo opt -O2 m.hlo | halo diff m.hlo -

The exit status is 0 if the programs are the same but for names, and 1 if they differ.`
}

func (c *diffCmd) Run(e *env) error {
	if c.A == "-" && c.B == "-" {
		return usageError{fmt.Errorf("standard input, -, can be read only once")}
	}
	pair := make([]hlo.Module, 0, 2)
	read := func(in *input, _ *record) error {
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
		if err != nil {
			return err
		}
		if text := c.passes(); text != "" {
			pipeline, err := catalogue.Parse(text)
			if err != nil {
				return usageError{err}
			}
			if m, err = (&pass.Runner{}).Run(context.Background(), pipeline, m); err != nil {
				return fmt.Errorf("%s: error: %w", in.name, err)
			}
		}
		pair = append(pair, m)
		return nil
	}
	for _, name := range []string{c.A, c.B} {
		before := len(pair)
		if err := e.each([]string{name}, false, read); err != nil {
			return err
		}
		if len(pair) != before+1 {
			return usageError{fmt.Errorf("%s: error: diff takes two programs: name one of the %d in it, as DIR/FILE, ARCHIVE/FILE or FILE#2", name, len(pair)-before)}
		}
	}
	d := diff.Find(pair[0], pair[1])
	if x, y := optionsBeside(c.A), optionsBeside(c.B); x != "" && y != "" {
		d.CompareOptions(x, y)
	}
	if err := c.print(e, d, pair[0], pair[1]); err != nil {
		return err
	}
	if !d.Equal {
		return failure(exitInput)
	}
	return nil
}

// optionsBeside is the file of options that XLA dumps beside a module: for module_0001.jit_f.before_optimizations.txt it is
// module_0001.jit_f.debug_options. It is "" if there is none.
func optionsBeside(file string) string {
	for base := file; ; {
		ext := filepath.Ext(base)
		if ext == "" || ext == base {
			return ""
		}
		base = strings.TrimSuffix(base, ext)
		if data, err := os.ReadFile(base + ".debug_options"); err == nil {
			return string(data)
		}
	}
}

// passes are those that run on both programs.
func (c *diffCmd) passes() string {
	text := c.Passes
	if c.Inline {
		text = strings.TrimPrefix(text+",fusion-inliner,call-inliner", ",")
	}
	return text
}

// linesShown is how many lines of differences are shown without --all.
const linesShown = 200

func (c *diffCmd) print(e *env, d *diff.Report, a, b hlo.Module) error {
	if c.HTML != "" {
		if err := create(c.HTML, func(w io.Writer) error { return d.WriteHTML(w, a, b) }); err != nil {
			return err
		}
	}
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		r := record{File: c.B, OK: d.Equal}
		r.add("against", c.A)
		r.add("diff", d)
		return json.NewEncoder(e.stdout).Encode(r)
	}
	o := diff.TextOptions{Most: linesShown, Colour: colours(e.stdout), SummaryOnly: c.Summary}
	if c.All {
		o.Most = 0
	}
	return d.WriteText(e.stdout, a, b, o)
}
