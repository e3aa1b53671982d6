package halocmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
)

// dumpFlags say which versions of modules are written, and how.
type dumpFlags struct {
	DumpTo       string   `aliases:"xla_dump_to" help:"Write the module into this folder before and after, and after each pass that --dump-pass selects." placeholder:"DIR" type:"path"`
	DumpPass     string   `aliases:"xla_dump_hlo_pass_re" help:"Dump after passes that match this regular expression; .* is all that changed something." placeholder:"REGEXP"`
	DumpPipeline string   `aliases:"xla_dump_hlo_pipeline_re" help:"Dump only after passes of these pipelines." placeholder:"REGEXP"`
	DumpModule   string   `aliases:"xla_dump_hlo_module_re" help:"Dump only modules of these names." placeholder:"REGEXP"`
	DumpMax      int      `aliases:"xla_dump_max_hlo_modules" help:"Dump at most so many modules." placeholder:"N" default:"-1"`
	DumpAs       []string `help:"text, long (operands with shapes, constants in full), proto, dot (a drawing for graphviz) or html (one for a browser)." enum:"text,long,proto,dot,html" default:"text"`
	DumpLayout   string   `help:"flat: XLA's file names; tree: folders after the pipelines; archive: one file for all versions, which halo archive reads." enum:"flat,tree,archive" default:"flat"`
}

// dump writes versions of a module into a folder.
type dump struct {
	flags            *dumpFlags
	passes, pipeline *regexp.Regexp
	module           string // module_0000.name
	n                int
	last             hlo.Module
	cfg              printer.Config
	archive          *archiveWriter
	err              error
}

// newDump begins the dump of a module, behind others that are dumped already, with the module itself. It returns nil for one that is not wanted.
func (f *dumpFlags) newDump(number, dumped int, m hlo.Module, cfg printer.Config) (*dump, error) {
	if f.DumpMax < -1 {
		return nil, usageError{fmt.Errorf("--dump-max=%d: want a number of modules, or -1 for all", f.DumpMax)}
	}
	d := &dump{flags: f, module: fmt.Sprintf("module_%04d.%s", number, fileName(m.Name())), last: m, cfg: cfg}
	var modules *regexp.Regexp
	for _, re := range []struct {
		text string
		to   **regexp.Regexp
		flag string
	}{{f.DumpPass, &d.passes, "--dump-pass"}, {f.DumpPipeline, &d.pipeline, "--dump-pipeline"}, {f.DumpModule, &modules, "--dump-module"}} {
		if re.text == "" {
			continue
		}
		var err error
		if *re.to, err = regexp.Compile(re.text); err != nil {
			return nil, usageError{fmt.Errorf("%s=%s: %w", re.flag, re.text, err)}
		}
	}
	if f.DumpMax >= 0 && dumped >= f.DumpMax || modules != nil && !modules.MatchString(m.Name()) {
		return nil, nil
	}
	dir := f.DumpTo
	if f.DumpLayout == "tree" {
		dir = filepath.Join(dir, d.module)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if f.DumpLayout == "archive" {
		d.archive = newArchive(m.Name())
	}
	d.write("", "before_optimizations", m)
	return d, nil
}

func (d *dump) instrument() pass.Instrument {
	return pass.Instrument{After: func(r pass.Report) {
		d.last = r.After
		pipeline, name := "", r.Pass.Name
		if i := strings.LastIndexByte(r.Path, '/'); i >= 0 {
			pipeline = r.Path[:i]
		}
		// XLA's special case: .* is what changed something, not everything.
		if d.passes == nil || !d.passes.MatchString(name) || d.flags.DumpPass == ".*" && !r.Changed() ||
			d.pipeline != nil && !d.pipeline.MatchString(pass.PlainPath(pipeline)) {
			return
		}
		d.n++
		d.write(r.Path, name, r.After)
	}}
}

// write writes a version: after the pass at a path, or, without one, what the name says.
func (d *dump) write(path, name string, m hlo.Module) {
	if d.archive != nil {
		d.archive.add(path, name, m, d.text(m, d.cfg))
		return
	}
	for _, form := range slices.Compact(slices.Sorted(slices.Values(d.flags.DumpAs))) {
		file := d.file(path, name)
		data, extension := []byte(nil), ".txt"
		switch form {
		case "proto":
			data, extension = proto.Encode(m), ".pb"
		case "dot", "html":
			var b bytes.Buffer
			d.fail(graphFlags{}.draw(&b, form, m))
			data, extension = b.Bytes(), "."+form
		case "long":
			long, _ := printer.StyleByName("long")
			data = d.text(m, long)
			if slices.Contains(d.flags.DumpAs, "text") {
				extension = ".long.txt"
			}
		default:
			data = d.text(m, d.cfg)
		}
		if d.flags.DumpLayout == "tree" {
			d.fail(os.MkdirAll(filepath.Dir(file), 0o777))
		}
		d.fail(os.WriteFile(file+extension, data, 0o666))
	}
}

// file is where a version goes, without the extension.
func (d *dump) file(path, name string) string {
	if d.flags.DumpLayout == "tree" {
		if path == "" {
			return filepath.Join(d.flags.DumpTo, d.module, name)
		}
		folder, last := filepath.Split(filepath.FromSlash(path))
		return filepath.Join(d.flags.DumpTo, d.module, folder, fmt.Sprintf("%04d.after_%s", d.n, last))
	}
	if path == "" {
		return filepath.Join(d.flags.DumpTo, d.module+"."+name)
	}
	pipeline := strings.ReplaceAll(strings.TrimSuffix(pass.PlainPath(path), name), "/", ".")
	return filepath.Join(d.flags.DumpTo, fmt.Sprintf("%s.%04d.%safter_%s", d.module, d.n, pipeline, name))
}

func (d *dump) text(m hlo.Module, cfg printer.Config) []byte {
	text, err := printer.Append(nil, m, cfg)
	d.fail(err)
	return text
}

func (d *dump) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *dump) finish(stderr io.Writer) {
	d.write("", "after_optimizations", d.last)
	if d.archive != nil {
		d.fail(create(filepath.Join(d.flags.DumpTo, d.module+archiveExtension), d.archive.finish))
	}
	if d.err != nil {
		fmt.Fprintf(stderr, "warning: the dump is not complete: %v\n", d.err)
	}
}

// fileName is a module's name without what file systems mind.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) || r < ' ' {
			return '_'
		}
		return r
	}, name[:min(len(name), 100)])
}
