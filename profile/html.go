package profile

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/gohalo/halo/internal/page"
)

// WriteHTML writes a page with a flame graph, the advice and the tables. It needs nothing but a browser.
func (p *Profile) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	page.Begin(out, "Profile of "+p.Module, fmt.Sprintf("%s a run, mean of %d, with %d threads; %s", duration(p.Seconds), p.Runs, p.Threads,
		p.account()))
	if len(p.Advice) > 0 {
		page.Heading(out, "What would help", "")
		fmt.Fprint(out, "<ul>\n")
		for _, a := range p.Advice {
			fmt.Fprintf(out, "<li>%s</li>\n", html.EscapeString(a.Text))
		}
		fmt.Fprint(out, "</ul>\n")
	}
	page.Heading(out, "Flame graph", "Each box is an op below what calls it, as wide as its time. A click enlarges it, a second one shows all again.")
	p.flame(out)
	page.Heading(out, "Ops", "Share of machine: the time that the machine needs at least, by what limits the op, of the time it took. A click on a head sorts.")
	p.opTable(out)
	page.Heading(out, "Lines of the program", "")
	rows := [][]page.Cell{}
	for _, l := range p.Lines {
		source := page.Text(l.Source)
		source.Title = strings.Join(l.Frames, "\n")
		rows = append(rows, []page.Cell{p.seconds(l.Seconds), page.Number(l.Flops/max(l.Seconds, 1e-12), fmt.Sprintf("%.3g", l.Flops/max(l.Seconds, 1e-12)*1e-9)),
			page.Number(l.Bytes/max(l.Seconds, 1e-12), fmt.Sprintf("%.3g", l.Bytes/max(l.Seconds, 1e-12)*1e-9)), source, page.Text(strings.Join(abridge(l.Ops), ", "))})
	}
	page.Table(out, []string{"time", "Gflop/s", "GB/s", "line", "ops"}, rows)
	if len(p.Loops) > 0 {
		page.Heading(out, "Loops", "")
		rows := [][]page.Cell{}
		for _, l := range p.Loops {
			rows = append(rows, []page.Cell{p.seconds(l.Seconds), page.Number(l.Rounds*l.Executions, calls(l.Rounds*l.Executions)), page.Number(l.PerRound, duration(l.PerRound)),
				page.Text(l.Name), page.Text(l.Where())})
		}
		page.Table(out, []string{"time", "rounds", "a round", "loop", "where"}, rows)
	}
	page.End(out)
	return out.Flush()
}

func (p *Profile) seconds(s float64) page.Cell {
	c := page.Number(s, duration(s))
	c.Bar = s / max(p.OpSeconds, 1e-12)
	return c
}

func (p *Profile) opTable(out io.Writer) {
	rows := [][]page.Cell{}
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Seconds == 0 {
			continue
		}
		name, where := page.Text(o.label()), page.Text(o.Where())
		name.Title = o.Shape
		if len(o.Of) > 0 {
			name.Title += "\nstands for " + strings.Join(o.Of, ", ")
		}
		where.Title = strings.Join(append([]string{o.OpName}, o.Frames...), "\n")
		each := o.Seconds / max(o.Calls, 1e-9)
		rows = append(rows, []page.Cell{p.seconds(o.Seconds), page.Number(o.Seconds, percent(o.Seconds/max(p.OpSeconds, 1e-12))), page.Number(o.Calls, calls(o.Calls)),
			page.Number(each, duration(each)), page.Number(o.Share, fmt.Sprintf("%.0f %%", 100*o.Share)), page.Text(o.limitText()), name, where})
	}
	page.Table(out, []string{"time", "share", "calls", "each", "of machine", "limit", "op", "where"}, rows)
}

// Sizes of the flame graph.
const (
	flameWidth = 1240.0
	flameRow   = 19
	flameLeast = 0.0005 // of the whole: what is narrower is not drawn
)

// flame draws the tree of calls, the entry at the top.
func (p *Profile) flame(out io.Writer) {
	whole := p.Tree.width()
	fmt.Fprintf(out, "<svg class=\"flame\" viewBox=\"0 0 %.0f %d\">\n", flameWidth, flameRow*p.Tree.depth(whole))
	p.box(out, p.Tree, 0, 0, whole)
	fmt.Fprint(out, "</svg>\n")
}

// width is the time of a node: its own and that of all below it.
func (n *Node) width() float64 {
	sum := 0.0
	for _, c := range n.Children {
		sum += c.width()
	}
	return max(sum, n.Seconds)
}

func (n *Node) depth(whole float64) int {
	deepest := 0
	for _, c := range n.Children {
		if c.width() >= flameLeast*whole {
			deepest = max(deepest, c.depth(whole))
		}
	}
	return deepest + 1
}

func (p *Profile) box(out io.Writer, n *Node, at float64, row int, whole float64) {
	width := n.width()
	if width < flameLeast*whole {
		return
	}
	name, colour, title := n.Name, "#dee2e6", n.Name
	if n.Op >= 0 {
		o := &p.Ops[n.Op]
		name, colour = o.label(), colourOf(o)
		title = fmt.Sprintf("%s %s\n%s, %s\n%s\n%s", o.Name, o.Shape, duration(width), percent(width/whole), o.limitText(), o.Where())
	}
	x, w := at/whole*flameWidth, width/whole*flameWidth
	shown := ""
	if room := int((w - 6) / 6.7); room >= 3 {
		shown = clip(name, room)
	}
	fmt.Fprintf(out, "<g class=\"box\" data-x=\"%.3f\" data-w=\"%.3f\" data-name=\"%s\"><title>%s</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/><text x=\"%.2f\" y=\"%d\">%s</text></g>\n",
		x, w, html.EscapeString(name), html.EscapeString(title), x, row*flameRow, w, flameRow-1, colour, x+3, row*flameRow+13, html.EscapeString(shown))
	for _, c := range n.Children {
		p.box(out, c, at, row+1, whole)
		at += c.width()
	}
}

// colourOf is a colour for what limits an op.
func colourOf(o *Op) string {
	switch o.Limit {
	case ByCompute:
		return "#8ce99a"
	case ByFunctions:
		return "#63e6be"
	case ByMemory:
		return "#74c0fc"
	case ByDispatch:
		return "#ffe066"
	case ByEvaluator:
		return "#ff8787"
	case ByNothing:
		return "#ffc078"
	}
	return "#ced4da"
}
