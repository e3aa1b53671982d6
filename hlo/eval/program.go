package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// program is a computation on scalars, or a single elementwise instruction, as straight code over registers. Each register holds a
// run of elements, so the cost of a step is spread over them. A program is immutable; its registers are in a [frame].
type program struct {
	types   []hlo.PrimitiveType // of each register
	params  []int               // the register of each parameter leaf
	results []int               // the register of each result leaf
	consts  []constant
	steps   []laneStep
	// binary is the op that the program is, applied to its two parameters in order, or OpInvalid.
	binary hlo.Opcode
	// order is what the only comparison in the program asks; without direction when there is none or several.
	order hlo.CompareAttrs
	// crossed says that some result is a parameter's register, so results have to be copied before parameters are overwritten.
	crossed bool
	// slow, if set, is executed instead of the steps, for n elements.
	slow func(f *frame, n int) error
}

type constant struct {
	reg   int
	value []byte // one element
}

type laneStep struct {
	op         laneOp
	d, a, b, c int
}

// laneOp computes d from up to three operands, all of the same length.
type laneOp func(d, a, b, c *lanes)

// tile is how many elements a long run is cut into: a few registers of a tile stay in the nearest cache.
const tile = 1024

// frame is the registers of a program under execution, by one goroutine.
type frame struct {
	p    *program
	n    int
	regs []lanes
	// spare is where results wait while they are fed back.
	spare []lanes
}

// frame makes registers of n elements.
func (p *program) frame(n int) *frame {
	f := &frame{p: p, n: n, regs: make([]lanes, len(p.types))}
	for i, t := range p.types {
		f.regs[i] = makeLanes(t, n)
	}
	if n > 0 {
		for _, c := range p.consts {
			f.regs[c.reg].splat(p.types[c.reg], c.value)
		}
	}
	return f
}

// resize makes the registers n elements long, at most as many as they were made for.
func (f *frame) resize(n int) {
	f.n = n
	for i := range f.regs {
		f.regs[i] = f.regs[i].first(n)
	}
}

// param is the register of parameter leaf i; the caller fills it.
func (f *frame) param(i int) *lanes { return &f.regs[f.p.params[i]] }

// result is the register of result leaf i.
func (f *frame) result(i int) *lanes { return &f.regs[f.p.results[i]] }

// run executes the program on what is in the registers of its parameters.
func (f *frame) run() error {
	if f.p.slow != nil {
		return f.p.slow(f, f.n)
	}
	r := f.regs
	for i := range f.p.steps {
		s := &f.p.steps[i]
		s.op(&r[s.d], &r[s.a], &r[s.b], &r[s.c])
	}
	return nil
}

// programBuilder compiles instructions into a program.
type programBuilder struct {
	m hlo.Module
	p *program
	// depth bounds the inlining of calls.
	depth int
}

func (b *programBuilder) register(t hlo.PrimitiveType) int {
	b.p.types = append(b.p.types, t)
	return len(b.p.types) - 1
}

// parameters gives each array leaf of s a register.
func (b *programBuilder) parameters(s hlo.Shape) []int {
	var regs []int
	for _, leaf := range s.Leaves {
		r := b.register(leaf.Type())
		b.p.params = append(b.p.params, r)
		regs = append(regs, r)
	}
	return regs
}

// instructionProgram compiles one elementwise instruction on arrays; each operand is a parameter.
func instructionProgram(in hlo.Instruction) (*program, error) {
	b := programBuilder{p: new(program)}
	var args []int
	for o := range in.Operands() {
		args = append(args, b.parameters(o.Shape())...)
	}
	r, err := b.emit(in, args)
	if err != nil {
		return nil, err
	}
	b.p.results = []int{r}
	return b.p, nil
}

// computationProgram compiles a computation on scalars. It fails on anything but scalar elementwise ops, tuples and calls of such.
func computationProgram(m hlo.Module, c hlo.Computation) (*program, error) {
	b := programBuilder{m: m, p: new(program)}
	args := make([][]int, c.NumParameters())
	for i := range args {
		args[i] = b.parameters(c.Parameter(i).Shape())
	}
	results, err := b.computation(c, args)
	if err != nil {
		return nil, err
	}
	b.p.results = results
	for _, r := range results {
		b.p.crossed = b.p.crossed || slices.Contains(b.p.params, r)
	}
	root := c.Root()
	if root.Opcode() == hlo.OpTuple && root.NumOperands() == 1 {
		root = root.OperandInstr(0)
	}
	if root.NumOperands() == 2 && len(b.p.params) == 2 && len(b.p.steps) == 1 && root.Shape().IsArray() {
		if s := b.p.steps[0]; s.a == b.p.params[0] && s.b == b.p.params[1] {
			b.p.binary = root.Opcode()
		}
	}
	return b.p, nil
}

