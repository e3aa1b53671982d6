package halocmd

import (
	"fmt"

	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower/hosthlo"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
)

// asmCmd assembles host programs.
type asmCmd struct {
	Files              []string `arg:"" name:"file" help:"Host programs (.mlir), - for standard input."`
	NoOptionalSections bool     `help:"Omit optional sections: names and types of attributes, types of registers."`
	Output             string   `short:"o" help:"The BEF file; - is standard output. Default: FILE with .bef."`
	JSON               bool     `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (asmCmd) Help() string {
	return `A host program calls kernels, which run on the work queue as their arguments become available. Its text has the syntax of TFRT's.

  halo asm program.mlir -o program.bef
  halo run program.bef`
}

func (c *asmCmd) Run(e *env) error {
	if c.Output != "" && len(c.Files) > 1 {
		return usageError{fmt.Errorf("-o names one file, but there are %d programs", len(c.Files))}
	}
	e.manyModules = true
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == source.BEF || in.kind == source.HLOProto {
			return fmt.Errorf("%s: error: this is a binary file; want a host program in text", in.name)
		}
		if kind, known := source.Recognise(in.data); known && (kind == source.HLOText || kind == source.StableHLOText) {
			return fmt.Errorf("%s: error: this is %v, which halo lower compiles; want a host program", in.name, kind)
		}
		p, err := hostprog.Read(in.name, string(in.data), hostprog.Config{})
		if err != nil {
			return err
		}
		data, err := assemble(p, c.NoOptionalSections)
		if err != nil {
			return err
		}
		return e.writeResult(c.Output, in.name, ".bef", data)
	})
}

func assemble(p *hostprog.Program, short bool) ([]byte, error) {
	f, err := hosthlo.Assemble(p, hostprog.AssembleOptions{NoOptionalSections: short})
	if err != nil {
		return nil, err
	}
	// The one section that TFRT does not know is there only if the text has bef.nonstrict.
	return bef.Marshal(f, bef.EncodeOptions{NoOptionalSections: short, Extensions: true})
}

// formatHost parses, verifies and prints a host program.
func formatHost(in *input, generic bool) ([]byte, error) {
	p, err := hostprog.Read(in.name, string(in.data), hostprog.Config{})
	if err != nil {
		return nil, err
	}
	return []byte(hostprog.Sprint(p, formOf(generic))), nil
}

func formOf(generic bool) hostprog.Form {
	if generic {
		return hostprog.GenericForm
	}
	return hostprog.CustomForm
}

// optHost runs the two passes that host programs have.
func (e *env) optHost(in *input, passes string) error {
	p, err := hostprog.Read(in.name, string(in.data), hostprog.Config{})
	if err != nil {
		return err
	}
	switch passes {
	case "canonicalize":
		hostprog.Canonicalize(p)
	case "print-stream":
		for _, d := range hostprog.Streams(p, hostprog.Config{}) {
			fmt.Fprintln(e.stderr, d)
		}
	case "":
		return usageError{fmt.Errorf("%s is a host program: optimisation levels are for HLO; use --passes=canonicalize or --passes=print-stream", in.name)}
	default:
		return usageError{fmt.Errorf("%s is a host program, for which there are the passes canonicalize and print-stream, not %q", in.name, passes)}
	}
	_, err = fmt.Fprint(e.stdout, hostprog.Sprint(p, hostprog.CustomForm))
	return err
}

// verifyHost parses and verifies a host program.
func verifyHost(in *input) error {
	_, err := hostprog.Read(in.name, string(in.data), hostprog.Config{})
	return err
}
