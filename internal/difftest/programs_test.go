package difftest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/verifier"
)

// TestPrograms runs the modules of testdata on both engines, with and without passes, with fusions as they are, with one thread and machine code of kernels from the first run on, and with several
// threads and steps linked from the first run on.
func TestPrograms(t *testing.T) {
	for path, archive := range archives.All(t, "testdata/*.txtar") {
		for _, f := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"/"+f.Name, func(t *testing.T) {
				m := parse(t, f.Name, string(f.Data))
				for _, pipeline := range []string{"cpu", "O0", "async-to-sync,dce", "O3,cpu-async"} {
					for threads := 1; threads <= 4; threads += 3 {
						atOnce := runtime.LinkAtOnce
						if threads == 1 {
							atOnce = tile.CodeAtOnce
						}
						undo := atOnce()
						for _, fill := range []arrays.FillKind{arrays.Random, arrays.Ones, arrays.Zeros} {
							same(t, m, difftest.Config{Pipeline: pipeline, Threads: threads, Fill: fill, Seed: 3, Runs: 10})
						}
						undo()
					}
				}
			})
		}
	}
}

func parse(t *testing.T, name, text string) hlo.Module {
	t.Helper()
	m, err := parser.Parse(name, text)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err())
	return m
}

func same(t *testing.T, m hlo.Module, cfg difftest.Config) {
	t.Helper()
	o := difftest.Run(t.Context(), m, cfg)
	require.Equal(t, difftest.Same, o.Verdict, "%+v: %v", cfg, o.Err)
}

// TestDeep runs programs that are large in one direction.
func TestDeep(t *testing.T) {
	for name, text := range map[string]string{
		"calls":  nestedCalls(900),
		"tuples": nestedTuples(1000),
		"wide":   aliveTogether(6000),
		"loops":  nestedLoops(12),
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, name, text)
			same(t, m, difftest.Config{Pipeline: "O0", Timeout: 1 << 36})
			if name != "wide" {
				same(t, m, difftest.Config{Pipeline: "cpu", Timeout: 1 << 36})
			}
		})
	}
}

// nestedCalls is a chain of n functions each of which calls the one before.
func nestedCalls(n int) string {
	var b strings.Builder
	b.WriteString("HloModule calls\nfn0 { x = s32[2] parameter(0) ROOT r = s32[2] reverse(x), dimensions={0} }\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "fn%d { x = s32[2] parameter(0) y = s32[2] call(x), to_apply=fn%d ROOT z = s32[2] add(x, y) }\n", i, i-1)
	}
	fmt.Fprintf(&b, "ENTRY main { p = s32[2] parameter(0) ROOT r = s32[2] call(p), to_apply=fn%d }\n", n-1)
	return b.String()
}

// nestedTuples wraps a value n times and takes it out again.
func nestedTuples(n int) string {
	var b strings.Builder
	b.WriteString("HloModule tuples\nENTRY main {\n t0 = s32[2] parameter(0)\n")
	shape := []string{"s32[2]"}
	for i := 1; i <= n/20; i++ {
		shape = append(shape, "("+shape[i-1]+", s32[2])")
		fmt.Fprintf(&b, " t%d = %s tuple(t%d, t0)\n", i, shape[i], i-1)
	}
	for i := n/20 - 1; i >= 0; i-- {
		from := fmt.Sprintf("g%d", i+1)
		if i == n/20-1 {
			from = fmt.Sprintf("t%d", i+1)
		}
		fmt.Fprintf(&b, " g%d = %s get-tuple-element(%s), index=0\n", i, shape[i], from)
	}
	b.WriteString(" ROOT r = s32[2] negate(g0)\n}\n")
	return b.String()
}

// aliveTogether needs n arrays at the same time, more than are placed by search.
func aliveTogether(n int) string {
	var b strings.Builder
	b.WriteString("HloModule wide\nENTRY e {\n v0 = s32[4,8] parameter(0)\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, " v%d = s32[4,8] reverse(v%d), dimensions={%d}\n", i, i-1, i%2)
	}
	fmt.Fprintf(&b, " w%d = s32[4,8] reverse(v%d), dimensions={0}\n", n, n-1)
	for i := n - 1; i >= 0; i-- {
		fmt.Fprintf(&b, " w%d = s32[4,8] add(w%d, v%d)\n", i, i+1, i)
	}
	b.WriteString(" ROOT r = s32[4,8] negate(w0)\n}\n")
	return b.String()
}

// nestedLoops nests n loops of two rounds each.
func nestedLoops(n int) string {
	var b strings.Builder
	b.WriteString("HloModule loops\nb0 { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 a = s32[] get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, one) x = s32[] add(a, one) ROOT t = (s32[], s32[]) tuple(j, x) }\n")
	for i := 0; i <= n; i++ {
		fmt.Fprintf(&b, "c%d { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(2) ROOT c = pred[] compare(i, n), direction=LT }\n", i)
	}
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "b%d { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 a = s32[] get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, one) z = s32[] constant(0) u = (s32[], s32[]) tuple(z, a) w = (s32[], s32[]) while(u), condition=c%d, body=b%d x = s32[] get-tuple-element(w), index=1 ROOT t = (s32[], s32[]) tuple(j, x) }\n", i, i-1, i-1)
	}
	fmt.Fprintf(&b, "ENTRY main { a = s32[] parameter(0) z = s32[] constant(0) u = (s32[], s32[]) tuple(z, a) ROOT w = (s32[], s32[]) while(u), condition=c%d, body=b%d }\n", n, n-1)
	return b.String()
}
