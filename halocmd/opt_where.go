package halocmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/printer"
)

// fateEvent is something that happened to an instruction, as --json shows it.
type fateEvent struct {
	Kind     string   `json:"kind"`
	Pass     string   `json:"pass"`
	Rule     string   `json:"rule,omitempty"`
	Rewrite  int      `json:"rewrite,omitempty"`
	Text     string   `json:"text"` // of the instruction before
	Replaced []string `json:"replaced_by,omitempty"`
}

// where reports what happened to the instructions of a name in the input, and what stands for each now.
func (e *env) where(ctx context.Context, r *record, h *pass.History, before, after hlo.Module, name string) error {
	name = strings.TrimPrefix(name, "%")
	was, is := printer.NewLines(before, printer.Config{}), printer.NewLines(after, printer.Config{})
	found := false
	for c := range before.Computations() {
		in, ok := c.ByName(name)
		if !ok {
			continue
		}
		found = true
		outcome, err := h.Outcome(ctx, after, c.ID(), in.ID())
		if err != nil {
			return err
		}
		events, now := []fateEvent{}, []string{}
		for _, ev := range outcome.Events {
			f := fateEvent{Kind: ev.Kind.String(), Pass: ev.Path, Rule: ev.Rule, Rewrite: ev.Rewrite, Text: lineOf(was, ev.Old)}
			for _, o := range ev.Others {
				f.Replaced = append(f.Replaced, lineOf(is, o))
			}
			events = append(events, f)
		}
		for _, in := range outcome.Now {
			now = append(now, fmt.Sprintf("%s, in %%%s", lineOf(is, in), in.Computation().Name()))
		}
		r.add("instruction", lineOf(was, in))
		r.add("events", events)
		r.add("now", now)
		if e.records {
			continue
		}
		fmt.Fprintf(e.stdout, "%s\n", lineOf(was, in))
		for i, ev := range outcome.Events {
			fmt.Fprintf(e.stdout, "  %s by %s\n", ev.Kind, byWhom(ev))
			for _, o := range events[i].Replaced {
				fmt.Fprintf(e.stdout, "    replaced by %s\n", o)
			}
		}
		if len(now) == 0 {
			fmt.Fprint(e.stdout, "  is gone\n")
		}
		for _, text := range now {
			fmt.Fprintf(e.stdout, "  is now %s\n", text)
		}
	}
	if !found {
		return fmt.Errorf("there is no instruction %%%s in the input%s", name, instructionMeant(name, "; --explain looks in the result too", before))
	}
	return nil
}
