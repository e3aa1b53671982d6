package halocmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/printer"
)

// watch reports on one run of a pipeline.
type watch struct {
	stderr  io.Writer
	cfg     printer.Config
	steps   []step
	reports []pass.Report
	sizes   sizes
	remarks []remark
}

func (w *watch) text(m hlo.Module) []byte {
	text, err := printer.Append(nil, m, w.cfg)
	if err != nil {
		return fmt.Appendf(nil, "// %v\n", err)
	}
	return text
}

// print prints modules as the values of --print ask.
func (w *watch) print(when []string) (all []pass.Instrument) {
	dump := func(what, path string, m hlo.Module) { fmt.Fprintf(w.stderr, "// %s %s\n%s", what, path, w.text(m)) }
	for _, what := range slices.Compact(slices.Sorted(slices.Values(when))) {
		switch what {
		case "before":
			all = append(all, pass.Instrument{Before: func(path string, m hlo.Module) { dump(what, path, m) }})
		case "after", "changed":
			all = append(all, pass.Instrument{After: func(r pass.Report) {
				if what == "after" || r.Changed() {
					dump("after", r.Path, r.After)
				}
			}})
		case "diff":
			all = append(all, pass.Instrument{After: func(r pass.Report) {
				if r.Changed() {
					w.stderr.Write(diff.Diff("before "+r.Path, w.text(r.Before), "after "+r.Path, w.text(r.After)))
				}
			}})
		case "instructions":
			all = append(all, pass.Instrument{After: func(r pass.Report) {
				if r.Changed() {
					fmt.Fprintf(w.stderr, "// changed by %s\n%s", r.Path, instructionDiff(r.Before, r.After, w.cfg))
				}
			}})
		}
	}
	return all
}

// time keeps what each pass did, and prints it too if asked.
func (w *watch) time(print bool) pass.Instrument {
	return pass.Instrument{After: func(r pass.Report) {
		w.reports = append(w.reports, r)
		s := stepOf(r, &w.sizes)
		w.steps = append(w.steps, s)
		if print {
			fmt.Fprintf(w.stderr, "%10.3f ms %8s  %7d instructions  %s%s%s\n", s.MS, bytesText(s.AllocatedBytes), s.Instructions, r.Path,
				s.Delta.text(), statsText(r.Statistics))
		}
	}}
}

func statsText(stats map[string]int64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(stats)) {
		fmt.Fprintf(&b, " %s=%d", name, stats[name])
	}
	return b.String()
}

func (w *watch) unstable() pass.Instrument {
	return pass.Instrument{Unstable: func(path string, rounds int, last []pass.Report) {
		fmt.Fprintf(w.stderr, "warning: %s still changes the module after %d rounds\n", path, rounds)
		for _, r := range last { // who undoes whose work
			fmt.Fprintf(w.stderr, "  %s%s\n%s", r.Path, statsText(r.Statistics), instructionDiff(r.Before, r.After, w.cfg))
		}
	}}
}
