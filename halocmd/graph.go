package halocmd

import (
	"io"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/graph"
)

// graphFlags say what of a program is drawn.
type graphFlags struct {
	Around   string  `help:"Draw only what is near this instruction." placeholder:"%NAME" group:"Drawing"`
	Distance natural `help:"So many arrows away from it." default:"3" placeholder:"N" group:"Drawing"`
	MaxNodes natural `help:"Of larger computations draw what is nearest to the root." default:"400" placeholder:"N" group:"Drawing"`
}

// draw writes a module in a form that people look at: dot or html.
func (f graphFlags) draw(w io.Writer, form string, m hlo.Module) error {
	if f.Around != "" {
		if _, err := instructionNamed(m, f.Around); err != nil {
			return err
		}
	}
	cfg := graph.Config{Around: f.Around, Distance: int(f.Distance), MaxNodes: int(f.MaxNodes)}
	if form == "html" {
		return graph.HTML(w, m, cfg)
	}
	return graph.Dot(w, m, cfg)
}
