package halo

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/workqueue"
	"github.com/gohalo/halo/verifier"
)

// Engine is what executes programs.
type Engine string

// The engines.
const (
	BEF  Engine = "bef"  // lowered to BEF, with fast kernels on the runtime
	Eval Engine = "eval" // the reference evaluator: plain and slow, one instruction after the other
)

// Options say how to compile and run. The zero value is ready to use. Options marked BEF do not matter to the evaluator, and the other way
// around.
type Options struct {
	Engine Engine // "" is BEF

	// BEF: the passes, as text in the language of passes.Parse, or as a pipeline. Neither is "cpu", the pipeline that lowering needs;
	// an empty pipeline runs no pass. pass.Pipeline.Then puts passes of one's own before those of "cpu": see the example.
	Passes   string
	Pipeline *pass.Pipeline
	// BEF: Runner runs the passes: it checks, watches and limits them. Nil is the zero Runner.
	Runner *pass.Runner

	// BEF: Threads is the number of compute workers; 0 is one for each processor. With a Queue, which the program does not close,
	// several programs share workers.
	Threads int
	Queue   workqueue.Queue

	// MaxBytes bounds the memory of an execution: on BEF the arguments, results and arena together, and 0 is the machine's memory;
	// in the evaluator each array, and 0 is 8 GB. A run that needs more is an error.
	MaxBytes int64
	// MaxSteps bounds the instructions that the evaluator executes; 0 is no bound.
	MaxSteps int64
	// BEF: Allocator gives memory for executions. Nil is runtime.NewHeapAllocator.
	Allocator runtime.HostAllocator

	// Observer sees executions.
	Observer Observer

	// BEF: Register adds kernels, which custom-calls find by their target: see runtime.Registry.CustomCall.
	Register func(*runtime.Registry)
	// CustomCalls are the meanings of custom-calls in the evaluator, by target.
	CustomCalls map[string]eval.Kernel
	// HostCallback answers calls of the program into the Python process that it comes from (jax.debug.print, jax.pure_callback, io_callback). Nil
	// makes them a *[NoHostCallback]. It must be safe for concurrent use, and must not keep the literals.
	HostCallback func(*HostCall) error
}

// Observer sees what executions do. Nil functions are not called. All of it must be safe for concurrent use if executions are.
type Observer struct {
	Kernels runtime.Tracer                           // on BEF: kernels as they begin and end
	Meter   *runtime.Meter                           // on BEF: measures what the steps of executions take
	Rounds  *atomic.Int64                            // on BEF: counts the rounds of loops, but of those that are one program over scalars
	Values  func(in hlo.Instruction, v *hlo.Literal) // in the evaluator: every value as it is computed

	// On BEF, in the place of Kernels: kernels when they have run, with the instructions that they are: the start, of what
	// a start wraps. It is zero for a kernel that is no instruction.
	Work func(in hlo.Instruction, w runtime.Work)
	// On BEF: each asynchronous update as it is executed, with how far its chain has got. An error cancels the chain there, and fails what depends on
	// its results, as any failure does; between several devices it ends the execution.
	Update func(in hlo.Instruction, u runtime.Update) error
}

// check finds what is wrong with the options.
func (o *Options) check() error {
	switch {
	case o.Engine != "" && o.Engine != BEF && o.Engine != Eval:
		return fmt.Errorf("halo: got engine %q, want %q or %q", o.Engine, BEF, Eval)
	case o.Threads < 0:
		return fmt.Errorf("halo: got %d threads, want a positive number, or 0 for one on each processor", o.Threads)
	case o.Passes != "" && o.Pipeline != nil:
		return fmt.Errorf("halo: got both Passes and a Pipeline, want one of them")
	case o.MaxBytes < 0 || o.MaxSteps < 0:
		return fmt.Errorf("halo: got a negative limit")
	}
	return nil
}

// pipeline returns the passes to run.
func (o *Options) pipeline() (*pass.Pipeline, error) {
	switch {
	case o.Pipeline != nil:
		return o.Pipeline, nil
	case o.Passes != "":
		return passes.Parse(o.Passes)
	}
	return cpu()
}

// cpu is the pipeline that lowering needs. A process makes it once: passes keep nothing of the modules that they run on.
var cpu = sync.OnceValues(func() (*pass.Pipeline, error) { return passes.Parse("cpu") })

// Stats say how long the steps to a runnable program took, and how much memory an execution takes besides arguments and results.
type Stats struct {
	Passes, Lower, Load time.Duration
	ArenaBytes          int64
}

// Compile makes a module ready to run. An hlo.Module is verified first, as XLA verifies after passes, where operands may be of mixed
// precision; a [Module] has been verified. The error is a verifier.ErrorList, a *pass.Error, a *lower.Error, an *[ElidedError], or says what is wrong
// with the options or that the program does not fit into memory. The program must be closed.
func Compile[M hlo.Module | Module](ctx context.Context, m M, o Options) (*Program, error) {
	v, err := verified(m)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Engine == Eval {
		if v.module, err = today(ctx, v.module); err != nil {
			return nil, err
		}
		return newProgram(&evaluated{m: v.module, options: o}, SignatureOf(v.module), Stats{}), nil
	}
	file, stats, err := lowered(ctx, v, o)
	if err != nil {
		return nil, err
	}
	return link(file, o, stats)
}

// Lower runs the passes of the options on a module and returns its BEF form. [Compile] does this and loads the file.
func Lower[M hlo.Module | Module](ctx context.Context, m M, o Options) (*bef.File, error) {
	v, err := verified(m)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	file, _, err := lowered(ctx, v, o)
	return file, err
}

// today is a module without custom calls of older versions of JAX, which the pipelines rewrite for the other engine.
func today(ctx context.Context, m hlo.Module) (hlo.Module, error) {
	pipeline, err := passes.Parse("old-call-rewriter")
	if err != nil {
		return m, err
	}
	return (&pass.Runner{}).Run(ctx, pipeline, m)
}

// verified verifies what has not been verified.
func verified[M hlo.Module | Module](m M) (Module, error) {
	switch m := any(m).(type) {
	case Module:
		if m.IsZero() {
			return m, errNoModule
		}
		return m, nil
	case hlo.Module:
		return Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true})
	}
	panic("unreachable: the constraint has two types")
}

func lowered(ctx context.Context, v Module, o Options) (*bef.File, Stats, error) {
	var stats Stats
	pipeline, err := o.pipeline()
	if err != nil {
		return nil, stats, err
	}
	runner := o.Runner
	if runner == nil {
		runner = &pass.Runner{}
	}
	began := time.Now()
	m, err := runner.Run(ctx, pipeline, v.module)
	if err != nil {
		return nil, stats, err
	}
	stats.Passes = time.Since(began)
	began = time.Now()
	file, err := lower.Module(ctx, m)
	if err != nil {
		return nil, stats, orElided(err, m)
	}
	signature := SignatureOf(v.module) // as the caller knows the program, before passes
	signature.fill(m)
	file.Extensions = append(file.Extensions, signature.section(file))
	stats.Lower = time.Since(began)
	return file, stats, nil
}
