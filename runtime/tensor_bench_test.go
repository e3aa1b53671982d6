package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
)

// trivialPlan is a sequential plan of n kernels that do next to nothing.
func trivialPlan(tb testing.TB, n int) *runtime.Function {
	var text strings.Builder
	text.WriteString("func main frame=64\n  x:i32[1] = arg\n  v0:i32[1]@arena(0) = toy.add x x\n")
	for i := 1; i < n-1; i++ {
		fmt.Fprintf(&text, "  v%d:i32[1]@arena(0) = toy.touch v%d\n", i, i-1)
	}
	fmt.Fprintf(&text, "  r:i32[1]@out(0) = toy.touch v%d\n  return r\n", n-2)
	f, err := assemble(text.String())
	require.NoError(tb, err)
	reg := toyKernels()
	reg.Tensor("toy.touch", func(*runtime.Binding) (runtime.Bound, error) {
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			f.Out(0).Data[0] = f.In(0).Data[0] + 1
			return nil
		}}, nil
	})
	p, err := runtime.Load(f, reg, runtime.LoadOptions{})
	require.NoError(tb, err)
	return p.Function("main")
}

func argsOf(f *runtime.Function) []runtime.Buffer {
	var args []runtime.Buffer
	for _, t := range f.ArgTypes() {
		args = append(args, t.NewBuffer())
	}
	return args
}

// BenchmarkP_8 is acceptance figure P-8: a sequential plan of 1000 trivial tensor kernels.
func BenchmarkP_8(b *testing.B) {
	f := trivialPlan(b, 1000)
	args, results := argsOf(f), f.NewResults()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Run(context.Background(), runtime.RunOptions{}, args, results); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/kernel")
}

// BenchmarkTensorRun is the fixed cost of an execution.
func BenchmarkTensorRun(b *testing.B) {
	f := trivialPlan(b, 2)
	args, results := argsOf(f), f.NewResults()
	for _, cancellable := range []bool{false, true} {
		b.Run(fmt.Sprintf("cancellable=%v", cancellable), func(b *testing.B) {
			ctx := context.Background()
			if cancellable {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Run(ctx, runtime.RunOptions{}, args, results); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const loopProgram = `
const 1
func cond frame=0
  i:i32[1] = arg
  n:i32[1] = arg
  p:pred[]@out(0) = toy.less i n
  return p
func body frame=0
  i:i32[1] = arg
  n:i32[1] = arg
  one:i32[1]@const(0) = hlo.constant
  j:i32[1]@out(0) = toy.add i one
  return j n
func main frame=128
  n:i32[1] = arg
  z:i32[1]@arena(0) = toy.text text=0
  i:i32[1]@out(0) m:i32[1]@arena(64) = hlo.while z n calls=cond@0,body@0
  return i
`

// BenchmarkTensorWhile is the cost of an iteration: a condition and a body of one kernel each.
func BenchmarkTensorWhile(b *testing.B) {
	file, err := assemble(loopProgram)
	require.NoError(b, err)
	p, err := runtime.Load(file, toyKernels(), runtime.LoadOptions{})
	require.NoError(b, err)
	f := p.Function("main")
	args, results := argsOf(f), f.NewResults()
	put(args[0].Data, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Run(context.Background(), runtime.RunOptions{}, args, results); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/iteration")
}

// TestSteadyRunAllocatesNothing holds sequential plans to their promise.
func TestSteadyRunAllocatesNothing(t *testing.T) {
	file, err := assemble(loopProgram)
	require.NoError(t, err)
	p, err := runtime.Load(file, toyKernels(), runtime.LoadOptions{})
	require.NoError(t, err)
	for _, f := range []*runtime.Function{trivialPlan(t, 100), p.Function("main")} {
		args, results := argsOf(f), f.NewResults()
		run := func() {
			if err := f.Run(context.Background(), runtime.RunOptions{}, args, results); err != nil {
				t.Fatal(err)
			}
		}
		run()
		assert.Zero(t, testing.AllocsPerRun(100, run))
	}
}
