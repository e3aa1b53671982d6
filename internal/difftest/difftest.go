package difftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/verifier"
)

// Verdict is how a comparison ended.
type Verdict string

// The verdicts.
const (
	Same           Verdict = "same"
	IllConditioned Verdict = "ill-conditioned" // apart, but by no more than the program makes of noise in its inputs
	Differ         Verdict = "differ"
	TooLarge       Verdict = "too large"     // for the limits of Config
	NoInputs       Verdict = "no inputs"     // a parameter that no array is a value of
	Random         Verdict = "random"        // it draws numbers of the engine's choice
	Unsupported    Verdict = "unsupported"   // dynamic dimensions without bounds, which only the evaluator has; messages between devices, which need a mesh
	BothRefuse     Verdict = "both refuse"   // neither engine runs it
	EvalRefuses    Verdict = "eval refuses"  // only the compiled program runs: what cannot be evaluated was dead code
	CompileFails   Verdict = "compile fails" // passes, lower or load refuse what the evaluator runs
	RunFails       Verdict = "run fails"
	EvalSlow       Verdict = "eval slow" // not done in time: nothing learnt
	RunSlow        Verdict = "run slow"  // the compiled program is not done in time, the evaluator was
	Panics         Verdict = "panics"
)

// OK reports whether nothing is wrong as far as is known.
func (v Verdict) OK() bool {
	switch v {
	case Differ, CompileFails, RunFails, Panics:
		return false
	}
	return true
}

// Outcome is what Run found out.
type Outcome struct {
	Verdict Verdict
	Err     error // why, except for Same
	Leaf    int   // of the result, for Differ and IllConditioned
}

// Config says how to run. The zero value runs the pipeline cpu on two compute workers.
type Config struct {
	Pipeline string
	Threads  int
	Fill     arrays.FillKind
	Seed     uint64
	MaxBytes int64         // of all arrays of the module together; 0 is 64 MB
	MaxSteps int64         // of the evaluator; 0 is 200,000 instructions
	Timeout  time.Duration // of each engine; 0 is 5 s
	Runs     int           // of the compiled program, which must all give the same bits; 0 is 2
	// Allocator gives memory for the arguments and results of the compiled program, and for what it has in between. Nil is Go's.
	Allocator runtime.HostAllocator
}

// memory is memory for an array, to be written.
func (c Config) memory(s hlo.Shape) ([]byte, error) {
	if c.Allocator == nil {
		return make([]byte, s.ByteSize()), nil
	}
	return c.Allocator.Allocate(s.ByteSize(), runtime.BufferAlign)
}

func (c Config) withDefaults() Config {
	if c.Pipeline == "" {
		c.Pipeline = "cpu"
	}
	if c.Threads == 0 {
		c.Threads = 2
	}
	if c.Fill == "" {
		c.Fill = arrays.Random
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 64 << 20
	}
	if c.MaxSteps == 0 {
		c.MaxSteps = 200_000
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Runs == 0 {
		c.Runs = 2
	}
	return c
}

// Run compares the engines on m, which is verified and has no elided constants. Panics of either are reported as outcomes.
func Run(ctx context.Context, m hlo.Module, cfg Config) (o Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = Outcome{Verdict: Panics, Err: fmt.Errorf("%v\n%s", r, debug.Stack())}
		}
	}()
	cfg = cfg.withDefaults()
	args, want, o, evalErr := reference(ctx, m, cfg)
	if o.Verdict != "" {
		return o
	}
	p, err := compile(ctx, m, cfg)
	if err != nil {
		switch {
		case evalErr != nil:
			return Outcome{Verdict: BothRefuse, Err: errors.Join(evalErr, err)}
		case errors.Is(err, context.DeadlineExceeded):
			return Outcome{Verdict: RunSlow, Err: err}
		}
		if refused := new(lower.Error); errors.As(err, &refused) && hasDynamic(m) {
			return Outcome{Verdict: Unsupported, Err: err}
		}
		return Outcome{Verdict: CompileFails, Err: err}
	}
	defer p.Close()
	if n := len(p.Signature().Results); evalErr == nil && len(want) != n {
		return Outcome{Verdict: Differ, Err: fmt.Errorf("%d result leaves, want %d", n, len(want))}
	}
	var first []*hlo.Literal
	for range cfg.Runs {
		got, err := run(ctx, p, leaves(args), cfg)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return Outcome{Verdict: RunSlow, Err: err}
		case err != nil && evalErr != nil:
			return Outcome{Verdict: BothRefuse, Err: errors.Join(evalErr, err)}
		case err != nil && sends(m):
			return Outcome{Verdict: Unsupported, Err: err}
		case err != nil:
			return Outcome{Verdict: RunFails, Err: err}
		case evalErr != nil:
			return Outcome{Verdict: EvalRefuses, Err: evalErr}
		}
		if first == nil {
			first = got
		}
		for i := range got {
			if !bytes.Equal(got[i].Bytes(), first[i].Bytes()) {
				return Outcome{Verdict: Differ, Err: fmt.Errorf("result leaf %d: another run gives other bits", i)}
			}
		}
	}
	return compare(ctx, m, args, first, want, cfg)
}

