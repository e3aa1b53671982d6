//go:build unix

package difftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/attack"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestVerifiedMutants changes the instructions of modules so that they still verify, and holds the engines to each other: both refuse a mutant, or
// both compute the same. Memory of the compiled program lies between pages that must not be touched.
func TestVerifiedMutants(t *testing.T) {
	modules := mutantSeeds(t)
	fates := make(map[Verdict]int)
	attack.Campaign(t, 3000, func(seed uint64) (attack.Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 10))
		v, err := verifiedMutant(rng, modules)
		fates[v]++
		switch v {
		case "":
			return attack.Refused, err
		case Same, IllConditioned:
			return attack.Ran, err
		}
		return attack.Loaded, err
	})
	t.Log(fates)
}

// unexpected says why an outcome is a finding.
func unexpected(m hlo.Module, o Outcome) string {
	switch {
	case o.Verdict == Differ && (open(m) || overflows(m, o.Err)):
		return ""
	case o.Verdict == EvalRefuses && hlotest.Refusal(o.Err):
		return "" // its reason was simplified away
	case o.Verdict == CompileFails && hlotest.Refusal(o.Err):
		return ""
	case !o.Verdict.OK(), o.Verdict == EvalRefuses:
		return string(o.Verdict)
	case o.Verdict == BothRefuse && !hlotest.Refusal(o.Err):
		return "verified, and refused by both"
	case o.Err != nil && (strings.Contains(o.Err.Error(), "panic") || strings.Contains(o.Err.Error(), "runtime error")):
		return "panic"
	}
	return ""
}

// open reports whether a module does what has no one result: it puts numbers in order, of which some are NaN; transforms infinities; or combines
// elements in any order by what is not one op that allows that, or in a type of so few bits that the order makes all the difference.
func open(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			traits := hlo.Info(in.Opcode()).Traits
			switch {
			case (in.Opcode() == hlo.OpSort || in.Opcode() == hlo.OpTopk) && in.OperandInstr(0).Shape().Type().IsFloat(), in.Opcode() == hlo.OpFft:
				return true
			case !traits.Has(hlo.TraitApply) || in.Opcode() == hlo.OpMap || in.Opcode() == hlo.OpSort:
				continue
			}
			for id := range in.Callees() {
				f := m.MustComputation(id)
				if t := f.Root().Shape().Type(); f.NumInstructions() != 3 || t.IsFloat() && t.Bits() <= 8 || !hlo.Info(f.Root().Opcode()).Traits.Has(hlo.TraitFolds) ||
					f.Root().Operand(0) == f.Root().Operand(1) {
					return true
				}
			}
		}
	}
	return false
}

// overflows reports whether results differ by an infinity or NaN in a program of sums, in which the largest numbers overflow on the way or not.
func overflows(m hlo.Module, differ error) bool {
	if text := differ.Error(); !strings.Contains(text, "NaN") && !strings.Contains(text, "Inf") {
		return false
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			switch hlo.Info(in.Opcode()).Work {
			case hlo.WorkContraction, hlo.WorkConvolution, hlo.WorkFold, hlo.WorkWindow, hlo.WorkScatter:
				return true
			}
		}
	}
	return false
}

// verifiedMutant makes mutants until one is verified, a few times, and compares the engines on it.
func verifiedMutant(rng *rand.Rand, modules []hlo.Module) (v Verdict, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for range 20 {
		text := mutantText(rng, modules[rng.IntN(len(modules))])
		m, err := parser.Parse("mutant.hlo", text)
		if err != nil || verifier.Verify(m, verifier.Config{Profile: verifier.XLA, Defined: true, BatchingAxes: true, RNGState: true, ReducerSignatures: true, CollectiveGroups: true}).Err() != nil {
			continue
		}
		guard := &attack.Guard{}
		fill := []arrays.FillKind{arrays.Random, arrays.Random, shadow.Hostile}[rng.IntN(3)]
		o := Run(context.Background(), m, Config{Threads: 1, Runs: 1, Fill: fill, Seed: rng.Uint64(), MaxBytes: 1 << 20, MaxSteps: 20_000, Timeout: time.Second, Allocator: guard})
		if over := guard.Close(); len(over) > 0 {
			return o.Verdict, fmt.Errorf("overrun: %s\n%s", over[0], text)
		}
		if why := unexpected(m, o); why != "" {
			return o.Verdict, fmt.Errorf("%s: %.200s\n%s\n%v", why, fmt.Sprint(o.Err), text, o.Err)
		}
		return o.Verdict, nil
	}
	return "", nil
}

// mutantText is a mutant of a module, or what a reader refuses.
func mutantText(rng *rand.Rand, m hlo.Module) (text string) {
	defer func() {
		if recover() != nil {
			text = "" // a change that no text can spell
		}
	}()
	b, err := printer.Append(nil, attack.Module(rng, m), printer.Config{LargeConstants: true})
	if err != nil {
		return ""
	}
	return string(b)
}

// mutantSeeds are small modules with every op.
func mutantSeeds(t *testing.T) (all []hlo.Module) {
	t.Helper()
	add := func(m hlo.Module, err error) {
		if err == nil && Bytes(m) < 1<<18 {
			if m, err = hlo.FillElided(m); err == nil {
				all = append(all, m)
			}
		}
	}
	for _, text := range hlotest.OpCases(t, 2) {
		add(parser.Parse("ops", text))
	}
	files, err := filepath.Glob("../../testdata/run/*.hlo")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if len(text) < 4000 {
			add(parser.Parse(file, string(text)))
		}
	}
	for seed := range uint64(60) {
		add(hlotest.Wide(seed, 6))
		add(hlotest.Random(seed, 8))
		add(hlotest.Kernels(seed, 1))
	}
	require.NotEmpty(t, all)
	return all
}
