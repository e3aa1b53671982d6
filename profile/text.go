package profile

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gohalo/halo/hlo/analysis"
)

// TextOptions say how much the text shows.
type TextOptions struct {
	Top   int // ops, lines and loops; 0 is all
	Width int // columns of the terminal; 0 is no limit
}

// WriteText writes the profile as tables: ops first, then lines, loops, and advice.
func (p *Profile) WriteText(w io.Writer, o TextOptions) error {
	out := bufio.NewWriter(w)
	threads := "1 thread"
	if p.Threads != 1 {
		threads = fmt.Sprintf("%d threads", p.Threads)
	}
	runs := "1 run"
	if p.Runs != 1 {
		runs = fmt.Sprintf("%d runs", p.Runs)
	}
	fmt.Fprintf(out, "%s: %s a run (%s, %s); %s\n\n", p.Module, duration(p.Seconds), runs, threads, p.account())
	line := func(format string, args ...any) {
		fmt.Fprintln(out, clip(strings.TrimRight(fmt.Sprintf(format, args...), " "), o.Width))
	}
	line("%9s %7s %9s %9s  %-18s  %-24s %s", "time", "share", "calls", "each", "limit", "op", "where")
	n := 0
	for i := range p.Ops {
		op := &p.Ops[i]
		if op.Seconds == 0 {
			continue
		}
		if n++; o.Top > 0 && n > o.Top {
			rest := 0.0
			for _, x := range p.Ops[i:] {
				rest += x.Seconds
			}
			line("%9s %7s %9s %9s  %-18s  and %d more ops", duration(rest), percent(rest/p.OpSeconds), "", "", "", len(p.Ops)-i)
			break
		}
		line("%9s %7s %9s %9s  %-18s  %-24s %s", duration(op.Seconds), percent(op.Seconds/p.OpSeconds), calls(op.Calls), duration(op.Seconds/max(op.Calls, 1e-9)),
			op.limitText(), op.label(), op.Where())
	}
	fmt.Fprintf(out, "\n")
	line("%9s %7s %9s %9s  %s", "time", "share", "Gflop/s", "GB/s", "line of the program, and its ops")
	for i, l := range p.Lines {
		if l.Seconds == 0 || o.Top > 0 && i >= o.Top {
			break
		}
		line("%9s %7s %9.3g %9.3g  %s: %s", duration(l.Seconds), percent(l.Seconds/p.OpSeconds), l.Flops/l.Seconds*1e-9, l.Bytes/l.Seconds*1e-9, l.Source,
			strings.Join(abridge(l.Ops), ", "))
	}
	if len(p.Loops) > 0 {
		fmt.Fprintf(out, "\n")
		line("%9s %7s %9s %9s  %s", "time", "share", "rounds", "a round", "loop")
	}
	for i, l := range p.Loops {
		if o.Top > 0 && i >= o.Top {
			break
		}
		rounds, each, how := "?", "", ""
		if l.Rounds > 0 {
			rounds, each = calls(l.Rounds*l.Executions), duration(l.PerRound)
		}
		if l.Compiled {
			how = ", one compiled program"
		}
		line("%9s %7s %9s %9s  %s %s%s", duration(l.Seconds), percent(l.Seconds/p.OpSeconds), rounds, each, l.Name, l.Where(), how)
		for _, x := range l.Inside[:min(len(l.Inside), shownInside)] {
			line("%37s    %s of it, estimated: %s (%s) %s", "", percent(x.Share), x.Name, x.Opcode, x.Where())
		}
	}
	for i, a := range p.Advice {
		if i == 0 {
			fmt.Fprintf(out, "\n")
		}
		wrap(out, "- "+a.Text, "  ", o.Width)
	}
	if p.Machine == analysis.OneCore {
		fmt.Fprintln(out)
		wrap(out, "The limits are those of a typical core: halo calibrate measures this machine.", "", o.Width)
	}
	return out.Flush()
}

// account says what a run consists of.
func (p *Profile) account() string {
	share := func(seconds float64) string { return percent(seconds / max(p.Seconds, 1e-12)) }
	text := fmt.Sprintf("its ops take %s, %s", duration(p.OpSeconds), share(p.OpSeconds))
	if p.Beside > 0 {
		text += fmt.Sprintf(", %s of that beside each other", duration(p.Beside))
	}
	for _, r := range p.Rest {
		if r.Seconds >= worthRest*p.Seconds {
			text += fmt.Sprintf("; %s takes %s, %s", r.Name, duration(r.Seconds), share(r.Seconds))
		}
	}
	return text
}

// shownInside is how much of a compiled loop is shown.
const shownInside = 3

// worthRest is the share of a run from which time outside of ops is spoken of in the first line.
const worthRest = 0.01

// label is the op with its opcode where the name does not begin with it.
func (o *Op) label() string {
	switch {
	case o.Kind == Copy:
		return "copy for " + o.Name
	case o.Kind == Return:
		return "return of " + o.Computation
	case strings.HasPrefix(o.Name, o.Opcode):
		return o.Name
	}
	return o.Name + " (" + o.Opcode + ")"
}

func (o *Op) limitText() string {
	switch {
	case o.Limit == ByEvaluator:
		return "evaluator"
	case o.Limit != notClassifed:
		return fmt.Sprintf("%s %.0f %%", o.Limit, 100*o.Share)
	case o.Kind == Kernel:
		return ""
	}
	return string(o.Kind)
}

func calls(n float64) string {
	if n == float64(int64(n)) {
		return fmt.Sprintf("%d", int64(n))
	}
	return fmt.Sprintf("%.1f", n)
}

// duration is a time in the unit that suits it.
func duration(seconds float64) string {
	switch {
	case seconds >= 1:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds >= 1e-3:
		return fmt.Sprintf("%.2f ms", seconds*1e3)
	case seconds >= 1e-6:
		return fmt.Sprintf("%.2f µs", seconds*1e6)
	}
	return fmt.Sprintf("%.1f ns", seconds*1e9)
}

// clip cuts a line at the width of the terminal.
func clip(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// wrap writes text in lines of a width; 0 is 120.
func wrap(out io.Writer, text, indent string, width int) {
	if width <= 0 {
		width = 120
	}
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if i > 0 && column+1+n > width {
			fmt.Fprintf(out, "\n%s", indent)
			column = len(indent)
		} else if i > 0 {
			fmt.Fprint(out, " ")
			column++
		}
		fmt.Fprint(out, word)
		column += n
	}
	fmt.Fprintln(out)
}
