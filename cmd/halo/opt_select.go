package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
)

// passSelection leaves passes of a pipeline out. A pattern is the name of a pass, a glob over names, or, with a slash, over paths
// (O2/simplify/*). XLA's spellings of the flags, and of names, are read too.
type passSelection struct {
	DisablePass []string `aliases:"xla_disable_hlo_passes" help:"Leave out these passes." placeholder:"PATTERN"`
	OnlyPass    []string `aliases:"xla_enable_hlo_passes_only" help:"Run only these passes." placeholder:"PATTERN"`
	DisableAll  bool     `name:"disable-all-passes" aliases:"xla_disable_all_hlo_passes" help:"Run no pass."`
	StartFrom   string   `aliases:"xla_run_hlo_passes_starting_from" help:"Leave out all passes before this one." placeholder:"PATTERN"`
	StopAfter   string   `help:"Leave out all passes after the first run of this one." placeholder:"PATTERN"`
}

// skip checks the patterns and returns a maker of instruments, one for each module: where to start and stop is a state.
func (s *passSelection) skip() (func(stderr io.Writer) pass.Instrument, error) {
	if len(s.DisablePass) > 0 && len(s.OnlyPass) > 0 {
		return nil, fmt.Errorf("--disable-pass and --only-pass exclude each other")
	}
	for _, p := range slices.Concat(s.DisablePass, s.OnlyPass, []string{s.StartFrom, s.StopAfter}) {
		if err := checkPattern(p); err != nil {
			return nil, err
		}
	}
	return func(stderr io.Writer) pass.Instrument {
		started, stopped := s.StartFrom == "", false
		return pass.Instrument{Skip: func(at string) bool {
			started = started || selects(s.StartFrom, at)
			skip := s.DisableAll || !started || stopped || slices.ContainsFunc(s.DisablePass, func(p string) bool { return selects(p, at) }) ||
				len(s.OnlyPass) > 0 && !slices.ContainsFunc(s.OnlyPass, func(p string) bool { return selects(p, at) })
			stopped = stopped || !skip && s.StopAfter != "" && selects(s.StopAfter, at)
			return skip
		}}
	}, nil
}

// checkPattern refuses a malformed glob, and a plain name that nothing has: a misspelt pass would else run after all.
func checkPattern(p string) error {
	p = strings.ReplaceAll(p, "_", "-")
	if _, err := path.Match(p, ""); err != nil {
		return fmt.Errorf("pattern %q: %w", p, err)
	}
	if p == "" || strings.ContainsAny(p, `*?[/`) {
		return nil
	}
	_, err := passes.Parse(p)
	return err
}

// selects reports whether a pattern names the pass at a path, or a pipeline around it.
func selects(pattern, at string) bool {
	if pattern == "" {
		return false
	}
	pattern = strings.ReplaceAll(pattern, "_", "-")
	if strings.Contains(pattern, "/") {
		ok, _ := path.Match(pattern, at)
		return ok
	}
	return slices.ContainsFunc(strings.Split(at, "/"), func(name string) bool { ok, _ := path.Match(pattern, name); return ok })
}
