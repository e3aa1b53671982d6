// Package timeline writes what ran when, in the format that chrome://tracing and Perfetto read. Simulations and real runs are written
// alike, so that one can be laid beside the other: a process for each computation or device, a lane for each worker, and lanes for
// what holds no worker while it is under way.
package timeline

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
)

// Span is something that took time.
type Span struct {
	Name       string // of the instruction, without '%'
	Opcode     string
	Shape      string
	OpName     string  // of its metadata; may be empty
	Async      bool    // an asynchronous start began it
	Waits      bool    // it held no worker
	Worker     int     // that it ran on, unless it waits
	Peer       string  // of a message: to rank 1
	Bytes      int     // of a message
	Begin, End float64 // in seconds
}

// Process is what ran in one place.
type Process struct {
	Name    string
	Workers int    // there were; 0: as many as spans have
	Waiting string // names the lanes of what waits; "": waiting
	Spans   []Span
}

// Write writes processes as one JSON array, a line for each event. Times count from the earliest span.
func Write(w io.Writer, processes []Process) error {
	begin := 0.0
	first := true
	for _, p := range processes {
		for _, s := range p.Spans {
			if first || s.Begin < begin {
				begin, first = s.Begin, false
			}
		}
	}
	out := NewWriter(w)
	for i, p := range processes {
		for _, e := range p.events(i, begin) {
			out.Write(e)
		}
	}
	return out.Close()
}

func (p *Process) events(process int, begin float64) []Event {
	events := []Event{{Name: "process_name", Phase: "M", Process: process, Args: map[string]any{"name": p.Name}}}
	spans := slices.Clone(p.Spans)
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Begin, b.Begin) })
	workers := p.Workers
	for _, s := range spans {
		if !s.Waits {
			workers = max(workers, s.Worker+1)
		}
	}
	named := map[int]bool{}
	waits := cmp.Or(p.Waiting, "waiting")
	var waiting []float64 // when the last span of each lane of what waits ends
	for _, s := range spans {
		lane, name := s.Worker, fmt.Sprintf("worker %d", s.Worker)
		if s.Waits {
			k := slices.IndexFunc(waiting, func(end float64) bool { return end <= s.Begin })
			if k < 0 {
				k = len(waiting)
				waiting = append(waiting, 0)
			}
			waiting[k] = s.End
			lane, name = workers+k, fmt.Sprintf("%s %d", waits, k)
		}
		if !named[lane] {
			named[lane] = true
			events = append(events, Event{Name: "thread_name", Phase: "M", Process: process, Thread: lane, Args: map[string]any{"name": name}})
		}
		events = append(events, Event{Name: s.Name, Category: s.category(), Phase: "X", Time: microseconds(s.Begin - begin),
			Duration: microseconds(s.End - s.Begin), Process: process, Thread: lane, Args: s.args()})
	}
	return events
}

// microseconds to the nanosecond.
func microseconds(seconds float64) float64 { return math.Round(seconds*1e9) / 1e3 }

func (s *Span) category() string {
	switch {
	case s.Async:
		return "async"
	case s.Peer != "":
		return "message"
	}
	return "kernel"
}

func (s *Span) args() map[string]any {
	args := map[string]any{}
	for key, value := range map[string]string{"shape": s.Shape, "opcode": s.Opcode, "op_name": s.OpName, "peer": s.Peer} {
		if value != "" {
			args[key] = value
		}
	}
	if s.Peer != "" {
		args["bytes"] = s.Bytes
	}
	return args
}
