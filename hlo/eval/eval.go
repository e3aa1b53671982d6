// Package eval says what every op means, on literals: the reference that fast kernels are held to, the engine behind constant folding, and
// the fallback of the runtime for ops without a fast kernel.
//
//	result, err := eval.Module(ctx, m, []*hlo.Literal{x, y}, eval.Options{})
//
// Each opcode has one [Kernel] in a table, a pure function from literals to a literal; family files bear the names of the families of
// the op table. Floating-point numbers up to 32 bits are computed in float64 and rounded once to the element type, which for the
// basic operations is what computing in the type itself gives; f64 is computed natively, integers in 64 bits and cut to their width,
// complex numbers in complex128. Sums and products that a reduction, a dot or a convolution forms stay wide until the end.
//
//	file                  what
//	eval.go plan.go       evaluating modules, computations, instructions; the order of evaluation; errors
//	values.go lanes.go    literals to numbers and back; runs of numbers
//	program.go apply.go   elementwise code and computations on scalars, compiled to run on many elements at once
//	elementwise.go …ops.go compare.go convert.go   what the elementwise ops compute, with arcs.go for accuracy
//	data.go strided.go    moving elements
//	indexing.go scatter.go   moving elements by computed places
//	contraction.go gemm.go convolution.go ragged.go   sums of products
//	reduction.go window.go sort.go scan.go   ops that apply a computation
//	linalg.go batchnorm.go fft.go random.go   the numerical families
//	control.go async.go collective.go communication.go   calls, loops, asynchrony, what devices and the host do together
//	device.go   a goroutine for each device; they meet in package runtime/devices
//	custom.go lapack….go   custom-calls; what LAPACK factors and decomposes is in factor.go, reduced.go, eigen….go and schur….go
//
// Layouts do not matter, but for bitcast: literals are row-major. A value with dynamic dimensions is a literal of its actual size.
// Asynchronous instructions are computed where they are waited for. Evaluation is deterministic and runs on the calling goroutine.
package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/budget"
	"github.com/gohalo/halo/internal/stack"
	"github.com/gohalo/halo/runtime/devices"
)

// Kernel is the meaning of an op.
type Kernel func(*Call) (*hlo.Literal, error)

// kernels is indexed by opcode and filled family by family in init.
var kernels [hlo.NumOpcodes]Kernel

// register adds a family's kernels to the table.
func register(family map[hlo.Opcode]Kernel) {
	for op, k := range family {
		if kernels[op] != nil {
			panic("eval: two kernels for " + op.String())
		}
		kernels[op] = k
	}
}

// Has reports whether op has a meaning here.
func Has(op hlo.Opcode) bool { return int(op) < len(kernels) && kernels[op] != nil }

// Options of an evaluation. The zero value is a single device without a host.
type Options struct {
	// Trace, if set, sees every value as it is computed, also those inside loops and calls.
	Trace func(in hlo.Instruction, value *hlo.Literal)
	// Replica and Partition number the device that is evaluated. They do not matter to [Devices].
	Replica, Partition int
	// MaxSteps bounds the number of computations and instructions that are evaluated, those in loops each time; 0 is no bound.
	// MaxBytes bounds the size of each array; 0 is 8 GB.
	MaxSteps, MaxBytes int64
	// Seed makes the numbers of rng.
	Seed uint64
	// Host answers infeed, outfeed, send and recv; without one they fail.
	Host Host
	// Transport carries what devices bring to those of other processes; without one, [Devices] evaluates all in this process.
	Transport devices.Transport
	// CustomCalls adds or replaces meanings of custom-calls, by target.
	CustomCalls map[string]Kernel
}

// ErrBudget is the error of an evaluation that exceeds MaxSteps or MaxBytes.
var ErrBudget = errors.New("evaluation exceeds its budget")

// errElided is the error of using a constant whose text was left out.
var errElided = errors.New("the constant's value was left out of the text ({...})")

// Error says which instruction could not be evaluated.
type Error struct {
	Instruction string
	Opcode      hlo.Opcode
	Position    hlo.Position
	File        string
	Err         error
}

