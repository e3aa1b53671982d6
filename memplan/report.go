// Package memplan says what the memory of a program's executions is for: what is alive when, at which addresses, where it comes from and what keeps
// it, and what changes of the program would save. It reads the plan that the runtime executes, so its numbers are those of the allocator.
//
// [New] makes a [Report] of a compiled program, which [Report.WriteText] and [Report.WriteHTML] show; [Report.FindSavings] looks for what would save
// memory, and [Report.Apply] does it. All sizes are bytes.
package memplan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/runtime"
)

// Report is the memory of one execution of a program on one device, in bytes.
type Report struct {
	Module string `json:"module"`
	File   string `json:"file,omitempty"` // of the text
	// Devices is how many devices each need that much.
	Devices int `json:"devices"`
	// Total is what an execution needs: arguments, results, constants and arena, without what is donated.
	Total     int64 `json:"total_bytes"`
	Arguments int64 `json:"argument_bytes"`
	Results   int64 `json:"result_bytes"`
	Constants int64 `json:"constant_bytes"`
	// Donated are the results that may lie in the memory of arguments, as the header's input_output_alias lets them.
	Donated int64 `json:"donated_bytes,omitempty"`
	// Arena is what the runtime asks of its allocator for an execution: the frame, in which values have their places, and the scratch of kernels, with what
	// they keep for loops.
	Arena   int64 `json:"arena_bytes"`
	Frame   int64 `json:"frame_bytes"`
	Scratch int64 `json:"scratch_bytes"`
	// Peak is the most that is alive in the frame at one time; the rest of the frame is lost between the pieces.
	Peak   int64 `json:"peak_bytes"`
	PeakAt Step  `json:"peak_at"`
	// Detached are asynchronous operations that are begun in one computation and end in another: each execution that is under way takes memory of its own.
	Detached []Detached `json:"detached"`
	Steps    []Step     `json:"steps"`   // in the order of execution, with what is called in place
	Buffers  []Buffer   `json:"buffers"` // by place in the frame, then by time
	AtPeak   []Line     `json:"at_peak"` // by line of the user's program, the largest first
	Savings  []Saving   `json:"savings"` // the largest first; empty unless they were looked for
	XLA      *XLA       `json:"xla,omitempty"`
	// Cut says that the program calls too much to follow: steps below some calls are missing, and Peak is a lower bound.
	Cut bool `json:"cut,omitempty"`
}

// Step is a moment of an execution: one instruction.
type Step struct {
	Index       int    `json:"index"`
	Name        string `json:"name"`
	Computation string `json:"computation"`
	Live        int64  `json:"live_bytes"` // of the frame
	Scratch     int64  `json:"scratch_bytes,omitempty"`
}

// Buffer is a piece of memory from when its first value is written until its last value is read.
type Buffer struct {
	origin.Origin
	// Kind is temporary, argument, result or constant. Only temporary ones are in the frame.
	Kind   string `json:"kind"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"` // of temporary ones as the plan rounds them
	// First and Last are the steps between which it is alive.
	First int `json:"first"`
	Last  int `json:"last"`
	// Others are instructions that compute in the same place afterwards.
	Others []string `json:"others,omitempty"`
	// Keeper is the last instruction that reads it, or "return".
	Keeper string `json:"keeper,omitempty"`
	AtPeak bool   `json:"at_peak,omitempty"`
}

// Line is what is alive at the peak of one line of the user's program.
type Line struct {
	Source  string   `json:"source"`
	Bytes   int64    `json:"bytes"`
	Buffers []string `json:"buffers"` // names, the largest first
}

// Detached is an asynchronous start whose executions have memory of their own.
type Detached struct {
	Start string `json:"start"`
	Bytes int64  `json:"bytes"` // of each execution that is under way
}

