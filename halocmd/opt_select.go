package halocmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// passSelection leaves passes of a pipeline out. A pattern is a name, a glob over names, or a position as --timing prints it; see
// [pass.Matches]. XLA's spellings of the flags, and of names, are read too.
type passSelection struct {
	DisablePass []string `aliases:"xla_disable_hlo_passes" help:"Leave out these passes: dce, cse*, simplify#2, O2/simplify#2/algsimp@3." placeholder:"PATTERN"`
	OnlyPass    []string `aliases:"xla_enable_hlo_passes_only" help:"Run only these passes." placeholder:"PATTERN"`
	DisableAll  bool     `name:"disable-all-passes" aliases:"xla_disable_all_hlo_passes" help:"Run no pass."`
	StartFrom   string   `aliases:"xla_run_hlo_passes_starting_from,skip-to" help:"Leave out all passes before this one." placeholder:"PATTERN"`
	StopAfter   string   `help:"Leave out all passes after the first run of this one." placeholder:"PATTERN"`
	KeepLegal   bool     `help:"Run the passes that lowering needs even if they are excluded."`
}

// skip checks the patterns and returns a maker of instruments, one for each module: where to start and stop is a state.
func (s *passSelection) skip() (func() pass.Instrument, error) {
	if len(s.DisablePass) > 0 && len(s.OnlyPass) > 0 {
		return nil, fmt.Errorf("--disable-pass and --only-pass exclude each other")
	}
	for _, p := range slices.Concat(s.DisablePass, s.OnlyPass, []string{s.StartFrom, s.StopAfter}) {
		if err := catalogue.Check(p); err != nil {
			return nil, err
		}
	}
	var legal []*pass.Pass
	if s.KeepLegal && s.selects() { // the whole catalogue is made for it
		legal = legalising()
	}
	return func() pass.Instrument {
		started, stopped := s.StartFrom == "", false
		return pass.Instrument{Skip: func(at string) bool {
			matches := func(p string) bool { return pass.Matches(p, at) }
			started = started || matches(s.StartFrom)
			skip := s.DisableAll || !started || stopped || slices.ContainsFunc(s.DisablePass, matches) ||
				len(s.OnlyPass) > 0 && !slices.ContainsFunc(s.OnlyPass, matches)
			stopped = stopped || !skip && s.StopAfter != "" && matches(s.StopAfter)
			if s.KeepLegal && slices.ContainsFunc(legal, func(p *pass.Pass) bool { return pass.Matches(p.Name, at[strings.LastIndexByte(at, '/')+1:]) }) {
				return false
			}
			return skip
		}}
	}, nil
}

// selects reports whether anything may be left out.
func (s *passSelection) selects() bool {
	return s.DisableAll || s.StartFrom != "" || s.StopAfter != "" || len(s.DisablePass)+len(s.OnlyPass) > 0
}

// legalising lists the passes that make modules legal for lowering.
func legalising() (all []*pass.Pass) {
	for _, p := range catalogue.All() {
		if slices.Contains(p.Makes, pass.Legal) {
			all = append(all, p)
		}
	}
	return all
}

// stillNeeded lists the passes that a module needs before it can be lowered: those that would change it.
func stillNeeded(ctx context.Context, m hlo.Module) (names []string, err error) {
	for _, p := range legalising() {
		after, err := (&pass.Runner{}).Run(ctx, pass.Of("", p), m)
		if err != nil {
			return nil, err
		}
		if after != m {
			names = append(names, p.Name)
		}
	}
	return names, nil
}

// adviseLegal says which passes a module that came out of a selection still needs.
func (s *passSelection) adviseLegal(ctx context.Context, stderr io.Writer, m hlo.Module) error {
	if !s.selects() {
		return nil
	}
	names, err := stillNeeded(ctx, m)
	if err == nil && len(names) > 0 {
		fmt.Fprintf(stderr, "note: before it is lowered the module needs %s; with --keep-legal such passes of the pipeline run in any case\n", strings.Join(names, ", "))
	}
	return err
}

// adviseOrder says which passes of a pipeline that somebody wrote are out of place. The standard ones keep all constraints.
func adviseOrder(stderr io.Writer, p *pass.Pipeline) {
	for _, c := range pass.Conflicts(p.Passes(), catalogue.Orders()) {
		fmt.Fprintf(stderr, "note: %v\n", c)
	}
}
