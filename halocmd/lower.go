package halocmd

import (
	"context"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/runtime/bef"
)

// lowerCmd lowers HLO to BEF.
type lowerCmd struct {
	Files   []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	Level   optLevel `embed:""`
	Output  string   `short:"o" help:"The BEF file; - is standard output. Default: FILE with .bef."`
	Elided  string   `help:"Constants that the text elides: error, or fill (with XLA's filler)." default:"error" enum:"error,fill"`
	Profile string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`

	shapeFlags `embed:""`
}

// Help is what --help says beyond the flags.
func (lowerCmd) Help() string {
	return `Compiles a program to a file that halo run and the library load without reading, verifying or optimising it again. docs/bef.md describes the format.

  halo lower model.hlo -o model.bef
  halo run model.bef --inputs in.npz --print
  halo dis model.bef`
}

func (c *lowerCmd) Run(e *env) error {
	if c.Output != "" && len(c.Files) > 1 {
		return usageError{fmt.Errorf("-o names one file, but there are %d programs", len(c.Files))}
	}
	ctx := context.Background()
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		m, err := e.verifiedModule(in, moduleOptions{profile: c.Profile, fill: c.Elided == "fill"})
		if err != nil {
			return err
		}
		pipeline, err := c.Level.pipeline("cpu")
		if err != nil {
			return usageError{err}
		}
		file, err := halo.Lower(ctx, m, halo.Options{Pipeline: pipeline})
		if err != nil {
			return in.compileError(err)
		}
		data, err := bef.Marshal(file, bef.EncodeOptions{Extensions: true})
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		return e.writeResult(c.Output, in.beside(), ".bef", data)
	})
}

// optLevel chooses the passes that come before lowering.
type optLevel struct {
	Passes string `help:"Run these passes before the ones that lowering needs." placeholder:"TEXT"`
	O      string `name:"opt-level" short:"O" help:"Optimisation level: 0, 1, 2 or 3." placeholder:"LEVEL" enum:"0,1,2,3," default:""`
}

// pipeline is what the flags ask for, followed by what lowering needs.
func (l *optLevel) pipeline(needed string) (*pass.Pipeline, error) {
	text := needed
	if l.O != "" {
		text = "O" + l.O
		if l.O == "0" {
			needed = "O0"
		}
		text += "," + needed
	}
	if l.Passes != "" {
		text = l.Passes + "," + needed
	}
	return catalogue.Parse(text)
}
