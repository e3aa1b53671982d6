package halo

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/distributed"
)

// Program is a module that is ready to run. It may run many times at once. Close it when it is no longer needed.
type Program struct {
	engine    engine
	signature *Signature
	stats     Stats

	open   sync.RWMutex // read-locked by executions, so that Close waits for them
	closed bool
}

// engine executes a program, whose arguments are checked.
type engine interface {
	execute(ctx context.Context, s *Signature, x *Execution) ([][]*hlo.Literal, error)
	close()
}

func newProgram(e engine, s *Signature, stats Stats) *Program {
	return &Program{engine: e, signature: s, stats: stats}
}

// ErrClosed is the error of a program that is run after it was closed.
var ErrClosed = errors.New("halo: the program is closed")

// Signature describes the parameters and results. It must not be written.
func (p *Program) Signature() *Signature { return p.signature }

// Stats returns how long compiling took.
func (p *Program) Stats() Stats { return p.stats }

// Runtime returns the program as the runtime has it, nil in the evaluator. It is for tools that look below this package.
func (p *Program) Runtime() *runtime.Program {
	if c, ok := p.engine.(*compiled); ok {
		return c.program
	}
	return nil
}

// Run executes the program on one literal for each leaf of its parameters and returns one for each leaf of its result, row-major.
// Where a leaf has dynamic dimensions, with bounds, its literal has the actual sizes; the argument for a token may be nil. Arguments that do not fit are an
// *[ArgumentError]. Cancelling ctx ends the execution with an error.
//
// A failure reaches what depends on it and nothing else: with the error, Run returns the results that do not, and nil in the places of those that
// do.
func (p *Program) Run(ctx context.Context, args ...*hlo.Literal) ([]*hlo.Literal, error) {
	return p.RunInto(ctx, nil, args...)
}

// RunInto is [Program.Run] with memory for the results: results[i] is a literal, or nil, over the caller's memory, as [Array] makes them. It
// returns the literals of the results: those given, and new ones in the places of nil. A result may be given the memory of the argument that
// [Signature.Aliases] has beside it, which it is written over then; no other argument may share memory with a result. Results with dynamic dimensions have memory of
// their own. With memory for all results, a program that has run before and has no such parameters or results allocates nothing, unless ctx can be cancelled.
func (p *Program) RunInto(ctx context.Context, results []*hlo.Literal, args ...*hlo.Literal) ([]*hlo.Literal, error) {
	if c, ok := p.engine.(*compiled); ok && !c.needsMesh {
		return p.runOne(ctx, c, results, args)
	}
	x := Execution{Args: [][]*hlo.Literal{args}}
	if results != nil {
		x.Results = [][]*hlo.Literal{results}
	}
	out, err := p.Execute(ctx, x)
	if len(out) == 0 {
		return nil, err
	}
	return out[0], err
}

// runOne is Execute for a device that meets no other. It allocates nothing of its own where there is memory for all results.
func (p *Program) runOne(ctx context.Context, c *compiled, results, args []*hlo.Literal) ([]*hlo.Literal, error) {
	var given [][]*hlo.Literal
	if results != nil {
		given = [][]*hlo.Literal{results}
	}
	x := c.take()
	defer c.put(x)
	if err := p.signature.check([][]*hlo.Literal{args}, given, 0, 1, &x.apart); err != nil {
		return nil, err
	}
	p.open.RLock()
	defer p.open.RUnlock()
	if p.closed {
		return nil, ErrClosed
	}
	return c.executeOne(ctx, p.signature, x, results, args)
}

// executeOne is runOne for an execution.
func (p *Program) executeOne(ctx context.Context, c *compiled, x *Execution) ([][]*hlo.Literal, error) {
	if x.Results == nil {
		out, err := p.runOne(ctx, c, nil, x.Args[0])
		if out == nil && err != nil {
			return nil, err
		}
		return [][]*hlo.Literal{out}, err
	}
	given := x.Results[0]
	out, err := p.runOne(ctx, c, given, x.Args[0])
	switch {
	case out == nil && err != nil:
		return nil, err
	case len(out) > 0 && &out[0] == &given[0]: // all were given
		return x.Results, err
	}
	return [][]*hlo.Literal{out}, err
}

