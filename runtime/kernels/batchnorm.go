package kernels

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// Batch normalisation is expanded into a fusion of sums and elementwise code, which runs as a sequence. What there is one of for each
// feature is a fusion of its own, for otherwise it would be computed anew for each element.

func batchNorm(expand func(*normBuilder) hlo.Value) chooser {
	return func(s *site) (runtime.Bound, bool) {
		a, x := hlo.AttrsOf[hlo.BatchNormAttrs](s.in), s.shape(0)
		if x.NumElements() == 0 || !x.Type().IsFloat() {
			return runtime.Bound{}, false
		}
		for i := 1; i < s.in.NumOperands(); i++ {
			if s.shape(i).Type() != x.Type() {
				return runtime.Bound{}, false
			}
		}
		m, err := expansion(s, x, a, expand)
		if err != nil {
			panic(fmt.Sprintf("kernels: expansion of %v: %v", s.in.Opcode(), err))
		}
		return fusedSequence(&site{m: m, in: m.Entry().Root(), b: s.b, reg: s.reg})
	}
}

// expansion is a module whose entry is a fusion of the operands of s.
func expansion(s *site, x hlo.Shape, a hlo.BatchNormAttrs, expand func(*normBuilder) hlo.Value) (hlo.Module, error) {
	b := hlo.NewBuilder(s.in.Opcode().String())
	wide := x.Type()
	if wide.Bits() < 32 {
		wide = hlo.F32
	}
	features := x.Dim(int(a.FeatureIndex))
	n := &normBuilder{b: b, narrow: x.Type(), wide: wide, dims: x.Dimensions(), features: features, axis: a.FeatureIndex,
		epsilon: float64(a.Epsilon), count: float64(x.NumElements() / features)}
	for d := range x.Rank() {
		if int64(d) != a.FeatureIndex {
			n.others = append(n.others, int64(d))
		}
	}
	n.add = b.Computation("add", func(b *hlo.Builder) hlo.Value {
		return b.Add(b.Parameter("a", hlo.MakeShape(wide)), b.Parameter("b", hlo.MakeShape(wide)))
	})
	body := b.Computation("body", func(b *hlo.Builder) hlo.Value {
		inner := *n
		inner.b = b
		for i := range s.in.NumOperands() {
			inner.params = append(inner.params, b.Parameter("", s.shape(i).WithoutLayout()))
		}
		return expand(&inner)
	})
	var operands []hlo.Value
	for i := range s.in.NumOperands() {
		operands = append(operands, b.Parameter("", s.shape(i).WithoutLayout()))
	}
	return b.Build(b.Fusion(hlo.FusionLoop, body, operands...))
}

// normBuilder builds the body of an expansion. Its parameters are the operands: an array with its features along axis, and vectors that
// have an element for each feature.
type normBuilder struct {
	b              *hlo.Builder
	narrow, wide   hlo.PrimitiveType // of the operands and of computation
	dims           []int64
	features, axis int64
	others         []int64 // axes
	epsilon, count float64
	add            hlo.CompID
	params         []hlo.Value
}

// constant is a number in the type of computation.
func (n *normBuilder) constant(b *hlo.Builder, v float64) hlo.Value {
	if n.wide == hlo.F64 {
		return hlo.ConstantOf(b, hlo.MakeShape(hlo.F64), v)
	}
	return hlo.ConstantOf(b, hlo.MakeShape(hlo.F32), float32(v))
}

// apart is a fusion of its own.
func (n *normBuilder) apart(kind hlo.FusionKind, name string, f func(b *hlo.Builder, x []hlo.Value) hlo.Value, operands ...hlo.Value) hlo.Value {
	comp := n.b.Computation(name, func(b *hlo.Builder) hlo.Value {
		params := make([]hlo.Value, len(operands))
		for i, o := range operands {
			params[i] = b.Parameter("", o.Shape())
		}
		return f(b, params)
	})
	return n.b.Fusion(kind, comp, operands...)
}

// alongFeatures repeats a vector over the array.
func (n *normBuilder) alongFeatures(b *hlo.Builder, v hlo.Value) hlo.Value {
	return b.Broadcast(v, []int64{n.axis}, n.dims...)
}

// sum adds up term(operands), an array, for each feature.
func (n *normBuilder) sum(name string, term func(b *hlo.Builder, x []hlo.Value) hlo.Value, operands ...hlo.Value) hlo.Value {
	return n.apart(hlo.FusionInput, name, func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Reduce(term(b, x), n.constant(b, 0), n.add, n.others...)
	}, operands...)
}

