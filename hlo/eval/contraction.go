package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Sums of products.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpDot:         dotKernel,
		hlo.OpScaledDot:   scaledDot,
		hlo.OpRaggedDot:   raggedDot,
		hlo.OpConvolution: convolution,
	})
}

func dotKernel(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.DotAttrs](c.In)
	if err := c.agree(factorAxes(a)); err != nil {
		return nil, err
	}
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	p, err := newContraction(c.Args[0].Shape(), c.Args[1].Shape(), a.LHSBatch, a.LHSContracting, a.RHSBatch, a.RHSContracting)
	if err != nil {
		return nil, err
	}
	lhs, rhs, err := operandsAs(s.Type(), c.Args[0], c.Args[1])
	if err != nil {
		return nil, err
	}
	return p.literal(c.e.ctx, s, lhs, rhs)
}

// factorAxes pairs the axes that the factors of a dot have in common.
func factorAxes(a hlo.DotAttrs) (pairs [][]operandAxis) {
	lhs, rhs := slices.Concat(a.LHSBatch, a.LHSContracting), slices.Concat(a.RHSBatch, a.RHSContracting)
	for k := range min(len(lhs), len(rhs)) {
		pairs = append(pairs, []operandAxis{{0, int(lhs[k])}, {1, int(rhs[k])}})
	}
	return pairs
}

// operandsAs brings two operands to the element type of the result first, as the contractions do.
func operandsAs(t hlo.PrimitiveType, a, b *hlo.Literal) (*hlo.Literal, *hlo.Literal, error) {
	a, err := converted(a, t)
	if err != nil {
		return nil, nil, err
	}
	b, err = converted(b, t)
	return a, b, err
}

// contraction is the geometry of a dot: operands are seen as [batch, rows, k] and [batch, columns, k].
type contraction struct {
	lhsPerm, rhsPerm     []int
	lhsDims, rhsDims     []int
	batch, rows, cols, k int
}

func newContraction(lhs, rhs hlo.Shape, lb, lc, rb, rc []int64) (*contraction, error) {
	p := &contraction{lhsDims: dimsOf(lhs), rhsDims: dimsOf(rhs)}
	if len(lb) != len(rb) || len(lc) != len(rc) {
		return nil, fmt.Errorf("%d and %d batch dimensions, %d and %d contracting ones", len(lb), len(rb), len(lc), len(rc))
	}
	for _, l := range [][]int64{lb, lc} {
		for _, a := range l {
			if a < 0 || int(a) >= len(p.lhsDims) {
				return nil, fmt.Errorf("dimension %d of %v", a, lhs)
			}
		}
	}
	for _, l := range [][]int64{rb, rc} {
		for _, a := range l {
			if a < 0 || int(a) >= len(p.rhsDims) {
				return nil, fmt.Errorf("dimension %d of %v", a, rhs)
			}
		}
	}
	free := others(len(p.lhsDims), ints(lb), ints(lc))
	p.lhsPerm = slices.Concat(ints(lb), free, ints(lc))
	p.batch, p.rows, p.k = product(picked(p.lhsDims, ints(lb))), product(picked(p.lhsDims, free)), product(picked(p.lhsDims, ints(lc)))
	free = others(len(p.rhsDims), ints(rb), ints(rc))
	p.rhsPerm = slices.Concat(ints(rb), free, ints(rc))
	p.cols = product(picked(p.rhsDims, free))
	if !slices.Equal(picked(p.lhsDims, ints(lb)), picked(p.rhsDims, ints(rb))) || !slices.Equal(picked(p.lhsDims, ints(lc)), picked(p.rhsDims, ints(rc))) {
		return nil, fmt.Errorf("%v and %v do not match along batch and contracting dimensions", lhs, rhs)
	}
	return p, nil
}

