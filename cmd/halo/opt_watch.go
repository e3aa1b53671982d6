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
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/printer"
)

// watch reports on one run of a pipeline.
type watch struct {
	stderr io.Writer
	cfg    printer.Config
	steps  []step
}

// step is what one pass did, as --json shows it.
type step struct {
	Pass         string           `json:"pass"`
	MS           float64          `json:"ms"`
	Changed      bool             `json:"changed"`
	Instructions int              `json:"instructions"` // afterwards
	Computations int              `json:"computations"`
	Statistics   map[string]int64 `json:"statistics,omitempty"`
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
			all = append(all, after(func(path string, before, m hlo.Module) {
				if what == "after" || before != m {
					dump("after", path, m)
				}
			}))
		case "diff":
			all = append(all, after(func(path string, before, m hlo.Module) {
				if before != m {
					w.stderr.Write(diff.Diff("before "+path, w.text(before), "after "+path, w.text(m)))
				}
			}))
		}
	}
	return all
}

func after(f func(path string, before, after hlo.Module)) pass.Instrument {
	return pass.Instrument{After: func(path string, b, a hlo.Module, _ map[string]int64, _ time.Duration) { f(path, b, a) }}
}

// time keeps what each pass did, and prints it too if asked.
func (w *watch) time(print bool) pass.Instrument {
	return pass.Instrument{After: func(path string, before, after hlo.Module, stats map[string]int64, took time.Duration) {
		s := step{path, float64(took.Microseconds()) / 1000, before != after, after.NumInstructions(), after.NumComputations(), stats}
		w.steps = append(w.steps, s)
		if print {
			fmt.Fprintf(w.stderr, "%10.3f ms  %7d instructions  %s%s\n", s.MS, s.Instructions, path, statsText(stats))
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
	return pass.Instrument{Unstable: func(path string, rounds int) {
		fmt.Fprintf(w.stderr, "warning: %s still changes the module after %d rounds\n", path, rounds)
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
	return after(func(path string, before, m hlo.Module) {
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
	})
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
