package halocmd

import (
	"fmt"

	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower/hosthlo"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
)

// disCmd disassembles BEF files.
type disCmd struct {
	Files   []string `arg:"" name:"file" help:"BEF files."`
	Generic bool     `help:"Print every op in its generic form."`
	Exact   bool     `help:"Print everything in the file: positions, streams, numbering, halo's own sections. halo asm makes the same bytes from it."`
	Output  string   `short:"o" help:"Write the text here." default:"-"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (disCmd) Help() string {
	return `Prints a host program, or a compiled HLO program with the instruction of each kernel.

  halo dis model.bef
  halo dis --exact program.bef | halo asm - -o same.bef`
}

func (c *disCmd) Run(e *env) error {
	if c.Output != "-" && len(c.Files) > 1 {
		return usageError{fmt.Errorf("-o names one file, but there are %d BEF files", len(c.Files))}
	}
	e.manyModules = true
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind != source.BEF {
			return fmt.Errorf("%s: error: not a BEF file: it does not begin with the bytes 0B EF", in.name)
		}
		f, err := bef.Decode(in.data, bef.DecodeOptions{Warn: func(w error) { fmt.Fprintf(e.stderr, "%s: warning: %v\n", in.name, w) }})
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		if !f.Typed {
			fmt.Fprintf(e.stderr, "%s: warning: %s\n", in.name, hostprog.MissingSections)
		}
		disassemble := hosthlo.Disassemble
		if c.Exact {
			disassemble = hostprog.DisassembleExact
		}
		p, err := disassemble(f)
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		text := hostprog.Sprint(p, formOf(c.Generic))
		if c.JSON && c.Output == "-" {
			r.add("text", text)
		}
		return e.writeResult(c.Output, in.name, ".mlir", []byte(text))
	})
}
