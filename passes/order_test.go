package passes_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/passcases"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/verifier"
)

// TestPassesDoNotNeedProgramOrder: only a schedule promises that operands come first. Every pass runs on its own cases with the program order of
// all other computations turned round, as passes before it may leave it.
func TestPassesDoNotNeedProgramOrder(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("..", "testdata", "passes", "*", "*.txtar"))
	require.NoError(t, err)
	run := 0
	for _, path := range archives {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, c := range passcases.Cases(path, data, passes.Parse) {
			p, err := passes.Parse(c.Pipeline)
			require.NoError(t, err, c.Name)
			m, err := parser.Parse(c.Name, c.Text)
			if err != nil {
				continue // a case about an error
			}
			for _, profile := range []verifier.Profile{verifier.Doc, verifier.XLA} {
				check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{Profile: profile}).Err() }
				if check(m) != nil {
					continue
				}
				if _, err := (&pass.Runner{Check: check}).Run(context.Background(), p, m); err != nil {
					break // a case about a refusal
				}
				turned := turnRound(m)
				require.NoError(t, check(turned), c.Name)
				_, err := (&pass.Runner{Check: check}).Run(context.Background(), p, turned)
				assert.NoError(t, err, c.Name)
				run++
				break
			}
		}
	}
	assert.Greater(t, run, 1000, "cases that pass")
}

// turnRound gives all computations without a schedule the opposite program order, parameters apart.
func turnRound(m hlo.Module) hlo.Module {
	e := m.Edit()
	for c := range m.Computations() {
		if c.IsScheduled() {
			continue
		}
		ce := e.Computation(c.ID())
		for _, in := range slices.Backward(slices.Collect(c.Instructions())) {
			if in.Opcode() == hlo.OpParameter {
				continue
			}
			again := ce.AddSpec(emit.Again(ce.At(in.ID()))).ID()
			if err := ce.ReplaceInstruction(in.ID(), again); err != nil {
				panic(err)
			}
		}
	}
	return e.Freeze()
}
