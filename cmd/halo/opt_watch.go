package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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
		s := stepOf(r)
		w.steps = append(w.steps, s)
		if print {
			fmt.Fprintf(w.stderr, "%10.3f ms  %7d instructions  %s%s\n", s.MS, s.Instructions, r.Path, statsText(r.Statistics))
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

func (w *watch) remarks() pass.Instrument {
	return pass.Instrument{Remark: func(name string, in hlo.Instruction, text string) {
		fmt.Fprintf(w.stderr, "remark: %s: %%%s: %s\n", name, in.Name(), text)
	}}
}

// dump writes modules into a folder under the names that XLA gives them.
type dump struct {
	dir, module string
	passes      *regexp.Regexp
	all         bool // XLA's special case: .* is what changed, not everything
	n           int
	last        hlo.Module
	w           watch
	err         error
}

func newDump(dir, passes string, number int, m hlo.Module, cfg printer.Config) (*dump, error) {
	d := &dump{dir: dir, module: fmt.Sprintf("module_%04d.%s", number, fileName(m.Name())), all: passes == ".*", last: m, w: watch{cfg: cfg}}
	if passes != "" {
		re, err := regexp.Compile(passes)
		if err != nil {
			return nil, fmt.Errorf("--dump-pass: %w", err)
		}
		d.passes = re
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	d.write("before_optimizations", m)
	return d, nil
}

func (d *dump) instrument() pass.Instrument {
	return pass.Instrument{After: func(r pass.Report) {
		path, before, m := r.Path, r.Before, r.After
		d.last = m
		name := path[strings.LastIndexByte(path, '/')+1:]
		if d.passes == nil || !d.passes.MatchString(name) || d.all && before == m {
			return
		}
		d.n++
		pipeline := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(path, name), "/"), "/", ".")
		if pipeline != "" {
			pipeline += "."
		}
		d.write(fmt.Sprintf("%04d.%safter_%s", d.n, pipeline, name), m)
	}}
}

func (d *dump) write(what string, m hlo.Module) {
	if err := os.WriteFile(filepath.Join(d.dir, d.module+"."+what+".txt"), d.w.text(m), 0o666); err != nil && d.err == nil {
		d.err = err
	}
}

func (d *dump) finish(stderr io.Writer) {
	d.write("after_optimizations", d.last)
	if d.err != nil {
		fmt.Fprintf(stderr, "warning: the dump is not complete: %v\n", d.err)
	}
}

// fileName is a module's name without what file systems mind.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) || r < ' ' {
			return '_'
		}
		return r
	}, name[:min(len(name), 100)])
}
