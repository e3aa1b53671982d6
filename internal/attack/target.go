//go:build unix

package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

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

// Target runs mutants. It is for one goroutine.
type Target struct {
	reg *runtime.Registry
	cpu *pass.Pipeline
}

// NewTarget makes a target.
func NewTarget() (*Target, error) {
	t := &Target{reg: runtime.NewRegistry()}
	kernels.Register(t.reg)
	var err error
	t.cpu, err = passes.Parse("cpu")
	return t, err
}

// finding makes an error of what must not happen: a panic on the way, or an error that tells of one.
func finding(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// broken reports whether an error tells of a panic that was caught.
func broken(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "runtime error"))
}

// File decodes, loads and runs a BEF file, with guards around every buffer.
func (t *Target) File(data []byte, seed uint64) (fate Fate, err error) {
	defer finding(&err)
	f, err := bef.Decode(data, bef.DecodeOptions{})
	if err != nil {
		return Refused, nil
	}
	return t.program(f, seed)
}

func (t *Target) program(f *bef.File, seed uint64) (Fate, error) {
	guard := &Guard{}
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
	defer finding(&err)
	m, err := proto.Decode(data)
	if err != nil {
		return Refused, nil
	}
	return t.module(m, seed)
}

// Text reads a text; one that verifies is run.
func (t *Target) Text(text string, seed uint64) (fate Fate, err error) {
	defer finding(&err)
	m, err := parser.Parse("mutant", text)
	if err != nil {
		return Refused, nil
	}
	return t.module(m, seed)
}

// module verifies, lowers and runs a module, and evaluates it: the engines must agree about whether it can be computed.
func (t *Target) module(m hlo.Module, seed uint64) (Fate, error) {
	if verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err() != nil || size(m) > maxBytes {
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
	fate, err := t.program(f, seed)
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
