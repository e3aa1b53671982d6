package legalize

import (
	"encoding/json"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// oneDNN is the configuration of a call of that library, as XLA:CPU wrote it in JAX 0.4.30.
type oneDNN struct {
	Matmul *struct {
		TransposeA bool     `json:"transpose_a"`
		TransposeB bool     `json:"transpose_b"`
		Fused      []string `json:"fused_ops"`
		Alpha      int32    `json:"alpha_typecast"` // the bits of a float32
		Prepacked  bool     `json:"weights_prepacked"`
	} `json:"onednn_matmul_config"`
	Softmax *struct {
		Axis int64 `json:"softmax_axis"`
	} `json:"onednn_softmax_config"`
}

// newOneDNN is the dot or the softmax that a call stands for. Its second result, if it has one, is a workspace.
func newOneDNN(in hlo.Instruction, target string) (rewriting, bool) {
	var config oneDNN
	if in.Common() == nil || json.Unmarshal([]byte(in.Common().BackendConfig), &config) != nil {
		return nil, false
	}
	s := in.Shape()
	if s.IsTuple() && s.NumElems() > 0 {
		s = s.Elem(0)
	}
	if !s.IsArray() || !s.IsStatic() || !s.Type().IsFloat() {
		return nil, false
	}
	var result func(emit.At, []hlo.InstrID) hlo.InstrID
	switch {
	case target == "__onednn$matmul" && config.Matmul != nil && !config.Matmul.Prepacked:
		d, ok := contraction(in, config.Matmul.TransposeA, config.Matmul.TransposeB)
		if !ok || !config.known(in, s) {
			return nil, false
		}
		result = func(at emit.At, operands []hlo.InstrID) hlo.InstrID {
			wide := hlo.MakeShape(atLeastF32(s.Type()), s.Dimensions()...).WithDefaultLayout()
			v := at.OpOf(hlo.OpDot, wide, d, operands[0], operands[1])
			rest := operands[2:]
			for _, f := range config.Matmul.Fused {
				if adds[f] {
					v = at.Binary(hlo.OpAdd, v, spread(at, at.Convert(rest[0], wide.Type()), s.Dimensions()))
					rest = rest[1:]
				} else {
					v = fusedOps[f](activation{at, wide.Type(), s.Dimensions(), float64(math.Float32frombits(uint32(config.Matmul.Alpha)))}, v)
				}
			}
			return v
		}
	case target == "__onednn$softmax" && config.Softmax != nil && in.NumOperands() == 1 && config.Softmax.Axis >= 0 && config.Softmax.Axis < int64(s.Rank()) && in.OperandInstr(0).Shape().EqualIgnoringLayout(s):
		result = func(at emit.At, operands []hlo.InstrID) hlo.InstrID {
			return softmax(at, at.Convert(operands[0], atLeastF32(s.Type())), int(config.Softmax.Axis))
		}
	default:
		return nil, false
	}
	return func(c hlo.CompEdit) error {
		now := c.At(in.ID()) // operands may have been written anew
		at := emit.Before(c, now)
		var operands []hlo.InstrID
		for i := range now.NumOperands() {
			operands = append(operands, now.Operand(i))
		}
		v := at.Convert(result(at, operands), s.Type())
		if !at.Shape(v).Equal(s) { // another layout
			v = at.OpOf(hlo.OpCopy, s, nil, v)
		}
		if !in.Shape().IsTuple() {
			return emit.Forward(c, in.ID(), v)
		}
		parts := []hlo.InstrID{v}
		for _, s := range in.Shape().Elems()[1:] {
			parts = append(parts, at.OpOf(hlo.OpBroadcast, s, &hlo.BroadcastAttrs{}, at.Constant(emit.Zero(s.Type()))))
		}
		return emit.Forward(c, in.ID(), at.Tuple(parts...))
	}, true
}

// atLeastF32 is the type in which a result of type t is computed.
func atLeastF32(t hlo.PrimitiveType) hlo.PrimitiveType {
	if t.Bits() < 32 {
		return hlo.F32
	}
	return t
}

// contraction is that of the last two axes, of which each operand may have them turned; the others are batches.
func contraction(in hlo.Instruction, turnA, turnB bool) (*hlo.DotAttrs, bool) {
	if in.NumOperands() < 2 {
		return nil, false
	}
	a, b := in.OperandInstr(0).Shape(), in.OperandInstr(1).Shape()
	r := a.Rank()
	if r < 2 || b.Rank() != r || a.Type() != b.Type() || !a.Type().IsFloat() {
		return nil, false
	}
	d := &hlo.DotAttrs{LHSContracting: []int64{int64(r - 1)}, RHSContracting: []int64{int64(r - 2)}}
	if turnA {
		d.LHSContracting[0]--
	}
	if turnB {
		d.RHSContracting[0]++
	}
	for i := range int64(r - 2) {
		d.LHSBatch, d.RHSBatch = append(d.LHSBatch, i), append(d.RHSBatch, i)
	}
	return d, true
}

// known reports whether the fused ops and their operands fit a result of shape s.
func (o *oneDNN) known(in hlo.Instruction, s hlo.Shape) bool {
	operand := 2
	for _, f := range o.Matmul.Fused {
		switch {
		case adds[f]:
			if operand == in.NumOperands() || !spreads(in.OperandInstr(operand).Shape(), s) {
				return false
			}
			operand++
		case fusedOps[f] == nil:
			return false
		}
	}
	return operand == in.NumOperands()
}

// spreads reports whether an array can be added to each of a larger one's last axes.
func spreads(x, s hlo.Shape) bool {
	if !x.IsArray() || !x.IsStatic() || !x.Type().IsFloat() || x.Rank() > s.Rank() {
		return false
	}
	for i := range x.Rank() {
		if d := x.Dim(i); d != 1 && d != s.Dim(s.Rank()-x.Rank()+i) {
			return false
		}
	}
	return true
}

// spread is x along all of dims.
func spread(at emit.At, x hlo.InstrID, dims []int64) hlo.InstrID {
	own := at.Shape(x).Dimensions()
	var kept, axes []int64
	for i, d := range own {
		if axis := len(dims) - len(own) + i; d == dims[axis] {
			kept, axes = append(kept, d), append(axes, int64(axis))
		}
	}
	return at.Broadcast(at.Reshape(x, kept...), axes, dims...)
}

// adds are the fused ops that add an operand.
var adds = map[string]bool{"BIAS": true, "BINARY_ADD": true}

// activation is where a fused op without operands is written.
type activation struct {
	emit.At
	t     hlo.PrimitiveType
	dims  []int64
	alpha float64
}

func (a activation) number(v float64) hlo.InstrID { return a.Fill(a.Float(a.t, v), a.dims...) }

var fusedOps = map[string]func(activation, hlo.InstrID) hlo.InstrID{
	"RELU": func(a activation, x hlo.InstrID) hlo.InstrID { return a.Binary(hlo.OpMaximum, x, a.number(0)) },
	"RELU6": func(a activation, x hlo.InstrID) hlo.InstrID {
		return a.Op(hlo.OpClamp, nil, a.number(0), x, a.number(6))
	},
	"TANH":    func(a activation, x hlo.InstrID) hlo.InstrID { return a.Unary(hlo.OpTanh, x) },
	"SIGMOID": func(a activation, x hlo.InstrID) hlo.InstrID { return a.Unary(hlo.OpLogistic, x) },
	"LINEAR":  func(a activation, x hlo.InstrID) hlo.InstrID { return a.Binary(hlo.OpMultiply, x, a.number(a.alpha)) },
	"GELU_ERF": func(a activation, x hlo.InstrID) hlo.InstrID {
		return a.halfOf(x, a.Unary(hlo.OpErf, a.Binary(hlo.OpMultiply, x, a.number(math.Sqrt2/2))))
	},
	"GELU_TANH": func(a activation, x hlo.InstrID) hlo.InstrID {
		cube := a.Binary(hlo.OpMultiply, a.Binary(hlo.OpMultiply, x, x), x)
		sum := a.Binary(hlo.OpAdd, x, a.Binary(hlo.OpMultiply, cube, a.number(0.044715)))
		return a.halfOf(x, a.Unary(hlo.OpTanh, a.Binary(hlo.OpMultiply, sum, a.number(math.Sqrt(2/math.Pi)))))
	},
	"ELU": func(a activation, x hlo.InstrID) hlo.InstrID {
		return a.Select(a.Compare(hlo.GT, x, a.number(0)), x, a.Unary(hlo.OpExponentialMinusOne, x))
	},
}

// halfOf is x·(1 + y)/2.
func (a activation) halfOf(x, y hlo.InstrID) hlo.InstrID {
	return a.Binary(hlo.OpMultiply, a.Binary(hlo.OpMultiply, x, a.number(0.5)), a.Binary(hlo.OpAdd, y, a.number(1)))
}

// softmax is exp(x - max x) over its sum, along an axis.
func softmax(at emit.At, x hlo.InstrID, axis int) hlo.InstrID {
	s := at.Shape(x)
	var others []int64
	for i := range int64(s.Rank()) {
		if i != int64(axis) {
			others = append(others, i)
		}
	}
	along := func(op hlo.Opcode, x hlo.InstrID, init *hlo.Literal) hlo.InstrID {
		r := at.Reduce(x, at.Constant(init), emit.BinaryComputation(at.C.Editor(), op, s.Type()), int64(axis))
		return at.Broadcast(r, others, s.Dimensions()...)
	}
	e := at.Unary(hlo.OpExponential, at.Binary(hlo.OpSubtract, x, along(hlo.OpMaximum, x, emit.Lowest(s.Type()))))
	return at.Binary(hlo.OpDivide, e, along(hlo.OpAdd, e, emit.Zero(s.Type())))
}
