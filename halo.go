// Package halo reads HLO programs, the graph language of XLA that JAX, TensorFlow and PyTorch/XLA dump, and runs them.
//
//	m, err := halo.Load("step.hlo")                       // text → hlo.Module, verified
//	p, err := halo.Compile(ctx, m, halo.Options{})        // passes → BEF → kernels
//	out, err := p.Run(ctx, x, y)                          // literals in, literals out
//
// The parts are packages of their own: hlo (the IR), hlo/parser, printer, verifier, hlo/pass and passes, lower, runtime. This package
// is the short way through them.
package halo

import (
	"context"
	"fmt"
	"os"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
	"github.com/gohalo/halo/verifier"
)

// Load reads and verifies the module in a file: HLO text, or a serialized HloModuleProto, HloProto or HloSnapshot, which may be
// compressed. What XLA accepts is accepted (profile xla); verifier.Verify with its zero Config is stricter. Errors are a parser.ErrorList or a verifier.ErrorList, with positions, or a *proto.FormatError.
func Load(path string) (hlo.Module, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return hlo.Module{}, err
	}
	m, err := source.Read(path, data, source.Options{})
	if err != nil {
		return hlo.Module{}, err
	}
	return m, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err()
}

// Options say how to compile. The zero value is ready to use.
type Options struct {
	Passes  string // pipeline text; "" is the pipeline that the runtime needs
	Threads int    // compute workers; 0 is one for each processor

	// Register adds kernels of the caller's, which custom-calls find by their target: see runtime.Registry.CustomCall. It may be nil.
	Register func(*runtime.Registry)
}

// Program is a compiled module. It is immutable and may run many times at once. Close it when it is no longer needed.
type Program struct {
	program *runtime.Program
	params  []hlo.Shape // leaves
	results []hlo.Shape
	queue   workqueue.Queue
}

// Compile makes a module ready to run.
func Compile(ctx context.Context, m hlo.Module, o Options) (*Program, error) {
	text := o.Passes
	if text == "" {
		text = "cpu"
	}
	pipeline, err := passes.Parse(text)
	if err != nil {
		return nil, err
	}
	if m, err = (&pass.Runner{}).Run(ctx, pipeline, m); err != nil {
		return nil, err
	}
	file, err := lower.Module(ctx, m)
	if err != nil {
		return nil, err
	}
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	if o.Register != nil {
		o.Register(reg)
	}
	queue := workqueue.NewMulti(workqueue.Config{Workers: o.Threads})
	program, err := runtime.Load(file, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
	if err != nil {
		queue.Close()
		return nil, err
	}
	p := &Program{program: program, results: leaves(m.Entry().Root().Shape()), queue: queue}
	for i := range m.Entry().NumParameters() {
		p.params = append(p.params, leaves(m.Entry().Parameter(i).Shape())...)
	}
	return p, nil
}

// Run executes the program on one literal for each leaf of its parameters and returns one for each leaf of its result, row-major.
// Where a leaf has dynamic dimensions, with bounds, its literal has the actual sizes. Cancelling ctx ends the run with an error.
func (p *Program) Run(ctx context.Context, args ...*hlo.Literal) ([]*hlo.Literal, error) {
	if kernels.NeedsMesh(p.program) {
		out, err := p.RunDevices(ctx, 1, 1, [][]*hlo.Literal{args})
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
	in, err := p.buffers(args)
	if err != nil {
		return nil, err
	}
	out := p.program.Entry().NewResults()
	if err := p.program.Entry().Run(ctx, runtime.RunOptions{}, in, out); err != nil {
		return nil, err
	}
	return p.literals(out)
}

// RunDevices executes the program on replicas times partitions devices at once, which meet in its collectives. args[d] are the arguments
// of device d, and its results are the d-th returned; devices are counted partition by partition of the first replica, then of the next.
// Devices that all wait for one another are an error, which says who waits for whom.
func (p *Program) RunDevices(ctx context.Context, replicas, partitions int, args [][]*hlo.Literal) ([][]*hlo.Literal, error) {
	if replicas < 1 || partitions < 1 || len(args) != replicas*partitions {
		return nil, fmt.Errorf("halo: arguments for %d devices, of which there are %d times %d", len(args), replicas, partitions)
	}
	in, out := make([][]runtime.Buffer, len(args)), make([][]runtime.Buffer, len(args))
	var err error
	for d := range args {
		if in[d], err = p.buffers(args[d]); err != nil {
			return nil, err
		}
		out[d] = p.program.Entry().NewResults()
	}
	if err := kernels.Devices(ctx, p.program, &kernels.World{Mesh: devices.NewMesh(replicas, partitions)}, in, out, nil); err != nil {
		return nil, err
	}
	all := make([][]*hlo.Literal, len(out))
	for d := range out {
		if all[d], err = p.literals(out[d]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// buffers are the arguments as the runtime takes them; they share the literals' bytes.
func (p *Program) buffers(args []*hlo.Literal) ([]runtime.Buffer, error) {
	if want := len(p.program.Entry().ArgTypes()); len(args) != want {
		return nil, fmt.Errorf("halo: the program takes %d arguments, got %d", want, len(args))
	}
	in := make([]runtime.Buffer, len(args))
	for i, a := range args {
		data, err := a.Buffer(p.params[i])
		if err != nil {
			return nil, fmt.Errorf("halo: argument %d: %w", i, err)
		}
		in[i] = runtime.Buffer{Data: data, Type: uint8(a.Shape().Type()), Dims: a.Shape().Dimensions()}
		if s := p.params[i]; !s.IsStatic() {
			in[i].Type, in[i].Dims = uint8(hlo.U8), s.InMemory().Dimensions()
		}
	}
	return in, nil
}

func (p *Program) literals(out []runtime.Buffer) ([]*hlo.Literal, error) {
	literals := make([]*hlo.Literal, len(out))
	for i, b := range out {
		var err error
		if literals[i], err = hlo.LiteralOfBuffer(p.results[i], b.Data); err != nil {
			return nil, err
		}
	}
	return literals, nil
}

// Close ends the program's workers.
func (p *Program) Close() { p.queue.Close() }

func leaves(s hlo.Shape) (all []hlo.Shape) {
	s.Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool { all = append(all, leaf); return true })
	return all
}
