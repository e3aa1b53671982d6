// Package page writes the frame of pages that need nothing but a browser: head, styles, tables that sort by a click on their heads, and the end.
package page

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Begin writes everything up to the content. Below the title stands a line that sums the page up.
func Begin(w io.Writer, title, summary string) {
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title><style>%s</style></head><body>\n<h1>%s</h1>\n<p class=\"summary\">%s</p>\n",
		html.EscapeString(title), styles, html.EscapeString(title), html.EscapeString(summary))
}

// End writes the end of the page.
func End(w io.Writer) { fmt.Fprintf(w, "<script>%s</script></body></html>\n", script) }

// Heading writes a heading, and what the section is about.
func Heading(w io.Writer, title, about string) {
	fmt.Fprintf(w, "<h2>%s</h2>\n", html.EscapeString(title))
	if about != "" {
		fmt.Fprintf(w, "<p>%s</p>\n", html.EscapeString(about))
	}
}

// Cell is a cell of a table. What it sorts by is its number where Number is set, else its text.
type Cell struct {
	Text   string
	Value  float64
	Number bool
	Title  string  // shown when the pointer rests on it
	Bar    float64 // a share of 1, drawn behind the text
}

// Text is a cell of text.
func Text(s string) Cell { return Cell{Text: s} }

// Number is a cell of a number, which is shown as text.
func Number(v float64, text string) Cell { return Cell{Text: text, Value: v, Number: true} }

// Table writes a table.
func Table(w io.Writer, heads []string, rows [][]Cell) {
	fmt.Fprint(w, "<table class=\"sortable\"><thead><tr>")
	for _, h := range heads {
		fmt.Fprintf(w, "<th>%s</th>", html.EscapeString(h))
	}
	fmt.Fprint(w, "</tr></thead><tbody>\n")
	for _, row := range rows {
		fmt.Fprint(w, "<tr>")
		for _, c := range row {
			var attrs strings.Builder
			if c.Number {
				fmt.Fprintf(&attrs, " class=\"number\" data-value=\"%g\"", c.Value)
			}
			if c.Title != "" {
				fmt.Fprintf(&attrs, " title=\"%s\"", html.EscapeString(c.Title))
			}
			if c.Bar > 0 {
				fmt.Fprintf(&attrs, " style=\"background:linear-gradient(to right,#ffd8a8 %.1f%%,transparent 0)\"", 100*min(c.Bar, 1))
			}
			fmt.Fprintf(w, "<td%s>%s</td>", attrs.String(), html.EscapeString(c.Text))
		}
		fmt.Fprint(w, "</tr>\n")
	}
	fmt.Fprint(w, "</tbody></table>\n")
}

const styles = `
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 1280px; padding: 0 1em; color: #212529; background: #fff }
h1 { font-size: 20px; margin-bottom: .2em } h2 { font-size: 16px; margin: 1.8em 0 .3em } p { margin: .3em 0 } .summary { color: #495057 }
table { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; margin: .5em 0 } th, td { padding: 1px 10px 1px 4px; text-align: left; vertical-align: top }
th { border-bottom: 1px solid #868e96; cursor: pointer; white-space: nowrap } tr:hover td { background-color: #f1f3f5 } td.number { text-align: right; white-space: nowrap }
svg text { font: 11px ui-monospace, monospace; pointer-events: none } svg rect { stroke: #fff; stroke-width: .5 }
svg g.box { cursor: pointer } svg g.box:hover rect { stroke: #212529; stroke-width: 1.5 } svg { width: 100%; border: 1px solid #dee2e6 }
li { margin: .25em 0 } .old { background: #ffe3e3 } .new { background: #d3f9d8 } .both { background: #fff3bf } pre { margin: 0; white-space: pre-wrap; word-break: break-all }
input.find { padding: 3px 6px; margin: .4em 0; width: 24em } .hidden { display: none }
`

const script = `
document.querySelectorAll("table.sortable th").forEach(function (th) {
  th.addEventListener("click", function () {
    var body = th.closest("table").tBodies[0], k = th.cellIndex, down = th.dataset.down !== "1";
    th.dataset.down = down ? "1" : "0";
    var rows = Array.prototype.slice.call(body.rows);
    function key(r) { var c = r.cells[k]; return c.dataset.value !== undefined ? parseFloat(c.dataset.value) : c.textContent; }
    rows.sort(function (x, y) { var a = key(x), b = key(y), d = a < b ? -1 : a > b ? 1 : 0; return down ? -d : d; });
    rows.forEach(function (r) { body.appendChild(r); });
  });
});
document.querySelectorAll("svg.flame").forEach(function (svg) {
  var whole = svg.viewBox.baseVal.width;
  svg.addEventListener("click", function (event) {
    var g = event.target.closest("g.box");
    var x = 0, w = whole;
    if (g && svg.dataset.at !== g.dataset.x + "," + g.dataset.w) { x = +g.dataset.x; w = +g.dataset.w; }
    svg.dataset.at = x + "," + w;
    svg.querySelectorAll("g.box").forEach(function (b) {
      var left = (+b.dataset.x - x) / w * whole, width = +b.dataset.w / w * whole, rect = b.querySelector("rect"), text = b.querySelector("text");
      rect.setAttribute("x", left); rect.setAttribute("width", Math.max(width, 0));
      text.setAttribute("x", Math.max(left, 0) + 3);
      var room = Math.floor((Math.min(left + width, whole) - Math.max(left, 0) - 6) / 6.7);
      text.textContent = room < 3 ? "" : b.dataset.name.length <= room ? b.dataset.name : b.dataset.name.slice(0, room - 1) + "…";
    });
  });
});
document.querySelectorAll("input.find").forEach(function (field) {
  field.addEventListener("input", function () {
    document.querySelectorAll(field.dataset.rows).forEach(function (r) { r.classList.toggle("hidden", r.textContent.indexOf(field.value) < 0); });
  });
});
`
