package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// fmtCmd parses programs and prints them.
type fmtCmd struct {
	Files []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`

	printFlags `embed:""`

	Generic bool   `help:"Host programs: print every op in its generic form."`
	Lenient bool   `help:"Keep unknown attributes and opcodes as they are written."`
	Write   bool   `short:"w" help:"Write the result back to the file."`
	Output  string `short:"o" help:"Write each result to a file of the same name in this folder." placeholder:"DIR" type:"path"`
	JSON    bool   `name:"json" help:"One JSON object for each file."`
}

func (c *fmtCmd) Run(e *env) error {
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	if c.Output != "" {
		if err := os.MkdirAll(c.Output, 0o777); err != nil {
			return err
		}
	}
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		var out []byte
		var err error
		if in.kind == hostText {
			out, err = formatHost(in, c.Generic)
		} else {
			out, err = c.format(in, cfg)
		}
		if err != nil {
			return err
		}
		return c.deliver(e, in, out)
	})
}

// deliver puts the print where the flags say: the file itself, a folder, or standard output unless records go there.
func (c *fmtCmd) deliver(e *env, in *input, out []byte) error {
	switch {
	case c.Write && in.name != "-":
		return os.WriteFile(in.name, out, 0o666)
	case c.Output != "":
		return os.WriteFile(filepath.Join(c.Output, filepath.Base(in.name)), out, 0o666)
	case c.JSON:
		return nil
	}
	_, err := e.stdout.Write(out)
	return err
}

// format prints every module of a file, separated as they were read.
func (c *fmtCmd) format(in *input, cfg printer.Config) ([]byte, error) {
	if in.kind != hloText {
		m, err := parseModule(in)
		if err != nil {
			return nil, err
		}
		return printer.Append(nil, m, cfg)
	}
	var out []byte
	var errs parser.ErrorList
	read := parser.Config{Lenient: c.Lenient}
	for i, piece := range parser.Split(string(in.data)) {
		m, err := read.Parse(in.name, piece)
		if list, ok := err.(parser.ErrorList); ok {
			errs = append(errs, list...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, "// -----\n\n"...)
		}
		if out, err = printer.Append(out, m, cfg); err != nil {
			return nil, err
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return out, nil
}

// printFlags choose how modules are printed: a style, and options that change it.
type printFlags struct {
	Style          string `help:"default, long, short, canonical or fingerprint." default:"default"`
	OperandShapes  *bool  `help:"Print the shape of each operand." negatable:""`
	LargeConstants *bool  `help:"Print all literals in full." negatable:""`
	Metadata       *bool  `help:"Print metadata." negatable:""`
	Sugar          string `help:"Print asynchronous instructions as op-start, op-update, op-done: auto, on or off." default:"auto" enum:"auto,on,off"`
	CompactTuples  bool   `help:"Print tuple elements as operand#index."`
}

func (f *printFlags) config() (printer.Config, error) {
	cfg, ok := printer.StyleByName(f.Style)
	if !ok {
		return cfg, fmt.Errorf("--style=%s: want default, long, short, canonical or fingerprint", f.Style)
	}
	set := func(to *bool, flag *bool, value bool) {
		if flag != nil {
			*to = *flag == value
		}
	}
	set(&cfg.OperandShapes, f.OperandShapes, true)
	set(&cfg.LargeConstants, f.LargeConstants, true)
	set(&cfg.OmitMetadata, f.Metadata, false)
	cfg.CompactTuples = cfg.CompactTuples || f.CompactTuples
	switch f.Sugar {
	case "on":
		cfg.Sugar = printer.SugarOn
	case "off":
		cfg.Sugar = printer.SugarOff
	}
	return cfg, nil
}
