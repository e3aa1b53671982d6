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
	prepared := eval.Prepare(s.m, in)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		next := 0
		operands := make([]*hlo.Literal, in.NumOperands())
		for i := range operands {
			l, err := literalOf(in.OperandInstr(i).Shape(), func() []byte { next++; return f.In(next - 1).Data })
			if err != nil {
				return err
			}
			operands[i] = l
		}
		result, err := prepared.Eval(f.Ctx().Context(), operands)
		if err != nil {
			return err
		}
		next = 0
		return storeLeaves(result, func(data []byte) error {
			out := f.Out(next)
			next++
			if len(data) != len(out.Data) {
				return fmt.Errorf("result leaf %d has %d bytes, want %d", next-1, len(data), len(out.Data))
			}
			copy(out.Data, data)
			return nil
		})
	}}
}

// literalOf makes a literal of shape over memory that leaf gives, leaf by leaf.
func literalOf(s hlo.Shape, leaf func() []byte) (*hlo.Literal, error) {
	if !s.IsTuple() {
		return hlo.NewLiteral(s, leaf())
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

func storeLeaves(l *hlo.Literal, store func([]byte) error) error {
	if !l.Shape().IsTuple() {
		return store(l.Bytes())
	}
	for i := range l.NumParts() {
		if err := storeLeaves(l.Part(i), store); err != nil {
			return err
		}
	}
	return nil
}
