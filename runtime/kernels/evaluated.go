package kernels

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
)

// evaluated runs an op through the reference evaluator: right for every op and type, without regard to speed. Unlike other kernels it
// allocates what it computes, and copies it to the outputs.
func evaluated(s *site) runtime.Bound {
	in := s.in
	if bound, ok := evaluatedElements(s); ok {
		return bound
	}
	prepared := eval.Prepare(s.m, in)
	return runtime.Bound{Evaluated: true, Run: func(f *runtime.TensorFrame) error {
		operands, err := operandLiterals(in, f)
		if err != nil {
			return err
		}
		result, err := prepared.Eval(f.Ctx().Context(), deviceOf(f), operands)
		if err != nil {
			return err
		}
		return storeResult(result, in.Shape(), f)
	}}
}

// evaluatedElements runs an elementwise op with the evaluator's loops, in parallel, and into the output.
func evaluatedElements(s *site) (runtime.Bound, bool) {
	if !hasFixedSizes(s.in) {
		return runtime.Bound{}, false
	}
	e, ok := eval.NewElements(s.in)
	if !ok {
		return runtime.Bound{}, false
	}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		e.Run(f.Out(0).Data, func(i int) []byte { return f.In(i).Data }, lo, hi)
	})
	bound := loop.bound(int(s.in.Shape().NumElements()), 1<<10)
	bound.Evaluated = true
	return bound, true
}

// operandLiterals is the operands of in, over the memory of the frame.
func operandLiterals(in hlo.Instruction, f *runtime.TensorFrame) ([]*hlo.Literal, error) {
	next := 0
	operands := make([]*hlo.Literal, in.NumOperands())
	for i := range operands {
		l, err := literalOf(in.OperandInstr(i).Shape(), func() []byte { next++; return f.In(next - 1).Data })
		if err != nil {
			return nil, err
		}
		operands[i] = l
	}
	return operands, nil
}

// storeResult copies a result, which is a value of shape s, to the outputs of the frame.
func storeResult(result *hlo.Literal, s hlo.Shape, f *runtime.TensorFrame) error {
	next := 0
	return storeLeaves(result, s, func(data []byte) error {
		out := f.Out(next)
		next++
		if len(data) != len(out.Data) {
			return fmt.Errorf("result leaf %d has %d bytes, want %d", next-1, len(data), len(out.Data))
		}
		copy(out.Data, data)
		return nil
	})
}

// literalOf makes a literal of shape over memory that leaf gives, leaf by leaf.
func literalOf(s hlo.Shape, leaf func() []byte) (*hlo.Literal, error) {
	if !s.IsTuple() {
		return hlo.LiteralOfBuffer(s, leaf())
	}
	parts := make([]*hlo.Literal, s.NumElems())
	for i := range parts {
		var err error
		if parts[i], err = literalOf(s.Elem(i), leaf); err != nil {
			return nil, err
		}
	}
	return hlo.NewTupleLiteral(parts...), nil
}

func storeLeaves(l *hlo.Literal, s hlo.Shape, store func([]byte) error) error {
	if !l.Shape().IsTuple() {
		data, err := l.Buffer(s)
		if err != nil {
			return err
		}
		return store(data)
	}
	for i := range l.NumParts() {
		if err := storeLeaves(l.Part(i), s.Elem(i), store); err != nil {
			return err
		}
	}
	return nil
}
