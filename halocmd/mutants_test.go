//go:build unix

package halocmd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/attack"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/printer"
)

// mutantTime is how long a mutant may run: a changed number makes loops of any length.
const mutantTime = "--timeout=200ms"

// attempt gives the command a mutant on standard input. Whatever the mutant says, the command succeeds or reports an error in the input or
// in the command line: never a bug of its own.
func attempt(mutant []byte, args ...string) (attack.Fate, error) {
	var out, errs bytes.Buffer
	code := Run(args, bytes.NewReader(mutant), &out, &errs)
	switch code {
	case exitOK:
		return attack.Ran, nil
	case exitInput, exitUsage:
		if text := errs.String(); strings.Contains(text, "panic") || strings.Contains(text, "runtime error: index out of range [") || strings.TrimSpace(text+out.String()) == "" {
			return attack.Refused, fmt.Errorf("exit status %d: %q", code, text)
		}
		return attack.Refused, nil
	}
	return attack.Refused, fmt.Errorf("exit status %d: %s\n%s", code, errs.String(), mutant)
}

// smallModules are modules of a few instructions.
func smallModules(t *testing.T) (all []hlo.Module) {
	t.Helper()
	for seed := range uint64(40) {
		if m, err := hlotest.Wide(seed, 6); err == nil {
			all = append(all, m)
		}
	}
	require.NotEmpty(t, all)
	return all
}

func TestStableHLOMutants(t *testing.T) {
	var texts, messages [][]byte
	for _, m := range smallModules(t) {
		if text, err := stablehlo.Write(m); err == nil {
			texts = append(texts, text)
		}
	}
	for _, file := range []string{"model.mlir", "model.mlirbc", "model.jax_export"} {
		data, err := os.ReadFile(filepath.Join("../testdata/run/from_jax", file))
		require.NoError(t, err)
		if filepath.Ext(file) == ".mlir" {
			texts = append(texts, data)
		} else {
			messages = append(messages, data)
		}
	}
	attack.Campaign(t, 800, func(seed uint64) (attack.Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var mutant []byte
		if rng.IntN(2) == 0 {
			mutant = attack.Bytes(rng, messages[rng.IntN(len(messages))])
		} else {
			mutant = []byte(attack.Text(rng, string(texts[rng.IntN(len(texts))])))
		}
		return attempt(mutant, "run", "--fill=random", mutantTime, "-")
	})
}

func TestHostProgramMutants(t *testing.T) {
	var texts []string
	for _, archive := range archives.All(t, "../runtime/kernels/hostkernels/testdata/*.txtar") {
		for _, f := range archive.Files {
			if f.Name == "program" {
				texts = append(texts, string(f.Data))
			}
		}
	}
	require.NotEmpty(t, texts)
	attack.Campaign(t, 300, func(seed uint64) (attack.Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 7))
		mutant := attack.Text(rng, texts[rng.IntN(len(texts))])
		return attempt([]byte(mutant), "run", mutantTime, "-")
	})
}

func TestPipelineMutants(t *testing.T) {
	pipelines := []string{
		"fix{limit=5}(algsimp,cse,dce),cpu{fp=xla}", "O2", "O3", "cpu-async", "if(changed:algsimp){dce}", "algsimp{rules=[-A12],fp=fast}",
		"threads{main}(dce,cse),fusion{max-size=10}", "while-loop-unroller{unroll-factor=4}", "all-reduce-combiner{combine-threshold-in-bytes=1024}",
	}
	modules := smallModules(t)
	var texts []string
	for _, m := range modules {
		texts = append(texts, printer.String(m))
	}
	attack.Campaign(t, 300, func(seed uint64) (attack.Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 8))
		pipeline := attack.Text(rng, pipelines[rng.IntN(len(pipelines))])
		return attempt([]byte(texts[rng.IntN(len(texts))]), "opt", "--passes="+pipeline, "--reproducer=none", "--profile=xla", "-")
	})
}

func TestRulesMutants(t *testing.T) {
	files, err := filepath.Glob("../passes/algsimp/*.rules")
	require.NoError(t, err)
	var rules []string // a few lines each
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.SplitAfter(string(data), "\n")
		for i := 0; i+3 <= len(lines); i += 3 {
			rules = append(rules, strings.Join(lines[i:i+3], ""))
		}
	}
	var texts []string
	for _, m := range smallModules(t) {
		texts = append(texts, printer.String(m))
	}
	file := filepath.Join(t.TempDir(), "mutant.rules")
	attack.Campaign(t, 300, func(seed uint64) (attack.Fate, error) {
		rng := rand.New(rand.NewPCG(seed, 9))
		mutant := attack.Text(rng, rules[rng.IntN(len(rules))])
		if err := os.WriteFile(file, []byte(mutant), 0o666); err != nil {
			return attack.Refused, err
		}
		fate, err := attempt([]byte(texts[rng.IntN(len(texts))]), "opt", "--rules="+file, "--passes=algsimp", "--reproducer=none", "--profile=xla", "-")
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, mutant)
		}
		return fate, err
	})
}

// TestMutantsAreRead holds the seeds to be programs that the command takes.
func TestMutantsAreRead(t *testing.T) {
	for _, m := range smallModules(t) {
		fate, err := attempt([]byte(printer.String(m)), "opt", "--passes=dce", "-")
		require.NoError(t, err)
		require.Equal(t, attack.Ran, fate)
	}
}
