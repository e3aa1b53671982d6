package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Dot writes a module in the language of graphviz. The error is that of w, or that there is no instruction of the name.
func Dot(w io.Writer, m hlo.Module, cfg Config) error {
	sections, err := pick(m, cfg)
	if err != nil {
		return err
	}
	out, text := bufio.NewWriter(w), newTexts(m)
	fmt.Fprintf(out, "digraph %s {\n  compound=true;\n  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n  edge [fontsize=8];\n", quote(m.Name()))
	drawn := map[hlo.CompID]section{}
	for _, s := range sections {
		drawn[s.comp.ID()] = s
		fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s;\n", s.comp.ID(), quote(s.title(m)))
		for _, in := range s.nodes {
			name, what := label(in)
			fmt.Fprintf(out, "    %s [label=%s, fillcolor=\"%s\", tooltip=%s%s];\n", node(in), quote(name+"\n"+what), Kinds[KindOf(in)].Colour, quote(text.of(in)), border(s, in))
		}
		for _, a := range s.arrows() {
			fmt.Fprintf(out, "    %s -> %s%s;\n", node(s.comp.MustAt(a.from)), node(s.comp.MustAt(a.to)), style(s, a))
		}
		fmt.Fprint(out, "  }\n")
	}
	for _, s := range sections {
		for _, in := range s.nodes {
			for id := range in.Callees() {
				if callee, ok := drawn[id]; ok && callee.drawn[callee.comp.Root().ID()] {
					fmt.Fprintf(out, "  %s -> %s [style=dashed, lhead=cluster_%d, constraint=false];\n", node(in), node(callee.comp.Root()), id)
				}
			}
		}
	}
	fmt.Fprint(out, "}\n")
	return out.Flush()
}

func node(in hlo.Instruction) string {
	return fmt.Sprintf("n%d_%d", in.Computation().ID(), in.ID())
}

// border is heavy around a root, and dashed around what has neighbours that are not drawn.
func border(s section, in hlo.Instruction) string {
	b := ""
	if in.IsRoot() {
		b += ", penwidth=3"
	}
	if s.isCut(in) {
		b += `, style="filled,dashed"`
	}
	return b
}

// style numbers the arrows into an instruction of several operands.
func style(s section, a arrow) string {
	switch {
	case a.operand < 0:
		return " [style=dotted]"
	case s.comp.MustAt(a.to).NumOperands() > 1:
		return fmt.Sprintf(" [headlabel=\"%d\"]", a.operand)
	}
	return ""
}

// quote makes a string of DOT.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "").Replace(s) + `"`
}
