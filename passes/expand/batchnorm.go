package expand

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewBatchNorm makes the expander of batch normalization.
func NewBatchNorm(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{
		{Name: "rewrite-training-op", Doc: "write batch-norm-training; true"},
		{Name: "rewrite-inference-op", Doc: "write batch-norm-inference; true"},
		{Name: "rewrite-grad-op", Doc: "write batch-norm-grad; true"},
	}
	of := map[hlo.Opcode]func(emit.At, hlo.Instruction) hlo.InstrID{hlo.OpBatchNormTraining: trained, hlo.OpBatchNormInference: inferred, hlo.OpBatchNormGrad: differentiated}
	if err := o.Known(params[0].Name, params[1].Name, params[2].Name); err != nil {
		return nil, err
	}
	for i, op := range []hlo.Opcode{hlo.OpBatchNormTraining, hlo.OpBatchNormInference, hlo.OpBatchNormGrad} {
		on, err := o.BoolOr(params[i].Name, true)
		if err != nil {
			return nil, err
		}
		if !on {
			delete(of, op)
		}
	}
	p := expander("batchnorm-expander", `write batch-norm ops as sums, quotients and roots

The new instructions have the sharding of the op, if that is one device.`, func(in hlo.Instruction) bool {
		return of[in.Opcode()] != nil && staticArrays(in)
	}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
		if c := in.Common(); c != nil && onOneDevice(c.Sharding) {
			at.Common = &hlo.Common{Metadata: c.Metadata, Sharding: c.Sharding}
			if c.Sharding.Kind == hlo.ShardingTuple {
				at.Common.Sharding = c.Sharding.Elements[0]
			}
		}
		return of[in.Opcode()](at, in)
	})
	p.Options, p.Params = o, params
	return p, nil
}

func onOneDevice(s *hlo.Sharding) bool {
	if s != nil && s.Kind == hlo.ShardingTuple {
		return len(s.Elements) > 0 && !slices.ContainsFunc(s.Elements, func(e *hlo.Sharding) bool { return !onOneDevice(e) })
	}
	return s != nil && s.Kind == hlo.ShardingMaximal
}

// normed is a batch-norm that is being written: the operand, the axis of its features, and how many elements there are of each.
type normed struct {
	at      emit.At
	in      hlo.Instruction
	feature int64
	others  []int64
	count   float64

	elements hlo.InstrID // the count, as the program has it
}

func newNormed(at emit.At, in hlo.Instruction) *normed {
	n := &normed{at: at, in: in, feature: hlo.AttrsOf[hlo.BatchNormAttrs](in).FeatureIndex, count: 1, elements: hlo.NoInstr}
	for d, size := range in.OperandInstr(0).Shape().Dimensions() {
		if int64(d) != n.feature {
			n.others = append(n.others, int64(d))
			n.count *= float64(size)
		}
	}
	return n
}

// counted is how many elements there are of each feature, for each of them. The program is asked: the array may be part of a larger one that is padded.
func (n *normed) counted() hlo.InstrID {
	s, at := n.in.OperandInstr(1).Shape(), n.at
	if n.count > math.MaxInt32 {
		return n.fill(n.count)
	}
	if n.elements == hlo.NoInstr {
		n.elements = at.Int(hlo.S32, 1)
		for _, d := range n.others {
			size := at.OpOf(hlo.OpGetDimensionSize, hlo.MakeShape(hlo.S32), &hlo.AxisAttrs{Dimensions: []int64{d}}, n.in.Operand(0))
			n.elements = at.Binary(hlo.OpMultiply, size, n.elements)
		}
		n.elements = at.Convert(n.elements, s.Type())
	}
	return at.Fill(n.elements, s.Dimensions()...)
}

// results is the tuple of what a batch-norm returns, with the sharding of that.
func (n *normed) results(parts ...hlo.InstrID) hlo.InstrID {
	at := n.at
	if at.Common != nil && at.Common.Sharding != nil {
		common := *at.Common
		common.Sharding, at.Common = n.in.Common().Sharding, &common
	}
	return at.Tuple(parts...)
}

