package halocmd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/moddiff"
	"github.com/gohalo/halo/printer"
)

// diffCmd compares two programs.
type diffCmd struct {
	A string `arg:"" help:"A program."`
	B string `arg:"" help:"Another one."`

	readFlags `embed:""`

	Passes  string `help:"Run these passes on both programs first; simplify removes many irrelevant differences." placeholder:"TEXT"`
	Profile string `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	Quiet   bool   `short:"q" help:"Print nothing; the exit status is the result."`
	JSON    bool   `name:"json" help:"One JSON object for the pair."`
}

// Help is what --help says beyond the flags.
func (diffCmd) Help() string {
	return `Instructions are compared, not lines: names, numbering, comments, metadata and the order of unrelated instructions do not count. What is only
in A begins with -, what is only in B with +, and of a pair that differs in something both are shown, under a line that says in what.

  halo diff before.hlo after.hlo
  halo diff jax-0.4.hlo jax-0.5.hlo --passes=simplify
  halo opt -O2 m.hlo | halo diff m.hlo -

The exit status is 0 if the programs are the same but for names, and 1 if they differ.`
}

// changed is a difference as --json shows it.
type changed struct {
	Computation string   `json:"computation"`
	Old         string   `json:"old,omitempty"`
	New         string   `json:"new,omitempty"`
	What        []string `json:"what,omitempty"`
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
		if c.Passes != "" {
			pipeline, err := catalogue.Parse(c.Passes)
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
	d := moddiff.Find(pair[0], pair[1])
	if err := c.print(e, d, pair[0], pair[1]); err != nil {
		return err
	}
	if !d.Equal() {
		return failure(exitInput)
	}
	return nil
}

func (c *diffCmd) print(e *env, d *moddiff.Difference, a, b hlo.Module) error {
	if c.Quiet {
		return nil
	}
	all := []changed{}
	linesA, linesB := printer.NewLines(a, printer.Config{}), printer.NewLines(b, printer.Config{})
	for _, ch := range d.Changes {
		x := changed{What: ch.What}
		if !ch.Old.IsZero() {
			x.Computation, x.Old = ch.Old.Computation().Name(), lineOf(linesA, ch.Old)
		}
		if !ch.New.IsZero() {
			x.Computation, x.New = ch.New.Computation().Name(), lineOf(linesB, ch.New)
		}
		all = append(all, x)
	}
	if c.JSON {
		r := record{File: c.B, OK: d.Equal()}
		r.add("against", c.A)
		r.add("same", d.Same)
		r.add("changes", all)
		r.add("header", append([]string{}, d.Header...))
		r.add("only_old", names(d.OnlyOld))
		r.add("only_new", names(d.OnlyNew))
		return json.NewEncoder(e.stdout).Encode(r)
	}
	out := bufio.NewWriter(e.stdout)
	for _, h := range d.Header {
		fmt.Fprintf(out, "the headers differ in %s\n", h)
	}
	last := ""
	for _, x := range all {
		if x.Computation != last {
			last = x.Computation
			fmt.Fprintf(out, "@ %%%s\n", last)
		}
		if x.What != nil {
			fmt.Fprintf(out, "  %s\n", strings.Join(x.What, ", "))
		}
		if x.Old != "" {
			fmt.Fprintf(out, "- %s\n", x.Old)
		}
		if x.New != "" {
			fmt.Fprintf(out, "+ %s\n", x.New)
		}
	}
	whole := func(sign string, m hlo.Module, list []hlo.Computation) {
		for _, k := range list {
			text, err := printer.AppendComputation(nil, m, k, printer.Config{})
			if err != nil {
				text = []byte("%" + k.Name())
			}
			for line := range strings.Lines(string(text)) {
				fmt.Fprintf(out, "%s %s\n", sign, strings.TrimRight(line, "\n"))
			}
		}
	}
	whole("-", a, d.OnlyOld)
	whole("+", b, d.OnlyNew)
	return out.Flush()
}

func names(list []hlo.Computation) []string {
	all := []string{}
	for _, c := range list {
		all = append(all, c.Name())
	}
	return all
}
