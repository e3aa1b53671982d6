//go:build !race

package halo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/verifier"
)

// TestSteadyRunsAllocateNothing: a program that has run before allocates nothing when it runs into given memory, and gives the same bits once loops are
// machine code. The pools of the race detector drop what they are given now and then, so it does not take part.
func TestSteadyRunsAllocateNothing(t *testing.T) {
	patterns := []string{"testdata/run/*.hlo", "testdata/run/*/*.hlo"}
	if !testing.Short() {
		patterns = append(patterns, "../shared/corpus/reference/programs/*/prog.hlo", "../shared/corpus/hlo/backends/cpu/benchmarks/hlo/*.hlo")
	}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		if len(paths) == 0 {
			t.Logf("%s: no such files; the shared corpus may be absent", pattern)
		}
		for _, path := range paths {
			t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) { steadyRun(t, path) })
		}
	}
}

// steadyRun fails if each of many runs allocates. A run now and then may: a worker may run on a processor for the first time, whose part of a pool is
// empty.
func steadyRun(t *testing.T, path string) {
	m, skip := steadyProgram(t, path)
	if skip != "" {
		t.Skip(skip)
	}
	ctx := context.Background()
	p, err := halo.Compile(ctx, m, halo.Options{Threads: 2})
	if err != nil && strings.Contains(err.Error(), "the limit is") {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer p.Close()
	size := int64(0)
	for _, v := range p.Signature().Parameters {
		size += v.Shape.ByteSize()
	}
	if size > 1<<30 {
		t.Skipf("%d bytes of arguments take minutes to make", size)
	}
	args := steadyArguments(t, path, p.Signature().Parameters)
	first, err := p.Run(ctx, args...)
	require.NoError(t, err)
	defer tile.CodeAtOnce()()
	results, err := p.Run(ctx, args...)
	require.NoError(t, err)
	for i := range first {
		require.True(t, bytes.Equal(first[i].Bytes(), results[i].Bytes()), "result %d has other bits once loops are code", i)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	least := ^uint64(0)
	for range 60 {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		_, err := p.RunInto(ctx, results, args...)
		goruntime.ReadMemStats(&after)
		require.NoError(t, err)
		if least = min(least, after.Mallocs-before.Mallocs); least == 0 {
			return
		}
	}
	t.Errorf("a steady run makes %d allocations, want none", least)
}

// steadyArguments are those beside the program; random ones if there are none.
func steadyArguments(t *testing.T, path string, values []halo.Value) []*hlo.Literal {
	if in := filepath.Join(filepath.Dir(path), "in.npz"); fileExists(in) {
		return readLeaves(t, in, values)
	}
	args := make([]*hlo.Literal, len(values))
	for i, v := range values {
		var err error
		args[i], err = arrays.Fill(arrays.Random, 1, i, v.Shape)
		require.NoError(t, err)
	}
	return args
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// steadyProgram loads a program with data for all of its constants, or says why it is left out.
func steadyProgram(t *testing.T, path string) (m halo.Module, skip string) {
	var meta struct{ Devices any }
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "meta.json")); err == nil {
		require.NoError(t, json.Unmarshal(text, &meta))
	}
	if meta.Devices != nil {
		return m, "it is for several devices"
	}
	m, err := halo.Load(path)
	if err != nil {
		return m, "it is not a program"
	}
	filled, err := hlo.FillElided(m.HLO())
	require.NoError(t, err)
	m, err = halo.Verify(filled, verifier.Config{Profile: verifier.XLA})
	require.NoError(t, err)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			switch op := in.Opcode(); {
			case op == hlo.OpAsyncStart:
				return m, "an asynchronous start is an allocation: its event"
			case hlo.Info(op).Traits.Has(hlo.TraitCollective):
				return m, "it communicates"
			case op == hlo.OpCustomCall && evaluatorHasIt(hlo.AttrsOf[hlo.CustomCallAttrs](in).Target):
				return m, "only the evaluator has this routine of LAPACK"
			}
		}
	}
	return m, ""
}

// evaluatorHasIt reports whether a call is to a routine of LAPACK that has no kernel.
func evaluatorHasIt(target string) bool {
	letter, routine, ok := hlo.Lapack(strings.TrimSuffix(target, "_ffi") + "_ffi") // programs of old have no such end
	switch routine {
	case "gees", "gehrd", "geqp3", "hetrd", "sytrd":
		return ok
	}
	return ok && routine == "geev" && (letter == 'c' || letter == 'z')
}
