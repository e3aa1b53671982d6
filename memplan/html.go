package memplan

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/gohalo/halo/internal/page"
)

// WriteHTML writes a page with the plan as a picture, time from left to right and addresses from the bottom up, and the tables.
func (r *Report) WriteHTML(w io.Writer) error {
	out := bufio.NewWriter(w)
	page.Begin(out, "Memory of "+r.Module, fmt.Sprintf("An execution needs %s: arguments %s, results %s, constants %s, frame %s, scratch %s. The peak of the frame is %s, at %s.",
		size(r.Total), size(r.Arguments), size(r.Results), size(r.Constants), size(r.Frame), size(r.Scratch), size(r.Peak), r.PeakAt.Name))
	if len(r.Savings) > 0 {
		page.Heading(out, "What would save memory", "Each number is of a plan that was made with the change.")
		rows := [][]page.Cell{}
		for _, s := range r.Savings {
			rows = append(rows, []page.Cell{page.Number(float64(s.Bytes()), size(s.Bytes())), page.Text(s.Change), page.Text(s.Text)})
		}
		page.Table(out, []string{"saves", "change", ""}, rows)
	}
	page.Heading(out, "The plan", "Time goes from left to right, addresses from the bottom up. Each box is a buffer; those alive at the peak are red.")
	r.WriteSVG(out)
	page.Heading(out, "Alive at the peak, by line of the program", "")
	rows := [][]page.Cell{}
	for _, l := range r.AtPeak {
		c := page.Number(float64(l.Bytes), size(l.Bytes))
		c.Bar = float64(l.Bytes) / float64(max(r.Peak, 1))
		rows = append(rows, []page.Cell{c, page.Text(l.Source), page.Text(strings.Join(l.Buffers, ", "))})
	}
	page.Table(out, []string{"bytes", "line", "buffers"}, rows)
	page.Heading(out, "Buffers", "A click on a head sorts.")
	rows = rows[:0]
	for i := range r.Buffers {
		b := &r.Buffers[i]
		name := page.Text(b.Name)
		name.Title = strings.Join(append([]string{b.OpName, "then: " + strings.Join(b.Others, ", ")}, b.Frames...), "\n")
		peak := ""
		if b.AtPeak {
			peak = "at the peak"
		}
		rows = append(rows, []page.Cell{page.Number(float64(b.Bytes), size(b.Bytes)), page.Text(b.Kind), name, page.Text(b.Shape), page.Number(float64(b.Offset), fmt.Sprint(b.Offset)),
			page.Number(float64(b.First), fmt.Sprint(b.First)), page.Number(float64(b.Last), fmt.Sprint(b.Last)), page.Text(b.Keeper), page.Text(b.Where()), page.Text(peak)})
	}
	page.Table(out, []string{"bytes", "kind", "buffer", "shape", "offset", "from step", "to step", "kept for", "where", ""}, rows)
	page.End(out)
	return out.Flush()
}

// Sizes of the picture.
const (
	pictureWidth  = 1240.0
	pictureHeight = 460.0
	leastHeight   = 0.4  // of a box that is drawn
	mostBoxes     = 8000 // of which the largest are drawn
)

// WriteSVG draws the plan.
func (r *Report) WriteSVG(w io.Writer) {
	steps, frame := float64(max(len(r.Steps), 1)), float64(max(r.Frame, 1))
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n", pictureWidth, pictureHeight)
	n := 0
	for i := range r.Buffers {
		b := &r.Buffers[i]
		height := float64(b.Bytes) / frame * pictureHeight
		if b.Kind != Temporary || height < leastHeight || n == mostBoxes {
			continue
		}
		n++
		x, width := float64(b.First)/steps*pictureWidth, float64(b.Last-b.First+1)/steps*pictureWidth
		y := pictureHeight - float64(b.Offset)/frame*pictureHeight - height
		colour := "#a5d8ff"
		if b.AtPeak {
			colour = "#ffa8a8"
		}
		fmt.Fprintf(w, "<g class=\"box\"><title>%s %s\n%s at %d, steps %d to %d, kept for %s\n%s</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>", html.EscapeString(b.Name),
			html.EscapeString(b.Shape), size(b.Bytes), b.Offset, b.First, b.Last, html.EscapeString(b.Keeper), html.EscapeString(b.Where()), x, y, width, height, colour)
		if room := int((width - 4) / 6.7); room >= 4 && height >= 12 {
			fmt.Fprintf(w, "<text x=\"%.2f\" y=\"%.2f\">%s</text>", x+3, y+height/2+4, html.EscapeString(clip(b.Name, room)))
		}
		fmt.Fprint(w, "</g>\n")
	}
	at := (float64(r.PeakAt.Index) + 0.5) / steps * pictureWidth
	fmt.Fprintf(w, "<line x1=\"%.2f\" y1=\"0\" x2=\"%.2f\" y2=\"%.0f\" stroke=\"#c92a2a\" stroke-dasharray=\"4 3\"/>\n</svg>\n", at, at, pictureHeight)
}