// wide repeats a value of each feature over the array.
func (n *normed) wide(v hlo.InstrID) hlo.InstrID {
	return n.at.Broadcast(v, []int64{n.feature}, n.in.OperandInstr(0).Shape().Dimensions()...)
}

// fill is a number for each feature.
func (n *normed) fill(v float64) hlo.InstrID {
	s := n.in.OperandInstr(1).Shape()
	return n.at.Fill(n.at.Float(s.Type(), v), s.Dimensions()...)
}

// sum adds what belongs to each feature.
func (n *normed) sum(v hlo.InstrID) hlo.InstrID {
	t := n.at.Shape(v).Type()
	if len(n.others) == 0 {
		return v
	}
	return n.at.Reduce(v, n.at.Float(t, 0), emit.BinaryComputation(n.at.C.Editor(), hlo.OpAdd, t), n.others...)
}

// root is 1 / sqrt(variance + epsilon).
func (n *normed) root(variance hlo.InstrID) hlo.InstrID {
	return n.at.Unary(hlo.OpRsqrt, n.at.Binary(hlo.OpAdd, variance, n.fill(float64(hlo.AttrsOf[hlo.BatchNormAttrs](n.in).Epsilon))))
}

// apply is (x − mean)·scale / sqrt(variance + epsilon) + offset.
func (n *normed) apply(mean, variance hlo.InstrID) hlo.InstrID {
	at := n.at
	k := at.Binary(hlo.OpMultiply, n.in.Operand(1), n.root(variance))
	centered := at.Binary(hlo.OpSubtract, n.in.Operand(0), n.wide(mean))
	return at.Binary(hlo.OpAdd, at.Binary(hlo.OpMultiply, centered, n.wide(k)), n.wide(n.in.Operand(2)))
}

func inferred(at emit.At, in hlo.Instruction) hlo.InstrID {
	n := newNormed(at, in)
	k := at.Binary(hlo.OpMultiply, in.Operand(1), n.root(in.Operand(4)))
	shift := at.Binary(hlo.OpSubtract, in.Operand(2), at.Binary(hlo.OpMultiply, in.Operand(3), k))
	return at.Binary(hlo.OpAdd, at.Binary(hlo.OpMultiply, in.Operand(0), n.wide(k)), n.wide(shift))
}

func trained(at emit.At, in hlo.Instruction) hlo.InstrID {
	n := newNormed(at, in)
	mean := at.Binary(hlo.OpDivide, n.sum(in.Operand(0)), n.counted())
	d := at.Binary(hlo.OpSubtract, in.Operand(0), n.wide(mean))
	variance := at.Binary(hlo.OpDivide, n.sum(at.Binary(hlo.OpMultiply, d, d)), n.counted())
	return n.results(n.apply(mean, variance), mean, variance)
}

// differentiated is scale·r/n · (n·g − Σg − (x − mean)·r²·Σ(g·(x − mean))), r·Σ(g·(x − mean)) and Σg, of r = 1 / sqrt(variance + epsilon).
func differentiated(at emit.At, in hlo.Instruction) hlo.InstrID {
	n := newNormed(at, in)
	grad, r := in.Operand(4), n.root(in.Operand(3))
	centered := at.Binary(hlo.OpSubtract, in.Operand(0), n.wide(in.Operand(2)))
	products := n.sum(at.Binary(hlo.OpMultiply, grad, centered))
	offset := n.sum(grad)
	slope := at.Binary(hlo.OpMultiply, at.Binary(hlo.OpMultiply, r, r), products)
	inner := at.Binary(hlo.OpSubtract, at.Binary(hlo.OpMultiply, grad, n.wide(n.counted())), n.wide(offset))
	inner = at.Binary(hlo.OpSubtract, inner, at.Binary(hlo.OpMultiply, centered, n.wide(slope)))
	k := at.Binary(hlo.OpDivide, at.Binary(hlo.OpMultiply, in.Operand(1), r), n.counted())
	return n.results(at.Binary(hlo.OpMultiply, n.wide(k), inner), at.Binary(hlo.OpMultiply, r, products), offset)
}
