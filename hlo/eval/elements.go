package eval

import (
	"sync"

	"github.com/gohalo/halo/hlo"
)

// Elements is an elementwise instruction compiled to be applied to memory again and again, which then allocates nothing. It is safe for
// concurrent use.
type Elements struct {
	program *program
	result  hlo.PrimitiveType
	types   []hlo.PrimitiveType // of the operands
	single  []bool              // operands of one element, which is repeated
	idle    sync.Pool           // of *elementsState
}

// elementsState is registers, and room for a list of operands.
type elementsState struct {
	frame  *frame
	inputs [][]byte
}

// NewElements compiles in. It reports false for an instruction that is not elementwise, or whose operands have sizes of their own.
func NewElements(in hlo.Instruction) (*Elements, bool) {
	switch op := in.Opcode(); {
	case !hasLaneOp(op), op == hlo.OpSelect, op == hlo.OpBitcastConvert, op == hlo.OpCopy, !in.Shape().IsArray(), !in.Shape().IsStatic():
		return nil, false
	}
	e := &Elements{result: in.Shape().Type()}
	for o := range in.Operands() {
		if s := o.Shape(); !s.IsArray() || !s.IsStatic() || s.NumElements() != in.Shape().NumElements() && s.NumElements() != 1 {
			return nil, false
		}
		e.types = append(e.types, o.Shape().Type())
		e.single = append(e.single, o.Shape().NumElements() == 1)
	}
	var err error
	if e.program, err = instructionProgram(in); err != nil {
		return nil, false
	}
	e.idle.New = func() any { return &elementsState{e.program.frame(tile), make([][]byte, len(e.types))} }
	return e, true
}

// Run computes elements [lo, hi) of out; operand i is the array that arg returns.
func (e *Elements) Run(out []byte, arg func(i int) []byte, lo, hi int) {
	st := e.idle.Get().(*elementsState)
	f := st.frame
	for i, t := range e.types {
		if e.single[i] {
			f.resize(tile)
			f.param(i).splat(t, arg(i)) // all of it, since pieces of any size follow
			continue
		}
		st.inputs[i] = arg(i)
	}
	if err := f.over(e.result, out, e.types, st.inputs, lo, hi); err != nil {
		panic(err) // only computations that cannot be compiled fail
	}
	clear(st.inputs)
	e.idle.Put(st)
}