// reference draws the arguments of m and evaluates it. If that settles the comparison, the outcome has a verdict.
func reference(ctx context.Context, m hlo.Module, cfg Config) (args, want []*hlo.Literal, o Outcome, evalErr error) {
	if Bytes(m) > cfg.MaxBytes {
		return nil, nil, Outcome{Verdict: TooLarge, Err: fmt.Errorf("more than %d bytes", cfg.MaxBytes)}, nil
	}
	if drawsRandom(m) {
		return nil, nil, Outcome{Verdict: Random}, nil
	}
	args, err := shadow.Inputs(m, cfg.Fill, cfg.Seed)
	if err != nil {
		return nil, nil, Outcome{Verdict: NoInputs, Err: err}, nil
	}
	want, err = evaluate(ctx, m, args, cfg)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, eval.ErrBudget) {
		o = Outcome{Verdict: EvalSlow, Err: err}
	}
	return args, want, o, err
}

func compare(ctx context.Context, m hlo.Module, args, got, want []*hlo.Literal, cfg Config) Outcome {
	var moved []answer
	atLeast := widened(m)
	o := Outcome{Verdict: Same}
	for i, w := range want {
		if !w.Shape().IsArray() {
			continue
		}
		g := got[i]
		err := differ(g, w, atLeast)
		if err == nil {
			continue
		}
		if moved == nil {
			moved = probe(ctx, m, args, len(want), cfg)
		}
		o = Outcome{Verdict: IllConditioned, Err: fmt.Errorf("result leaf %d, %v: %w", i, w.Shape().WithoutLayout(), err), Leaf: i}
		if !slices.ContainsFunc(moved, func(a answer) bool { return illConditioned(g, w, a.results[i], a.ulps) }) {
			o.Verdict = Differ
			return o
		}
	}
	return o
}

// answer is what the evaluator makes of inputs, or of constants, that were moved.
type answer struct {
	results []*hlo.Literal
	ulps    float64 // how far
}

// probe evaluates m on inputs one half of whose numbers was moved, and then on those with the other half moved; and in the same way
// with its constants moved, since what is computed from these alone is rounded like everything else. They are moved by one ulp, which the
// rounding of a sum may hide, and by sixteen.
func probe(ctx context.Context, m hlo.Module, args []*hlo.Literal, leaves int, cfg Config) (moved []answer) {
	try := func(m hlo.Module, args []*hlo.Literal, ulps uint16) {
		if results, err := evaluate(ctx, m, args, cfg); err == nil && len(results) == leaves {
			moved = append(moved, answer{results, float64(ulps)})
		}
	}
	for _, ulps := range []uint16{1, 16} {
		for half := range uint64(2) {
			other := make([]*hlo.Literal, len(args))
			for k, a := range args {
				other[k] = move(a, half, ulps)
			}
			try(m, other, ulps)
			try(moveConstants(m, half, ulps), args, ulps)
		}
	}
	return moved
}

