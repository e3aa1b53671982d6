package halocmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
)

// listPassesCmd lists what --passes may name.
type listPassesCmd struct {
	JSON bool `name:"json" help:"One JSON object for each pass and each pipeline: options, rules, phases, order."`
}

func (listPassesCmd) Help() string {
	return `Passes first, then the pipelines and what they run. halo explain NAME explains one.`
}

func (c *listPassesCmd) Run(e *env) error { return listPasses(e.stdout, c.JSON) }

// listedPass is a pass as --json shows it.
type listedPass struct {
	Pass    string   `json:"pass"`
	Doc     string   `json:"doc"`
	Local   bool     `json:"local"` // works on one computation at a time
	Options []listed `json:"options,omitempty"`
	Rules   []listed `json:"rules,omitempty"`
	Makes   []string `json:"makes,omitempty"`
	Breaks  []string `json:"breaks,omitempty"`
	Before  []listed `json:"before,omitempty"` // passes that it must precede, and why
	After   []listed `json:"after,omitempty"`
	In      []string `json:"pipelines,omitempty"`
}

type listed struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

func listPasses(out io.Writer, asJSON bool) error {
	if !asJSON {
		width := 0
		for _, p := range catalogue.All() {
			width = max(width, len(p.Name))
		}
		for _, p := range catalogue.All() {
			fmt.Fprintf(out, "%-*s %s\n", width, p.Name, title(p.Doc))
		}
		for name, p := range catalogue.Pipelines {
			fmt.Fprintf(out, "%-*s %s: %s\n", width, name, p.Doc, p.Text)
		}
		return nil
	}
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, p := range catalogue.All() {
		if err := lines.Encode(listedOf(p)); err != nil {
			return err
		}
	}
	for name, p := range catalogue.Pipelines {
		if err := lines.Encode(map[string]string{"pipeline": name, "doc": p.Doc, "passes": p.Text}); err != nil {
			return err
		}
	}
	return nil
}

func listedOf(p *pass.Pass) listedPass {
	l := listedPass{Pass: p.Name, Doc: p.Doc, Local: p.Local != nil, In: pipelinesWith(p)}
	for _, o := range p.Params {
		l.Options = append(l.Options, listed{o.Name, o.Doc})
	}
	for _, r := range p.Rules() {
		l.Rules = append(l.Rules, listed{r.ID, r.Doc})
	}
	for _, phase := range p.Makes {
		l.Makes = append(l.Makes, string(phase))
	}
	for _, phase := range p.Breaks {
		l.Breaks = append(l.Breaks, string(phase))
	}
	for _, o := range catalogue.Orders() {
		switch p.Name {
		case o.Before:
			l.Before = append(l.Before, listed{o.After, o.Because})
		case o.After:
			l.After = append(l.After, listed{o.Before, o.Because})
		}
	}
	return l
}

// pipelinesWith names the pipelines that a pass is in.
func pipelinesWith(p *pass.Pass) (in []string) {
	for name, pl := range catalogue.Pipelines {
		parsed, err := catalogue.Parse(pl.Text)
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
	return in
}

// explainWhole prints all that is known about a pass.
func explainWhole(out io.Writer, p *pass.Pass) {
	l := listedOf(p)
	fmt.Fprintf(out, "%s: %s\n", l.Pass, l.Doc)
	list := func(title, format string, lines []listed) {
		for i, x := range lines {
			if i == 0 {
				fmt.Fprintf(out, "\n%s:\n", title)
			}
			fmt.Fprintf(out, format, x.Name, x.Doc)
		}
	}
	list("Options", "  %-14s %s\n", l.Options)
	list("Rules", "  %-5s %s\n", l.Rules)
	if len(l.Before)+len(l.After) > 0 {
		fmt.Fprint(out, "\nOrder:\n")
		for _, o := range l.Before {
			fmt.Fprintf(out, "  before %s: %s\n", o.Name, o.Doc)
		}
		for _, o := range l.After {
			fmt.Fprintf(out, "  after %s: %s\n", o.Name, o.Doc)
		}
	}
	for verb, phases := range map[string][]string{"makes": l.Makes, "undoes": l.Breaks} {
		if len(phases) > 0 {
			fmt.Fprintf(out, "\nIt %s modules %s.\n", verb, strings.Join(phases, ", "))
		}
	}
	if len(l.In) > 0 {
		fmt.Fprintf(out, "\nIn the pipelines %s.\n", strings.Join(l.In, ", "))
	}
}