// New reads the plan of a program. The module is the one that was lowered; text is the one that was read, and may be
// zero. A program that was not lowered from HLO is an error.
func New(p *runtime.Program, m, text hlo.Module) (*Report, error) {
	body := p.File().Extension(runtime.SectionBufferPlan)
	if body == nil || p.Metadata() == nil || m.IsZero() {
		return nil, errors.New("the program has no HLO, and no plan of its memory")
	}
	plan, err := runtime.DecodeBufferPlan(body)
	if err != nil {
		return nil, err
	}
	entry := p.Entry()
	r := &Report{Module: m.Name(), File: m.Config().FileName, Devices: p.Metadata().Replicas * p.Metadata().Partitions,
		Constants: int64(len(p.File().Extension(runtime.SectionConstants))), Arena: entry.ArenaBytes(),
		Detached: []Detached{}, Steps: []Step{}, Buffers: []Buffer{}, AtPeak: []Line{}, Savings: []Saving{}}
	for _, t := range entry.ArgTypes() {
		r.Arguments += t.Bytes
	}
	for _, t := range entry.ResultTypes() {
		r.Results += t.Bytes
	}
	w := &walk{r: r, p: p, m: m, finder: origin.NewFinder(m, text), plans: map[int]*runtime.FunctionPlan{}}
	for i := range plan.Functions {
		w.plans[plan.Functions[i].Func] = &plan.Functions[i]
	}
	r.Frame = align(w.plans[entry.ID()].FrameBytes)
	r.Scratch = r.Arena - r.Frame
	r.Total = r.Arguments + r.Results + r.Constants + r.Arena
	if err := w.function(entry, 0, nil); err != nil {
		return nil, err
	}
	r.measure()
	r.takeDonated(m)
	return r, nil
}

// measure finds what is alive at each step, and the peak.
func (r *Report) measure() {
	change := make([]int64, len(r.Steps)+1)
	for i := range r.Buffers {
		if b := &r.Buffers[i]; b.Kind == Temporary {
			change[b.First] += b.Bytes
			change[min(b.Last+1, len(r.Steps))] -= b.Bytes
		}
	}
	live := int64(0)
	for i := range r.Steps {
		live += change[i]
		r.Steps[i].Live = live
		if live > r.Peak || i == 0 {
			r.Peak, r.PeakAt = live, r.Steps[i]
		}
	}
	slices.SortStableFunc(r.Buffers, func(a, b Buffer) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.First, b.First))
	})
	index := map[string]int{}
	bySize := make([]*Buffer, 0, len(r.Buffers))
	for i := range r.Buffers {
		b := &r.Buffers[i]
		if b.AtPeak = b.Kind == Temporary && b.First <= r.PeakAt.Index && b.Last >= r.PeakAt.Index && b.Bytes > 0; b.AtPeak {
			bySize = append(bySize, b)
		}
	}
	slices.SortStableFunc(bySize, func(a, b *Buffer) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, b := range bySize {
		key := b.Where()
		if b.Source == "" && b.OpName == "" {
			key = "(no source)"
		}
		k, ok := index[key]
		if !ok {
			k = len(r.AtPeak)
			index[key] = k
			r.AtPeak = append(r.AtPeak, Line{Source: key})
		}
		r.AtPeak[k].Bytes += b.Bytes
		r.AtPeak[k].Buffers = append(r.AtPeak[k].Buffers, b.Name)
	}
	slices.SortStableFunc(r.AtPeak, func(a, b Line) int { return cmp.Compare(b.Bytes, a.Bytes) })
}

// Check returns an error if two buffers that are alive at the same time have the same address, or one is outside of the frame. That would be a bug of
// the plan or of this package. Of functions whose parts run beside each other the order of the steps says too little.
func (r *Report) Check() error {
	var open []*Buffer
	list := make([]*Buffer, 0, len(r.Buffers))
	for i := range r.Buffers {
		if b := &r.Buffers[i]; b.Kind == Temporary {
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b *Buffer) int { return cmp.Compare(a.First, b.First) })
	for _, b := range list {
		if b.Offset < 0 || b.Offset+b.Bytes > r.Frame {
			return fmt.Errorf("%s is at %d, %d bytes, in a frame of %d", b.Name, b.Offset, b.Bytes, r.Frame)
		}
		open = slices.DeleteFunc(open, func(o *Buffer) bool { return o.Last < b.First })
		for _, o := range open {
			if o.Offset < b.Offset+b.Bytes && b.Offset < o.Offset+o.Bytes {
				return fmt.Errorf("%s at %d and %s at %d, of %d and %d bytes, are alive at once", o.Name, o.Offset, b.Name, b.Offset, o.Bytes, b.Bytes)
			}
		}
		open = append(open, b)
	}
	return nil
}

// Kinds of buffers.
const (
	Temporary = "temporary"
	Argument  = "argument"
	Result    = "result"
	Constant  = "constant"
)

func align(n int64) int64 { return (n + runtime.BufferAlign - 1) &^ (runtime.BufferAlign - 1) }
