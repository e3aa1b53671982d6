package halocmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/printer"
)

// fmtCmd parses programs and prints them.
type fmtCmd struct {
	Files []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`

	printFlags `embed:""`
	readFlags  `embed:""`

	To         string `help:"Write text; proto: HloModuleProto, as .hlo.pb; stablehlo: StableHLO text, as .mlir; dot: a drawing for graphviz; or html: a drawing for a browser." default:"text" enum:"text,proto,stablehlo,dot,html"`
	graphFlags `embed:""`
	Generic    bool   `help:"Host programs: print every op in its generic form."`
	Write      bool   `short:"w" help:"Write the result back to the file."`
	Output     string `short:"o" help:"Write each result to a file of the same name below this folder; the result of one program also to a file, x.hlo." placeholder:"DIR|FILE"`
	JSON       bool   `name:"json" help:"One JSON object for each file."`
}

// Help is what --help says beyond the flags.
func (fmtCmd) Help() string {
	return `Reads programs in any form and prints them in the one that --to names, which is XLA's text by default.

  halo fmt model.hlo
  halo fmt -w dump/                                 every program of a folder, in place
  halo fmt --to=proto -o protos dump/
  halo fmt --style=canonical model.hlo | sha256sum  the same for programs that differ only in names
  halo fmt --to=dot --around=%dot.3 model.hlo | dot -Tsvg > near.svg`
}

func (c *fmtCmd) Run(e *env) error {
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	if c.Output == "-" { // as of other commands
		c.Output = ""
	}
	switch {
	case c.Write && c.Output != "":
		return usageError{errors.New("-w and -o cannot be used together")}
	case c.Write && slices.Contains(c.Files, "-"):
		return usageError{errors.New("-w cannot write to standard input")}
	case c.To != "text" && (c.Write || c.JSON):
		return usageError{fmt.Errorf("--to=%s goes with neither -w nor --json; -o DIR takes several files", c.To)}
	case c.To != "text" && c.Output == "" && len(c.Files) > 1:
		return usageError{fmt.Errorf("--to=%s of several files wants -o DIR", c.To)}
	case c.Around != "" && c.To != "dot" && c.To != "html":
		return usageError{errors.New("--around goes with --to=dot and --to=html")}
	}
	e.mapInputs = true
	written := map[string]string{} // path in the folder of results → input
	e.manyModules = c.To == "text"
	return e.each(c.Files, c.JSON, func(in *input, r *record) error {
		print, err := c.printed(in, cfg)
		if err != nil {
			return err
		}
		return c.deliver(e, in, r, print, written)
	})
}

// deliver puts the print where the flags say: the file itself, a folder, or standard output; the record, when records go there.
func (c *fmtCmd) deliver(e *env, in *input, r *record, print func(io.Writer) error, written map[string]string) error {
	switch {
	case c.Write:
		if in.kind != source.HLOText && in.kind != source.HostProgram || source.CutPacked(in.name) != in.name {
			return fmt.Errorf("%s: error: -w replaces texts only; use -o DIR", in.name)
		}
		return create(in.name, print)
	case c.Output != "":
		if c.toFile(in) {
			return create(c.Output, print)
		}
		path := filepath.Join(c.Output, c.resultName(in))
		if _, taken := written[path]; taken && in.kind == source.HLOProto && c.To == "text" {
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
	case c.To != "text" && in.part != "":
		return fmt.Errorf("%s: error: the file holds several modules: --to=%s of them wants -o DIR", in.name, c.To)
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

// toFile reports whether -o names a file: of one program, with the extension of a program or a drawing, and no folder that exists.
func (c *fmtCmd) toFile(in *input) bool {
	if len(c.Files) > 1 || in.part != "" || in.inArchive || in.name != c.Files[0] {
		return false
	}
	switch filepath.Ext(c.Output) {
	case ".hlo", ".txt", ".pb", ".mlir", ".dot", ".html":
		info, err := os.Stat(c.Output)
		return err != nil || !info.IsDir()
	}
	return false
}

// resultName is the place of a result in the folder of results: nothing is packed there.
func (c *fmtCmd) resultName(in *input) string {
	name := source.CutPacked(in.rel)
	switch {
	case c.To == "proto":
		return stem(name) + ".hlo.pb"
	case c.To == "stablehlo":
		return stem(name) + ".mlir"
	case c.To != "text":
		return stem(name) + "." + c.To
	case in.kind == source.HLOProto:
		return stem(name) + ".hlo"
	}
	return name
}

// printed reads a file and returns what writes its print: every module of a text, separated as they were read.
func (c *fmtCmd) printed(in *input, cfg printer.Config) (func(io.Writer) error, error) {
	switch {
	case c.To == "proto":
		m, err := parseModule(in)
		if err != nil {
			return nil, err
		}
		return writes(proto.Encode(m)), nil
	case c.To == "stablehlo":
		m, err := parseModule(in)
		if err != nil {
			return nil, err
		}
		text, err := stablehlo.Write(m)
		if err != nil {
			return nil, fmt.Errorf("%s: error: %w", in.name, err)
		}
		return writes(text), nil
	case c.To != "text":
		m, err := parseModule(in)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := c.draw(&b, c.To, m); err != nil {
			return nil, fmt.Errorf("%s: error: %w", in.name, err)
		}
		return writes(b.Bytes()), nil
	case in.kind == source.HostProgram:
		out, err := formatHost(in, c.Generic)
		return writes(out), err
	case in.kind != source.HLOText:
		m, err := parseModule(in)
		if err != nil {
			return nil, err
		}
		out, err := printer.Append(nil, m, cfg)
		return writes(out), err
	}
	var out []byte
	var errs parser.ErrorList
	parts := source.Parts(in.kind, in.data)
	for i, part := range parts {
		m, err := parser.Config{Lenient: c.Lenient, KeepZeroSigns: c.Write, LinesBefore: in.linesBefore + part.LinesBefore, Progress: in.passed, ProgressBytes: keptPages}.Parse(in.name, part.Text)
		if list, ok := err.(parser.ErrorList); ok {
			errs = append(errs, list...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(parts) == 1 && cfg.Bodies < printer.BodyFull && cfg.MaxBytes == 0 { // nothing can be wrong with its print
			return func(w io.Writer) error { return printer.Fprint(in.forgetting(w), m, cfg) }, nil
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
	return writes(out), nil
}

// writes returns what writes b.
func writes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}
