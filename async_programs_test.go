package halo_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/asyncprog"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/verifier"
)

var (
	asyncPrograms = flag.Int("asyncprograms", 60, "random asynchronous programs to run")
	asyncSeed     = flag.Uint64("asyncseed", 1, "the seed of the first of them")
)

var errAsked = errors.New("it was to fail")

// TestRandomAsynchronousPrograms: on random asynchronous programs every pipeline gives the bits of the evaluator, which runs everything in order,
// and what a failure does not reach is delivered. -asyncprograms=1000 is the whole of it.
func TestRandomAsynchronousPrograms(t *testing.T) {
	async.CheckLeaks(t)
	for seed := *asyncSeed; seed < *asyncSeed+uint64(*asyncPrograms); seed++ {
		p := asyncprog.New(seed, asyncprog.Options{Size: 8 + int(seed%12), Sleep: int(seed%3) * 150, Fail: seed%5 == 0})
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runEverywhere(t, p)
			if t.Failed() {
				t.Log(p.Text)
			}
		})
	}
}

func runEverywhere(t *testing.T, p asyncprog.Program) {
	m, err := parser.Parse("random.hlo", p.Text)
	require.NoError(t, err, p.Text)
	require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err(), p.Text)
	var args []*hlo.Literal
	for i := range p.Inputs {
		x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 4), float32(1+i), float32(-2*i), float32(3), float32(i-5))
		require.NoError(t, err)
		args = append(args, x)
	}
	pass := func(c *eval.Call) (*hlo.Literal, error) { return c.Args[0], nil } // values that nothing reads are not compared
	want, err := eval.Module(t.Context(), m, args, eval.Options{CustomCalls: map[string]eval.Kernel{asyncprog.Fails: pass, hlo.TargetSleep: pass, hlo.TargetSpin: pass}})
	require.NoError(t, err)
	for _, pipeline := range []string{"O0", "cpu", "cpu-async", "O2,cpu", "O3,cpu", "debug"} {
		c, err := halo.Compile(t.Context(), m, halo.Options{Passes: pipeline, Threads: 2, Register: func(r *runtime.Registry) {
			r.CustomCall(asyncprog.Fails, func(*runtime.Binding) (runtime.Bound, error) {
				return runtime.Bound{Run: func(*runtime.TensorFrame) error { return errAsked }}, nil
			})
		}})
		require.NoError(t, err, pipeline)
		for range 2 { // the second run finds the first one's memory
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			got, err := c.Run(ctx, args...)
			cancel()
			if err != nil {
				require.True(t, p.Fails, "%s: %v", pipeline, err)
				require.ErrorIs(t, err, errAsked, pipeline)
			}
			for i, leaf := range want.Leaves() {
				if err != nil && (got == nil || got[i] == nil) {
					assert.False(t, p.Valid[i], "%s: result %d depends on no failure and is missing", pipeline, i)
					continue
				}
				if p.Valid[i] || err == nil {
					assert.Equal(t, leaf.Bytes(), got[i].Bytes(), "%s: result %d", pipeline, i)
				}
			}
		}
		c.Close()
	}
}

// TestCancelledPrograms: a run that is cancelled ends, with an error, wherever its parts are.
func TestCancelledPrograms(t *testing.T) {
	async.CheckLeaks(t)
	for seed := *asyncSeed - 1; seed < *asyncSeed-1+uint64(max(*asyncPrograms/6, 1)); seed++ {
		p := asyncprog.New(seed, asyncprog.Options{Size: 12, Sleep: 4000})
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m, err := parser.Parse("random.hlo", p.Text)
			require.NoError(t, err)
			c, err := halo.Compile(t.Context(), m, halo.Options{Passes: "O0", Threads: 2})
			require.NoError(t, err)
			defer c.Close()
			var args []*hlo.Literal
			for range p.Inputs {
				x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 4), float32(1), float32(2), float32(3), float32(4))
				require.NoError(t, err)
				args = append(args, x)
			}
			for after := range 6 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(after)*time.Millisecond)
				if _, err := c.Run(ctx, args...); err != nil {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
				cancel()
			}
			_, err = c.Run(t.Context(), args...)
			assert.NoError(t, err, "afterwards it runs as before")
		})
	}
}

