package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// passChecks say how a run of passes is watched over. Reproducers carry them.
type passChecks struct {
	Profile    string   `help:"Verifier profile: doc or xla." default:"doc" enum:"doc,xla"`
	Check      string   `help:"exec or exec:N: evaluate the module before and after each pass that changed it, on N sets of inputs." placeholder:"exec[:N]"`
	Fuel       []string `aliases:"xla_fuel" help:"Bound the number of rewrites: pass=N or pass.rule=N." placeholder:"PASS=N"`
	Reproducer string   `help:"Where a failing pass leaves a reproducer for halo replay; none: nowhere." placeholder:"DIR" default:"."`
}

// run runs a pipeline under the checks. When a pass fails it leaves a reproducer.
func (c *passChecks) run(ctx context.Context, stderr io.Writer, p *pass.Pipeline, m hlo.Module, watch []pass.Instrument) (hlo.Module, error) {
	fuel, err := parseFuel(c.Fuel)
	if err != nil {
		return m, usageError{err}
	}
	rounds, err := c.rounds()
	if err != nil {
		return m, usageError{err}
	}
	left := maps.Clone(fuel)
	keep := pass.Instrument{Before: func(string, hlo.Module) { left = maps.Clone(fuel) }}
	r := &pass.Runner{Fuel: fuel, Check: c.verify(m), Instruments: append(watch, keep)}
	skipped := 0
	if rounds > 0 {
		r.CheckChange = func(ctx context.Context, before, after hlo.Module) error {
			err := shadow.Compare(ctx, before, after, shadow.Config{Rounds: rounds})
			if errors.Is(err, shadow.ErrSkipped) {
				if skipped++; skipped == 1 {
					fmt.Fprintf(stderr, "warning: --check=exec: %v\n", err)
				}
				return nil
			}
			return err
		}
	}
	after, err := r.Run(ctx, p, m)
	var failed *pass.Error
	if !errors.As(err, &failed) {
		return after, err
	}
	if !failed.After.IsZero() {
		if rule := guilty(ctx, r, failed, left); rule != "" {
			err = fmt.Errorf("%w\n%s", err, rule)
		}
	}
	if c.Reproducer != "none" {
		c.Fuel = fuelText(left)
		if path, werr := c.reproduce(failed); werr != nil {
			fmt.Fprintf(stderr, "warning: no reproducer: %v\n", werr)
		} else {
			fmt.Fprintf(stderr, "reproducer: halo replay %s\n", path)
		}
	}
	return after, err
}

// rounds is the number of inputs to evaluate, 0 without --check.
func (c *passChecks) rounds() (int, error) {
	if c.Check == "" {
		return 0, nil
	}
	kind, n, given := strings.Cut(c.Check, ":")
	if !given {
		n = "2"
	}
	rounds, err := strconv.Atoi(n)
	if kind != "exec" || err != nil || rounds < 1 || rounds > 1000 {
		return 0, fmt.Errorf("--check=%s: want exec or exec:N", c.Check)
	}
	return rounds, nil
}

// verify verifies after each pass under the profile that the input satisfies.
func (c *passChecks) verify(m hlo.Module) func(hlo.Module) error {
	cfg := verifier.Config{}
	if c.Profile == "xla" || verifier.Verify(m, cfg).Err() != nil {
		cfg.Profile = verifier.XLA
	}
	return func(m hlo.Module) error { return verifier.Verify(m, cfg).Err() }
}

// guilty finds the rewrite with which the failing pass begins to fail, by running it again with less and less fuel.
func guilty(ctx context.Context, r *pass.Runner, failed *pass.Error, fuel map[string]int) string {
	try := func(n int) (fails bool, last string, spent int) {
		again := &pass.Runner{Check: r.Check, CheckChange: r.CheckChange, Fuel: maps.Clone(fuel)}
		if again.Fuel == nil {
			again.Fuel = map[string]int{}
		}
		again.Fuel[failed.Failed.Name] = n
		again.Instruments = []pass.Instrument{{Rewrite: func(_, rule string) { last = rule; spent++ }}}
		_, err := again.Run(ctx, pass.Of("", failed.Failed), failed.Before)
		return err != nil, last, spent
	}
	fails, _, spent := try(1 << 30)
	if !fails || spent == 0 {
		return ""
	}
	good, bad, rule := 0, spent, ""
	if fails, _, _ = try(0); fails {
		return ""
	}
	for bad-good > 1 {
		if fails, _, _ := try((good + bad) / 2); fails {
			bad = (good + bad) / 2
		} else {
			good = (good + bad) / 2
		}
	}
	_, rule, _ = try(bad)
	return fmt.Sprintf("it begins with rewrite %d of %d, by rule %s: --fuel=%s=%d is still good", bad, spent, rule, failed.Failed.Name, bad-1)
}

// reproduce writes the module that the failing pass was given, with how to run the pass on it.
func (c *passChecks) reproduce(failed *pass.Error) (string, error) {
	cfg, _ := printer.StyleByName("default")
	cfg.LargeConstants = true
	text, err := printer.Append(nil, failed.Before, cfg)
	if err != nil {
		return "", err
	}
	head := replayMark + pass.Of("", failed.Failed).String() + "\n"
	head += replayFlags + "--profile=" + c.Profile
	if c.Check != "" {
		head += " --check=" + c.Check
	}
	for _, f := range c.Fuel {
		head += " --fuel=" + f
	}
	head += "\n// " + strings.ReplaceAll(strings.TrimSpace(failed.Error()), "\n", "\n// ") + "\n\n"
	if err := os.MkdirAll(c.Reproducer, 0o777); err != nil {
		return "", err
	}
	base := fileName(failed.Before.Name() + "." + failed.Failed.Name)
	for n := 0; ; n++ {
		path := filepath.Join(c.Reproducer, base+".repro.hlo")
		if n > 0 {
			path = filepath.Join(c.Reproducer, fmt.Sprintf("%s.%d.repro.hlo", base, n))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) && n < 1000 {
			continue // earlier reproducers stay
		}
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(head + string(text))
		return path, errors.Join(err, f.Close())
	}
}

func parseFuel(args []string) (map[string]int, error) {
	fuel := map[string]int{}
	for _, a := range args {
		name, n, ok := strings.Cut(a, "=")
		v, err := strconv.Atoi(n)
		if !ok || err != nil || v < 0 {
			return nil, fmt.Errorf("--fuel=%s: want pass=N or pass.rule=N", a)
		}
		fuel[name] = v
	}
	return fuel, nil
}

func fuelText(fuel map[string]int) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(fuel)) {
		all = append(all, fmt.Sprintf("%s=%d", name, fuel[name]))
	}
	return all
}
