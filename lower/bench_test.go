package lower_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
)

// BenchmarkModule lowers large programs: the time for an instruction must not grow with their number.
func BenchmarkModule(b *testing.B) {
	for _, p := range []struct {
		name string
		text func(n int) string
	}{{"in-place", inPlace}, {"all-alive", allAlive}, {"state", wideState}} {
		for _, n := range []int{1000, 10_000, 50_000} {
			b.Run(fmt.Sprintf("%s/%d", p.name, n), func(b *testing.B) {
				m, err := parser.Parse(p.name, p.text(n))
				require.NoError(b, err)
				b.ReportAllocs()
				for b.Loop() {
					_, err := lower.Module(b.Context(), m)
					require.NoError(b, err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/instruction")
			})
		}
	}
}

// inPlace is a chain of additions of recent values.
func inPlace(n int) string {
	var b strings.Builder
	b.WriteString("HloModule m\nENTRY e {\n v0 = f32[8] parameter(0)\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, " v%d = f32[8] add(v%d, v%d)\n", i, i-1, max(0, i-7))
	}
	fmt.Fprintf(&b, " ROOT r = f32[8] negate(v%d)\n}\n", n-1)
	return b.String()
}

// allAlive needs what its first half computes in its second half, the last first.
func allAlive(n int) string {
	n /= 2
	var b strings.Builder
	b.WriteString("HloModule m\nENTRY e {\n v0 = f32[4,8] parameter(0)\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, " v%d = f32[4,8] reverse(v%d), dimensions={0}\n", i, i-1)
	}
	fmt.Fprintf(&b, " w%d = f32[4,8] reverse(v%d), dimensions={0}\n", n, n-1)
	for i := n - 1; i >= 0; i-- {
		fmt.Fprintf(&b, " w%d = f32[4,8] add(w%d, v%d)\n", i, i+1, i)
	}
	b.WriteString(" ROOT r = f32[4,8] negate(w0)\n}\n")
	return b.String()
}

// wideState is a loop over many arrays that change places.
func wideState(n int) string {
	n /= 2
	var b strings.Builder
	state := "(s32[]" + strings.Repeat(", f32[8]", n) + ")"
	fmt.Fprintf(&b, "HloModule m\nbody {\n s = %s parameter(0)\n i = s32[] get-tuple-element(s), index=0\n one = s32[] constant(1)\n j = s32[] add(i, one)\n", state)
	for i := range n {
		fmt.Fprintf(&b, " g%d = f32[8] get-tuple-element(s), index=%d\n r%d = f32[8] reverse(g%d), dimensions={0}\n", i, i+1, i, i)
	}
	fmt.Fprintf(&b, " ROOT t = %s tuple(j", state)
	for i := range n {
		fmt.Fprintf(&b, ", r%d", (i+1)%n)
	}
	fmt.Fprintf(&b, ")\n}\ncond {\n s = %s parameter(0)\n i = s32[] get-tuple-element(s), index=0\n three = s32[] constant(3)\n", state)
	fmt.Fprintf(&b, " ROOT c = pred[] compare(i, three), direction=LT\n}\nENTRY e {\n s = %s parameter(0)\n ROOT w = %s while(s), condition=cond, body=body\n}\n", state, state)
	return b.String()
}

// BenchmarkLoad decodes and loads the files of real programs.
func BenchmarkLoad(b *testing.B) {
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	pipeline, err := passes.Parse("cpu")
	require.NoError(b, err)
	paths, _ := filepath.Glob("../../shared/corpus/hlo/backends/cpu/benchmarks/hlo/*.hlo")
	programs, _ := filepath.Glob("../testdata/run/*/prog.hlo")
	for _, path := range append(programs, paths...) {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		m, err := parser.Parse(path, string(data))
		require.NoError(b, err)
		m, err = hlo.FillElided(m)
		require.NoError(b, err)
		m, err = (&pass.Runner{}).Run(b.Context(), pipeline, m)
		require.NoError(b, err)
		file, err := lower.Module(b.Context(), m)
		require.NoError(b, err)
		data, err = bef.Marshal(file, bef.EncodeOptions{Extensions: true})
		require.NoError(b, err)
		name := strings.TrimSuffix(strings.TrimSuffix(path, ".hlo"), "/prog")
		b.Run(filepath.Base(name), func(b *testing.B) {
			for b.Loop() {
				file, err := bef.Decode(data, bef.DecodeOptions{})
				require.NoError(b, err)
				_, err = runtime.Load(file, reg, runtime.LoadOptions{MaxBytes: 1 << 50})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(len(data)-len(file.Extension(runtime.SectionConstants))), "bytes-without-constants")
		})
	}
}
