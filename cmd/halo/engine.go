package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// engine runs one program on literals, for each device one for each leaf.
type engine interface {
	params() []hlo.Shape
	// grid is how many devices run.
	grid() grid
	// run takes and gives the leaves of each device. The host may be nil.
	run(ctx context.Context, args [][]*hlo.Literal, host eval.Host) ([][]*hlo.Literal, error)
	times() *times
	close()
}

// times says how long the steps to a runnable program took.
type times struct {
	parse, passes, lower, load time.Duration
	arena                      int64
}

// prepare makes the engine that the flags ask for.
func (c *runCmd) prepare(ctx context.Context, e *env, in *input) (engine, error) {
	t := new(times)
	if in.kind == source.BEF {
		if c.Engine == "eval" {
			return nil, usageError{fmt.Errorf("%s: a BEF file cannot be evaluated: --engine=bef runs it", in.name)}
		}
		file, err := bef.Decode(in.data, bef.DecodeOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s: error: %w", in.name, err)
		}
		return c.load(in.name, file, t, nil)
	}
	e.progress.at("reading")
	began := time.Now()
	m, err := e.loadModule(in, moduleOptions{profile: c.Profile, fill: c.fillElided()})
	if err != nil {
		return nil, err
	}
	t.parse = time.Since(began)
	if c.Engine == "eval" {
		return &evalEngine{m: m, t: t, size: c.Devices.gridOf(m)}, nil
	}
	size := c.Devices.gridOf(m)
	e.progress.at("running passes")
	began = time.Now()
	pipeline, err := c.Level.pipeline("cpu")
	if err != nil {
		return nil, usageError{err}
	}
	if m, err = (&pass.Runner{}).Run(ctx, pipeline, m); err != nil {
		return nil, fmt.Errorf("%s: error: %w", in.name, err)
	}
	t.passes = time.Since(began)
	e.progress.at("lowering")
	began = time.Now()
	file, err := lower.Module(ctx, m)
	if err != nil {
		return nil, err
	}
	t.lower = time.Since(began)
	return c.load(in.name, file, t, &size)
}

// fillElided says whether constants that the text leaves out get filler: a run on made-up inputs may as well make up constants.
func (c *runCmd) fillElided() bool {
	return c.Elided == "fill" || c.Elided == "auto" && c.Fill != ""
}

