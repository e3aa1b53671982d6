package halocmd

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower/hosthlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/kernels/hostkernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// hostRunFlags are the flags of halo run that host programs have.
type hostRunFlags struct {
	Functions      []string `help:"Host programs: run only these functions, in this order."`
	InitFunction   string   `help:"Host programs: run this function first." placeholder:"NAME"`
	Queue          string   `help:"Host programs: work queue: single, multi, multi:N or multi:N:M." default:"single"`
	HostAllocator  string   `help:"Host programs: leak-check, heap, profile or budget:BYTES." default:"leak-check"`
	PrintErrorCode bool     `help:"Host programs: print the codes of error results."`
	Trace          string   `help:"Trace to standard output (text) or to a Chrome trace (FILE.json). Of HLO programs it shows every kernel." placeholder:"text|FILE.json"`
	TraceLevel     string   `help:"Host programs: how much to trace: default, verbose or debug." default:"default" enum:"default,verbose,debug"`
	Strict         bool     `help:"Host programs: calls, too, wait for all their arguments, as in TFRT, unless they are marked bef.nonstrict."`
}

// isHostProgram reports whether a BEF file is a host program. A file of an HLO program has metadata about its entry.
func isHostProgram(data []byte) bool {
	f, err := bef.Decode(data, bef.DecodeOptions{})
	return err == nil && f.Extension(runtime.SectionMetadata) == nil
}

// check finds what is wrong with the flags before any file is read.
func (c *hostRunFlags) check() error {
	q, err := workqueue.New(c.Queue)
	if err != nil {
		return usageError{fmt.Errorf("--queue: %w", err)}
	}
	q.Close()
	if _, err := c.budget(); err != nil {
		return usageError{err}
	}
	if c.Trace != "" && c.Trace != traceText && !strings.HasSuffix(c.Trace, ".json") {
		return usageError{fmt.Errorf("--trace=%s: want text or FILE.json", c.Trace)}
	}
	return nil
}

// budget returns the bytes of --host-allocator=budget:BYTES, or -1 for the other allocators.
func (c *hostRunFlags) budget() (int64, error) {
	switch c.HostAllocator {
	case "leak-check", "heap", "profile":
		return -1, nil
	}
	if text, ok := strings.CutPrefix(c.HostAllocator, "budget:"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("--host-allocator=%s: want leak-check, heap, profile or budget:BYTES", c.HostAllocator)
}

// run loads and runs one host program, and reports what is wrong with it itself.
func (c *hostRunFlags) run(ctx context.Context, e *env, in *input) (err error) {
	file, err := decodeHost(in)
	if err != nil {
		return err
	}
	queue, err := workqueue.New(c.Queue)
	if err != nil {
		return err
	}
	defer queue.Close()
	d := newHostDriver(c, e)
	host := runtime.NewHost(runtime.HostOptions{Queue: queue, Allocator: d.allocator, Diagnostics: d.diagnose})
	reg := runtime.NewRegistry()
	hostkernels.Register(reg)
	kernels.Register(reg)
	if added.Kernels != nil {
		added.Kernels(reg)
	}
	program, err := runtime.Load(file, reg, runtime.LoadOptions{Host: host, Strict: c.Strict})
	if err != nil {
		d.diagnoseLoad(err)
		return failure(exitInput)
	}
	fns, err := c.choose(program)
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	if c.Trace != "" {
		if d.tracer, err = newHostTracer(c.Trace, c.TraceLevel); err != nil {
			return err
		}
		defer func() {
			if closeErr := d.tracer.finish(e.stdout); err == nil {
				err = closeErr
			}
		}()
	}
	for _, fn := range fns {
		if err := d.runFunction(ctx, host, fn); err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
	}
	d.reportMemory()
	if d.failed {
		return failure(exitInput)
	}
	return nil
}

// decodeHost returns the BEF form of a host program.
func decodeHost(in *input) (*bef.File, error) {
	if in.kind == source.BEF {
		f, err := bef.Decode(in.data, bef.DecodeOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s: error: %w", in.name, err)
		}
		return f, nil
	}
	p, err := hostprog.Read(in.name, string(in.data), hostprog.Config{})
	if err != nil {
		return nil, err
	}
	return hosthlo.Assemble(p, hostprog.AssembleOptions{})
}

// choose lists the functions to run, in order: the one that initialises, then those that are asked for, or all that have a name.
func (c *hostRunFlags) choose(p *runtime.Program) ([]*runtime.Function, error) {
	var fns []*runtime.Function
	find := func(name string) error {
		fn := p.Function(name)
		if fn == nil {
			return fmt.Errorf("there is no function '%s'", name)
		}
		fns = append(fns, fn)
		return nil
	}
	if c.InitFunction != "" {
		if err := find(c.InitFunction); err != nil {
			return nil, err
		}
	}
	if len(c.Functions) > 0 {
		for _, name := range c.Functions {
			if name == c.InitFunction {
				continue
			}
			if err := find(name); err != nil {
				return nil, err
			}
		}
		return fns, nil
	}
	for _, fn := range p.Functions() {
		if fn.Name() != "" && fn.Name() != c.InitFunction {
			fns = append(fns, fn)
		}
	}
	return fns, nil
}

// createTrace makes the file of a trace.
func createTrace(path string) (*os.File, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", path, unwrapPath(err))
	}
	return f, nil
}
