package halocmd

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/printer"
)

// hloOptFlags are flags of XLA's hlo-opt, and of MLIR's opt, that say which passes run and what becomes of the result.
type hloOptFlags struct {
	SplitInputFile bool     `aliases:"split_input_file" help:"Put // ----- between the results of a file of several modules, which are read in any case." group:"As hlo-opt"`
	EmitProto      bool     `aliases:"emit_proto" help:"Write HloModuleProto; -o FILE.pb does so too, and -o FILE.pbtxt writes it as text." group:"As hlo-opt"`
	Format         string   `help:"How the input is written, where its name and content do not tell: hlo, mlir, pb or pbtxt." placeholder:"FORMAT" group:"As hlo-opt"`
	Platform       string   `help:"transforms, which runs what --passes says, or cpu, which without --passes runs the pipeline of this machine." placeholder:"NAME" group:"As hlo-opt"`
	Stage          string   `help:"Where to stop, and what to write: see --list-stages." placeholder:"STAGE" group:"As hlo-opt"`
	ListStages     bool     `aliases:"list_stages" help:"List the stages." group:"As hlo-opt"`
	PrintBefore    []string `help:"Print the module on standard error before passes of these names or places; * for all." placeholder:"PASS" group:"As hlo-opt"`
	PrintAfter     []string `help:"Print the module on standard error after passes of these names or places; * for all." placeholder:"PASS" group:"As hlo-opt"`
}

// stage is a point in the work of a compiler at which hlo-opt may stop.
type stage struct{ name, pipeline, doc string }

var stages = []stage{
	{"hlo", "cpu", "HLO after the passes; with --platform=cpu those of the pipeline cpu"},
	{"hlo-backend", "cpu-async", "HLO as it is lowered: the pipeline cpu-async"},
	{"html", "cpu", "a drawing of that for a browser"},
}

// elsewhere are platforms and stages that XLA has and halo has not.
var elsewhere = map[string]string{
	"gpu": "halo runs on processors", "CUDA": "halo runs on processors", "ROCM": "halo runs on processors", "SYCL": "halo runs on processors", "tpu": "halo runs on processors",
	"llvm": "halo lowers to BEF: see halo lower", "llvm-before-optimizations": "halo lowers to BEF: see halo lower", "llvm-after-optimizations": "halo lowers to BEF: see halo lower",
	"ptx": "halo lowers to BEF: see halo lower", "asm": "halo lowers to BEF: see halo lower", "buffer-assignment": "see halo memory",
}

// check refuses what the flags cannot mean.
func (f *hloOptFlags) check(c *optCmd) error {
	refuse := func(flag, got, want string) error {
		if why, ok := elsewhere[got]; ok {
			return usageError{fmt.Errorf("--%s=%s: known to XLA, but %s", flag, got, why)}
		}
		return usageError{fmt.Errorf("--%s: got %q, want %s", flag, got, want)}
	}
	if !slices.Contains([]string{"", "hlo", "mlir", "pb", "pbtxt"}, f.Format) {
		return refuse("format", f.Format, "hlo, mlir, pb or pbtxt")
	}
	if !slices.Contains([]string{"", "transforms", "cpu", "Host", "interpreter"}, f.Platform) {
		return refuse("platform", f.Platform, "transforms or cpu")
	}
	if f.Stage != "" && f.stage() == nil {
		var names []string
		for _, s := range stages {
			names = append(names, s.name)
		}
		return refuse("stage", f.Stage, oneOf(names))
	}
	if f.Stage == "hlo-backend" && (c.Passes != "" || c.O != "") {
		return usageError{fmt.Errorf("--stage=hlo-backend chooses the passes itself: leave out --passes and -O")}
	}
	if f.EmitProto && f.Stage == "html" {
		return usageError{fmt.Errorf("--emit-proto and --stage=html exclude each other")}
	}
	if f.EmitProto && c.JSON && c.Output == "-" {
		return usageError{fmt.Errorf("--emit-proto with --json wants -o FILE")}
	}
	for _, p := range slices.Concat(f.PrintBefore, f.PrintAfter) {
		if err := catalogue.Check(p); err != nil {
			return usageError{err}
		}
	}
	return nil
}

func (f *hloOptFlags) stage() *stage {
	for i := range stages {
		if stages[i].name == f.Stage {
			return &stages[i]
		}
	}
	return nil
}

// pipeline is the passes of the platform and the stage; "" where these say nothing.
func (f *hloOptFlags) pipeline() string {
	s := f.stage()
	switch {
	case s != nil && (f.Stage == "hlo-backend" || f.onMachine()):
		return s.pipeline
	case f.onMachine():
		return "cpu"
	}
	return ""
}

func (f *hloOptFlags) onMachine() bool { return f.Platform != "" && f.Platform != "transforms" }

// listStages prints the table of stages.
func listStages(w io.Writer) error {
	for _, s := range stages {
		if _, err := fmt.Fprintf(w, "%-12s %s\n", s.name, s.doc); err != nil {
			return err
		}
	}
	return nil
}

// read makes an input be of the format that the flags say.
func (f *hloOptFlags) read(in *input) {
	switch f.Format {
	case "hlo":
		in.kind = source.HLOText
	case "mlir":
		in.kind = source.StableHLOText
	case "pb":
		in.kind = source.HLOProto
	case "pbtxt":
		in.kind = source.TextProto
	}
}

// written is the result in the form that the flags ask for, and the extension of a file of it.
func (f *hloOptFlags) written(m hlo.Module, output string, cfg printer.Config) (data []byte, extension string, err error) {
	switch {
	case strings.HasSuffix(output, ".pbtxt"):
		data, err = proto.EncodeText(m)
		return data, ".opt.pbtxt", err
	case f.EmitProto || strings.HasSuffix(output, ".pb"):
		return proto.Encode(m), ".opt.hlo.pb", nil
	case f.Stage == "html":
		var b bytes.Buffer
		err := graphFlags{}.draw(&b, "html", m)
		return b.Bytes(), ".opt.html", err
	}
	data, err = printer.Append(nil, m, cfg)
	return data, ".opt.hlo", err
}

// prints are the instruments of --print-before and --print-after.
func (f *hloOptFlags) prints(w *watch) (all []pass.Instrument) {
	selected := func(patterns []string, path string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return pass.Matches(p, path) })
	}
	if len(f.PrintBefore) > 0 {
		all = append(all, pass.Instrument{Before: func(path string, m hlo.Module) {
			if selected(f.PrintBefore, path) {
				fmt.Fprintf(w.stderr, "// before %s\n%s", path, w.text(m))
			}
		}})
	}
	if len(f.PrintAfter) > 0 {
		all = append(all, pass.Instrument{After: func(r pass.Report) {
			if selected(f.PrintAfter, r.Path) {
				fmt.Fprintf(w.stderr, "// after %s\n%s", r.Path, w.text(r.After))
			}
		}})
	}
	return all
}
