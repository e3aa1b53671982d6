// Package eval says what every op means, on literals: the reference that fast kernels are held to, the engine behind constant folding, and
// the fallback of the runtime for ops without a fast kernel.
//
//	result, err := eval.Module(ctx, m, []*hlo.Literal{x, y}, eval.Options{})
//
// Each opcode has one [Kernel] in a table, a pure function from literals to a literal; family files bear the names of the families of
// the op table. Floating-point numbers up to 32 bits are computed in float64 and rounded once to the element type, which for the
// basic operations is what computing in the type itself gives; f64 is computed natively, integers in 64 bits and cut to their width,
// complex numbers in complex128.
//
// Layouts do not matter, but for bitcast: literals are row-major. Asynchronous instructions are computed where they are waited for.
// Evaluation is deterministic and runs on the calling goroutine.
package eval

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
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

// Options of an evaluation. The zero value is a single device.
type Options struct {
	// Trace, if set, sees every value as it is computed, also those inside loops and calls.
	Trace func(in hlo.Instruction, value *hlo.Literal)
	// Replica and Partition number the device that is evaluated.
	Replica, Partition int
}

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

// Computation evaluates a computation of m on one literal for each parameter.
func Computation(ctx context.Context, m hlo.Module, c hlo.Computation, args []*hlo.Literal, o Options) (*hlo.Literal, error) {
	if len(args) != c.NumParameters() {
		return nil, fmt.Errorf("computation %s takes %d arguments, got %d", c.Name(), c.NumParameters(), len(args))
	}
	for i, a := range args {
		if want := c.Parameter(i).Shape(); !a.Shape().Compatible(want) {
			return nil, fmt.Errorf("argument %d of %s has shape %v, want %v", i, c.Name(), a.Shape(), want)
		}
	}
	return newEvaluator(ctx, m, o).run(c, args)
}

// Instruction evaluates one instruction of m on the values of its operands.
func Instruction(ctx context.Context, m hlo.Module, in hlo.Instruction, operands []*hlo.Literal) (*hlo.Literal, error) {
	return newEvaluator(ctx, m, Options{}).instruction(in, operands)
}

// evaluator is the state of one evaluation.
type evaluator struct {
	ctx     context.Context
	m       hlo.Module
	o       Options
	plans   map[hlo.CompID]*plan
	applied map[hlo.CompID]*applied // computations compiled to be applied to elements
}

func newEvaluator(ctx context.Context, m hlo.Module, o Options) *evaluator {
	return &evaluator{ctx: ctx, m: m, o: o, plans: make(map[hlo.CompID]*plan), applied: make(map[hlo.CompID]*applied)}
}

// plan is the order in which a computation is evaluated, and after which step each value is not needed any more.
type plan struct {
	order []hlo.Instruction
	free  [][]hlo.InstrID // free[i]: values last used by order[i]
	limit hlo.InstrID
}

func (e *evaluator) plan(c hlo.Computation) *plan {
	if p := e.plans[c.ID()]; p != nil {
		return p
	}
	p := &plan{limit: c.IDLimit()}
	for in := range c.PostOrder() {
		p.order = append(p.order, in)
	}
	p.free = make([][]hlo.InstrID, len(p.order))
	seen := make([]bool, p.limit)
	seen[c.Root().ID()] = true
	for i := len(p.order) - 1; i >= 0; i-- {
		if id := p.order[i].ID(); !seen[id] { // nobody uses it
			seen[id] = true
			p.free[i] = append(p.free[i], id)
		}
		for id := range p.order[i].OperandIDs() {
			if !seen[id] {
				seen[id] = true
				p.free[i] = append(p.free[i], id)
			}
		}
	}
	e.plans[c.ID()] = p
	return p
}

// run evaluates a computation.
func (e *evaluator) run(c hlo.Computation, args []*hlo.Literal) (*hlo.Literal, error) {
	p := e.plan(c)
	values := make([]*hlo.Literal, p.limit)
	var operands []*hlo.Literal
	for i, in := range p.order {
		if err := e.ctx.Err(); err != nil {
			return nil, err
		}
		operands = operands[:0]
		if n, ok := in.ParameterNumber(); ok {
			operands = append(operands, args[n])
		}
		for id := range in.OperandIDs() {
			operands = append(operands, values[id])
		}
		v, err := e.instruction(in, operands)
		if err != nil {
			return nil, err
		}
		values[in.ID()] = v
		for _, id := range p.free[i] {
			values[id] = nil
		}
	}
	return values[c.Root().ID()], nil
}

// instruction evaluates one instruction. A parameter's operand is its argument.
func (e *evaluator) instruction(in hlo.Instruction, operands []*hlo.Literal) (*hlo.Literal, error) {
	var v *hlo.Literal
	var err error
	if k := kernels[in.Opcode()]; k == nil {
		err = fmt.Errorf("it has no evaluation")
	} else {
		v, err = k(&Call{In: in, Args: operands, e: e})
	}
	if err != nil {
		if _, inner := err.(*Error); inner || e.ctx.Err() != nil {
			return nil, err
		}
		return nil, &Error{Instruction: in.Name(), Opcode: in.Opcode(), Position: in.Position(), File: e.m.Config().FileName, Err: err}
	}
	if e.o.Trace != nil {
		e.o.Trace(in, v)
	}
	return v, nil
}

// Call is one evaluation of an instruction.
type Call struct {
	In   hlo.Instruction
	Args []*hlo.Literal
	e    *evaluator
}

// run evaluates callee i of the instruction.
func (c *Call) run(i int, args ...*hlo.Literal) (*hlo.Literal, error) {
	return c.e.run(c.e.m.MustComputation(c.In.Callee(i)), args)
}
