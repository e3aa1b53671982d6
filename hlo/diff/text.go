package diff

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/page"
	"github.com/gohalo/halo/printer"
)

// TextOptions say how much of a report the text shows.
type TextOptions struct {
	// Most bounds the lines of instructions; 0 is no bound.
	Most int
	// Colour marks lines as terminals do.
	Colour bool
	// SummaryOnly leaves the pairs out.
	SummaryOnly bool
}

// WriteText writes the summary, and then the differences: what is only in A with -, what is only in B with +, and of a pair that differs both, below
// a line that says in what.
func (r *Report) WriteText(w io.Writer, a, b hlo.Module, o TextOptions) error {
	out := bufio.NewWriter(w)
	r.summary(out)
	if o.SummaryOnly {
		return out.Flush()
	}
	p := pairs{out: out, o: o, a: printer.NewLines(a, printer.Config{}), b: printer.NewLines(b, printer.Config{})}
	last := ""
	for i := range r.Changes {
		c := &r.Changes[i]
		if p.full() {
			continue
		}
		if comp := c.computation(); comp != last {
			last = comp
			p.mark("", "@ %"+comp, "36")
		}
		if c.What != nil {
			text := strings.Join(c.What, ", ")
			if c.Follows {
				text += " (follows)"
			}
			for _, d := range c.Details {
				text += fmt.Sprintf("; %s: %s → %s", d.Name, orNone(d.A), orNone(d.B))
			}
			p.mark("  ", text, "33")
		}
		if c.A != nil {
			p.mark("- ", lineOf(p.a, c.Old), "31")
		}
		if c.B != nil {
			p.mark("+ ", lineOf(p.b, c.New), "32")
		}
	}
	for _, k := range r.onlyA {
		p.whole("- ", a, k, "31")
	}
	for _, k := range r.onlyB {
		p.whole("+ ", b, k, "32")
	}
	if p.left > 0 {
		fmt.Fprintf(out, "and %d more lines; --all shows them\n", p.left)
	}
	return out.Flush()
}

// summary writes what the report says in sum.
func (r *Report) summary(out io.Writer) {
	s := &r.Summary
	if r.Equal {
		fmt.Fprintf(out, "equal but for names: %d instructions", s.Same)
		if s.Renamed > 0 || s.Moved > 0 {
			fmt.Fprintf(out, ", %d renamed, %d moved", s.Renamed, s.Moved)
		}
		fmt.Fprintln(out)
		r.why(out)
		return
	}
	fmt.Fprintf(out, "%d instructions are the same (%d renamed, %d moved), %d changed%s, %d only follow from that; %d only in A, %d only in B\n", s.Same, s.Renamed, s.Moved, s.Changed,
		kindsText(s.Kinds), s.Follows, s.OnlyA, s.OnlyB)
	if s.FlopsA != s.FlopsB || s.BytesA != s.BytesB {
		fmt.Fprintf(out, "operations: %s → %s (%s), bytes moved: %s → %s (%s)\n", quantity(s.FlopsA), quantity(s.FlopsB), gain(s.FlopsA, s.FlopsB), quantity(s.BytesA), quantity(s.BytesB),
			gain(s.BytesA, s.BytesB))
	}
	for i, l := range r.Lines {
		if i == mostLines {
			fmt.Fprintf(out, "  and %d more lines\n", len(r.Lines)-i)
			break
		}
		fmt.Fprintf(out, "  %s: operations %s, bytes %s", l.Source, signed(l.FlopsB-l.FlopsA), signed(l.BytesB-l.BytesA))
		if l.OnlyA+l.OnlyB > 0 {
			fmt.Fprintf(out, ", %d instructions gone, %d new", l.OnlyA, l.OnlyB)
		}
		fmt.Fprintln(out)
	}
	r.why(out)
}

func (r *Report) why(out io.Writer) {
	for _, w := range r.Why {
		fmt.Fprintf(out, "B is compiled anew for its %s: %s\n", w.Kind, w.Text)
	}
}

// mostLines bounds the lines of the program in a summary.
const mostLines = 8

func kindsText(kinds map[string]int) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, fmt.Sprintf("%s %d", k, kinds[k]))
	}
	if list == nil {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return clip(s)
}

// quantity is a number with a prefix of powers of a thousand.
func quantity(n int64) string {
	x := float64(n)
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		if x < 1000 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") + unit
		}
		x /= 1000
	}
	return fmt.Sprintf("%.1fP", x)
}

func signed(n int64) string {
	if n < 0 {
		return "-" + quantity(-n)
	}
	return "+" + quantity(n)
}

func gain(a, b int64) string {
	if a == 0 {
		return signed(b - a)
	}
	return fmt.Sprintf("%+.1f %%", 100*(float64(b)/float64(a)-1))
}

