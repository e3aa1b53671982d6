// Package shadow runs two versions of a module on the same inputs and compares what they compute: the test that a pass kept the meaning
// of a program, applied beside the pass.
//
//	err := shadow.Compare(ctx, before, after, shadow.Config{})
//	var d *shadow.Difference // the versions disagree
//	errors.Is(err, shadow.ErrSkipped) // the first version cannot be evaluated here: nothing was learnt
//
// Inputs are made by the rules of halo run --fill, a different one for each round, and one round has the values that break wrong algebra:
// zeros of both signs, infinities, NaN, the smallest and the largest numbers. Dynamic dimensions of parameters are smaller than their bounds where
// the first version takes that, and each round has other sizes; dimensions of one bound have one size. Both versions run
// on the reference evaluator. Programs that communicate with a host, draw random numbers of the device's choice, or are too large for
// the budget are skipped.
package shadow

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
)

// ErrSkipped says that the module before the pass could not be evaluated, so that nothing was compared.
var ErrSkipped = errors.New("not compared")

// Config says how to compare. The zero value runs two rounds and wants the same bits, any NaN for any NaN.
type Config struct {
	Rounds int // sets of inputs; 0 is 2
	// RTol and ATol are the tolerances of floating-point results. Both zero ask for the same bits.
	RTol, ATol float64
	// Class is the worst class of the rewrites in between: what they may change is no difference. The zero value asks for the same bits.
	Class pass.FP
	// MaxSteps and MaxBytes bound each evaluation; 0 is two million instructions and 64 MB for each array.
	MaxSteps, MaxBytes int64
}

// Difference is a result that two versions of a module do not agree on.
type Difference struct {
	Round  int
	Leaf   int // of the flattened result
	Detail string
}

func (d *Difference) Error() string {
	return fmt.Sprintf("the result changed: leaf %d of inputs %d: %s", d.Leaf, d.Round, d.Detail)
}

// fills are the rules of the rounds, in turn.
var fills = []arrays.FillKind{arrays.Random, Hostile, arrays.Ones, arrays.Zeros, arrays.Uniform}

// Compare evaluates both versions. The error is nil, a [*Difference], an error of the second version alone, or wraps [ErrSkipped].
func Compare(ctx context.Context, before, after hlo.Module, cfg Config) error {
	return NewReference(before, cfg).Compare(ctx, after)
}

// Reference is one version of a module with what it computes, against which others are held: it is evaluated once, when it is first needed. It
// must not be used by several goroutines at once.
type Reference struct {
	m      hlo.Module
	cfg    Config
	limits eval.Options
	rounds []round
}

// round is one set of inputs and what the reference makes of it.
type round struct {
	done   bool
	args   []*hlo.Literal
	want   *hlo.Literal
	err    error     // wraps ErrSkipped
	spread []float64 // nil until a result differs that rounding may change
}

// NewReference prepares comparisons with m.
func NewReference(m hlo.Module, cfg Config) *Reference {
	return &Reference{m: m, cfg: cfg, rounds: make([]round, orDefault(cfg.Rounds, 2)),
		limits: eval.Options{MaxSteps: orDefault(cfg.MaxSteps, 2_000_000), MaxBytes: orDefault(cfg.MaxBytes, 64<<20)}}
}

// Compare holds another version against the reference, with the errors of [Compare].
func (r *Reference) Compare(ctx context.Context, after hlo.Module) error {
	for round := range r.rounds {
		if err := r.compare(ctx, after, round); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reference) compare(ctx context.Context, after hlo.Module, n int) error {
	in := &r.rounds[n]
	if !in.done {
		in.done = true
		err := comparable(r.m)
		if err != nil {
			in.err = fmt.Errorf("%w: %w", ErrSkipped, err)
			return in.err
		}
		for _, size := range []func(int64) int64{smaller(n), atBound} {
			if in.args, err = inputs(r.m, r.fill(n), uint64(n), size); err == nil {
				in.want, err = eval.Module(ctx, r.m, in.args, r.limits)
			}
			if err == nil || !hasBounds(r.m.Entry()) {
				break
			}
		}
		if err != nil {
			in.err = fmt.Errorf("%w: %w", ErrSkipped, err)
		}
	}
	if in.err != nil {
		return in.err
	}
	got, err := eval.Module(ctx, after, in.args, r.limits)
	if err != nil {
		return fmt.Errorf("the module no longer evaluates: %w", err)
	}
	d := differ(got, in.want, r.cfg, nil)
	if d != nil && r.cfg.Class >= pass.Rounding {
		d = differ(got, in.want, r.cfg, r.spread(ctx, n))
	}
	if d != nil {
		d.Round = n
		return d
	}
	return nil
}

// comparable fails on modules whose values are the device's choice: what a rewrite makes of them may draw other numbers.
func comparable(m hlo.Module) error {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpRng {
				return fmt.Errorf("%s draws random numbers of the device's choice", in.Name())
			}
		}
	}
	return nil
}

// fill is the rule of a round. Where infinities and NaN may become something else, or the other way round, hostile values tell nothing.
func (r *Reference) fill(n int) arrays.FillKind {
	kinds := fills
	if r.cfg.Class >= pass.Overflow {
		kinds = []arrays.FillKind{arrays.Random, arrays.Uniform, arrays.Ones}
	}
	return kinds[n%len(kinds)]
}

