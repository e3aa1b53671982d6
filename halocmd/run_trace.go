package halocmd

import (
	"cmp"
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/timeline"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/distributed"
)

// traceRun has an observer see the run of an HLO program. The function that it returns writes what was seen.
func (c *runCmd) traceRun(ctx context.Context, e *env, o *halo.Observer) (finish func(error) error, err error) {
	if c.Host.Trace == traceText {
		t, err := newHostTracer(c.Host.Trace, "debug")
		if err != nil {
			return nil, err
		}
		o.Kernels = t
		return func(err error) error { return cmp.Or(err, t.finish(e.stdout)) }, nil
	}
	workers := c.threads()
	if workers == 0 {
		workers = goruntime.GOMAXPROCS(0)
	}
	t := &runTimeline{workers: workers, began: time.Now(), devices: map[[2]int]*timeline.Process{}}
	o.Work = t.add
	path, own := e.ownFile(c.Host.Trace)
	if e.job != nil {
		if err := t.join(ctx, e.job); err != nil {
			return nil, err
		}
	}
	if e.job != nil && e.job.Rank() != 0 && !own {
		return func(err error) error {
			if err == nil {
				_, err = t.gather(ctx)
			}
			return err
		}, nil
	}
	file, err := createTrace(path)
	if err != nil {
		return nil, err
	}
	return func(err error) error {
		processes := t.processes()
		if e.job != nil && !own && err == nil {
			processes, err = t.gather(ctx)
		}
		return cmp.Or(err, timeline.Write(file, processes), file.Close())
	}, nil
}

// runTimeline is a run as a timeline: a process for each device.
type runTimeline struct {
	workers int
	began   time.Time

	job   *distributed.Job // or nil
	ahead time.Duration    // the clock of rank 0

	mu       sync.Mutex
	messages []timeline.Span
	devices  map[[2]int]*timeline.Process // by replica and partition
}

func (t *runTimeline) add(in hlo.Instruction, w runtime.Work) {
	s := timeline.Span{Name: w.Kernel}
	if !in.IsZero() {
		s = spanOf(in)
	}
	s.Async, s.Waits, s.Worker = w.Async, w.Waits, w.Worker
	s.Begin, s.End = w.Begin.Sub(t.began).Seconds(), w.End.Sub(t.began).Seconds()
	t.mu.Lock()
	defer t.mu.Unlock()
	key := [2]int{w.Replica, w.Partition}
	d := t.devices[key]
	if d == nil {
		d = &timeline.Process{Workers: t.workers, Name: fmt.Sprintf("replica %d, partition %d", w.Replica, w.Partition)}
		t.devices[key] = d
	}
	d.Spans = append(d.Spans, s)
}

func (t *runTimeline) processes() (list []timeline.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var keys [][2]int
	for key := range t.devices {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		list = append(list, *t.devices[key])
	}
	if len(list) == 1 && t.job == nil {
		list[0].Name = "run"
	}
	if t.job != nil {
		for i := range list {
			list[i].Name = fmt.Sprintf("rank %d: %s", t.job.Rank(), list[i].Name)
		}
		list = append(list, timeline.Process{Name: fmt.Sprintf("rank %d: messages", t.job.Rank()), Waiting: "comm", Spans: t.messages})
	}
	return list
}

// spanOf is a span of an instruction, without times.
func spanOf(in hlo.Instruction) timeline.Span {
	shape := in.Shape()
	if in.Opcode() == hlo.OpAsyncStart && shape.NumElems() > 1 {
		shape = shape.Elem(1) // the result of what it begins
	}
	s := timeline.Span{Name: in.Name(), Opcode: in.Opcode().String(), Shape: shape.String()}
	if c := in.Common(); c != nil && c.Metadata != nil {
		s.OpName = c.Metadata.OpName
	}
	return s
}

// writeTimeline writes processes to a file.
func writeTimeline(path string, processes []timeline.Process) error {
	file, err := createTrace(path)
	if err != nil {
		return err
	}
	err = timeline.Write(file, processes)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}
