package halocmd

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
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// passChecks say how a run of passes is watched over. Reproducers carry them.
type passChecks struct {
	Profile               string   `help:"Verifier profile: doc or xla." default:"doc" enum:"doc,xla"`
	MixedPrecision        bool     `help:"Accept operands of different floating-point widths where XLA's verifier can."`
	Check                 string   `help:"exec or exec:N: evaluate the module before and after each pass that changed it, on N sets of inputs." placeholder:"exec[:N]"`
	Fuel                  []string `aliases:"xla_fuel" help:"Bound the number of rewrites: pass=N or pass.rule=N." placeholder:"PASS=N"`
	Rules                 []string `help:"Take rules out, -algsimp.A12, or add a file of them: mine.rules." placeholder:"-PASS.RULE|FILE"`
	FP                    string   `name:"fp" help:"Floating-point changes that rewrites may make: strict (none), xla (those of XLA's), fast (anything that holds for real numbers)." default:"strict" enum:"strict,xla,fast"`
	Budget                []string `help:"Limit each pass: time=1s, instructions=1000 (added by copying code), bytes=1000000 (of folded constants)." placeholder:"WHAT=N"`
	Units                 string   `help:"Folder of the modules that hlo-module-splitter writes, as NAME.hlo, and hlo-module-stitcher reads." placeholder:"DIR" type:"path"`
	thorough, countMemory bool
	Reproducer            string `help:"Folder for the reproducers of failing passes; none writes no reproducer. Default: the current folder." placeholder:"DIR" default:"."`
}

