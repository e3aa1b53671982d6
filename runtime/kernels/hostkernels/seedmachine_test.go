package hostkernels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// counted is a payload whose end is noticed.
type counted struct{ live *int }

func (c counted) AddRef() { *c.live++ }

func (c counted) DropRef() { *c.live-- }

// seedMachine is a machine with kernels that look at references. The background kernel of the texts waits for its turn.
type seedMachine struct {
	*machine
	live int
	turn chan struct{}
	ctx  runtime.ExecContext
}

func loadSeeds(t *testing.T, queue string, strict bool) *seedMachine {
	async.CheckLeaks(t)
	p, err := hostprog.Parse("seeds", seedPrograms)
	require.NoError(t, err)
	f, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
	require.NoError(t, err)
	q, err := workqueue.New(queue)
	require.NoError(t, err)
	t.Cleanup(q.Close)
	s := &seedMachine{machine: &machine{out: &output{}, memory: &runtime.ProfileAllocator{Base: runtime.NewHeapAllocator()}}, turn: make(chan struct{})}
	s.console = hostkernels.NewConsole(s.out, s.out)
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	reg.Kernel("test.thousand", runtime.PureNone(func() int32 { return 1000 }))
	reg.Kernel("test.counted", runtime.PureNone(func() counted { s.live++; return counted{&s.live} }))
	reg.Kernel("test.references", runtime.Params3(func(x, _ runtime.Argument[counted], n runtime.Result[int32]) error {
		n.Emplace(int32(x.Value().NumRefs()))
		return nil
	}))
	reg.Kernel("async_kernel", runtime.Params2(func(in runtime.Argument[counted], out runtime.Result[counted]) error {
		src, dst := in.Ref(), out.Allocate() // without them both values would end here
		go func() {
			<-s.turn
			payload := src.Get()
			payload.AddRef()
			dst.Emplace(payload)
			dst.Drop()
			src.Drop()
			s.turn <- struct{}{}
		}()
		return nil
	}))
	s.program, err = runtime.Load(f, reg, runtime.LoadOptions{Strict: strict, Host: runtime.NewHost(runtime.HostOptions{Queue: q, Allocator: s.memory})})
	require.NoError(t, err)
	req := runtime.NewRequest(t.Context(), s.program.Host(), runtime.RequestOptions{Data: []any{s.console}})
	t.Cleanup(req.Close)
	s.ctx = req.NewExecContext()
	return s
}

// execute starts a function and returns its results as they are when Execute returns.
func (s *seedMachine) execute(t *testing.T, name string, args ...*async.Value) []*async.Value {
	f := s.program.Function(name)
	results := make([]*async.Value, f.NumResults())
	require.NoError(t, f.Execute(s.ctx, args, results))
	t.Cleanup(func() {
		for _, v := range results {
			v.DropRef()
		}
	})
	return results
}

func onSeeds(t *testing.T, strict bool, f func(t *testing.T, s *seedMachine)) {
	for _, queue := range []string{"single", "multi:2"} {
		t.Run(queue, func(t *testing.T) { f(t, loadSeeds(t, queue, strict)) })
	}
}
