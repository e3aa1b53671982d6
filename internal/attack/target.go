//go:build unix

package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/verifier"
)

// Fate is how far a mutant came.
type Fate string

// The fates, in order.
const (
	Refused Fate = "refused" // by a reader, the verifier or the loader
	Loaded  Fate = "loaded"  // and ended with an error, or was too expensive
	Ran     Fate = "ran"
)

// Limits of one mutant.
const (
	maxBytes = 8 << 20
	maxTime  = 200 * time.Millisecond
)

// The cost of reading and verifying may be a constant and a factor of the size, all allocations counted although most are freed at once.
const (
	readBytes  = 1 << 20
	readFactor = 100
	readTime   = time.Second
)

// Target runs mutants. It is for one goroutine.
type Target struct {
	reg *runtime.Registry
	cpu *pass.Pipeline

	allocated []metrics.Sample
}

// newTarget makes a target.
func newTarget() (*Target, error) {
	t := &Target{reg: runtime.NewRegistry(), allocated: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	kernels.Register(t.reg)
	var err error
	t.cpu, err = passes.Parse("cpu")
	return t, err
}

// finding returns an error for what must not happen: a panic, or an error that reports one.
func finding(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// broken reports whether an error stands for a caught panic.
func broken(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "runtime error"))
}

// File decodes, loads and runs a BEF file, with guards around every buffer and around the file, which has the constants.
func (t *Target) File(data []byte, seed uint64) (fate Fate, err error) {
	defer finding(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	guard := &Guard{}
	defer guard.Close()
	guarded, err := guard.Data(data)
	if err != nil {
		return Refused, err
	}
	f, err := bef.Decode(guarded, bef.DecodeOptions{})
	if err != nil {
		return Refused, nil
	}
	return t.program(f, guard, seed)
}

func (t *Target) program(f *bef.File, guard *Guard, seed uint64) (Fate, error) {
	host := runtime.NewHost(runtime.HostOptions{Allocator: guard})
	p, err := runtime.Load(f, t.reg, runtime.LoadOptions{MaxBytes: maxBytes, Host: host})
	if broken(err) {
		return Refused, err
	}
	if err != nil || p.Entry() == nil || !p.Entry().IsTensor() || kernels.NeedsMesh(p) {
		return Refused, nil
	}
	fate, err := run(p, guard, seed)
	p.Trim()
	if over := guard.Close(); len(over) > 0 {
		return fate, fmt.Errorf("overrun: %s", over[0])
	}
	return fate, err
}

func run(p *runtime.Program, guard *Guard, seed uint64) (Fate, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	rng := rand.New(rand.NewPCG(seed, 1))
	var args, results []runtime.Buffer
	for _, typ := range p.Entry().ArgTypes() {
		b, err := guard.Buffer(typ)
		if err != nil {
			return Loaded, nil
		}
		fill(rng, b)
		args = append(args, b)
	}
	for _, typ := range p.Entry().ResultTypes() {
		b, err := guard.Buffer(typ)
		if err != nil {
			return Loaded, nil
		}
		results = append(results, b)
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	err := p.Entry().Run(ctx, runtime.RunOptions{}, args, results)
	switch {
	case broken(err):
		return Loaded, err
	case err != nil:
		return Loaded, nil
	}
	return Ran, nil
}

// fill makes up data: bytes of all kinds, since indices come from them.
func fill(rng *rand.Rand, b runtime.Buffer) {
	for i := range b.Data {
		switch {
		case hlo.PrimitiveType(b.Type) == hlo.PRED:
			b.Data[i] = byte(rng.Uint32() & 1)
		case rng.IntN(3) == 0:
			b.Data[i] = byte(rng.Uint32())
		default:
			b.Data[i] = interesting[rng.IntN(len(interesting))]
		}
	}
}

// Message reads a serialized module; one that verifies is run.
func (t *Target) Message(data []byte, seed uint64) (fate Fate, err error) {
	return t.read(len(data), seed, func() (hlo.Module, error) { return proto.Decode(data) })
}

// read reads a module, at a cost that follows the size of its text or message, verifies it and runs it. Memory and time are those of the process,
// and the runtime may count what the mutant before has allocated, so a cost is too high only if it is twice.
func (t *Target) read(size int, seed uint64, read func() (hlo.Module, error)) (fate Fate, err error) {
	defer finding(&err)
	var m hlo.Module
	verified := false
	for attempt := 1; ; attempt++ {
		before := t.spent()
		var failed error
		m, failed = read()
		verified = failed == nil && verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err() == nil
		cost := t.spent().minus(before)
		if cost.bytes <= readBytes+readFactor*int64(size) && cost.time <= readTime {
			break
		}
		if attempt == 2 {
			return Refused, fmt.Errorf("reading and verifying %d bytes took %d bytes and %v", size, cost.bytes, cost.time)
		}
	}
	if !verified {
		return Refused, nil
	}
	return t.module(m, seed)
}

// cost is what has been allocated, and the processor time of the process.
type cost struct {
	bytes int64
	time  time.Duration
}

func (c cost) minus(o cost) cost { return cost{c.bytes - o.bytes, c.time - o.time} }

func (t *Target) spent() cost {
	metrics.Read(t.allocated)
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it cannot fail
	return cost{int64(t.allocated[0].Value.Uint64()), time.Duration(u.Utime.Nano() + u.Stime.Nano())}
}

// Text reads a text; one that verifies is run.
func (t *Target) Text(text string, seed uint64) (fate Fate, err error) {
	return t.read(len(text), seed, func() (hlo.Module, error) { return parser.Parse("mutant", text) })
}

// module lowers and runs a verified module, and evaluates it: the engines must agree about whether it can be computed.
func (t *Target) module(m hlo.Module, seed uint64) (Fate, error) {
	if size(m) > maxBytes {
		return Refused, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	lowered, err := (&pass.Runner{}).Run(ctx, t.cpu, m)
	if broken(err) {
		return Refused, err
	}
	if err != nil {
		return Refused, nil
	}
	f, err := lower.Module(ctx, lowered)
	if broken(err) {
		return Refused, err
	}
	if err != nil {
		return Refused, nil
	}
	fate, err := t.program(f, &Guard{}, seed)
	if err != nil || fate == Refused {
		return fate, err
	}
	return fate, evaluate(ctx, m, seed)
}

// evaluate evaluates a module.
func evaluate(ctx context.Context, m hlo.Module, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	var args []*hlo.Literal
	for i := range m.Entry().NumParameters() {
		s := m.Entry().Parameter(i).Shape()
		if !s.IsArray() || !s.IsStatic() {
			return nil
		}
		b := runtime.Buffer{Data: make([]byte, s.ByteSize()), Type: uint8(s.Type())}
		fill(rng, b)
		l, err := hlo.NewLiteral(s, b.Data)
		if err != nil {
			return nil // codes that the type does not have
		}
		args = append(args, l)
	}
	if _, err := eval.Module(ctx, m, args, eval.Options{MaxBytes: maxBytes, MaxSteps: 1 << 14}); broken(err) {
		return err
	}
	return nil
}

// size is the bytes of all arrays of a module together.
func size(m hlo.Module) (n int64) {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			for _, leaf := range in.Shape().Leaves {
				n += min(leaf.ByteSize(), maxBytes+1)
				if n > maxBytes {
					break
				}
			}
		}
	}
	return n
}