// valid finds mistakes in the flags before a file is read.
func (c *passChecks) valid() error {
	_, err := c.fuel()
	if err == nil {
		_, err = c.rounds()
	}
	if err == nil {
		err = c.limit(&pass.Runner{})
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// run runs a pipeline under the checks. When a pass fails it leaves a reproducer.
func (c *passChecks) run(ctx context.Context, stderr io.Writer, p *pass.Pipeline, m hlo.Module, watch []pass.Instrument) (hlo.Module, error) {
	fuel, err := c.fuel()
	if err != nil {
		return m, usageError{err}
	}
	rounds, err := c.rounds()
	if err != nil {
		return m, usageError{err}
	}
	r := &pass.Runner{Fuel: fuel, Check: c.verify(m), Thorough: c.thorough, CountMemory: c.countMemory}
	if err := c.limit(r); err != nil {
		return m, usageError{err}
	}
	left := maps.Clone(fuel)
	var fired pass.FP // the worst class of the rewrites of the pass that ran last
	keep := pass.Instrument{Before: func(string, hlo.Module) { left = maps.Clone(fuel) }, After: func(rep pass.Report) { fired = rep.Class() }}
	r.Instruments = append(watch, keep)
	skipped := 0
	if rounds > 0 {
		r.CheckChange = func(ctx context.Context, before, after hlo.Module) error {
			err := shadow.Compare(ctx, before, after, shadow.Config{Rounds: rounds, Class: fired})
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
		c.Fuel, c.Rules = fuelText(left), nil
		if path, werr := c.reproduce(failed); werr != nil {
			fmt.Fprintf(stderr, "warning: no reproducer: %v\n", werr)
		} else {
			fmt.Fprintf(stderr, "reproducer: halo replay %s\n", path)
		}
	}
	return after, err
}

// limit sets policy and budget.
func (c *passChecks) limit(r *pass.Runner) (err error) {
	if c.Units != "" {
		r.Units = unitFolder(c.Units)
	}
	if c.FP != "" {
		if r.FP, err = pass.ParseFP(c.FP); err != nil {
			return fmt.Errorf("--fp=%w", err)
		}
	}
	for _, b := range c.Budget {
		what, n, _ := strings.Cut(b, "=")
		count, err := strconv.ParseInt(n, 10, 63)
		switch what {
		case "time":
			r.Budget.Time, err = time.ParseDuration(n)
		case "instructions":
			r.Budget.Instructions = int(count)
		case "bytes":
			r.Budget.Bytes = count
		default:
			err = errors.New("want time, instructions or bytes")
		}
		if err != nil {
			return fmt.Errorf("--budget=%s: %w", b, err)
		}
	}
	return nil
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
	cfg := verifierConfig(verifier.Config{MixedPrecision: c.MixedPrecision})
	var sound hlo.Module // the last one that was found to be so
	verify := func(m hlo.Module) error {
		if m == sound {
			return nil
		}
		cfg := cfg
		cfg.Known = unchanged(sound, m)
		err := verifier.Verify(m, cfg).Err()
		if err == nil {
			sound = m
		}
		return err
	}
	if c.Profile == "xla" || verify(m) != nil {
		cfg.Profile = verifier.XLA
	}
	return verify
}

// unchanged reports, for instructions of m, whether they are as they were in an earlier version; nil if that is not known, or the header has changed.
func unchanged(old, m hlo.Module) func(hlo.Instruction) bool {
	if old.IsZero() || !m.SameLineage(old) {
		return nil
	}
	var touched idmap.Map[hlo.CompID, *idmap.Set[hlo.InstrID]]
	var whole idmap.Set[hlo.CompID]
	for ch := range m.Diff(old) {
		switch ch.Kind {
		case hlo.HeaderChanged:
			return nil
		case hlo.OrderChanged: // no instruction is checked by itself for where it stands
		default:
			if ch.Instr == hlo.NoInstr {
				whole.Add(ch.Comp)
				continue
			}
			set := touched.At(ch.Comp)
			if *set == nil {
				*set = new(idmap.Set[hlo.InstrID])
			}
			(*set).Add(ch.Instr)
		}
	}
	return func(in hlo.Instruction) bool {
		c := in.Computation().ID()
		set := touched.Get(c)
		return (set == nil || !set.Has(in.ID())) && !whole.Has(c)
	}
}

// guilty finds the rewrite with which the failing pass begins to fail, by running it again with less and less fuel.
func guilty(ctx context.Context, r *pass.Runner, failed *pass.Error, fuel map[string]int) string {
	try := func(n int) (fails bool, last string, spent int) {
		again := &pass.Runner{Check: r.Check, CheckChange: r.CheckChange, Fuel: maps.Clone(fuel), FP: failed.FP, Budget: r.Budget, Units: r.Units}
		if again.Fuel == nil {
			again.Fuel = map[string]int{}
		}
		again.Fuel[failed.Failed.Name] = n
		again.Instruments = []pass.Instrument{{Rewrite: func(_, rule string) { last = rule; spent++ }, After: r.Instruments[len(r.Instruments)-1].After}}
		_, err := again.Run(ctx, pass.Of("", failed.Failed), failed.Before)
		return err != nil, last, spent
	}
	fails, _, spent := try(1 << 30)
	if !fails || spent == 0 {
		return ""
	}
	if fails, _, _ = try(0); fails {
		return ""
	}
	bad := halve(0, spent, func(n int) bool { fails, _, _ := try(n); return fails })
	_, rule, _ := try(bad)
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
	run := *c
	run.FP = failed.FP.Policy() // a part of the pipeline may have had its own
	head := run.head(pass.Of("", failed.Failed).String()) + "// made by " + halo.Version() + "\n"
	head += "// " + strings.ReplaceAll(strings.TrimSpace(failed.Error()), "\n", "\n// ") + "\n\n"
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

// head is the lines from which halo replay learns what to run.
func (c *passChecks) head(passes string) string {
	head := replayMark + passes + "\n"
	head += replayFlags + "--profile=" + c.Profile
	if c.MixedPrecision {
		head += " --mixed-precision"
	}
	if c.Check != "" {
		head += " --check=" + c.Check
	}
	if c.FP != "" && c.FP != "strict" {
		head += " --fp=" + c.FP
	}
	for _, b := range c.Budget {
		head += " --budget=" + b
	}
	for _, f := range c.Fuel {
		head += " --fuel=" + f
	}
	return head + "\n"
}

// ownRules is a pipeline with the files of --rules behind it.
func (c *passChecks) ownRules(pipeline string) string {
	for _, a := range c.Rules {
		if isRules(a) {
			pipeline = strings.TrimPrefix(fmt.Sprintf("%s,rules{file=%q},dce", pipeline, a), ",")
		}
	}
	return pipeline
}

// fuel reads --fuel, and --rules: a rule without fuel is out.
func (c *passChecks) fuel() (map[string]int, error) {
	fuel := map[string]int{}
	for _, a := range c.Rules {
		if isRules(a) {
			continue // part of the pipeline
		}
		rule, out := strings.CutPrefix(a, "-")
		if err := knownRule(rule); !out || err != nil {
			return nil, errors.Join(fmt.Errorf("--rules=%s: want -pass.rule, or a file that ends in .rules", a), err)
		}
		fuel[rule] = 0
	}
	for _, a := range c.Fuel {
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