func orDefault[T int | int64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// Inputs makes one literal for each parameter of the entry computation. Leaves larger than 64 MB are refused. Dynamic dimensions have sizes that
// depend on the seed.
func Inputs(m hlo.Module, fill arrays.FillKind, seed uint64) ([]*hlo.Literal, error) {
	return inputs(m, fill, seed, smaller(int(seed%sizeRounds)))
}

func inputs(m hlo.Module, fill arrays.FillKind, seed uint64, size func(bound int64) int64) ([]*hlo.Literal, error) {
	entry, leaf := m.Entry(), 0
	args := make([]*hlo.Literal, entry.NumParameters())
	for i := range args {
		var err error
		if args[i], err = input(entry.Parameter(i).Shape().Map(func(s hlo.Shape) hlo.Shape { return withSizes(s, size) }), fill, seed, &leaf); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// sizeRounds is the number of rounds after which sizes of dynamic dimensions begin again.
const sizeRounds = 4

// smaller is the size of dynamic dimensions in a round, by their bound.
func smaller(round int) func(int64) int64 {
	return func(bound int64) int64 {
		switch round % sizeRounds {
		case 0:
			return max(0, bound-1)
		case 1:
			return (bound + 1) / 2
		case 2:
			return bound
		}
		return min(1, bound)
	}
}

func atBound(bound int64) int64 { return bound }

// withSizes is the static shape of an array whose dynamic dimensions are as large as size says.
func withSizes(s hlo.Shape, size func(int64) int64) hlo.Shape {
	if s.IsStatic() || !s.IsBounded() {
		return s
	}
	dims := s.Dimensions()
	for i := range dims {
		if s.IsDynamicDimension(i) {
			dims[i] = size(dims[i])
		}
	}
	return hlo.MakeShape(s.Type(), dims...)
}

// hasBounds reports whether a parameter has a dynamic dimension.
func hasBounds(c hlo.Computation) bool {
	for i := range c.NumParameters() {
		if !c.Parameter(i).Shape().IsStatic() {
			return true
		}
	}
	return false
}

func input(s hlo.Shape, fill arrays.FillKind, seed uint64, leaf *int) (*hlo.Literal, error) {
	if s.IsTuple() {
		parts := make([]*hlo.Literal, s.NumElems())
		for i := range parts {
			var err error
			if parts[i], err = input(s.Elem(i), fill, seed, leaf); err != nil {
				return nil, err
			}
		}
		return hlo.NewTupleLiteral(parts...), nil
	}
	if s.IsArray() && s.ByteSize() > 64<<20 {
		return nil, fmt.Errorf("a parameter of shape %v is too large", s)
	}
	*leaf++
	if fill == Hostile {
		if l := hostile(s, *leaf); l != nil {
			return l, nil
		}
		fill = arrays.Random
	}
	return arrays.Fill(fill, seed, *leaf-1, s)
}

// differ compares; spread, which may be nil, is how far roundings move each leaf.
func differ(got, want *hlo.Literal, cfg Config, spread []float64) *Difference {
	g, w := got.Leaves(), want.Leaves()
	if len(g) != len(w) {
		return &Difference{Detail: fmt.Sprintf("%d leaves, want %d", len(g), len(w))}
	}
	for i := range g {
		a, b := g[i].Shape(), w[i].Shape()
		switch {
		case !a.Compatible(b):
			return &Difference{Leaf: i, Detail: fmt.Sprintf("shape %v, want %v", a, b)}
		case !a.IsArray() || string(g[i].Bytes()) == string(w[i].Bytes()):
			continue
		case spread != nil && math.IsInf(spread[i], 1):
			continue
		case spread != nil && spread[i] > 0 && arrays.Compare(g[i], w[i], 0, slack*spread[i]).Bad == 0:
			continue
		case !a.Type().IsFloat() && !a.Type().IsComplex():
			return &Difference{Leaf: i, Detail: arrays.Compare(g[i], w[i], 0, 0).String()}
		}
		rtol, atol := cfg.tolerance(w[i])
		d := arrays.Compare(g[i], w[i], rtol, atol)
		if d.Bad > 0 {
			return &Difference{Leaf: i, Detail: d.String()}
		}
		if rtol == 0 && atol == 0 && cfg.Class < pass.ZeroSign {
			if at := zeroSign(g[i], w[i]); at >= 0 {
				return &Difference{Leaf: i, Detail: fmt.Sprintf("element %d is a zero of the other sign", at)}
			}
		}
	}
	return nil
}

// zeroSign returns the first element at which two equal arrays differ in bits that are not those of a NaN, -1 if there is none.
func zeroSign(got, want *hlo.Literal) int {
	g, w, size := got.Bytes(), want.Bytes(), got.Shape().Type().ByteSize()
	if size == 0 || got.Shape().Type().IsComplex() {
		return -1
	}
	for i := 0; i < len(g); i += size {
		if string(g[i:i+size]) != string(w[i:i+size]) && onlySign(g[i:i+size], w[i:i+size]) && isZero(g[i:i+size]) {
			return i / size
		}
	}
	return -1
}

// onlySign reports whether two little-endian floats differ in the top bit alone.
func onlySign(a, b []byte) bool {
	last := len(a) - 1
	return string(a[:last]) == string(b[:last]) && a[last]^b[last] == 0x80
}

func isZero(a []byte) bool {
	for _, x := range a[:len(a)-1] {
		if x != 0 {
			return false
		}
	}
	return a[len(a)-1]&0x7f == 0
}