// computation emits the code of c and returns the registers of the leaves of its root.
func (b *programBuilder) computation(c hlo.Computation, args [][]int) ([]int, error) {
	if b.depth++; b.depth > 64 || len(b.p.steps) > 1<<16 {
		return nil, fmt.Errorf("calls nest too deep")
	}
	defer func() { b.depth-- }()
	values := make(map[hlo.InstrID][]int, c.NumInstructions())
	for in := range c.PostOrder() {
		var operands [][]int
		for id := range in.OperandIDs() {
			operands = append(operands, values[id])
		}
		v, err := b.instruction(in, operands, args)
		if err != nil {
			return nil, err
		}
		values[in.ID()] = v
	}
	return values[c.Root().ID()], nil
}

func (b *programBuilder) instruction(in hlo.Instruction, operands, args [][]int) ([]int, error) {
	switch op := in.Opcode(); op {
	case hlo.OpParameter:
		n, _ := in.ParameterNumber()
		if n >= int64(len(args)) {
			return nil, fmt.Errorf("parameter %d of %d", n, len(args))
		}
		return args[n], nil
	case hlo.OpTuple:
		var all []int
		for _, o := range operands {
			all = append(all, o...)
		}
		return all, nil
	case hlo.OpGetTupleElement:
		return tupleLeaves(in, operands[0])
	case hlo.OpCall, hlo.OpFusion:
		c, ok := b.m.Computation(in.Callee(0))
		if !ok {
			return nil, fmt.Errorf("no computation to call")
		}
		return b.computation(c, operands)
	}
	if !in.Shape().IsScalar() {
		return nil, fmt.Errorf("%v of shape %v", in.Opcode(), in.Shape())
	}
	switch in.Opcode() {
	case hlo.OpConstant:
		l := in.Literal()
		if l.IsElided() {
			return nil, errElided
		}
		r := b.register(in.Shape().Type())
		b.p.consts = append(b.p.consts, constant{r, bytesOf(l)})
		return []int{r}, nil
	case hlo.OpReshape, hlo.OpBitcast, hlo.OpBroadcast, hlo.OpTranspose, hlo.OpReverse, hlo.OpOptBarrier, hlo.OpDomain:
		return operands[0], nil // of scalars, so the identity
	}
	flat := make([]int, len(operands))
	for i, o := range operands {
		if len(o) != 1 {
			return nil, fmt.Errorf("%v of a tuple", in.Opcode())
		}
		flat[i] = o[0]
	}
	r, err := b.emit(in, flat)
	return []int{r}, err
}

// tupleLeaves picks the registers of the leaves of one element.
func tupleLeaves(in hlo.Instruction, leaves []int) ([]int, error) {
	s, k := in.OperandInstr(0).Shape(), hlo.AttrsOf[hlo.TupleElementAttrs](in).Index
	if !s.IsTuple() || k < 0 || k >= int64(s.NumElems()) {
		return nil, fmt.Errorf("element %d of %v", k, s)
	}
	at := 0
	for i := range int(k) {
		at += s.Elem(i).NumLeaves()
	}
	return leaves[at : at+s.Elem(int(k)).NumLeaves()], nil
}

// emit appends the step of an elementwise instruction.
func (b *programBuilder) emit(in hlo.Instruction, args []int) (int, error) {
	types := make([]hlo.PrimitiveType, len(args))
	for i, a := range args {
		types[i] = b.p.types[a]
	}
	op, err := laneOpOf(in, types)
	if err != nil {
		return 0, err
	}
	s := laneStep{op: op, d: b.register(in.Shape().Type())}
	for i, p := range []*int{&s.a, &s.b, &s.c} {
		if i < len(args) {
			*p = args[i]
		}
	}
	b.p.steps = append(b.p.steps, s)
	if in.Opcode() == hlo.OpCompare {
		b.p.order = hlo.AttrsOf[hlo.CompareAttrs](in)
	}
	return s.d, nil
}
