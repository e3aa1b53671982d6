// Package timeline writes what ran when, in the format that chrome://tracing and Perfetto read. Simulations and real runs are written
// alike, so that one can be laid beside the other: a process for each computation or device, a lane for each worker, and lanes for
// what holds no worker while it is under way.
package timeline

import (
	"cmp"
	"encoding/json"
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
	Begin, End float64 // in seconds
}

// Process is what ran in one place.
type Process struct {
	Name    string
	Workers int // there were; 0: as many as spans have
	Spans   []Span
}

// event is an event of the format.
type event struct {
	Name     string            `json:"name"`
	Category string            `json:"cat,omitempty"`
	Phase    string            `json:"ph"`
	Time     float64           `json:"ts"`
	Duration float64           `json:"dur"`
	Process  int               `json:"pid"`
	Thread   int               `json:"tid"`
	Args     map[string]string `json:"args,omitempty"`
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
	events := []event{}
	for i, p := range processes {
		events = append(events, p.events(i, begin)...)
	}
	var text []byte
	separator := "[\n"
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		text = append(append(text, separator...), line...)
		separator = ",\n"
	}
	if len(events) == 0 {
		text = append(text, '[')
	}
	_, err := w.Write(append(text, "\n]\n"...))
	return err
}

func (p *Process) events(process int, begin float64) []event {
	events := []event{{Name: "process_name", Phase: "M", Process: process, Args: map[string]string{"name": p.Name}}}
	spans := slices.Clone(p.Spans)
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Begin, b.Begin) })
	workers := p.Workers
	for _, s := range spans {
		if !s.Waits {
			workers = max(workers, s.Worker+1)
		}
	}
	named := map[int]bool{}
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
			lane, name = workers+k, fmt.Sprintf("waiting %d", k)
		}
		if !named[lane] {
			named[lane] = true
			events = append(events, event{Name: "thread_name", Phase: "M", Process: process, Thread: lane, Args: map[string]string{"name": name}})
		}
		events = append(events, event{s.Name, s.category(), "X", microseconds(s.Begin - begin), microseconds(s.End - s.Begin), process, lane, s.args()})
	}
	return events
}

// microseconds to the nanosecond.
func microseconds(seconds float64) float64 { return math.Round(seconds*1e9) / 1e3 }

func (s *Span) category() string {
	if s.Async {
		return "async"
	}
	return "kernel"
}

func (s *Span) args() map[string]string {
	args := map[string]string{}
	for key, value := range map[string]string{"shape": s.Shape, "opcode": s.Opcode, "op_name": s.OpName} {
		if value != "" {
			args[key] = value
		}
	}
	return args
}
