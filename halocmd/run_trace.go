package halocmd

import (
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/timeline"
	"github.com/gohalo/halo/runtime"
)

// traceRun has an observer see the run of an HLO program. The function that it returns writes what was seen.
func traceRun(to string, workers int, out io.Writer, o *halo.Observer) (finish func() error, err error) {
	if to == traceText {
		t, err := newHostTracer(to, "debug")
		if err != nil {
			return nil, err
		}
		o.Kernels = t
		return func() error { return t.finish(out) }, nil
	}
	file, err := createTrace(to)
	if err != nil {
		return nil, err
	}
	if workers == 0 {
		workers = goruntime.GOMAXPROCS(0)
	}
	t := &runTimeline{workers: workers, began: time.Now(), devices: map[[2]int]*timeline.Process{}}
	o.Work = t.add
	return func() error {
		err := timeline.Write(file, t.processes())
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		return err
	}, nil
}

// runTimeline is a run as a timeline: a process for each device.
type runTimeline struct {
	workers int
	began   time.Time

	mu      sync.Mutex
	devices map[[2]int]*timeline.Process // by replica and partition
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
	if len(list) == 1 {
		list[0].Name = "run"
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
