package halocmd

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/timeline"
	"github.com/gohalo/halo/printer"
)

// step is what one pass did, as --json shows it.
type step struct {
	Pass         string  `json:"pass"`
	MS           float64 `json:"ms"`
	Changed      bool    `json:"changed"`
	Skipped      bool    `json:"skipped,omitempty"` // nothing had changed since its last run
	Instructions int     `json:"instructions"`      // afterwards
	Computations int     `json:"computations"`
	Delta        size    `json:"delta"`             // what it added, or took away
	Visited      int     `json:"visited,omitempty"` // computations that it was run on
	CopiedNodes  int     `json:"copied_nodes"`      // of the IR, because the version before has them too
	CopiedBytes  int     `json:"copied_bytes"`
	// AllocatedBytes is what the process allocated while the pass ran.
	AllocatedBytes int64            `json:"allocated_bytes,omitempty"`
	Statistics     map[string]int64 `json:"statistics,omitempty"`
}

func stepOf(r pass.Report, known *sizes) step {
	return step{
		Delta: known.of(r.After).minus(known.of(r.Before)), AllocatedBytes: r.Allocated,
		Pass: r.Path, MS: float64(r.Took.Microseconds()) / 1000, Changed: r.Changed(), Skipped: !r.Fresh,
		Instructions: r.After.NumInstructions(), Computations: r.After.NumComputations(), Visited: r.Computations,
		CopiedNodes: r.Copied.Copies(), CopiedBytes: r.Copied.Bytes, Statistics: r.Statistics,
	}
}

// summary is the time and the statistics of each pass over all its runs, the slowest first.
func summary(out io.Writer, reports []pass.Report) {
	type row struct {
		name       string
		runs, idle int
		took       time.Duration
		allocated  int64
		stats      map[string]int64
	}
	byName := map[string]*row{}
	total, allocated := time.Duration(0), int64(0)
	for _, r := range reports {
		s := byName[r.Pass.Name]
		if s == nil {
			s = &row{name: r.Pass.Name, stats: map[string]int64{}}
			byName[r.Pass.Name] = s
		}
		s.runs++
		if !r.Changed() {
			s.idle++
		}
		s.took += r.Took
		s.allocated += r.Allocated
		total += r.Took
		allocated += r.Allocated
		for name, n := range r.Statistics {
			s.stats[name] += n
		}
	}
	rows := slices.SortedFunc(maps.Values(byName), func(a, b *row) int {
		if a.took != b.took {
			return int(b.took - a.took)
		}
		return strings.Compare(a.name, b.name)
	})
	fmt.Fprintf(out, "%10.3f ms %8s  in all\n", total.Seconds()*1e3, bytesText(allocated))
	for _, s := range rows {
		fmt.Fprintf(out, "%10.3f ms %8s  %s: %d runs, %d without a change%s\n", s.took.Seconds()*1e3, bytesText(s.allocated), s.name, s.runs, s.idle, statsText(s.stats))
	}
}

// writeTrace writes the runs of passes as a Chrome trace: pipelines are the levels, each pass a bar.
func writeTrace(path string, reports []pass.Report, steps []step) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	out := timeline.NewWriter(file)
	for i, r := range reports {
		s := steps[i]
		out.Write(timeline.Event{Name: r.Pass.Name, Phase: "X", Time: micros(r.Began.Sub(reports[0].Began)), Duration: micros(r.Took), Process: 1, Thread: 1,
			Args: map[string]any{"path": r.Path, "changed": s.Changed, "instructions": s.Instructions, "copied_bytes": s.CopiedBytes,
				"allocated_bytes": s.AllocatedBytes, "delta": s.Delta, "statistics": s.Statistics}})
	}
	if err := out.Close(); err != nil {
		return err
	}
	return file.Close()
}

// instructionDiff lists the instructions that two versions of a module do not share: - for gone, + for new, and both for changed. Renamed
// instructions are one line, since ids say that they are the same.
func instructionDiff(before, after hlo.Module, cfg printer.Config) []byte {
	if !after.SameLineage(before) {
		return []byte("  another module, whose instructions have nothing to do with those before\n")
	}
	var b []byte
	old, new := printer.NewLines(before, cfg), printer.NewLines(after, cfg)
	line := func(sign string, lines *printer.Lines, in hlo.Instruction) {
		text, err := lines.Append(nil, in)
		if err != nil {
			text = []byte("%" + in.Name())
		}
		b = fmt.Appendf(b, "%s %s\n", sign, strings.TrimSpace(string(text)))
	}
	last := hlo.NoComp
	for ch := range after.Diff(before) {
		if ch.Comp != last && ch.Comp != hlo.NoComp {
			last = ch.Comp
			c := ch.NewComp
			if c.IsZero() {
				c = ch.OldComp
			}
			b = fmt.Appendf(b, "@ %%%s\n", c.Name())
		}
		if ch.OldInstr.IsZero() && ch.NewInstr.IsZero() {
			b = fmt.Appendf(b, "  %v\n", ch.Kind)
		}
		if !ch.OldInstr.IsZero() {
			line("-", old, ch.OldInstr)
		}
		if !ch.NewInstr.IsZero() {
			line("+", new, ch.NewInstr)
		}
	}
	return b
}
