package lower

import (
	"context"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// rule lowers an instruction that is more, or less, than one kernel over its operands' leaves.
type rule func(context.Context, *function, hlo.Instruction) error

// rules is indexed by opcode; nil stands for the default, one tensor kernel.
var rules [hlo.NumOpcodes]rule

func init() {
	for op, r := range map[hlo.Opcode]rule{
		hlo.OpParameter:       func(context.Context, *function, hlo.Instruction) error { return nil }, // an argument already
		hlo.OpTuple:           forward,
		hlo.OpOptBarrier:      forward,
		hlo.OpDomain:          forward,
		hlo.OpAddDependency:   forward,
		hlo.OpGetTupleElement: tupleElement,
		hlo.OpConstant:        constant,
		hlo.OpCall:            call,
		hlo.OpWhile:           while,
		hlo.OpConditional:     conditional,
		hlo.OpAsyncStart:      asyncStart,
		hlo.OpAsyncUpdate:     asyncUpdate,
		hlo.OpAsyncDone:       asyncDone,
	} {
		rules[op] = r
	}
}

// forward gives the instruction the leaves of its operands; add-dependency keeps those of the first.
func forward(_ context.Context, f *function, in hlo.Instruction) error {
	n := in.NumOperands()
	if in.Opcode() == hlo.OpAddDependency {
		n = 1
	}
	if whole, ok := hlo.TupledAgain(in); ok && f.isAsync(whole) {
		f.leaves.Set(in.ID(), f.leaves.Get(whole.ID()))
		return nil
	}
	f.leaves.Set(in.ID(), f.operandLeaves(in, 0, n))
	return nil
}

func tupleElement(_ context.Context, f *function, in hlo.Instruction) error {
	tuple := in.OperandInstr(0)
	index := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
	if isState(f.form(tuple), tuple.Shape()) {
		return f.statePart(in, tuple, index)
	}
	first := f.firstLeaves(tuple)[index]
	f.leaves.Set(in.ID(), f.leaves.Get(tuple.ID())[first:][:f.form(in).NumLeaves()])
	return nil
}

// statePart is an element of an asynchronous value: the operands that are bound, or zeros. Elements that only become the same value again need not be there.
func (f *function) statePart(in, state hlo.Instruction, index int) error {
	read := in.IsRoot()
	for user := range in.Users() {
		_, again := hlo.TupledAgain(user)
		read = read || !again
	}
	switch {
	case !read:
	case !f.l.states:
		return errStates
	case index == 0:
		f.leaves.Set(in.ID(), f.leaves.Get(state.ID())[1:])
	default:
		f.leaves.Set(in.ID(), f.zeros(in.Shape(), in))
	}
	return nil
}

// firstLeaves is where the leaves of each element of a tuple begin. Tuples are taken apart element by element, and have thousands.
func (f *function) firstLeaves(tuple hlo.Instruction) []int {
	if at, ok := f.elements[tuple.ID()]; ok {
		return at
	}
	form := f.form(tuple)
	at, n := make([]int, form.NumElems()), 0
	for i := range at {
		at[i] = n
		n += form.Elem(i).NumLeaves()
	}
	f.elements[tuple.ID()] = at
	return at
}

// constant makes a register that lives in the constants section.
func constant(_ context.Context, f *function, in hlo.Instruction) error {
	lit := hlo.AttrsOf[hlo.ConstantAttrs](in).Literal
	if lit == nil {
		return f.errorf(in, "it has no value")
	}
	if lit.IsElided() {
		return f.errorf(in, "the text left its value out ({...}); --elided=fill runs it with filler data")
	}
	for _, part := range lit.Leaves() {
		id := f.add(op{kernel: "hlo.constant", loc: f.location(in)}, part.Shape())
		f.values[id[0]].store = f.constStorage(part.Bytes())
		leaves := f.leaves.At(in.ID())
		*leaves = append(*leaves, id...)
	}
	return nil
}

// How says what becomes of an op: "kernel", "control", "dissolved", or "legalized" (a pass of the cpu pipeline rewrites it first).
func How(op hlo.Opcode) string {
	traits := hlo.Info(op).Traits
	switch {
	case traits.Has(hlo.TraitForwards):
		return "dissolved"
	case slices.Contains(runtime.TensorControlKernels(), "hlo."+op.String()):
		return "control"
	case traits&(hlo.TraitAsyncStart|hlo.TraitAsyncDone) != 0 && !traits.Has(hlo.TraitTokens):
		return "legalized"
	}
	return "kernel"
}
