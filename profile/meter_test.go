package profile_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/profile"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// compiled compiles a program, which meter, if there is one, measures, and makes arguments.
func compiled(t testing.TB, file string, meter *runtime.Meter) (*halo.Program, hlo.Module, []*hlo.Literal) {
	t.Helper()
	m, err := halo.Load(file)
	require.NoError(t, err)
	p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1, Observer: halo.Observer{Meter: meter}})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	var args []*hlo.Literal
	for i, v := range p.Signature().Parameters {
		a, err := arrays.Fill("model", 0, i, v.Shape)
		require.NoError(t, err)
		args = append(args, a)
	}
	return p, m.HLO(), args
}

// TestProfile: ops run as often as the program runs, their shares add up, and each is an instruction of the text or stands for some.
func TestProfile(t *testing.T) {
	files, err := filepath.Glob("../testdata/run/*/prog.hlo")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	bench, err := filepath.Glob("../../shared/corpus/hlo/backends/cpu/benchmarks/hlo/*.hlo")
	require.NoError(t, err)
	for _, file := range bench { // without those that are large or leave out constants
		if !slices.ContainsFunc([]string{"gemma", "resnet", "slow_0100", "dlrm"}, func(left string) bool { return strings.Contains(file, left) }) {
			files = append(files, file)
		}
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".hlo")+"_"+filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			meter := runtime.NewMeter(runtime.MeterOptions{Spans: 100, Alike: true})
			p, text, args := compiled(t, file, meter)
			const runs = 3
			for range runs {
				meter.Begin()
				_, err := p.Run(t.Context(), args...)
				meter.End()
				require.NoError(t, err)
			}
			m, ok := kernels.Module(p.Runtime())
			require.True(t, ok)
			x := profile.New(p.Runtime(), meter, profile.Config{Runs: runs, Threads: 1, Rates: analysis.OneCore, Module: m, Text: text})
			require.NotEmpty(t, x.Ops)
			names := map[string]bool{}
			for c := range text.Computations() {
				for in := range c.Instructions() {
					names[in.Name()] = true
				}
			}
			sum := 0.0
			for i := range x.Ops {
				o := &x.Ops[i]
				sum += o.Seconds
				if o.Kind == profile.Kernel && o.Computation == m.Entry().Name() {
					assert.InDelta(t, 1, o.Calls, 1e-9, o.Name)
				}
				assert.True(t, names[o.Name], "%s is not in the text", o.Name)
				for _, of := range o.Of {
					assert.True(t, names[of], of)
				}
			}
			assert.False(t, math.IsNaN(sum) || sum <= 0)
			assert.InEpsilon(t, x.OpSeconds, sum, 1e-9)
			var rest []string
			for _, r := range x.Rest {
				assert.Positive(t, r.Seconds, r.Name)
				rest = append(rest, r.Name)
			}
			assert.Subset(t, rest, []string{profile.Entering, profile.Leaving})
			assert.InEpsilon(t, x.Seconds, x.Accounted(), 1) // more than that is noise's to decide
		})
	}
}