// TestCancelledChains: a chain that is cancelled at an update fails, and what depends on it. Everything else is delivered, and the program runs as
// before afterwards.
func TestCancelledChains(t *testing.T) {
	async.CheckLeaks(t)
	seen := 0
	for seed := *asyncSeed - 1; seed < *asyncSeed-1+uint64(max(*asyncPrograms, 1)); seed++ {
		p := asyncprog.New(seed, asyncprog.Options{Size: 10 + int(seed%14), Sleep: int(seed%2) * 500})
		m, err := parser.Parse("random.hlo", p.Text)
		require.NoError(t, err)
		seen += cancelEach(t, m, p, seed)
		if t.Failed() {
			t.Fatal(p.Text)
		}
	}
	assert.Greater(t, seen, *asyncPrograms/4, "updates that cancelled")
}

// cancelEach runs a program once for each of its first updates, which cancels its chain.
func cancelEach(t *testing.T, m hlo.Module, p asyncprog.Program, seed uint64) (updates int) {
	enough := errors.New("enough")
	var count, at atomic.Int64 // updates so far, and the one that cancels
	var cancelled atomic.Value // its name
	cancelled.Store("")
	watch := func(in hlo.Instruction, u runtime.Update) error {
		if u.Bound > u.Operands || u.Parts >= 0 && u.Done > u.Parts {
			t.Errorf("seed %d: %s: %+v", seed, in.Name(), u)
		}
		if count.Add(1) != at.Load() {
			return nil
		}
		cancelled.Store(in.Name())
		return enough
	}
	c, err := halo.Compile(t.Context(), m, halo.Options{Pipeline: new(pass.Pipeline), Threads: 2, Observer: halo.Observer{Update: watch}})
	require.NoError(t, err)
	defer c.Close()
	var args []*hlo.Literal
	for range p.Inputs {
		x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 4), float32(1), float32(2), float32(3), float32(4))
		require.NoError(t, err)
		args = append(args, x)
	}
	want, err := c.Run(t.Context(), args...)
	require.NoError(t, err)
	updates = int(min(count.Load(), 4))
	for n := range updates {
		at.Store(int64(n + 1))
		count.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got, err := c.Run(ctx, args...)
		require.NoError(t, ctx.Err())
		cancel()
		if err != nil { // else nothing needs the chain
			require.ErrorIs(t, err, enough)
		}
		needs := usersOf(m, cancelled.Load().(string))
		for i := range want {
			if got != nil && got[i] != nil {
				assert.Equal(t, want[i].Bytes(), got[i].Bytes(), "seed %d, update %d: result %d", seed, n, i)
			} else if needs != nil {
				assert.True(t, needs[m.Entry().Root().Operand(i)], "seed %d: result %d does not depend on %s", seed, i, cancelled.Load())
			}
		}
		at.Store(0)
		got, err = c.Run(t.Context(), args...)
		require.NoError(t, err, "seed %d, after update %d", seed, n)
		for i := range want {
			assert.Equal(t, want[i].Bytes(), got[i].Bytes(), "seed %d, after update %d: result %d", seed, n, i)
		}
	}
	return updates
}

// usersOf is what depends on an instruction of the entry; nil if the entry has none of that name.
func usersOf(m hlo.Module, name string) (reached map[hlo.InstrID]bool) {
	for in := range m.Entry().PostOrder() {
		if in.Name() == name {
			reached = map[hlo.InstrID]bool{in.ID(): true}
		}
		for o := range in.Operands() {
			if reached[o.ID()] {
				reached[in.ID()] = true
			}
		}
	}
	return reached
}