func (e *Error) Error() string {
	at := ""
	if e.Position.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d: ", e.File, e.Position.Line, e.Position.Col)
	}
	return fmt.Sprintf("%serror: evaluating %v %s: %v", at, e.Opcode, e.Instruction, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Module evaluates the entry computation on one literal for each parameter (a tuple literal for a tuple).
func Module(ctx context.Context, m hlo.Module, args []*hlo.Literal, o Options) (*hlo.Literal, error) {
	return Computation(ctx, m, m.Entry(), args, o)
}

// Computation evaluates a computation of m on one literal for each parameter. Literals may be smaller than a parameter in its dynamic
// dimensions.
func Computation(ctx context.Context, m hlo.Module, c hlo.Computation, args []*hlo.Literal, o Options) (*hlo.Literal, error) {
	if err := checkArguments(c, args); err != nil {
		return nil, err
	}
	return newEvaluator(ctx, m, o).run(c, args)
}

func checkArguments(c hlo.Computation, args []*hlo.Literal) error {
	if len(args) != c.NumParameters() {
		return fmt.Errorf("computation %s: arguments: want %d, got %d", c.Name(), c.NumParameters(), len(args))
	}
	for i, a := range args {
		if want := c.Parameter(i).Shape(); !a.Shape().Compatible(want) && !want.Accepts(a.Shape()) {
			return fmt.Errorf("argument %d of %s has shape %v, want %v", i, c.Name(), a.Shape(), want)
		}
	}
	return nil
}

// Instruction evaluates one instruction of m on the values of its operands.
func Instruction(ctx context.Context, m hlo.Module, in hlo.Instruction, operands []*hlo.Literal) (*hlo.Literal, error) {
	return newEvaluator(ctx, m, Options{}).instruction(&step{in: in}, operands)
}

// Prepared is an instruction to be evaluated many times: what depends on the instruction alone is computed once. It
// keeps the states of random numbers, so that each evaluation draws others. It is safe for concurrent use.
type Prepared struct {
	m    hlo.Module
	in   hlo.Instruction
	idle sync.Pool // of *preparedState
	rng  RngStates
}

type preparedState struct {
	e *evaluator
	s step
}

// Prepare readies an instruction of m.
func Prepare(m hlo.Module, in hlo.Instruction) *Prepared { return &Prepared{m: m, in: in} }

// On is the device that an instruction is evaluated on, the mesh that the device is in, and the host. Without a mesh the device is alone,
// without a host it talks to none.
type On struct {
	Device Device
	Mesh   *devices.Mesh
	Host   Host
}

// Eval evaluates the instruction on the values of its operands. Ops that wait for other devices block.
func (p *Prepared) Eval(ctx context.Context, on On, operands []*hlo.Literal) (*hlo.Literal, error) {
	st := p.state(ctx, on)
	v, err := st.e.instruction(&st.s, operands)
	p.put(st)
	return v, err
}

// state is an evaluator for one caller.
func (p *Prepared) state(ctx context.Context, on On) *preparedState {
	st, _ := p.idle.Get().(*preparedState)
	if st == nil {
		st = &preparedState{e: newEvaluator(ctx, p.m, Options{}), s: step{in: p.in}}
		st.e.rng = &p.rng
	}
	st.e.ctx, st.e.mesh, st.e.o.Host = ctx, on.Mesh, on.Host
	st.e.o.Replica, st.e.o.Partition = on.Device.Replica, on.Device.Partition
	return st
}

func (p *Prepared) put(st *preparedState) {
	st.e.ctx, st.e.mesh, st.e.o.Host = nil, nil, nil
	clear(st.e.chains)
	p.idle.Put(st)
}

// evaluator is the state of one evaluation on one device. Its maps are made when they are first written.
type evaluator struct {
	ctx     context.Context
	m       hlo.Module
	o       Options
	mesh    *devices.Mesh // the devices that run together; nil for one alone
	steps   int64
	depth   int
	purity  map[hlo.CompID]bool
	plans   map[hlo.CompID]*plan
	applied map[hlo.CompID]*program // computations compiled to be applied to elements
	chains  map[*hlo.Literal]*chain // asynchronous values under way
	rng     *RngStates
}

func newEvaluator(ctx context.Context, m hlo.Module, o Options) *evaluator {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 8 << 30
	}
	return &evaluator{ctx: ctx, m: m, o: o, rng: new(RngStates)}
}

// instruction evaluates one instruction. A parameter's operand is its argument.
func (e *evaluator) instruction(s *step, operands []*hlo.Literal) (v *hlo.Literal, err error) {
	in := s.in
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the evaluation of %v has a bug: %w", in.Opcode(), stack.Caught(p))
		}
		if err != nil {
			err = e.located(in, err)
		}
	}()
	if err := e.step(); err != nil {
		return nil, err
	}
	k := kernels[in.Opcode()]
	if k == nil {
		return nil, fmt.Errorf("it has no evaluation")
	}
	s.call = Call{In: in, Args: operands, e: e, s: s}
	if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitForwards) {
		if err := s.call.affordable(in.Shape()); err != nil {
			return nil, err
		}
		if in.Shape().IsArray() && in.Shape().IsStatic() && in.Shape().NumElements() == 0 && e.hasOnlyValue(in) {
			return hlo.NewLiteral(in.Shape(), nil) // its other dimensions may be too large to walk
		}
	}
	if v, err = k(&s.call); err == nil && e.o.Trace != nil {
		e.o.Trace(in, v)
	}
	return v, err
}

