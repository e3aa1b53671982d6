package halocmd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gohalo/halo/internal/timeline"
	"github.com/gohalo/halo/runtime/distributed"
)

// The timeline of a job has the messages of each process, too, and the clock of rank 0.

// join has the timeline see the messages of a job.
func (t *runTimeline) join(ctx context.Context, j *distributed.Job) (err error) {
	t.job = j
	if t.ahead, err = j.Clock(ctx); err != nil {
		return err
	}
	j.WatchTransfers(func(m distributed.Transfer) {
		s := timeline.Span{Name: m.Name, Waits: true, Bytes: m.Bytes, Peer: fmt.Sprintf("to rank %d", m.Peer)}
		if m.Receive {
			s.Peer = fmt.Sprintf("from rank %d", m.Peer)
		}
		s.Begin, s.End = m.Begin.Sub(t.began).Seconds(), m.End.Sub(t.began).Seconds()
		t.mu.Lock()
		t.messages = append(t.messages, s)
		t.mu.Unlock()
	})
	return nil
}

// rankTimeline is what a process has seen. Times count from Began, of the clock of rank 0.
type rankTimeline struct {
	Began     int64 // nanoseconds
	Processes []timeline.Process
}

// gather gives rank 0 what all processes have seen, in its own time.
func (t *runTimeline) gather(ctx context.Context) ([]timeline.Process, error) {
	began := t.began.Add(t.ahead).UnixNano()
	mine, err := json.Marshal(rankTimeline{began, t.processes()})
	if err != nil {
		return nil, err
	}
	all, err := t.job.Gather(ctx, "collecting the trace", mine)
	if err != nil || all == nil {
		return nil, err
	}
	var processes []timeline.Process
	for rank, data := range all {
		var r rankTimeline
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("the trace of rank %d: %w", rank, err)
		}
		later := time.Duration(r.Began - began).Seconds()
		for _, p := range r.Processes {
			for i := range p.Spans {
				p.Spans[i].Begin += later
				p.Spans[i].End += later
			}
			processes = append(processes, p)
		}
	}
	return processes, nil
}
