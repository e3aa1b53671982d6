package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"unicode/utf8"

	"github.com/gohalo/halo/hlo"
)

// HTML writes a module as a page with a drawing of each computation, which needs nothing but a browser: names lead from callers to what they call,
// pointing at a node shows its whole instruction, and a field searches names. The error is that of w, or that there is no instruction of the name.
func HTML(w io.Writer, m hlo.Module, cfg Config) error {
	sections, err := pick(m, cfg)
	if err != nil {
		return err
	}
	out, text := bufio.NewWriter(w), newTexts(m)
	fmt.Fprintf(out, pageHead, html.EscapeString(m.Name()), html.EscapeString(m.Name()))
	drawn := map[hlo.CompID]bool{}
	for _, s := range sections {
		drawn[s.comp.ID()] = true
	}
	for _, s := range sections {
		fmt.Fprintf(out, "<h2 id=\"c%d\">%s</h2>\n", s.comp.ID(), html.EscapeString(s.title(m)))
		s.svg(out, text, drawn)
	}
	fmt.Fprint(out, pageFoot)
	return out.Flush()
}

// Sizes in pixels.
const (
	charWidth  = 7
	boxHeight  = 36
	betweenX   = 18
	betweenY   = 34
	pageMargin = 12
)

// box is where a node stands.
type box struct{ x, y, width float64 }

// place gives every node a box: layers below each other, each in the middle.
func (s section) place() (at map[hlo.InstrID]box, width, height float64) {
	layers := s.layers()
	at = map[hlo.InstrID]box{}
	widths := make([]float64, len(layers))
	for i, layer := range layers {
		x := 0.0
		for _, in := range layer {
			name, what := label(in)
			b := box{x, pageMargin + float64(i)*(boxHeight+betweenY), 12 + charWidth*float64(max(utf8.RuneCountInString(name), utf8.RuneCountInString(what)))}
			at[in.ID()] = b
			x += b.width + betweenX
		}
		widths[i] = x - betweenX
		width = max(width, widths[i])
	}
	for i, layer := range layers {
		for _, in := range layer {
			b := at[in.ID()]
			b.x += pageMargin + (width-widths[i])/2
			at[in.ID()] = b
		}
	}
	return at, width + 2*pageMargin, float64(len(layers))*(boxHeight+betweenY) + pageMargin
}

func (s section) svg(out io.Writer, text texts, drawn map[hlo.CompID]bool) {
	at, width, height := s.place()
	fmt.Fprintf(out, "<svg width=\"%.0f\" height=\"%.0f\">\n", width, height)
	for _, a := range s.arrows() {
		from, to := at[a.from], at[a.to]
		x1, y1, x2, y2 := from.x+from.width/2, from.y+boxHeight, to.x+to.width/2, to.y
		if n := s.comp.MustAt(a.to).NumOperands(); a.operand >= 0 && n > 1 { // side by side, in the order of the operands
			x2 = to.x + to.width*float64(a.operand+1)/float64(n+1)
		}
		class := ""
		if a.operand < 0 {
			class = ` class="control"`
		}
		fmt.Fprintf(out, "<path%s d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", class, x1, y1, x1, y1+betweenY/2, x2, y2-betweenY/2, x2, y2-3)
	}
	for _, in := range s.nodes {
		name, what := label(in)
		b, class := at[in.ID()], "node"
		if in.IsRoot() {
			class += " root"
		}
		if s.isCut(in) {
			class += " cut"
		}
		open, end := "", ""
		for id := range in.Callees() {
			if drawn[id] {
				open, end = fmt.Sprintf(`<a href="#c%d">`, id), "</a>"
			}
		}
		fmt.Fprintf(out, "%s<g class=\"%s\" data-name=\"%s\"><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"+
			"<text x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"what\" x=\"%.1f\" y=\"%.1f\">%s</text></g>%s\n", open, class, html.EscapeString(in.Name()),
			html.EscapeString(text.of(in)), b.x, b.y, b.width, boxHeight, Kinds[KindOf(in)].Colour, b.x+6, b.y+15, html.EscapeString(name), b.x+6, b.y+29, html.EscapeString(what), end)
	}
	fmt.Fprint(out, "</svg>\n")
}

const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title><style>
body { font: 14px sans-serif; margin: 1em } h2 { font-size: 15px; margin: 1.5em 0 .3em }
svg { border: 1px solid #dee2e6; background: #fcfcfc } svg text { font: 11px monospace } .what { fill: #495057 }
rect { stroke: #868e96; rx: 4 } .root rect { stroke-width: 2.5 } .cut rect { stroke-dasharray: 4 3 } .found rect { stroke: #e03131; stroke-width: 3 }
path { fill: none; stroke: #868e96 } path.control { stroke-dasharray: 2 3 } a text { text-decoration: underline }
#find { position: fixed; top: 8px; right: 16px }
</style></head><body><input id="find" placeholder="name" size="24"><h1>%s</h1>
`

const pageFoot = `<script>
document.getElementById("find").addEventListener("input", function (event) {
  var wanted = event.target.value.replace(/^%/, ""), first = null;
  document.querySelectorAll("g.node").forEach(function (g) {
    var found = wanted !== "" && g.dataset.name.indexOf(wanted) >= 0;
    g.classList.toggle("found", found);
    if (found && !first) { first = g; }
  });
  if (first) { first.scrollIntoView({ block: "center", inline: "center" }); }
});
</script></body></html>
`
