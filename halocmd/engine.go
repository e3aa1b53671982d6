package halocmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime/distributed"
)

// prepared is a program that is ready to run, on the devices that the flags or its header ask for.
type prepared struct {
	*halo.Program
	grid  grid
	text  hlo.Module // as it was read; zero of a BEF file
	parse time.Duration
	split time.Duration // partitioning
	job   *distributed.Job
}

// prepare compiles the program in a file as the flags say.
func (c *runCmd) prepare(ctx context.Context, e *env, in *input, observer halo.Observer) (*prepared, error) {
	if in.kind == source.BEF {
		if halo.Engine(c.Engine) == halo.Eval {
			return nil, usageError{fmt.Errorf("%s: a BEF file cannot be evaluated: --engine=bef runs it", in.name)}
		}
		var program *halo.Program
		var err error
		warm.do(func() { program, err = halo.LoadProgramBytes(in.name, in.data, c.options(observer)) })
		if err != nil {
			return nil, err
		}
		return c.prepared(e, program, c.Devices.gridOf(program))
	}
	var m halo.Module
	var o halo.Options
	var parse time.Duration
	var p *prepared
	var err error
	read := func() {
		if m, parse, err = c.read(ctx, e, in); err == nil {
			o = c.options(observer)
		}
	}
	link := func() {
		if err == nil {
			p, err = c.link(ctx, e, in, m, o)
		}
	}
	if c.Bench > 0 { // what is measured is done alone
		warm.do(func() { read(); link() })
	} else {
		read()
		if err == nil {
			c.fillAhead(m)
		}
		warm.do(link)
	}
	if err != nil {
		return nil, err
	}
	p.parse, p.text = parse, m.HLO()
	return p, nil
}

// read reads the module in a file, and how long that took.
func (c *runCmd) read(ctx context.Context, e *env, in *input) (m halo.Module, took time.Duration, err error) {
	if in.kind.HasArgumentShapes() && in.shapes == nil {
		shapes, err := c.givenShapes()
		if err != nil {
			return m, 0, fmt.Errorf("%s: error: %w", in.name, err)
		}
		in.shapes = shapes
	}
	e.progress.at("reading")
	began := time.Now()
	m, err = e.verifiedModule(in, moduleOptions{profile: c.Profile, fill: c.fillElided()})
	if err != nil {
		return m, 0, err
	}
	took = time.Since(began)
	m, err = c.withPrecision(ctx, in, m)
	return m, took, err
}

// link compiles a module that was read from a file for the devices that run it.
func (c *runCmd) link(ctx context.Context, e *env, in *input, m halo.Module, o halo.Options) (*prepared, error) {
	program, err := c.compile(ctx, e, in, m, o)
	if err != nil {
		return nil, err
	}
	p, err := c.prepared(e, program, c.Devices.gridOf(program))
	if err != nil {
		return nil, err
	}
	if p.grid.partitions > 1 && halo.NeedsPartition(m) {
		fmt.Fprintf(e.stderr, "%s: note: the program is not partitioned: each of the %d devices computes all of it; --spmd partitions it first\n", in.name, p.grid.partitions)
	}
	return p, nil
}

// options are those of compiling and loading.
func (c *runCmd) options(observer halo.Observer) halo.Options {
	return options(halo.Options{Engine: halo.Engine(c.Engine), Threads: c.threads(), MaxBytes: available(), Observer: observer, HostCallback: c.callback})
}

// compile compiles a module that was read from a file.
func (c *runCmd) compile(ctx context.Context, e *env, in *input, m halo.Module, o halo.Options) (_ *halo.Program, err error) {
	if c.Level != (optLevel{}) { // else it is the pipeline that halo.Warm has made
		if o.Pipeline, err = c.Level.pipeline("cpu"); err != nil {
			return nil, usageError{err}
		}
	}
	if c.FastMath {
		o.Runner = &pass.Runner{FP: pass.FastMath}
	}
	e.progress.at("compiling")
	p, err := halo.Compile(ctx, m, o)
	if err != nil {
		return nil, in.compileError(err)
	}
	return p, nil
}

// prepared checks that the processes can share the devices.
func (c *runCmd) prepared(e *env, p *halo.Program, g grid) (*prepared, error) {
	if err := e.checkJob(g); err != nil {
		p.Close()
		return nil, err
	}
	return &prepared{Program: p, grid: g, job: e.job}, nil
}

// compileError puts the file's name before an error that has no position of its own.
func (in *input) compileError(err error) error {
	if errors.As(err, new(*lower.Error)) || errors.As(err, new(*halo.ElidedError)) {
		return err
	}
	return fmt.Errorf("%s: error: %w", in.name, err)
}

// fillElided says whether constants that the text leaves out get filler: a run on made-up inputs may as well make up constants.
func (c *runCmd) fillElided() bool {
	return c.Elided == "fill" || c.Elided == "auto" && c.Fill != ""
}

// run executes the program. The results of an earlier run, which may be nil, are written over.
func (p *prepared) run(ctx context.Context, args, results [][]*hlo.Literal, h *host) ([][]*hlo.Literal, error) {
	return p.Execute(ctx, halo.Execution{Replicas: p.grid.replicas, Partitions: p.grid.partitions, Args: args, Results: results, Host: h, Job: p.job})
}
