package hostkernels

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func registerBenchmark(reg *runtime.Registry) {
	reg.Kernel("tfrt_test.benchmark", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: 1, Attrs: 4, Funcs: 1},
		Run:       benchmarkKernel,
	})
}

// benchmark runs a region again and again, every time as a task, and measures from the start of the run until its result is there.
type benchmark struct {
	ctx       runtime.ExecContext
	body      *runtime.Function
	args      []*async.Value
	done      async.Ref[async.Chain]
	name      string
	limit     time.Duration
	maxRuns   int
	warmups   int // that are left
	total     time.Duration
	wall, cpu []time.Duration // of each run
}

// attributes of a benchmark in the order of their names.
type benchmarkAttrs struct {
	seconds, maxRuns, warmups int32
	name                      string
}

func readBenchmarkAttrs(f *runtime.Frame) (a benchmarkAttrs, err error) {
	for i, to := range []*int32{&a.seconds, &a.maxRuns, nil, &a.warmups} {
		if err == nil && to != nil {
			*to, err = runtime.AttrValue[int32](f.Pool(), f.Attr(i))
		}
	}
	if err == nil {
		a.name, err = runtime.AttrValue[string](f.Pool(), f.Attr(2))
	}
	return a, err
}

func benchmarkKernel(f *runtime.Frame) {
	a, err := readBenchmarkAttrs(f)
	body := f.Func(0)
	if err == nil && body.NumResults() != 1 {
		err = errors.New("Benchmark op requires the input function have exactly one return value")
	}
	if err == nil {
		err = body.CheckCall(f.NumArgs(), 1)
	}
	if err != nil {
		f.ReportError(err)
		return
	}
	b := &benchmark{
		ctx: f.Ctx(), body: body, args: keep(f.Args()), done: async.MakeUnconstructed[async.Chain](), name: a.name,
		limit: time.Duration(a.seconds) * time.Second, maxRuns: int(a.maxRuns), warmups: max(int(a.warmups), 0),
	}
	f.Set(0, b.done.Value())
	b.ctx.Queue.AddTask(b.run)
}

func (b *benchmark) run() {
	if b.warmups == 0 && (len(b.wall) >= b.maxRuns || b.total >= b.limit) || b.cancelled() {
		b.finish()
		return
	}
	var result [1]*async.Value
	wall, cpu := time.Now(), processTime()
	execute(b.body, b.ctx, b.args, result[:])
	result[0].AndThen(func() {
		wall, cpu := time.Since(wall), processTime()-cpu
		result[0].DropRef()
		if b.warmups > 0 {
			b.warmups--
		} else {
			b.total += wall
			b.wall, b.cpu = append(b.wall, wall), append(b.cpu, cpu)
		}
		b.ctx.Queue.AddTask(b.run)
	})
}

func (b *benchmark) cancelled() bool { return b.ctx.Request != nil && b.ctx.Request.Cancelled() != nil }

func (b *benchmark) finish() {
	dropAll(b.args)
	console(b.ctx).Printf("%s", b.report())
	b.done.Emplace(async.Chain{})
}

func (b *benchmark) report() string {
	var s strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&s, "BM:"+strings.ReplaceAll(b.name, "%", "%%")+":"+format+"\n", args...)
	}
	line("Duration(ns): %d", b.total.Nanoseconds())
	line("Count: %d", len(b.wall))
	distribution := func(what string, times []time.Duration) {
		slices.Sort(times)
		line("%s Min(ns): %d", what, percentile(times, 0).Nanoseconds())
		for _, p := range []int{50, 95, 99} {
			line("%s %d%%(ns): %d", what, p, percentile(times, p).Nanoseconds())
		}
	}
	var busy time.Duration
	for _, t := range b.cpu {
		busy += t
	}
	distribution("Time", b.wall)
	distribution("CPU", b.cpu)
	used := 0.0
	if b.total > 0 {
		used = 100 * float64(busy) / float64(b.total)
	}
	line("CPU utilization(percent): %s", FormatFloat('e', used))
	return s.String()
}

// percentile returns the element that p percent of the sorted times come before.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return times[len(times)*p/100]
}