// RunDevices executes the program on replicas times partitions devices at once, which meet in its collectives. args[d] are the arguments
// of device d, and its results are the d-th returned; devices are counted partition by partition of the first replica, then of the next.
// When every device waits for another, the error says who waits for whom.
func (p *Program) RunDevices(ctx context.Context, replicas, partitions int, args [][]*hlo.Literal) ([][]*hlo.Literal, error) {
	return p.Execute(ctx, Execution{Replicas: replicas, Partitions: partitions, Args: args})
}

// Execution is one run of a program, with everything that can be said about one.
type Execution struct {
	Replicas, Partitions int // devices; both 0 is one device
	Args                 [][]*hlo.Literal
	Results              [][]*hlo.Literal // memory for the results of each device, see [Program.RunInto]; may be nil
	// Host answers infeed, outfeed, send and recv; without one they fail.
	Host eval.Host
	// Job is processes that share the devices, an equal number of consecutive ones each; nil: this process has all. All processes of the
	// job execute the same program, one at a time. Args, Results and what Execute returns are nil for devices of other processes.
	Job *distributed.Job
}

// held is the range of the devices that this process runs.
func (x *Execution) held() (from, to int) {
	if x.Job == nil {
		return 0, len(x.Args)
	}
	return x.Job.Devices(len(x.Args))
}

// transport is what carries values between the processes of the execution, until over is called; nil without a job.
func (x *Execution) transport(ctx context.Context, e Engine, m hlo.Module, hash func() (string, error)) (t devices.Transport, over func(), err error) {
	if x.Job == nil {
		return nil, func() {}, nil
	}
	identify := func() (distributed.Identity, error) {
		program, err := hash()
		return distributed.Identity{Version: Version(), Engine: string(e), Module: m.Name(), Program: program, Replicas: x.Replicas, Devices: len(x.Args)}, err
	}
	own, err := x.Job.NewTransport(ctx, m, devices.Grid{Replicas: x.Replicas, Partitions: x.Partitions}, identify)
	if err != nil {
		return nil, nil, fmt.Errorf("halo: %w", err)
	}
	return own, own.Close, nil
}

// Execute runs the program. One device that fails still returns the results that do not depend on the failure, see [Program.Run].
func (p *Program) Execute(ctx context.Context, x Execution) ([][]*hlo.Literal, error) {
	if x.Replicas == 0 && x.Partitions == 0 {
		x.Replicas, x.Partitions = 1, 1
	}
	if x.Replicas < 1 || x.Partitions < 1 || len(x.Args)/x.Replicas != x.Partitions || len(x.Args)%x.Replicas != 0 {
		return nil, fmt.Errorf("halo: arguments for devices: got %d, want %d×%d", len(x.Args), x.Replicas, x.Partitions)
	}
	if x.Job != nil && len(x.Args)%x.Job.Size() != 0 {
		return nil, fmt.Errorf("halo: %d processes cannot share %d devices: their number has to divide that of devices", x.Job.Size(), len(x.Args))
	}
	if c, ok := p.engine.(*compiled); ok && !c.needsMesh && x.Job == nil && len(x.Args) == 1 && (x.Results == nil || len(x.Results) == 1 && x.Results[0] != nil) {
		return p.executeOne(ctx, c, &x)
	}
	from, to := x.held()
	if err := p.signature.check(x.Args, x.Results, from, to, nil); err != nil {
		return nil, err
	}
	p.open.RLock()
	defer p.open.RUnlock()
	if p.closed {
		return nil, ErrClosed
	}
	return p.engine.execute(ctx, p.signature, &x)
}

// Close waits for executions to end and frees what the program holds. Afterwards it refuses to run. Closing it again does nothing.
func (p *Program) Close() {
	p.open.Lock()
	defer p.open.Unlock()
	if !p.closed {
		p.closed = true
		p.engine.close()
	}
}
