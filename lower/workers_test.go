package lower_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		file, err := lower.Module(t.Context(), m)
		require.NoError(t, err)
		queue := workqueue.NewMulti(workqueue.Config{Workers: c.workers})
		defer queue.Close()
		reg := runtime.NewRegistry()
		kernels.Register(reg)
		p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
		require.NoError(t, err)
		beside := slices.ContainsFunc(p.Entry().StepsOf(), func(s runtime.StepInfo) bool { return s.Beside })
		assert.Equal(t, c.beside, beside, "%s with %d workers", c.last, c.workers)
	}
}
