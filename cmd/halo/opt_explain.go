package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
)

func listPasses(out io.Writer) {
	for _, p := range passes.All() {
		fmt.Fprintf(out, "%-34s %s\n", p.Name, title(p.Doc))
	}
	for name, p := range passes.Pipelines {
		fmt.Fprintf(out, "%-34s %s: %s\n", name, p.Doc, p.Text)
	}
}

// explainPass prints the documentation of a pass, of one of its rules, or of a pipeline.
func explainPass(out io.Writer, name string) error {
	name = strings.ReplaceAll(name, "_", "-")
	base, rule, _ := strings.Cut(name, ".")
	for _, p := range passes.All() {
		if p.Name != base {
			continue
		}
		if rule == "" {
			explainWhole(out, p)
			return nil
		}
		for _, r := range p.Rules {
			if strings.EqualFold(r.ID, rule) {
				fmt.Fprintf(out, "%s.%s: %s\n", p.Name, r.ID, r.Doc)
				return nil
			}
		}
		return usageError{fmt.Errorf("pass %s has no rule %q", base, rule)}
	}
	for n, p := range passes.Pipelines {
		if n == name {
			fmt.Fprintf(out, "%s: %s\n\n  %s\n", n, p.Doc, p.Text)
			return nil
		}
	}
	// The reader of pipelines knows the nearest name.
	_, err := passes.Parse(name)
	if err == nil {
		err = fmt.Errorf("nothing is known about %q", name)
	}
	return usageError{err}
}

func explainWhole(out io.Writer, p *pass.Pass) {
	fmt.Fprintf(out, "%s: %s\n", p.Name, p.Doc)
	for i, r := range p.Rules {
		if i == 0 {
			fmt.Fprint(out, "\nRules:\n")
		}
		fmt.Fprintf(out, "  %-5s %s\n", r.ID, r.Doc)
	}
	var lines []string
	for _, o := range passes.Orders {
		switch p.Name {
		case o.Before:
			lines = append(lines, fmt.Sprintf("  before %s: %s\n", o.After, o.Because))
		case o.After:
			lines = append(lines, fmt.Sprintf("  after %s: %s\n", o.Before, o.Because))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(out, "\nOrder:\n%s", strings.Join(lines, ""))
	}
	var in []string
	for name, pl := range passes.Pipelines {
		parsed, err := passes.Parse(pl.Text)
		if err != nil {
			continue
		}
		for _, q := range parsed.Passes() {
			if q.Name == p.Name {
				in = append(in, name)
				break
			}
		}
	}
	if len(in) > 0 {
		fmt.Fprintf(out, "\nIn the pipelines %s.\n", strings.Join(in, ", "))
	}
}
