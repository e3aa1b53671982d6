package passes_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
)

// run runs a pipeline of the catalogue.
func run(t testing.TB, r *pass.Runner, pipeline string, m hlo.Module) hlo.Module {
	t.Helper()
	p, err := passes.Parse(pipeline)
	require.NoError(t, err)
	if r == nil {
		r = &pass.Runner{}
	}
	after, err := r.Run(context.Background(), p, m)
	require.NoError(t, err)
	return after
}

// TestIncrementalIsThorough: leaving out what cannot have changed gives the same program as running every pass on everything.
func TestIncrementalIsThorough(t *testing.T) {
	same := func(name string, m hlo.Module) (skipped int) {
		for pipeline := range passes.Pipelines {
			count := pass.Instrument{After: func(r pass.Report) {
				if !r.Fresh || r.Computations > 0 && r.Computations < r.Before.NumComputations() {
					skipped++
				}
			}}
			quick := run(t, &pass.Runner{Instruments: []pass.Instrument{count}}, pipeline, m)
			slow := run(t, &pass.Runner{Thorough: true}, pipeline, m)
			require.Equal(t, printer.String(slow), printer.String(quick), "%s of %s", pipeline, name)
			// Where nobody looks, passes hand on what they make.
			require.Equal(t, quick.Digest(), run(t, nil, pipeline, m).Digest(), "%s of %s", pipeline, name)
		}
		return skipped
	}
	skipped := 0
	for seed := range uint64(100) {
		m, err := hlotest.Random(seed, 40)
		require.NoError(t, err)
		skipped += same(m.Name(), m)
	}
	assert.Greater(t, skipped, 100, "there is work to leave out")
	for i, row := range hlotest.XLATests(t, 1) {
		if m, err := parser.Parse(row.ID, row.Text); err == nil && i%20 == 0 {
			same(row.ID, m)
		}
	}
}

// several is a module of large computations, in each of which there is something to do.
func several(t testing.TB, computations, size int) hlo.Module {
	b := hlo.NewBuilder("several")
	s := hlo.MakeShape(hlo.S32, 4)
	x := b.Parameter("x", s)
	for range computations {
		f := b.Computation("f", func(b *hlo.Builder) hlo.Value {
			v := b.Parameter("p", s)
			zero := b.Broadcast(hlo.ConstantOf(b, hlo.MakeShape(hlo.S32), int32(0)), nil, 4)
			for range size / 4 {
				v = b.Add(b.Add(v, zero), b.Negate(b.Negate(v)))
			}
			return v
		})
		x = b.Call(f, x)
	}
	m, err := b.Build(x)
	require.NoError(t, err)
	return m
}

// TestParallelIsDeterministic: computations are worked on at once, and the result does not depend on how many at once.
func TestParallelIsDeterministic(t *testing.T) {
	m := several(t, 6, 2000)
	log := func() (rewrites int, r *pass.Runner) {
		r = &pass.Runner{}
		r.Instruments = []pass.Instrument{{Rewrite: func(string, string) { rewrites++ }}}
		return rewrites, r
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	_, r := log()
	one := run(t, r, "O1,simplify", m)
	runtime.GOMAXPROCS(8)
	for range 3 {
		_, r := log()
		require.Equal(t, printer.String(one), printer.String(run(t, r, "O1,simplify", m)))
	}
}

// TestNothingToDoCopiesNothing: a pipeline that changes nothing returns its input, and has copied no part of it.
func TestNothingToDoCopiesNothing(t *testing.T) {
	for seed := range uint64(50) {
		m, err := hlotest.Random(seed, 40)
		require.NoError(t, err)
		for _, pipeline := range []string{"O1", "simplify", "fix(O2)"} {
			done := run(t, &pass.Runner{}, "fix("+pipeline+")", m)
			copied := 0
			r := &pass.Runner{Thorough: true, Instruments: []pass.Instrument{{After: func(r pass.Report) { copied += r.Copied.Copies() }}}}
			again := run(t, r, pipeline, done)
			require.True(t, again == done, "%s of seed %d", pipeline, seed)
			require.Zero(t, copied, "%s of seed %d", pipeline, seed)
		}
	}
}