func evaluate(ctx context.Context, m hlo.Module, args []*hlo.Literal, cfg Config) ([]*hlo.Literal, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	p, err := halo.Compile(ctx, halo.Trust(m), halo.Options{Engine: halo.Eval, MaxBytes: cfg.MaxBytes, MaxSteps: cfg.MaxSteps})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Run(ctx, leaves(args)...)
}

// compile compiles a module and checks the memory plan of the result.
func compile(ctx context.Context, m hlo.Module, cfg Config) (*halo.Program, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	check := func(m hlo.Module) error {
		return verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err()
	}
	pipeline, err := parsed(cfg.Pipeline)
	if err != nil {
		return nil, err
	}
	p, err := halo.Compile(ctx, halo.Trust(m), halo.Options{Pipeline: pipeline, Threads: cfg.Threads, Runner: &pass.Runner{Check: check}, Allocator: cfg.Allocator})
	if err != nil {
		return nil, err
	}
	if err := p.Runtime().CheckPlans(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// pipelines are those that have been parsed, by their text.
var pipelines sync.Map

func parsed(text string) (*pass.Pipeline, error) {
	if p, ok := pipelines.Load(text); ok {
		return p.(*pass.Pipeline), nil
	}
	p, err := passes.Parse(text)
	if err == nil {
		pipelines.Store(text, p)
	}
	return p, err
}

// run executes a compiled program with memory of its own for arguments and results.
func run(ctx context.Context, p *halo.Program, leaves []*hlo.Literal, cfg Config) ([]*hlo.Literal, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	args := make([]*hlo.Literal, len(leaves))
	for i, l := range leaves {
		data, err := cfg.memory(l.Shape())
		if err != nil {
			return nil, err
		}
		copy(data, l.Bytes())
		if args[i], err = hlo.NewLiteral(l.Shape(), data); err != nil {
			return nil, err
		}
	}
	memory := make([]*hlo.Literal, len(p.Signature().Results))
	for i, v := range p.Signature().Results {
		if v.Shape.IsStatic() && v.Shape.IsArray() { // bytes that are not written must not pass for zeros
			data, err := cfg.memory(v.Shape)
			if err != nil {
				return nil, err
			}
			for k := range data {
				data[k] = 0xA5
			}
			memory[i], _ = hlo.NewLiteral(v.Shape, data)
		}
	}
	results, err := p.RunInto(ctx, memory, args...)
	if err != nil {
		return nil, err
	}
	for i := range args {
		if !bytes.Equal(args[i].Bytes(), leaves[i].Bytes()) {
			return nil, fmt.Errorf("the program wrote over argument leaf %d", i)
		}
	}
	return results, nil
}

// leaves flattens one literal for each parameter.
func leaves(parameters []*hlo.Literal) (all []*hlo.Literal) {
	for _, p := range parameters {
		all = append(all, p.Leaves()...)
	}
	return all
}

// drawsRandom reports whether the result of an instruction is the engine's choice.
func drawsRandom(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpRng {
				return true
			}
		}
	}
	return false
}

// sends reports whether the program exchanges messages with other devices.
func sends(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpSend || in.Opcode() == hlo.OpRecv {
				return true
			}
		}
	}
	return false
}

func hasDynamic(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if !in.Shape().IsStatic() {
				return true
			}
		}
	}
	return false
}

// Bytes is the size of all arrays that the instructions of m make, each once.
func Bytes(m hlo.Module) int64 {
	const limit = int64(1) << 50
	total := int64(0)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			for _, leaf := range in.Shape().Leaves {
				if leaf.IsArray() {
					total = min(total+min(leaf.ByteSize(), limit), limit)
				}
			}
		}
	}
	return total
}
