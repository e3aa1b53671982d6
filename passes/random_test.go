package passes_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

var (
	seeds     = flag.Int("seeds", 200, "random modules to run every pass on")
	firstSeed = flag.Uint64("first", 0, "the seed of the first")
)

// inexact lists what may change floating-point results, and how far: the pipelines that run at a looser policy.
// Package shadow asks the program how far its roundings move its results.
var inexact = map[string]shadow.Config{
	"logistic-expander": {RTol: 2e-2, ATol: 1e-2, Class: pass.Rounding},
	// In f32, where the evaluator rounds once.
	"complex-function-expander": {Class: pass.Rounding},
	"change-op-data-type":       {Class: pass.Rounding},
	"float-normalization":       {Class: pass.Rounding},
	// The evaluator keeps a sum that it recognises wide, and rounds once; a combiner that converts rounds each of the n partial sums, by at most
	// half a step: n/2 steps, of up to 8 elements.
	"element-type-converter": {Class: pass.Rounding},
	// Other orders of summation, and quotients by elements that rounding alone has made.
	"cholesky-expander":         {Class: pass.Rounding},
	"eigh-expander":             {Class: pass.Rounding},
	"qr-expander":               {Class: pass.Rounding},
	"triangular-solve-expander": {Class: pass.Rounding},
	// Sums in another order, and quotients written as products.
	"batchnorm-expander":           {Class: pass.Rounding},
	"scatter-determinism-expander": {Class: pass.Rounding},
}

// other lists what is there to change what a program computes: only that the result verifies, and is the same when made again, is tested.
var other = []string{"control-flow-flattening", "rng-expander"}

// carried are passes whose chains go from round to round of a loop: XLA's profile allows that, the stricter one does not.
var carried = []string{"loop-async-carrier{min-us=0}", "loop-async-carrier"}

// asked are passes that are only exact when asked to be.
var asked = map[string]string{
	"bfloat16-propagation": "bfloat16-propagation{effective-low-precision=none}", // the evaluator's dots do not round their operands
}

// TestRandom runs every pass and every standard pipeline over random modules: the result verifies, evaluates to the same bits, is the same when
// made again, and the input is not written to. Odd seeds make modules of all kinds of op.
//
//	go test ./passes -run 'Random$' -seeds 100000 -v
func TestRandom(t *testing.T) {
	runRandom(t, func(seed uint64) (hlo.Module, error) {
		if seed%2 == 1 {
			return hlotest.Wide(seed, 8+int(seed%23))
		}
		return hlotest.Random(seed, 8+int(seed%23))
	})
}

// TestRandomDynamic does the same over modules with arrays whose sizes are known at run time only; sizes are compared too.
//
//	go test ./passes -run RandomDynamic -seeds 100000 -v
func TestRandomDynamic(t *testing.T) {
	runRandom(t, func(seed uint64) (hlo.Module, error) { return hlotest.Dynamic(seed, 6+int(seed%17)) })
}

