package expand

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// ConvolutionPred computes convolutions of predicates with numbers.
var ConvolutionPred = expander("convolution-pred-expander", "compute convolutions of predicates in f16", func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpConvolution && in.Shape().Type() == hlo.PRED && in.OperandInstr(0).Shape().Type() == hlo.PRED && in.OperandInstr(1).Shape().Type() == hlo.PRED
}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	spec := emit.With(emit.Again(in), at.Convert(in.Operand(0), hlo.F16), at.Convert(in.Operand(1), hlo.F16))
	spec.Shape, spec.Name = in.Shape().WithType(hlo.F16), ""
	return at.Convert(at.Spec(spec), hlo.PRED)
})

// Logistic writes logistic as a quotient.
var Logistic = expander("logistic-expander", "write logistic(x) as 1 / (1 + exp(-x))", func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpLogistic && in.Shape().IsStatic() && in.Shape().Type().IsFloat()
}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	one := at.Fill(at.Float(in.Shape().Type(), 1), in.Shape().Dimensions()...)
	return at.Binary(hlo.OpDivide, one, at.Binary(hlo.OpAdd, one, at.Unary(hlo.OpExponential, at.Unary(hlo.OpNegate, in.Operand(0)))))
})
