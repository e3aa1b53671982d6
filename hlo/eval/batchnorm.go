package eval

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
)

// features is an array seen as [feature, everything else].
type features struct {
	shape hlo.Shape
	perm  []int     // feature axis first
	v     []float64 // in that order
	f, n  int
	eps   float64
}

func newFeatures(c *Call) (*features, error) {
	a := hlo.AttrsOf[hlo.BatchNormAttrs](c.In)
	l := c.Args[0]
	dims := dimsOf(l.Shape())
	axis := int(a.FeatureIndex)
	if axis < 0 || axis >= len(dims) || classOf(l.Shape().Type()) != floats {
		return nil, fmt.Errorf("feature_index %d of %v", axis, l.Shape())
	}
	x := &features{shape: l.Shape(), perm: append([]int{axis}, others(len(dims), []int{axis})...), f: dims[axis], eps: float64(a.Epsilon)}
	if x.f > 0 {
		x.n = product(dims) / x.f
	}
	x.v = x.ordered(l)
	for _, s := range c.Args[1:] {
		if k := s.Shape().NumElements(); k != int64(x.f) && k != int64(len(x.v)) {
			return nil, fmt.Errorf("operand of %v for %d features", s.Shape(), x.f)
		}
	}
	return x, nil
}

// ordered decodes an array of the same shape, features first.
func (x *features) ordered(l *hlo.Literal) []float64 {
	return floatsOf(inOrder(l, dimsOf(l.Shape()), x.perm))
}

// row is the elements of feature f.
func (x *features) row(v []float64, f int) []float64 { return v[f*x.n : (f+1)*x.n] }

// literal brings elements in feature order back into the order of the array.
func (x *features) literal(v []float64) (*hlo.Literal, error) {
	dims := dimsOf(x.shape)
	back := make([]int, len(x.perm))
	for i, a := range x.perm {
		back[a] = i
	}
	b := make([]byte, x.shape.ByteSize())
	encodeFloats(b, x.shape.Type(), v)
	return hlo.NewLiteral(x.shape, permuted(b, picked(dims, x.perm), back, x.shape.Type().ByteSize()))
}

// vector is one number for each feature.
func (x *features) vector(v []float64) (*hlo.Literal, error) {
	return packFloats(hlo.MakeShape(x.shape.Type(), int64(x.f)), v)
}

func sum(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

// batchNormTraining is (y, mean, variance), the variance being E[x²] - mean².
func batchNormTraining(c *Call) (*hlo.Literal, error) {
	x, err := newFeatures(c)
	if err != nil {
		return nil, err
	}
	scale, offset := floatsOf(c.Args[1]), floatsOf(c.Args[2])
	mean, variance := make([]float64, x.f), make([]float64, x.f)
	for f := range x.f {
		row := x.row(x.v, f)
		mean[f] = sum(row) / float64(x.n)
		squares := 0.0 // of the deviations: the same number without cancellation
		for _, v := range row {
			squares += (v - mean[f]) * (v - mean[f])
		}
		variance[f] = squares / float64(x.n)
		k := scale[f] / math.Sqrt(variance[f]+x.eps)
		for i, v := range row {
			row[i] = (v-mean[f])*k + offset[f]
		}
	}
	y, err := x.literal(x.v)
	if err != nil {
		return nil, err
	}
	return x.triple(y, mean, variance)
}

// triple is an array and two vectors.
func (x *features) triple(y *hlo.Literal, a, b []float64) (*hlo.Literal, error) {
	la, err := x.vector(a)
	if err != nil {
		return nil, err
	}
	lb, err := x.vector(b)
	return hlo.NewTupleLiteral(y, la, lb), err
}

func batchNormInference(c *Call) (*hlo.Literal, error) {
	x, err := newFeatures(c)
	if err != nil {
		return nil, err
	}
	scale, offset, mean, variance := floatsOf(c.Args[1]), floatsOf(c.Args[2]), floatsOf(c.Args[3]), floatsOf(c.Args[4])
	for f := range x.f {
		k := scale[f] / math.Sqrt(variance[f]+x.eps)
		row := x.row(x.v, f)
		for i, v := range row {
			row[i] = v*k + (offset[f] - mean[f]*k)
		}
	}
	return x.literal(x.v)
}

// batchNormGrad is the gradients of the array, the scale and the offset.
func batchNormGrad(c *Call) (*hlo.Literal, error) {
	x, err := newFeatures(c)
	if err != nil {
		return nil, err
	}
	scale, mean, variance := floatsOf(c.Args[1]), floatsOf(c.Args[2]), floatsOf(c.Args[3])
	grad := x.ordered(c.Args[4])
	dScale, dOffset := make([]float64, x.f), make([]float64, x.f)
	n := float64(x.n)
	for f := range x.f {
		r := 1 / math.Sqrt(variance[f]+x.eps)
		row, g := x.row(x.v, f), x.row(grad, f)
		products := 0.0
		for i, v := range row {
			products += g[i] * (v - mean[f])
		}
		dOffset[f] = sum(g)
		dScale[f] = r * products
		for i, v := range row {
			row[i] = scale[f] * r / n * (n*g[i] - dOffset[f] - (v-mean[f])*r*r*products)
		}
	}
	dx, err := x.literal(x.v)
	if err != nil {
		return nil, err
	}
	return x.triple(dx, dScale, dOffset)
}