func runRandom(t *testing.T, make func(seed uint64) (hlo.Module, error)) {
	t.Helper()
	n := *seeds
	if testing.Short() {
		n = min(n, 20)
	}
	names := []string{"loop-async-carrier{min-us=0}", "async-wrapper{ops=[add,multiply,maximum,reduce,exponential] always}", "async-wrapper{ops=[call,while,fusion] always},latency-hiding-scheduler",
		"while-loop-unroller{factor=2}", "while-loop-unroller{factor=3},while-loop-unroller,simplify", "dce{call-analysis}", "gather-expander{m=eliminate-all-gathers}", "scatter-expander{m=eliminate-all-scatters}", "constant-folding{level=aggressive}",
		"rematerialization{memory-limit-bytes=1}", "rematerialization{memory-limit-bytes=400 block-size-limit=1}", "rematerialization{memory-limit-bytes=1},rematerialization{memory-limit-bytes=1},hlo-memory-scheduler",
		"cpu-instruction-fusion,cpu-multi-output-fusion", "instruction-fusion{may-duplicate=false},cpu-multi-output-fusion,cpu-multi-output-fusion",
		"hlo-memory-scheduler,instruction-hoister{hoist-bitcasts=true hoist-gtes=true},constant-deferring", "layout-assignment,reshape-decomposer,instruction-hoister"}
	for _, p := range passes.All() {
		if text, ok := asked[p.Name]; ok {
			names = append(names, text)
		} else {
			names = append(names, p.Name)
		}
	}
	for name := range passes.Pipelines {
		names = append(names, name)
	}
	pipelines := map[string]*pass.Pipeline{}
	for _, name := range names {
		p, err := passes.Parse(name)
		require.NoError(t, err)
		pipelines[name] = p
	}
	var next, checked, changed atomic.Int64
	var wait sync.WaitGroup
	began := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && !t.Failed(); i = next.Add(1) - 1 {
				seed := *firstSeed + uint64(i)
				k, err := keepsMeaning(make, seed, names, pipelines)
				checked.Add(1)
				changed.Add(int64(k))
				assert.NoError(t, err, "seed %d", seed)
				if done := checked.Load(); done%5000 == 0 {
					t.Logf("%d modules, %.0f s", done, time.Since(began).Seconds())
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d modules, %d passes and pipelines on each, %d of the runs changed something, %.0f s",
		checked.Load(), len(names), changed.Load(), time.Since(began).Seconds())
}

// keepsMeaning runs the passes on the module of a seed and counts those that changed it.
func keepsMeaning(make func(seed uint64) (hlo.Module, error), seed uint64, names []string, pipelines map[string]*pass.Pipeline) (changed int, err error) {
	return keepsMeaningUnder(verifier.Config{}, make, seed, names, pipelines)
}

// keepsMeaningUnder does, by other rules of the verifier.
func keepsMeaningUnder(rules verifier.Config, make func(seed uint64) (hlo.Module, error), seed uint64, names []string, pipelines map[string]*pass.Pipeline) (changed int, err error) {
	m, err := make(seed)
	if err != nil {
		return 0, err
	}
	check := func(m hlo.Module) error { return verifier.Verify(m, rules).Err() }
	if err := check(m); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, printer.String(m))
	}
	digest := m.Digest()
	exact := shadow.NewReference(m, shadow.Config{})
	for _, name := range names {
		run := func() (hlo.Module, error) {
			check := check
			if slices.Contains(carried, name) {
				loose := rules
				loose.Profile = verifier.XLA
				check = func(m hlo.Module) error { return verifier.Verify(m, loose).Err() }
			}
			return (&pass.Runner{Check: check}).Run(context.Background(), pipelines[name], m)
		}
		after, err := run()
		if err == nil && after != m {
			changed++
			again, _ := run()
			ref := exact
			if cfg, ok := inexact[name]; ok {
				ref = shadow.NewReference(m, cfg)
			}
			switch a, b := printer.String(after), printer.String(again); {
			case a != b:
				err = fmt.Errorf("the same input gave another output:\n%s\nand\n%s", a, b)
			case !slices.Contains(other, name):
				err = ref.Compare(context.Background(), after)
			}
		}
		if err == nil && m.Digest() != digest {
			err = fmt.Errorf("the pass wrote to its input")
		}
		if err != nil {
			return changed, fmt.Errorf("%s: %w\nbefore:\n%s\nafter:\n%s", name, err, printer.String(m), printer.String(after))
		}
	}
	return changed, nil
}

// TestPassesAreIdempotent holds the passes that canonicalise to their promise: run on their own result they change nothing.
func TestPassesAreIdempotent(t *testing.T) {
	for seed := range 60 {
		m, err := hlotest.Random(uint64(seed), 30)
		require.NoError(t, err)
		for _, name := range []string{"dce", "cse", "fusion-inliner", "flatten-call-graph", "async-to-sync", "simplify"} {
			p, err := passes.Parse(name)
			require.NoError(t, err)
			once, err := (&pass.Runner{}).Run(context.Background(), p, m)
			require.NoError(t, err)
			twice, err := (&pass.Runner{}).Run(context.Background(), p, once)
			require.NoError(t, err)
			if once != twice {
				t.Fatalf("%s changed its own result, seed %d:\n%s\nthen:\n%s", name, seed, printer.String(once), printer.String(twice))
			}
		}
	}
}
