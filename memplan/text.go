package memplan

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteText writes the report: the sums, what is alive at the peak by line, the largest buffers there with what keeps them, and what would save memory. Of each
// list it shows the first top, or all if top is 0.
func (r *Report) WriteText(w io.Writer, top int) error {
	out := bufio.NewWriter(w)
	each := ""
	if r.Devices > 1 {
		each = fmt.Sprintf(" on each of %d devices", r.Devices)
	}
	fmt.Fprintf(out, "%s: an execution needs %s (%d bytes)%s\n", r.Module, size(r.Total), r.Total, each)
	for _, x := range []struct {
		bytes int64
		what  string
	}{{r.Arguments, "arguments"}, {r.Results, "results"}, {r.Constants, "constants"}, {r.Frame, "frame, in which values have their places"}, {r.Scratch, "scratch of kernels"}} {
		fmt.Fprintf(out, "%12s  %s\n", size(x.bytes), x.what)
	}
	if r.Donated > 0 {
		fmt.Fprintf(out, "%12s  donated: results in the memory of arguments, which count once\n", size(r.Donated))
	}
	for _, d := range r.Detached {
		fmt.Fprintf(out, "%12s  for each execution of %s that is under way\n", size(d.Bytes), d.Start)
	}
	cut := ""
	if r.Cut {
		cut = " at least"
	}
	fmt.Fprintf(out, "\nThe peak of the frame is%s %s, at %s (step %d of %d); %s of it is lost between the pieces.\n", cut, size(r.Peak), r.PeakAt.Name, r.PeakAt.Index+1, len(r.Steps),
		size(r.Frame-r.Peak))
	if len(r.AtPeak) > 0 {
		fmt.Fprintf(out, "Alive then, by line of the program:\n")
	}
	for i, l := range r.AtPeak {
		if top > 0 && i == top {
			fmt.Fprintf(out, "              and %d more lines\n", len(r.AtPeak)-i)
			break
		}
		fmt.Fprintf(out, "%12s  %s: %s\n", size(l.Bytes), l.Source, strings.Join(abridge(l.Buffers), ", "))
	}
	peak := r.alive()
	if len(peak) > 0 {
		fmt.Fprintf(out, "\n%12s  %-28s %-24s %s\n", "bytes", "buffer alive at the peak", "shape", "kept for")
	}
	for i, b := range peak {
		if top > 0 && i == top {
			break
		}
		fmt.Fprintf(out, "%12d  %-28s %-24s %s\n", b.Bytes, b.Name, clip(b.Shape, 24), b.Keeper)
	}
	for i, s := range r.Savings {
		if i == 0 {
			fmt.Fprintf(out, "\nWhat would save memory, by plans made with the change (halo mem --apply=CHANGE -o FILE makes it):\n")
		}
		fmt.Fprintf(out, "%12s  %.0f %%  %s: %s\n", size(s.Bytes()), 100*float64(s.Bytes())/float64(max(s.Before, 1)), s.Change, s.Text)
	}
	r.besideXLA(out)
	return out.Flush()
}

// alive lists the buffers that are alive at the peak, the largest first.
func (r *Report) alive() []*Buffer {
	var list []*Buffer
	for i := range r.Buffers {
		if r.Buffers[i].AtPeak {
			list = append(list, &r.Buffers[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Buffer) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return list
}

func (r *Report) besideXLA(out io.Writer) {
	x := r.XLA
	if x == nil {
		return
	}
	fmt.Fprintf(out, "\n%-14s %14s %14s   (XLA: %s)\n", "", "halo", "XLA", x.File)
	row := func(what string, ours, theirs int64) { fmt.Fprintf(out, "%-14s %14d %14d\n", what, ours, theirs) }
	row("total", r.Total, x.Total)
	if slices.ContainsFunc(x.Allocations, func(a Allocation) bool { return a.Kind != "" }) {
		row("arguments", r.Arguments, x.Of("parameter"))
		row("results", r.Results, x.Of("output"))
		row("constants", r.Constants, x.Of("constant"))
		row("temporary", r.Arena, x.Of(Temporary))
	}
}

func abridge(names []string) []string {
	const most = 4
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