// widened is an array as it is computed with.
func (n *normBuilder) widened(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Convert(x, n.wide) }

// total is Σx.
func (n *normBuilder) total(x hlo.Value) hlo.Value {
	return n.sum("sum", func(b *hlo.Builder, x []hlo.Value) hlo.Value { return n.widened(b, x[0]) }, x)
}

// deviations is x - mean.
func (n *normBuilder) deviations(b *hlo.Builder, x, mean hlo.Value) hlo.Value {
	return b.Subtract(n.widened(b, x), n.alongFeatures(b, mean))
}

// share is a sum divided by the number of its terms.
func (n *normBuilder) share(sum hlo.Value) hlo.Value {
	return n.apart(hlo.FusionLoop, "share", func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Op(hlo.OpDivide, nil, x[0], b.Broadcast(n.constant(b, n.count), nil, n.features))
	}, sum)
}

// vector is a vector as it is computed with.
func (n *normBuilder) vector(x hlo.Value) hlo.Value {
	return n.apart(hlo.FusionLoop, "wide", func(b *hlo.Builder, x []hlo.Value) hlo.Value { return n.widened(b, x[0]) }, x)
}

// deviation is √(variance + ε).
func (n *normBuilder) deviation(variance hlo.Value) hlo.Value {
	return n.apart(hlo.FusionLoop, "deviation", func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Unary(hlo.OpSqrt, b.Add(x[0], b.Broadcast(n.constant(b, n.epsilon), nil, n.features)))
	}, variance)
}

// scales is scale ÷ deviation.
func (n *normBuilder) scales(scale, deviation hlo.Value) hlo.Value {
	return n.apart(hlo.FusionLoop, "scales", func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Op(hlo.OpDivide, nil, n.widened(b, x[0]), x[1])
	}, scale, deviation)
}

// normalized is y = (x - mean)·k + offset, for the k of each feature.
func (n *normBuilder) normalized(x, mean, k, offset hlo.Value) hlo.Value {
	b := n.b
	y := b.Add(b.Multiply(n.deviations(b, x, mean), n.alongFeatures(b, k)), n.alongFeatures(b, offset))
	return b.Convert(y, n.narrow)
}

func batchNormTraining(n *normBuilder) hlo.Value {
	x, scale, offset := n.params[0], n.params[1], n.params[2]
	mean := n.share(n.total(x))
	variance := n.share(n.sum("squares", func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		d := n.deviations(b, x[0], x[1])
		return b.Multiply(d, d)
	}, x, mean))
	k := n.scales(scale, n.deviation(variance))
	y := n.normalized(x, mean, k, n.vector(offset))
	return n.b.Tuple(y, n.b.Convert(mean, n.narrow), n.b.Convert(variance, n.narrow))
}

func batchNormInference(n *normBuilder) hlo.Value {
	x, scale, offset := n.params[0], n.params[1], n.params[2]
	mean, variance := n.vector(n.params[3]), n.vector(n.params[4])
	k := n.scales(scale, n.deviation(variance))
	return n.b.Copy(n.normalized(x, mean, k, n.vector(offset)))
}

// batchNormGrad is k·(g - Σg/N - (x - mean)·Σg·(x - mean)/(N·(variance + ε))) and the gradients of scale and offset.
func batchNormGrad(n *normBuilder) hlo.Value {
	b := n.b
	x, scale, g := n.params[0], n.params[1], n.params[4]
	mean, variance := n.vector(n.params[2]), n.vector(n.params[3])
	dev := n.deviation(variance)
	k := n.scales(scale, dev)
	products := n.sum("products", func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Multiply(n.widened(b, x[2]), n.deviations(b, x[0], x[1]))
	}, x, mean, g)
	total := n.total(g)
	slope := n.apart(hlo.FusionLoop, "slope", func(b *hlo.Builder, x []hlo.Value) hlo.Value {
		return b.Op(hlo.OpDivide, nil, x[0], b.Multiply(x[1], x[1]))
	}, n.share(products), dev)
	meanGrad := n.share(total)
	rest := b.Subtract(b.Subtract(n.widened(b, g), n.alongFeatures(b, meanGrad)), b.Multiply(n.deviations(b, x, mean), n.alongFeatures(b, slope)))
	dx := b.Convert(b.Multiply(n.alongFeatures(b, k), rest), n.narrow)
	dscale := b.Op(hlo.OpDivide, nil, products, dev)
	return b.Tuple(dx, b.Convert(dscale, n.narrow), b.Convert(total, n.narrow))
}
