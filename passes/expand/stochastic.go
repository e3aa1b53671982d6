package expand

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// StochasticConvert compares the fraction with the random bits.
var StochasticConvert = &pass.Pass{
	Name: "stochastic-convert-decomposer",
	Doc: `write stochastic-convert as truncation, and a step away from zero where the random number is below the fraction

The random numbers have as many bits as the operand, and are unsigned. Beyond its range, the result is the nearest number that it has; of NaN it is 0, as that of a conversion.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for _, in := range backward(m.MustComputation(c.ID())) {
			if in.Opcode() != hlo.OpStochasticConvert {
				continue
			}
			x, random := in.OperandInstr(0).Shape(), in.OperandInstr(1).Shape()
			switch {
			case !random.Type().IsUnsigned():
				return fmt.Errorf("%v: %s: random numbers of type %v: want an unsigned integer", in.Position(), in.Name(), random.Type())
			case random.Type().Bits() != x.Type().Bits():
				return fmt.Errorf("%v: %s: random numbers of type %v for values of type %v: want as many bits", in.Position(), in.Name(), random.Type(), x.Type())
			}
			if !x.IsStatic() || !in.Shape().Type().IsSigned() || !x.Type().IsFloat() || !ctx.Spend("convert") {
				continue
			}
			if err := emit.Replace(c, in.ID(), stochastic(emit.Before(c, in), in)); err != nil {
				return err
			}
			ctx.Count("expanded", 1)
		}
		return nil
	},
}

func stochastic(at emit.At, in hlo.Instruction) hlo.InstrID {
	x, random := in.Operand(0), in.Operand(1)
	from, to, unsigned := at.Shape(x).Type(), in.Shape().Type(), at.Shape(random).Type()
	dims := in.Shape().Dimensions()
	fill := func(l *hlo.Literal) hlo.InstrID { return at.Fill(at.Constant(l), dims...) }
	size := at.Unary(hlo.OpAbs, x)
	whole := at.Unary(hlo.OpFloor, size)
	// The fraction, as a number of the type of the random ones: below 1 it is below 2^bits, and exact in the wider type.
	wide := from
	if from.Bits() < 32 {
		wide = hlo.F32
	}
	scale := fill(emit.Real(wide, float64(uint64(1)<<(unsigned.Bits()-1))*2))
	fraction := at.Convert(at.Binary(hlo.OpMultiply, at.Convert(at.Binary(hlo.OpSubtract, size, whole), wide), scale), unsigned)
	value := at.Convert(whole, to)
	value = at.Select(at.Compare(hlo.LT, random, fraction), at.Binary(hlo.OpAdd, value, fill(emit.Number(to, 1))), value)
	value = at.Select(at.Compare(hlo.LT, x, fill(emit.Real(from, 0))), at.Unary(hlo.OpNegate, value), value)
	high, low := emit.Highest(to), emit.Lowest(to)
	top, _ := high.ScalarInt()
	bottom, _ := low.ScalarInt()
	value = at.Select(at.Compare(hlo.LE, x, fill(emit.Real(from, float64(bottom)))), fill(low), value)
	return at.Select(at.Compare(hlo.GE, x, fill(emit.Real(from, float64(top)))), fill(high), value)
}
