package halocmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/view"
)

// viewCmd shows programs in a browser.
type viewCmd struct {
	Files   []string `arg:"" name:"file" help:"Programs: .hlo, .pb, .mlir, directories, - for standard input."`
	HTML    string   `name:"html" help:"Write one file that needs nothing else, and serve nothing." placeholder:"FILE"`
	Port    int      `help:"Serve at this port; 0 is any that is free." default:"0"`
	Open    bool     `help:"Open the browser."`
	Against string   `help:"An older version of the program; changes since are coloured." placeholder:"FILE"`
	Overlay []string `help:"Colour instructions by a file of figures; see above." placeholder:"FILE.json" sep:"none"`
	NaN     bool     `name:"nan" help:"Run the program with the reference evaluator, and colour NaN values."`
	Shards  bool     `name:"shardings" help:"Show the shardings that propagation finds, and where each comes from."`
	Inputs  string   `help:"Arrays for the parameters of that run, keys 0, 1, ...; what is not given is random." placeholder:"FILE.npz"`
	Profile string   `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`

	readFlags `embed:""`
}

// Help is what --help says beyond the flags.
func (viewCmd) Help() string {
	return `Serves a page that draws programs: computations are folded, data flows down, and the most expensive parts by the cost model stand
out. It searches by name, op, shape, scope, source and attribute, shows the neighbours of an instruction, the paths between two, and the text and source of each. The key ?
lists the keys. A file is read when it is opened in the page, so reloading shows its current state. The page loads nothing from
other machines, and only this machine is served.

Several files, or a folder that XLA dumped, are listed at the top of the page. Boxes are coloured by kind, by the cost model, by size, by sharding and by
asynchronous chains; with --shardings, by the shardings that propagation finds, and why; by changes since --against=OLD; by NaN values with --nan; and by the figures of a file: the output of
halo profile --json or halo mem --json, or

  {"title": "Measured", "unit": "s", "values": [{"instruction": "dot.3", "value": 0.0012, "label": "12 calls"}]}

  halo view step.hlo
  halo view dump/ --open
  halo view after.hlo --against=before.hlo --html=change.html
  halo view --shardings before_partitioning.hlo`
}

func (c *viewCmd) Run(e *env) error {
	if c.Port < 0 || c.Port > 1<<16-1 {
		return usageError{fmt.Errorf("--port=%d: want a number from 0 to 65535", c.Port)}
	}
	files, err := e.expand(c.Files)
	if err != nil {
		return err
	}
	if len(files) > 1 && (c.Against != "" || len(c.Overlay) > 0) {
		return usageError{errors.New("--against and --overlay want one program")}
	}
	shown, err := c.list(e, files)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		return c.write(e, shown)
	}
	var say sync.Mutex
	site := &view.Site{Load: func(k int) (*view.Program, error) {
		p, err := c.load(e, shown[k])
		if err != nil { // the page shows it, too
			say.Lock()
			fmt.Fprintln(e.stderr, err)
			say.Unlock()
		}
		return p, err
	}}
	for _, x := range shown {
		site.Names = append(site.Names, x.name)
	}
	return serve(e, site, c.Port, c.Open)
}

// shown is a program of the page.
type shown struct {
	name string
	open func() (*input, error)
}

// fewFiles is how many files are looked into for several programs: an archive, or a text of several modules. Of more files, each is one program.
const fewFiles = 16

// list finds the programs of files. Those of their own are read when they are opened, each time anew.
func (c *viewCmd) list(e *env, files []place) (all []shown, err error) {
	for _, f := range files {
		one := shown{f.rel, func() (*input, error) { return e.read(f) }}
		if len(files) > fewFiles {
			all = append(all, one)
			continue
		}
		in, err := e.read(f)
		if err != nil {
			return nil, err
		}
		hasParts, err := e.eachPart(in, func(part *input) {
			kept := *part
			kept.data = bytes.Clone(part.data)
			kept.mapped = false
			all = append(all, shown{part.label(), func() (*input, error) { return &kept, nil }})
		})
		switch {
		case err != nil:
			return nil, err
		case !hasParts && f.name == "-": // it can be read once
			one.open = func() (*input, error) { return in, nil }
		case !hasParts:
			in.close()
		}
		if !hasParts {
			all = append(all, one)
		}
	}
	return all, nil
}

// serve serves a site on this machine until the process is interrupted.
func serve(e *env, site *view.Site, port int, open bool) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	address := fmt.Sprintf("http://%s/", l.Addr())
	fmt.Fprintf(e.stdout, "%s\n", address)
	fmt.Fprintln(e.stderr, "Ctrl-C ends.")
	if open {
		openBrowser(e.stderr, address)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return view.Serve(ctx, l, site)
}

// openBrowser asks the system to show an address.
func openBrowser(stderr io.Writer, address string) {
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	if err := exec.Command(command[0], append(command[1:], address)...).Start(); err != nil {
		fmt.Fprintf(stderr, "note: no browser was opened: %v\n", err)
	}
}

// write makes one file of all programs.
func (c *viewCmd) write(e *env, all []shown) error {
	var programs []*view.Program
	for _, x := range all {
		p, err := c.load(e, x)
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	return create(c.HTML, func(w io.Writer) error { return view.WritePage(w, programs...) })
}

// load reads a program; what goes wrong is described with the line of the file.
func (c *viewCmd) load(e *env, x shown) (*view.Program, error) {
	in, err := x.open()
	if err != nil {
		return nil, err
	}
	if in.mapped {
		defer in.close()
	}
	return c.program(e, in)
}

func (c *viewCmd) program(e *env, in *input) (*view.Program, error) {
	m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
	if err != nil {
		return nil, errors.New(describe(err, in))
	}
	var why map[string][]string
	if c.Shards {
		if m, why, err = decided(m); err != nil {
			return nil, errors.New(describe(err, in))
		}
	}
	p, err := view.New(in.rel, m, rates())
	if err != nil {
		return nil, err
	}
	p.ExplainShardings(why)
	if c.Against != "" {
		old, err := c.older(e)
		if err != nil {
			return nil, err
		}
		p.Overlays = append(p.Overlays, view.Difference(old, m, filepath.Base(c.Against), p))
	}
	for _, name := range c.Overlay {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: error: %w", name, unwrapPath(err))
		}
		read, err := view.ReadOverlays(name, data, p)
		if err != nil {
			return nil, err
		}
		p.Overlays = append(p.Overlays, read...)
	}
	if c.NaN {
		o, err := c.nanOverlay(m, p, in.saved)
		if err != nil {
			return nil, err
		}
		p.Overlays = append(p.Overlays, o)
	}
	return p, nil
}

func (c *viewCmd) older(e *env) (hlo.Module, error) {
	in, err := e.read(within(c.Against))
	if err != nil {
		return hlo.Module{}, err
	}
	defer in.close()
	m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
	if err != nil {
		return m, errors.New(describe(err, in))
	}
	return m, nil
}
