package stablehlo

import (
	"context"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// folded are the operations that XLA's converter computes when all their operands are known.
var folded = map[string]bool{
	"add": true, "subtract": true, "multiply": true, "divide": true, "maximum": true, "minimum": true, "remainder": true, "and": true, "or": true,
	"abs": true, "negate": true, "sqrt": true, "rsqrt": true, "exponential": true, "log": true, "sine": true, "cosine": true, "tanh": true,
	"logistic": true, "round_nearest_even": true, "sign": true, "not": true, "tan": true,
	"round_nearest_afz": true, "xor": true, "reverse": true, "compare": true, "select": true,
	"clamp": true, "convert": true, "concatenate": true, "slice": true, "transpose": true,
}

// maxFolded is the number of elements up to which values are computed, and maxJoined that of concatenations.
const (
	maxFolded = 65536
	maxJoined = 65536
)

// fold computes an operation whose operands are known.
func (s *simplifier) fold(op *mlir.Op, name string) *mlir.Op {
	if !folded[name] || len(op.Results) != 1 || len(op.Operands) == 0 {
		return op
	}
	for _, v := range op.Operands {
		d, ok := known(v)
		if !ok || v.Type.NumElements() > maxFolded && !d.Splat || d.Type.Elem.IsComplex() {
			return op
		}
	}
	if d, ok := s.evaluate(op); ok {
		return constant(op, d)
	}
	return op
}

// evaluate computes an operation on known operands, by the evaluator of HLO. Equal elements are computed once where the operation works
// on each element by itself.
func (c *converter) evaluate(op *mlir.Op) (d mlir.Dense, ok bool) {
	t := op.Results[0].Type
	if t.Kind != mlir.Tensor || !t.IsStatic() {
		return d, false
	}
	operands := make([]mlir.Dense, len(op.Operands))
	splat := true
	for i, v := range op.Operands {
		operands[i], ok = known(v)
		if !ok {
			return d, false
		}
		splat = splat && operands[i].Splat
	}
	if divisionByZero(op, operands) {
		return d, false
	}
	probe := like(op, op.Name, op.Attrs)
	values := make([]*mlir.Value, len(operands))
	each := splat && isElementwise(op)
	for i := range operands {
		if each {
			operands[i].Type = c.m.Types.WithDims(operands[i].Type, nil)
		}
		values[i] = &mlir.Value{Type: operands[i].Type}
	}
	probe.Operands = values
	if each {
		probe.Results[0].Type = c.m.Types.WithDims(t, nil)
	}
	result := c.compute(probe, operands)
	if result == nil {
		return d, false
	}
	data := result.Bytes()
	if each {
		return mlir.Dense{Type: t, Data: data, Splat: true}, true
	}
	d, msg := mlir.MakeDense(t, data)
	return d, msg == ""
}

// compute makes a module of one operation and evaluates it; nil when it cannot be.
func (c *converter) compute(op *mlir.Op, operands []mlir.Dense) (result *hlo.Literal) {
	defer func() {
		if x := recover(); x != nil {
			if _, mine := x.(failure); !mine {
				panic(x)
			}
			result = nil
		}
	}()
	one := *c
	one.e = hlo.NewModule("fold")
	b := newComp(&one, "fold")
	b.op = op
	for i, v := range op.Operands {
		if operands[i].Type.NumElements() > maxFolded {
			return nil
		}
		b.values[v] = b.scalar(c.literal(op, operands[i], c.shapeOf(op, v.Type)))
	}
	b.begin(op)
	rowOf(op.Name).emit(b, op)
	b.root = b.values[&op.Results[0]]
	one.e.SetEntry(b.finish())
	result, err := eval.Module(context.Background(), one.e.Freeze(), nil, eval.Options{})
	if err != nil {
		return nil
	}
	return result
}

// divisionByZero reports whether integers are divided by a zero, which is left for the program to do.
func divisionByZero(op *mlir.Op, operands []mlir.Dense) bool {
	if op.Name != "stablehlo.divide" && op.Name != "stablehlo.remainder" || !isIntegral(op.Results[0].Type.Elem) {
		return false
	}
	d := operands[1]
	size := d.Type.Elem.ByteSize()
	for i := 0; i+size <= len(d.Data); i += size {
		if mlir.IntAt(d.Data[i:], d.Type.Elem) == 0 {
			return true
		}
	}
	return false
}

// isElementwise reports whether an operation works on each element by itself.
func isElementwise(op *mlir.Op) bool {
	t := op.Results[0].Type
	for _, v := range op.Operands {
		if len(v.Type.Dims) != len(t.Dims) {
			return false
		}
	}
	switch op.Name {
	case "stablehlo.concatenate", "stablehlo.slice", "stablehlo.transpose", "stablehlo.broadcast_in_dim", "stablehlo.reshape",
		"stablehlo.iota", "stablehlo.gather":
		return false
	}
	return true
}