// literal is the dot of two operands of the element type of s.
func (p *contraction) literal(ctx context.Context, s hlo.Shape, lhs, rhs *hlo.Literal) (*hlo.Literal, error) {
	if int64(p.batch*p.rows*p.cols) != s.NumElements() {
		return nil, fmt.Errorf("%d×%d×%d sums for %v", p.batch, p.rows, p.cols, s)
	}
	var l *hlo.Literal
	var err error
	switch classOf(s.Type()) {
	case floats:
		l, err = packFloats(s, batched(ctx, p, floatsOf(p.left(lhs)), floatsOf(p.right(rhs))))
	case complexes:
		l, err = packComplex(s, batched(ctx, p, complexOf(p.left(lhs)), complexOf(p.right(rhs))))
	default:
		l, err = packInts(s, batched(ctx, p, intsOf(p.left(lhs)), intsOf(p.right(rhs))))
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return l, err
}

// left is the left operand as [batch, rows, k].
func (p *contraction) left(l *hlo.Literal) *hlo.Literal {
	return inOrder(l, p.lhsDims, p.lhsPerm)
}

// right is the right operand as [batch, columns, k].
func (p *contraction) right(l *hlo.Literal) *hlo.Literal {
	return inOrder(l, p.rhsDims, p.rhsPerm)
}

// inOrder is l with its axes permuted. The shape of the result is flat.
func inOrder(l *hlo.Literal, dims, perm []int) *hlo.Literal {
	t := l.Shape().Type()
	flat, err := hlo.NewLiteral(hlo.MakeShape(t, l.Shape().NumElements()), permuted(bytesOf(l), dims, perm, t.ByteSize()))
	if err != nil {
		panic(err) // a permutation keeps the size
	}
	return flat
}

// batched returns early, with anything, when ctx is cancelled.
func batched[T number](ctx context.Context, p *contraction, a, b []T) []T {
	c := make([]T, p.batch*p.rows*p.cols)
	// Rows are taken in blocks of some ten million products, between which the context is looked at.
	block := max(2, (10<<20)/max(1, p.cols*p.k)&^1)
	for i := range p.batch {
		for r := 0; r < p.rows && ctx.Err() == nil; r += block {
			m := min(block, p.rows-r)
			at := i*p.rows + r
			gemm(c[at*p.cols:(at+m)*p.cols], a[at*p.k:(at+m)*p.k], b[i*p.cols*p.k:(i+1)*p.cols*p.k], m, p.cols, p.k)
		}
	}
	return c
}

// scaledDot multiplies blocks of the operands with their scales first.
func scaledDot(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.DotAttrs](c.In)
	s := c.In.Shape()
	p, err := newContraction(c.Args[0].Shape(), c.Args[1].Shape(), a.LHSBatch, a.LHSContracting, a.RHSBatch, a.RHSContracting)
	if err != nil {
		return nil, err
	}
	lhs, err := scaled(c.Args[0], c.Args[2])
	if err != nil {
		return nil, err
	}
	rhs, err := scaled(c.Args[1], c.Args[3])
	if err != nil {
		return nil, err
	}
	return p.literal(c.e.ctx, s, lhs, rhs)
}

// scaled is l times its scales; each scale belongs to a block of elements. The product stays as wide as it is.
func scaled(l, scale *hlo.Literal) (*hlo.Literal, error) {
	v, by := floatsOf(l), floatsOf(scale)
	dims, sd := dimsOf(l.Shape()), dimsOf(scale.Shape())
	strides := rowMajor(sd)
	if len(sd) != 0 && len(sd) != len(dims) {
		return nil, fmt.Errorf("scales of %v for %v", scale.Shape(), l.Shape())
	}
	for i, d := range sd {
		if d == 0 || dims[i]%d != 0 {
			return nil, fmt.Errorf("scales of %v for %v", scale.Shape(), l.Shape())
		}
	}
	k := 0
	for o := newOdometer(dims); !o.done; o.next() {
		at := 0
		for i, d := range sd {
			at += o.index[i] / (dims[i] / d) * strides[i]
		}
		v[k] *= by[at]
		k++
	}
	return packFloats(hlo.MakeShape(hlo.F64, l.Shape().Dimensions()...), v)
}
