package halocmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/printer"
)

// explainPass prints the documentation of a pass, of one of its rules, or of a pipeline. It reports whether there is one.
func explainPass(out io.Writer, name string) (bool, error) {
	name = strings.ReplaceAll(name, "_", "-")
	base, rule, _ := strings.Cut(name, ".")
	for _, p := range catalogue.All() {
		if p.Name != base {
			continue
		}
		if rule == "" {
			explainWhole(out, p)
			return true, nil
		}
		for _, r := range p.Rules() {
			if strings.EqualFold(r.ID, rule) {
				fmt.Fprintf(out, "%s.%s: %s\n", p.Name, r.ID, r.Doc)
				if r.Text != "" {
					fmt.Fprintf(out, "\n  %s\n", r.Text)
				}
				return true, nil
			}
		}
		return false, usageError{fmt.Errorf("pass %s has no rule %q", base, rule)}
	}
	for n, p := range catalogue.Pipelines {
		if n == name {
			fmt.Fprintf(out, "%s: %s\n\n  %s\n", n, p.Doc, p.Text)
			return true, nil
		}
	}
	return false, nil
}

// knownRule refuses the name of a rule that no pass documents.
func knownRule(name string) error {
	base, rule, _ := strings.Cut(name, ".")
	for _, p := range catalogue.All() {
		if p.Name == base && slices.ContainsFunc(p.Rules(), func(r pass.Rule) bool { return r.ID == rule }) {
			return nil
		}
	}
	return fmt.Errorf("there is no rule %q; halo opt --explain=PASS lists those of a pass", name)
}

// remarksOn keeps what passes say of the instructions of a name: why sharding propagation decided for a sharding, for instance.
func remarksOn(name string, said *[]pass.Remark) pass.Instrument {
	name = strings.TrimPrefix(name, "%")
	return pass.Instrument{Remark: func(r pass.Remark) {
		if r.In.Name() == name {
			*said = append(*said, r)
		}
	}}
}

// explainInstruction prints where the instructions of a name come from, what became of them, and what passes said of them: name is looked for in the
// module before and after the passes.
func (e *env) explainInstruction(ctx context.Context, r *record, h *pass.History, said []pass.Remark, before, after hlo.Module, name string) error {
	name = strings.TrimPrefix(name, "%")
	type place struct {
		comp  hlo.CompID
		instr hlo.InstrID
	}
	var places []place
	for _, m := range []hlo.Module{after, before} {
		for c := range m.Computations() {
			if in, ok := c.ByName(name); ok && !slices.Contains(places, place{c.ID(), in.ID()}) {
				places = append(places, place{c.ID(), in.ID()})
			}
		}
	}
	if len(places) == 0 {
		return fmt.Errorf("there is no instruction %%%s, neither before the passes nor after%s", name, instructionMeant(name, "", before, after))
	}
	var text strings.Builder
	for _, p := range places {
		events, err := h.Of(ctx, p.comp, p.instr)
		if err != nil {
			return err
		}
		tell(&text, events, before, after, p.comp, p.instr)
	}
	for _, s := range said {
		fmt.Fprintf(&text, "  %s, %v: %s\n", s.Pass, s.Kind, s.Text)
	}
	if e.records {
		r.add("explanation", text.String())
		return nil
	}
	_, err := fmt.Fprint(e.stdout, text.String())
	return err
}

// lineOf is an instruction as text.
func lineOf(lines *printer.Lines, in hlo.Instruction) string {
	b, err := lines.Append(nil, in)
	if err != nil {
		return "%" + in.Name()
	}
	return strings.TrimPrefix(strings.TrimSpace(string(b)), "ROOT ")
}

// byWhom names the pass and the rewrite of an event.
func byWhom(e pass.Event) string {
	if e.Rule == "" {
		return e.Path
	}
	by := fmt.Sprintf("%s, rewrite %d, %s", e.Path, e.Rewrite, e.Rule)
	for _, r := range e.Pass.Rules() {
		if r.ID == e.Rule {
			by += ": " + r.Doc
		}
	}
	return by
}

func tell(out io.Writer, events []pass.Event, before, after hlo.Module, comp hlo.CompID, instr hlo.InstrID) {
	lines := printer.NewLines(after, printer.Config{})
	text := func(in hlo.Instruction) string { return lineOf(lines, in) }
	last := ""
	subject := func(in hlo.Instruction) {
		if t := text(in); t != last {
			fmt.Fprintln(out, t)
			last = t
		}
	}
	find := func(m hlo.Module) (in hlo.Instruction, ok bool) {
		if c, has := m.Computation(comp); has {
			in, ok = c.At(instr)
		}
		return in, ok
	}
	if len(events) == 0 || events[0].Kind != pass.Made {
		in, ok := find(before)
		if len(events) > 0 {
			in, ok = events[0].Old, true
		}
		if ok {
			where := ""
			if p := in.Position(); p.IsKnown() {
				where = fmt.Sprintf(", line %d", p.Line)
			}
			subject(in)
			fmt.Fprintf(out, "  is in the input%s\n", where)
		}
	}
	for _, e := range events {
		by := byWhom(e)
		switch e.Kind {
		case pass.Made:
			subject(e.New)
			fmt.Fprintf(out, "  made by %s\n", by)
			for _, o := range e.Others {
				fmt.Fprintf(out, "    in the place of %s\n", text(o))
			}
		case pass.Removed:
			subject(e.Old)
			fmt.Fprintf(out, "  removed by %s\n", by)
			for _, o := range e.Others {
				fmt.Fprintf(out, "    replaced by %s\n", text(o))
			}
		default:
			subject(e.New)
			fmt.Fprintf(out, "  edited by %s\n", by)
		}
	}
	if _, ok := find(after); ok {
		fmt.Fprint(out, "  and is in the result\n")
	}
}
