package halo_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/verifier"
)

// TestDonatedArguments: a result may be computed in the memory of the argument that the header gives it, and is what it is in memory of its own. Every
// program gives away all that it can, whatever its header says.
func TestDonatedArguments(t *testing.T) {
	paths, err := filepath.Glob("testdata/run/*/prog.hlo")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	if !testing.Short() {
		more, err := filepath.Glob("../shared/corpus/reference/programs/*/prog.hlo")
		require.NoError(t, err)
		if len(more) == 0 {
			t.Log("the shared corpus is absent: only testdata is tried")
		}
		paths = append(paths, more...)
	}
	given := 0
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			given += donatedRun(t, path, halo.BEF)
			if strings.HasPrefix(path, "testdata") { // the evaluator takes long for the others
				donatedRun(t, path, halo.Eval)
			}
		})
	}
	require.NotZero(t, given)
}

// donatedRun returns how many arguments the program has given away.
func donatedRun(t *testing.T, path string, e halo.Engine) int {
	var meta struct{ Devices any }
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "meta.json")); err == nil {
		require.NoError(t, json.Unmarshal(text, &meta))
	}
	m, err := halo.Load(path)
	if err != nil || meta.Devices != nil {
		t.Skip("no program for one device")
	}
	filled, err := hlo.FillElided(m.HLO())
	require.NoError(t, err)
	v, err := halo.Verify(hlotest.Donating(filled), verifier.Config{Profile: verifier.XLA, MixedPrecision: true})
	require.NoError(t, err)
	p, err := halo.Compile(t.Context(), v, halo.Options{Engine: e, Threads: 2})
	require.NoError(t, err)
	defer p.Close()
	if e == halo.BEF {
		require.NoError(t, p.Runtime().CheckPlans())
	}
	s := p.Signature()
	in := filepath.Join(filepath.Dir(path), "in.npz")
	_, missing := os.Stat(in)
	fill := func() []*hlo.Literal {
		if missing == nil {
			return readLeaves(t, in, s.Parameters)
		}
		args := make([]*hlo.Literal, len(s.Parameters))
		for i, v := range s.Parameters {
			if v.Shape.IsArray() {
				args[i], err = arrays.Fill(arrays.Model, 1, i, v.Shape)
				require.NoError(t, err)
			}
		}
		return args
	}
	want, err := p.Run(t.Context(), fill()...)
	require.NoError(t, err)
	for range 2 {
		args, results := fill(), make([]*hlo.Literal, len(want))
		for _, a := range s.Aliases {
			results[a.Result] = args[a.Parameter]
		}
		got, err := p.RunInto(t.Context(), results, args...)
		require.NoError(t, err)
		for i := range want {
			if want[i] != nil && want[i].Shape().IsArray() && !slices.Equal(want[i].Bytes(), got[i].Bytes()) {
				t.Errorf("result %d of %d is another one in the memory of an argument", i, len(want))
			}
		}
	}
	return len(s.Aliases)
}