// located adds the place to an error that has none.
func (e *evaluator) located(in hlo.Instruction, err error) error {
	if _, inner := err.(*Error); inner || e.ctx != nil && e.ctx.Err() != nil && errors.Is(err, e.ctx.Err()) {
		return err
	}
	return &Error{Instruction: in.Name(), Opcode: in.Opcode(), Position: in.Position(), File: e.m.Config().FileName, Err: err}
}

// Call is one evaluation of an instruction. Neither it nor Args may be kept beyond it.
type Call struct {
	In   hlo.Instruction
	Args []*hlo.Literal
	e    *evaluator
	s    *step
	// result is the shape of the result proper of a start, invalid elsewhere.
	result hlo.Shape
}

// run evaluates callee i of the instruction.
func (c *Call) run(i int, args ...*hlo.Literal) (*hlo.Literal, error) {
	callee, ok := c.e.m.Computation(c.In.Callee(i))
	if !ok {
		return nil, fmt.Errorf("callee %d does not exist", i)
	}
	return c.e.run(callee, args)
}

// memo is what a kernel computes from the instruction alone, kept for the next evaluation of the same instruction.
func memo[T any](c *Call, compute func() (T, error)) (T, error) {
	if v, ok := c.s.memo.(T); ok {
		return v, nil
	}
	v, err := compute()
	if err == nil {
		c.s.memo = v
	}
	return v, err
}

// shape is the shape of the result: the instruction's, or what inference makes of the operands when dimensions are dynamic.
func (c *Call) shape() (hlo.Shape, error) {
	s := c.In.Shape()
	if !s.IsStatic() {
		var err error
		if s, err = c.sized(); err != nil {
			return s, err
		}
	}
	return s, c.affordable(s)
}

func (c *Call) inferred() (hlo.Shape, error) { return c.inferredWith(c.In.Attrs()) }

func (c *Call) inferredWith(attrs hlo.OpAttrs) (hlo.Shape, error) {
	ctx := &hlo.ShapeContext{Op: c.In.Opcode(), Attrs: attrs}
	for _, a := range c.Args {
		ctx.Operands = append(ctx.Operands, a.Shape())
	}
	for id := range c.In.Callees() {
		ctx.Callees = append(ctx.Callees, c.e.m.MustComputation(id).Signature())
	}
	s, err := hlo.InferShape(ctx)
	if err != nil {
		return s, fmt.Errorf("with dynamic dimensions: %w", err)
	}
	if !s.IsStatic() {
		return s, fmt.Errorf("dynamic dimensions of %v are not supported here", c.In.Shape())
	}
	return s, nil
}

// keepsType checks that the result has the element type of operand 0, for ops that move elements.
func (c *Call) keepsType() error {
	if from, to := c.Args[0].Shape().Type(), c.In.Shape().Type(); from != to {
		return fmt.Errorf("elements of %v as %v", from, to)
	}
	return nil
}

// hasOnlyValue reports whether there is nothing to an instruction but its result.
func (e *evaluator) hasOnlyValue(in hlo.Instruction) bool {
	op := in.Opcode()
	return e.o.Trace == nil && op != hlo.OpParameter && op != hlo.OpConstant && op != hlo.OpCustomCall && hlo.Info(op).Traits&changing == 0 && in.NumCallees() == 0 ||
		op == hlo.OpSort
}

// affordable refuses arrays that are too large, for the options or for what memory there is.
func (c *Call) affordable(s hlo.Shape) (err error) {
	if s.IsArray() {
		return c.affordableArray(s)
	}
	for _, leaf := range s.Leaves {
		if leaf.IsArray() && leaf.IsBounded() {
			err = c.affordableArray(leaf)
		}
		if err != nil {
			break
		}
	}
	return err
}

// wideElement is the bytes that a kernel takes to compute an element of whatever type.
const wideElement = 8

func (c *Call) affordableArray(s hlo.Shape) error {
	const unnoticed = 16 << 20 // less is not worth the question
	bytes := s.ByteSize()
	if bytes > c.e.o.MaxBytes {
		return fmt.Errorf("%w: an array of shape %v", ErrBudget, s)
	}
	if bytes < unnoticed {
		return nil
	}
	if n := s.NumElements(); n <= math.MaxInt64/wideElement {
		bytes = max(bytes, wideElement*n)
	}
	if err := budget.Check("an array of shape "+s.WithoutLayout().String(), bytes); err != nil {
		return fmt.Errorf("%w: %w", ErrBudget, err)
	}
	return nil
}