// load readies a file, for the devices that its module wants or, without one, the file itself.
func (c *runCmd) load(name string, file *bef.File, t *times, size *grid) (engine, error) {
	began := time.Now()
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	queue := workqueue.NewMulti(workqueue.Config{Workers: int(c.Threads)})
	program, err := runtime.Load(file, reg, runtime.LoadOptions{MaxBytes: available(), Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
	if err == nil && program.Entry() == nil {
		err = fmt.Errorf("the file has no HLO program")
	}
	if err != nil {
		queue.Close()
		return nil, fmt.Errorf("%s: error: %w", name, err)
	}
	t.load = time.Since(began)
	t.arena = program.Entry().ArenaBytes()
	if size == nil {
		g := c.Devices.gridOfProgram(program)
		size = &g
	}
	return &befEngine{program: program, queue: queue, t: t, size: *size}, nil
}

// evalEngine is the reference evaluator.
type evalEngine struct {
	m    hlo.Module
	t    *times
	size grid
}

func (g *evalEngine) times() *times { return g.t }
func (g *evalEngine) grid() grid    { return g.size }
func (g *evalEngine) close()        {}

func (g *evalEngine) params() (leaves []hlo.Shape) {
	for i := range g.m.Entry().NumParameters() {
		leaves = appendLeaves(leaves, g.m.Entry().Parameter(i).Shape())
	}
	return leaves
}

func (g *evalEngine) run(ctx context.Context, args [][]*hlo.Literal, host eval.Host) ([][]*hlo.Literal, error) {
	options := eval.Options{MaxBytes: available(), Host: host}
	params := make([][]*hlo.Literal, len(args))
	for d, leaves := range args {
		for i := range g.m.Entry().NumParameters() {
			var p *hlo.Literal
			p, leaves = gather(g.m.Entry().Parameter(i).Shape(), leaves)
			params[d] = append(params[d], p)
		}
	}
	var results []*hlo.Literal
	var err error
	if len(args) == 1 {
		results = make([]*hlo.Literal, 1)
		results[0], err = eval.Module(ctx, g.m, params[0], options)
	} else {
		results, err = eval.Devices(ctx, g.m, params, g.size.replicas, g.size.partitions, options)
	}
	if err != nil {
		return nil, err
	}
	all := make([][]*hlo.Literal, len(results))
	for d, r := range results {
		all[d] = flatten(nil, r)
	}
	return all, nil
}

func appendLeaves(to []hlo.Shape, s hlo.Shape) []hlo.Shape {
	s.Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool { to = append(to, leaf); return true })
	return to
}

// gather builds the literal of a shape from leaves and returns those left over.
func gather(s hlo.Shape, leaves []*hlo.Literal) (*hlo.Literal, []*hlo.Literal) {
	if !s.IsTuple() {
		return leaves[0], leaves[1:]
	}
	parts := make([]*hlo.Literal, s.NumElems())
	for i := range parts {
		parts[i], leaves = gather(s.Elem(i), leaves)
	}
	return hlo.NewTupleLiteral(parts...), leaves
}

// flatten lists the array leaves of a literal; tokens are nothing to show.
func flatten(to []*hlo.Literal, l *hlo.Literal) []*hlo.Literal {
	switch {
	case l.Shape().IsTuple():
		for i := range l.NumParts() {
			to = flatten(to, l.Part(i))
		}
	case l.Shape().IsArray():
		to = append(to, l)
	}
	return to
}

// befEngine is a loaded program on the AsyncValue runtime.
type befEngine struct {
	program *runtime.Program
	queue   workqueue.Queue
	t       *times
	size    grid
	tracer  runtime.Tracer     // or nil
	results [][]runtime.Buffer // of the last run; the next one, of a benchmark, writes over them
}

func (g *befEngine) times() *times { return g.t }
func (g *befEngine) grid() grid    { return g.size }
func (g *befEngine) close()        { g.queue.Close() }

func (g *befEngine) params() []hlo.Shape {
	return leafShapes(g.program.Entry().ArgTypes(), g.program.Metadata().Params)
}

// leafShapes are the shapes of arguments or results. Dynamic dimensions are known to the metadata only: the runtime knows how many bytes
// such a value takes at most.
func leafShapes(types []runtime.TensorType, told []runtime.Leaf) (shapes []hlo.Shape) {
	for i, t := range types {
		s := shapeOf(t)
		if i < len(told) && strings.Contains(told[i].Shape, "<=") {
			if dynamic, err := parser.ParseShape(told[i].Shape); err == nil && dynamic.InMemory().Compatible(s) {
				s = dynamic
			}
		}
		shapes = append(shapes, s)
	}
	return shapes
}

func shapeOf(t runtime.TensorType) hlo.Shape {
	if hlo.PrimitiveType(t.Type) == hlo.TOKEN {
		return hlo.MakeToken()
	}
	return hlo.MakeArray(hlo.PrimitiveType(t.Type), t.Dims, nil, hlo.DefaultLayout(len(t.Dims)))
}

func (g *befEngine) run(ctx context.Context, args [][]*hlo.Literal, host eval.Host) ([][]*hlo.Literal, error) {
	buffers := make([][]runtime.Buffer, len(args))
	params := g.params()
	for d, leaves := range args {
		for i, a := range leaves {
			data, err := a.Buffer(params[i])
			if err != nil {
				return nil, fmt.Errorf("parameter leaf %d: %w", i, err)
			}
			s := params[i].InMemory()
			buffers[d] = append(buffers[d], runtime.Buffer{Data: data, Type: uint8(s.Type()), Dims: s.Dimensions()})
		}
	}
	if g.results == nil {
		for range args {
			g.results = append(g.results, g.program.Entry().NewResults())
		}
	}
	var err error
	if len(args) > 1 || kernels.NeedsMesh(g.program) {
		world := &kernels.World{Mesh: devices.NewMesh(g.size.replicas, g.size.partitions), Host: host}
		err = kernels.Devices(ctx, g.program, world, buffers, g.results, g.tracer)
	} else {
		err = g.program.Entry().Run(ctx, runtime.RunOptions{Tracer: g.tracer}, buffers[0], g.results[0])
	}
	if err != nil {
		return nil, err
	}
	all := make([][]*hlo.Literal, len(args))
	for d := range all {
		if all[d], err = g.literals(g.results[d]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// literals is the arrays among the results of a device.
func (g *befEngine) literals(results []runtime.Buffer) (literals []*hlo.Literal, err error) {
	for i, s := range leafShapes(g.program.Entry().ResultTypes(), g.program.Metadata().Results) {
		if !s.IsArray() {
			continue
		}
		l, err := hlo.LiteralOfBuffer(s, results[i].Data)
		if err != nil {
			return nil, err
		}
		literals = append(literals, l)
	}
	return literals, nil
}
