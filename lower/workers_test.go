package lower_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// twoCalls has two independent calls, in which %s stands.
const twoCalls = `HloModule m
f {
  x = f32[512,512] parameter(0)
  s = f32[512,512] sort(x), dimensions={1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
  ROOT r = f32[512,512] %s
}
ENTRY e {
  x = f32[512,512] parameter(0)
  y = f32[512,512] parameter(1)
  a = f32[512,512] call(x), to_apply=f
  b = f32[512,512] call(y), to_apply=f
  ROOT t = (f32[512,512], f32[512,512]) tuple(a, b)
}`

// TestSmallSolversRunStraight: a call to LAPACK is work of the size that its matrix has, and not worth another worker if that is small.
func TestSmallSolversRunStraight(t *testing.T) {
	for _, c := range []struct {
		n      int
		beside bool
	}{{16, false}, {512, true}} {
		m, err := parser.Parse("m.hlo", strings.NewReplacer("[_,_]", fmt.Sprintf("[%[1]d,%[1]d]", c.n), "[_]", fmt.Sprintf("[%d]", c.n)).Replace(`HloModule m
ENTRY e {
  x = f32[_,_] parameter(0)
  y = f32[_,_] parameter(1)
  a = (f32[_,_], f32[_], s32[]) custom-call(x), custom_call_target="lapack_ssyevd_ffi"
  b = (f32[_,_], f32[_], s32[]) custom-call(y), custom_call_target="lapack_ssyevd_ffi"
  ROOT t = ((f32[_,_], f32[_], s32[]), (f32[_,_], f32[_], s32[])) tuple(a, b)
}`))
		require.NoError(t, err)
		assert.Equal(t, c.beside, runsBeside(t, m, 2), "%d", c.n)
	}
}

// TestOneWorkerRunsStraight: independent work runs beside each other where there are workers for it. One worker takes turns only where something
// waits.
func TestOneWorkerRunsStraight(t *testing.T) {
	const busy, sleeping = "tanh(s)", `custom-call(s), custom_call_target="halo.sleep", backend_config="100"`
	for _, c := range []struct {
		last    string
		workers int
		beside  bool
	}{{busy, 2, true}, {busy, 1, false}, {sleeping, 2, true}, {sleeping, 1, true}} {
		m, err := parser.Parse("m.hlo", fmt.Sprintf(twoCalls, c.last))
		require.NoError(t, err)
		assert.Equal(t, c.beside, runsBeside(t, m, c.workers), "%s with %d workers", c.last, c.workers)
	}
}

// runsBeside reports whether parts of the entry of m run beside each other with so many workers.
func runsBeside(t *testing.T, m hlo.Module, workers int) bool {
	file, err := lower.Module(t.Context(), m)
	require.NoError(t, err)
	queue := workqueue.NewMulti(workqueue.Config{Workers: workers})
	defer queue.Close()
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
	require.NoError(t, err)
	return slices.ContainsFunc(p.Entry().StepsOf(), func(s runtime.StepInfo) bool { return s.Beside })
}
