package hostkernels_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// F21: what the verifier would refuse, a file may hold: a parallel body with results that are no chain.
func TestF21ParallelBodyWithWrongResults(t *testing.T) {
	p, err := hostprog.Parse("p", `func.func @body(%start: i32, %end: i32) -> i32 {
  tfrt.return %start : i32
}
func.func @main() -> !tfrt.chain {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 7
  %block = tfrt.constant.i32 1
  %done = "tfrt.parallel_call.i32"(%start, %end, %block) {callee = @body} : (i32, i32, i32) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}
`)
	require.NoError(t, err)
	f, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
	require.NoError(t, err)
	for _, name := range []string{"single", "multi:4"} {
		q, err := workqueue.New(name)
		require.NoError(t, err)
		t.Cleanup(q.Close)
		reg := runtime.NewRegistry()
		hostkernels.Register(reg)
		v := &machine{out: &output{}}
		v.console = hostkernels.NewConsole(v.out, v.out)
		v.program, err = runtime.Load(f, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: q})})
		require.NoError(t, err)
		assert.Contains(t, v.run(t, "main", mode{queue: name}), "Invalid parallel body function result types")
	}
}

func TestF16OnceWithoutResources(t *testing.T) {
	for _, queue := range []string{"single", "multi:4"} {
		m := mode{queue: queue, noScope: true}
		v := load(t, `func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %a = tfrt.once @same(%one) : (i32) -> (i32)
  tfrt.return %a : i32
}
`, m)
		assert.Contains(t, v.run(t, "main", m), "tfrt.once requires resource context")
	}
}
