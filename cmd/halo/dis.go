package main

import (
	"fmt"

	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
)

// disCmd disassembles BEF files.
type disCmd struct {
	Files   []string `arg:"" name:"file" help:"BEF files."`
	Generic bool     `help:"Print every op in its generic form."`
	Output  string   `short:"o" help:"Write the text here." default:"-"`
	JSON    bool     `name:"json" help:"One JSON object for each file."`
}

func (c *disCmd) Run(e *env) error {
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		f, err := bef.Decode(in.data, bef.DecodeOptions{Warn: func(w error) { fmt.Fprintf(e.stderr, "%s: warning: %v\n", in.name, w) }})
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		if !f.Typed {
			fmt.Fprintf(e.stderr, "%s: warning: %s\n", in.name, hostprog.MissingSections)
		}
		p, err := hostprog.Disassemble(f)
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		return e.writeResult(c.Output, in.name, ".mlir", []byte(hostprog.Sprint(p, formOf(c.Generic))))
	})
}