// pairs writes lines of instructions.
type pairs struct {
	out  io.Writer
	o    TextOptions
	a, b *printer.Lines
	n    int
	left int // lines that were too many
}

func (p *pairs) full() bool {
	if p.o.Most > 0 && p.n >= p.o.Most {
		p.left++
		return true
	}
	return false
}

func (p *pairs) mark(sign, text, colour string) {
	p.n++
	if p.o.Colour {
		fmt.Fprintf(p.out, "\x1b[%sm%s%s\x1b[0m\n", colour, sign, text)
		return
	}
	fmt.Fprintf(p.out, "%s%s\n", sign, text)
}

// whole writes a computation.
func (p *pairs) whole(sign string, m hlo.Module, k hlo.Computation, colour string) {
	text, err := printer.AppendComputation(nil, m, k, printer.Config{})
	if err != nil {
		text = []byte("%" + k.Name())
	}
	for line := range strings.Lines(string(text)) {
		if !p.full() {
			p.mark(sign, strings.TrimRight(line, "\n"), colour)
		}
	}
}

func lineOf(l *printer.Lines, in hlo.Instruction) string {
	text, err := l.Append(nil, in)
	if err != nil {
		return "%" + in.Name()
	}
	return string(text)
}

func (c *Change) computation() string {
	if c.B != nil {
		return c.B.Computation
	}
	return c.A.Computation
}

// WriteHTML writes a page with the differences side by side.
func (r *Report) WriteHTML(w io.Writer, a, b hlo.Module) error {
	out := bufio.NewWriter(w)
	var text strings.Builder
	r.summary(&text)
	title := fmt.Sprintf("%s and %s", r.A, r.B)
	head, rest, _ := strings.Cut(text.String(), "\n")
	page.Begin(out, title, head)
	fmt.Fprintf(out, "<pre>%s</pre>\n", html.EscapeString(rest))
	if len(r.Lines) > 0 {
		page.Heading(out, "Lines of the program whose cost differs", "")
		rows := [][]page.Cell{}
		for _, l := range r.Lines {
			rows = append(rows, []page.Cell{page.Text(l.Source), page.Number(float64(l.FlopsB-l.FlopsA), signed(l.FlopsB-l.FlopsA)), page.Number(float64(l.BytesB-l.BytesA), signed(l.BytesB-l.BytesA)),
				page.Number(float64(l.OnlyA), fmt.Sprint(l.OnlyA)), page.Number(float64(l.OnlyB), fmt.Sprint(l.OnlyB))})
		}
		page.Table(out, []string{"line", "operations", "bytes", "gone", "new"}, rows)
	}
	page.Heading(out, "Side by side", "Red is only in A, green only in B, yellow differs. Pairs that only read a difference are pale.")
	fmt.Fprint(out, "<input class=\"find\" placeholder=\"find\" data-rows=\"tr.pair\">\n<table><thead><tr><th>A</th><th>B</th><th>what</th></tr></thead><tbody>\n")
	la, lb := printer.NewLines(a, printer.Config{}), printer.NewLines(b, printer.Config{})
	for i := range r.Changes {
		c := &r.Changes[i]
		old, now, left, right := "", "", "both", "both"
		if c.A != nil {
			old = lineOf(la, c.Old)
		}
		if c.B != nil {
			now = lineOf(lb, c.New)
		}
		switch {
		case c.B == nil:
			left, right = "old", ""
		case c.A == nil:
			left, right = "", "new"
		case c.Follows:
			left, right = "", ""
		}
		what := strings.Join(c.What, ", ")
		for _, d := range c.Details {
			what += fmt.Sprintf("\n%s: %s → %s", d.Name, orNone(d.A), orNone(d.B))
		}
		fmt.Fprintf(out, "<tr class=\"pair\"><td class=\"%s\"><pre>%s</pre></td><td class=\"%s\"><pre>%s</pre></td><td><pre>%s</pre></td></tr>\n", left, html.EscapeString(old), right,
			html.EscapeString(now), html.EscapeString(what))
	}
	fmt.Fprint(out, "</tbody></table>\n")
	for _, side := range []struct {
		title, class string
		m            hlo.Module
		list         []hlo.Computation
	}{{"Only in A", "old", a, r.onlyA}, {"Only in B", "new", b, r.onlyB}} {
		if len(side.list) == 0 {
			continue
		}
		page.Heading(out, side.title, "")
		for _, k := range side.list {
			text, err := printer.AppendComputation(nil, side.m, k, printer.Config{})
			if err == nil {
				fmt.Fprintf(out, "<pre class=\"%s\">%s</pre>\n", side.class, html.EscapeString(string(text)))
			}
		}
	}
	page.End(out)
	return out.Flush()
}
