package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/gohalo/halo/hlo"
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
	Output  string `short:"o" help:"Write each result to a file of the same name below this folder." placeholder:"DIR" `
	JSON    bool   `name:"json" help:"One JSON object for each file."`
}

func (c *fmtCmd) Run(e *env) error {
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	switch {
	case c.Write && c.Output != "":
		return usageError{errors.New("-w and -o cannot be used together")}
	case c.Write && slices.Contains(c.Files, "-"):
		return usageError{errors.New("-w cannot write to standard input")}
	}
	written := map[string]string{} // path in the folder of results → input
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		if in.kind == hostText {
			out, err := formatHost(in, c.Generic)
			if err != nil {
				return err
			}
			return c.deliver(e, in, r, func(w io.Writer) error { _, err := w.Write(out); return err }, written)
		}
		modules, err := c.modules(in)
		if err != nil {
			return err
		}
		return c.deliver(e, in, r, func(w io.Writer) error { return format(w, modules, cfg) }, written)
	})
}

// deliver puts the print where the flags say: the file itself, a folder, or standard output; the record, when records go there.
func (c *fmtCmd) deliver(e *env, in *input, r *record, print func(io.Writer) error, written map[string]string) error {
	switch {
	case c.Write:
		if in.kind != hloText && in.kind != hostText || strings.HasSuffix(in.name, ".gz") {
			return fmt.Errorf("%s: error: -w replaces texts only; use -o DIR", in.name)
		}
		return create(in.name, print)
	case c.Output != "":
		path := filepath.Join(c.Output, textName(in))
		if _, taken := written[path]; taken && in.kind == hloProto {
			path = filepath.Join(c.Output, in.rel+".hlo") // x.hlo and x.hlo.pb are two modules
		}
		if other, ok := written[path]; ok {
			return fmt.Errorf("%s: error: %s is the print of %s already", in.name, path, other)
		}
		written[path] = in.name
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("%s: error: %w", filepath.Dir(path), unwrapPath(err))
		}
		return create(path, print)
	case c.JSON:
		var text strings.Builder
		if err := print(&text); err != nil {
			return err
		}
		r.add("text", text.String())
		return nil
	}
	return print(e.stdout)
}

// textName is the place of a print in the folder of results: what was packed or binary is plain text there.
func textName(in *input) string {
	name := strings.TrimSuffix(in.rel, ".gz")
	if in.kind == hloProto {
		return stem(name) + ".hlo"
	}
	return name
}

// modules reads all modules of a file.
func (c *fmtCmd) modules(in *input) ([]hlo.Module, error) {
	if in.kind != hloText {
		m, err := parseModule(in)
		return []hlo.Module{m}, err
	}
	var modules []hlo.Module
	var errs parser.ErrorList
	read := parser.Config{Lenient: c.Lenient}
	for _, piece := range parser.Split(unsafe.String(unsafe.SliceData(in.data), len(in.data))) {
		m, err := read.Parse(in.name, piece)
		if list, ok := err.(parser.ErrorList); ok {
			errs = append(errs, list...)
			continue
		}
		if err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return modules, nil
}

// format prints modules, separated as they were read. One that may be refused in the midst of its print is printed to memory first.
func format(w io.Writer, modules []hlo.Module, cfg printer.Config) error {
	if len(modules) == 1 && cfg.Bodies < printer.BodyFull && cfg.MaxBytes == 0 {
		return printer.Fprint(w, modules[0], cfg)
	}
	var out []byte
	var err error
	for i, m := range modules {
		if i > 0 {
			out = append(out, "// -----\n\n"...)
		}
		if out, err = printer.Append(out, m, cfg); err != nil {
			return err
		}
	}
	_, err = w.Write(out)
	return err
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
