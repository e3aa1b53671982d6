package halo_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// TestPrograms runs every program of testdata/run on both engines, with one and with several threads, and holds the results to the
// answers beside it. The tolerances in meta.json cover float32 sums in another order than XLA's.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("testdata/run/*/prog.hlo")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, prog := range dirs {
		dir := filepath.Dir(prog)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var meta struct{ Rtol, Atol float64 }
			text, err := os.ReadFile(filepath.Join(dir, "meta.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &meta))
			m, err := halo.Load(filepath.Join(dir, "prog.hlo"))
			require.NoError(t, err)
			signature := halo.SignatureOf(m.HLO())
			args := readLeaves(t, filepath.Join(dir, "in.npz"), signature.Parameters)
			want := readLeaves(t, filepath.Join(dir, "out.npz"), signature.Results)
			check := func(t *testing.T, got []*hlo.Literal) {
				require.Len(t, got, len(want))
				for i := range got {
					d := arrays.Compare(got[i], want[i], meta.Rtol, meta.Atol)
					require.Zero(t, d.Bad, "result %d: %v", i, d)
				}
			}
			t.Run("eval", func(t *testing.T) {
				p, err := halo.Compile(t.Context(), m, halo.Options{Engine: halo.Eval})
				require.NoError(t, err)
				defer p.Close()
				got, err := p.Run(t.Context(), args...)
				require.NoError(t, err)
				check(t, got)
			})
			for _, threads := range []int{1, 4} {
				t.Run("bef/"+strconv.Itoa(threads), func(t *testing.T) {
					p, err := halo.Compile(t.Context(), m, halo.Options{Threads: threads})
					require.NoError(t, err)
					defer p.Close()
					var first []*hlo.Literal
					for range 3 { // a second run finds a used arena
						got, err := p.Run(t.Context(), args...)
						require.NoError(t, err)
						check(t, got)
						if first == nil {
							first = got
						}
						for i := range got {
							require.Equal(t, first[i].Bytes(), got[i].Bytes(), "run to run, result %d must be the same bits", i)
						}
					}
				})
			}
		})
	}
}

// TestRunIsCancelled stops a loop that would go on for ever.
func TestRunIsCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "forever.hlo")
	require.NoError(t, os.WriteFile(path, []byte(`HloModule forever
cond { s = (s32[]) parameter(0) ROOT yes = pred[] constant(true) }
body { s = (s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] add(i, i) ROOT t = (s32[]) tuple(n) }
ENTRY main { i = s32[] parameter(0) t = (s32[]) tuple(i) ROOT w = (s32[]) while(t), condition=cond, body=body }
`), 0o666))
	m, err := halo.Load(path)
	require.NoError(t, err)
	p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1})
	require.NoError(t, err)
	defer p.Close()
	one, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32), int32(1))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := p.Run(ctx, one); done <- err }()
	cancel()
	require.Error(t, <-done)
}

func readLeaves(t testing.TB, path string, values []halo.Value) []*hlo.Literal {
	t.Helper()
	byKey, err := arrays.ReadNPZ(path)
	require.NoError(t, err)
	require.Len(t, byKey, len(values))
	literals := make([]*hlo.Literal, len(values))
	for i, v := range values {
		require.NotNil(t, byKey[strconv.Itoa(i)], "leaf %d", i)
		literals[i], err = arrays.Literal(byKey[strconv.Itoa(i)], v.Shape)
		require.NoError(t, err)
	}
	return literals
}
