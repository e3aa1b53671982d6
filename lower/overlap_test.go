package lower_test

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
	"github.com/gohalo/halo/verifier"
)

// meeting makes kernels wait for each other: the n-th call of one side ends only when the n-th call of the other side has begun. If
// what is said to overlap does not, the program stands still, whatever the clock says.
type meeting struct {
	mu    sync.Mutex
	count map[string]int
	wait  map[string][]*async.Value // for the call of that side with the number of the index
}

func newMeeting() *meeting {
	return &meeting{count: make(map[string]int), wait: make(map[string][]*async.Value)}
}

// begun is the value that becomes available when the n-th call of a side begins. m.mu is held.
func (m *meeting) begun(side string, n int) *async.Value {
	for len(m.wait[side]) <= n {
		m.wait[side] = append(m.wait[side], async.MakeUnconstructed[async.Chain]().Value())
	}
	return m.wait[side][n]
}

// binder is the kernel of one side. It adds one to its first operand.
func (m *meeting) binder(side, other string) runtime.TensorBinder {
	return func(*runtime.Binding) (runtime.Bound, error) {
		return runtime.Bound{RunAsync: func(f *runtime.TensorFrame) *async.Value {
			for i := range len(f.Out(0).Data) / 4 {
				x := math.Float32frombits(binary.NativeEndian.Uint32(f.In(0).Data[4*i:]))
				binary.NativeEndian.PutUint32(f.Out(0).Data[4*i:], math.Float32bits(x+1))
			}
			m.mu.Lock()
			n := m.count[side]
			m.count[side]++
			mine, theirs := m.begun(side, n), m.begun(other, n)
			m.mu.Unlock()
			async.Emplace(mine, async.Chain{})
			return untilDone(f.Ctx().Context(), theirs)
		}}, nil
	}
}

// untilDone is v, or an error when ctx ends before.
func untilDone(ctx context.Context, v *async.Value) *async.Value {
	r := async.MakeUnconstructed[async.Chain]()
	var once sync.Once
	stop := context.AfterFunc(ctx, func() {
		once.Do(func() { r.SetError(async.Errorf(async.DeadlineExceeded, "nobody came to the meeting")) })
	})
	v.AndThen(func() {
		once.Do(func() { stop(); r.Emplace(async.Chain{}) })
	})
	return r.Value()
}

// TestChainsOverlap runs programs whose parts meet, so that they end only if the parts overlap. x is f32[1] = 0.
func TestChainsOverlap(t *testing.T) {
	eachOverlapping(t, "testdata/overlap.txtar", []string{"O0", "cpu"}, func(t *testing.T, m hlo.Module, _ float32) {
		require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err())
	})
}

// TestChainsThroughCallsAndBranchesOverlap is TestChainsOverlap for what the verifier does not let in, and async-to-sync would make
// synchronous. Both engines run it.
func TestChainsThroughCallsAndBranchesOverlap(t *testing.T) {
	eachOverlapping(t, "testdata/carried.txtar", []string{"dce", "simplify"}, func(t *testing.T, m hlo.Module, want float32) {
		x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 1), float32(0))
		require.NoError(t, err)
		addOne := func(c *eval.Call) (*hlo.Literal, error) {
			x := math.Float32frombits(binary.NativeEndian.Uint32(c.Args[0].Bytes()))
			return hlo.LiteralOf(hlo.MakeShape(hlo.F32, 1), x+1)
		}
		got, err := eval.Module(t.Context(), m, []*hlo.Literal{x}, eval.Options{CustomCalls: map[string]eval.Kernel{"a": addOne, "b": addOne}})
		require.NoError(t, err)
		assert.Equal(t, want, math.Float32frombits(binary.NativeEndian.Uint32(got.Leaves()[0].Bytes())))
	})
}

func eachOverlapping(t *testing.T, path string, pipelines []string, check func(t *testing.T, m hlo.Module, want float32)) {
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	for _, file := range archive.Files {
		mod, err := parser.Parse(file.Name, string(file.Data))
		require.NoError(t, err)
		want := wantComment(string(file.Data))
		t.Run(file.Name, func(t *testing.T) { check(t, mod, want) })
		for _, pipeline := range pipelines {
			t.Run(file.Name+"/"+pipeline, func(t *testing.T) {
				m := newMeeting()
				reg := runtime.NewRegistry()
				kernels.Register(reg)
				reg.CustomCall("a", m.binder("a", "b"))
				reg.CustomCall("b", m.binder("b", "a"))
				out := runModule(t, reg, pipeline, mod)
				assert.Equal(t, m.count["a"], m.count["b"], "every meeting took place")
				assert.Equal(t, want, out)
			})
		}
	}
}

// runModule runs a module on zeros and returns its first result, a number.
func runModule(t *testing.T, reg *runtime.Registry, pipeline string, mod hlo.Module) float32 {
	p, err := passes.Parse(pipeline)
	require.NoError(t, err)
	mod, err = (&pass.Runner{}).Run(t.Context(), p, mod)
	require.NoError(t, err)
	bytes, err := lower.Module(t.Context(), mod)
	require.NoError(t, err)
	queue := workqueue.NewMulti(workqueue.Config{Workers: 2})
	defer queue.Close()
	prog, err := runtime.Load(bytes, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
	require.NoError(t, err)
	fn := prog.Entry()
	args := make([]runtime.Buffer, len(fn.ArgTypes()))
	for i, typ := range fn.ArgTypes() {
		args[i] = typ.NewBuffer()
	}
	results := fn.NewResults()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of a program that stands still
	defer cancel()
	for range 3 { // the second run finds the first one's memory
		require.NoError(t, fn.Run(ctx, runtime.RunOptions{}, args, results))
	}
	require.Equal(t, uint8(hlo.F32), results[0].Type)
	return math.Float32frombits(binary.NativeEndian.Uint32(results[0].Data))
}

// wantComment reads the number behind RESULT: in a program.
func wantComment(text string) float32 {
	_, rest, _ := strings.Cut(text, "// RESULT: ")
	line, _, _ := strings.Cut(rest, "\n")
	x, err := strconv.ParseFloat(line, 32)
	if err != nil {
		panic(err)
	}
	return float32(x)
}
