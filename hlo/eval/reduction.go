package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Ops that apply a computation to elements; windows, sorting and scan have files of their own.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpReduce:           reduce,
		hlo.OpMap:              mapElements,
		hlo.OpReduceWindow:     reduceWindow,
		hlo.OpSelectAndScatter: selectAndScatter,
		hlo.OpSort:             sortKernel,
		hlo.OpTopk:             topK,
		hlo.OpScan:             scan,
	})
}

// mapElements applies the computation at each index.
func mapElements(c *Call) (*hlo.Literal, error) {
	p, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	if err := p.takes(1, c.Args...); err != nil {
		return nil, err
	}
	if t := p.types[p.results[0]]; classOf(t) != classOf(s.Type()) {
		return nil, fmt.Errorf("the computation gives %v for an element of %v", t, s)
	}
	return (&tiled{p: p}).overArrays(s, c.Args)
}

// fold is the computation that folds n inputs, which the same number of initial values follow.
func (c *Call) fold() (p *program, n int, err error) {
	n = len(c.Args) / 2
	if p, err = c.apply(0); err != nil {
		return nil, 0, err
	}
	if len(c.Args) != 2*n || n == 0 {
		return nil, 0, fmt.Errorf("%d operands", len(c.Args))
	}
	return p, n, p.folds(c.Args[n:], c.Args[:n])
}

// reduce folds axes, each result element in row-major order of what is folded.
func reduce(c *Call) (*hlo.Literal, error) {
	p, n, err := c.fold()
	if err != nil {
		return nil, err
	}
	if err := c.agree(c.axesInCommon(c.Args[0].Shape().Rank(), -1)); err != nil {
		return nil, err
	}
	dims := dimsOf(c.Args[0].Shape())
	reduced, err := axes(hlo.AttrsOf[hlo.DimensionsAttrs](c.In).Dimensions, len(dims))
	if err != nil {
		return nil, err
	}
	slices.Sort(reduced)
	for _, a := range c.Args[:n] {
		if !slices.Equal(dimsOf(a.Shape()), dims) {
			return nil, fmt.Errorf("inputs of %v and %v", c.Args[0].Shape(), a.Shape())
		}
	}
	kept := others(len(dims), reduced)
	sizes := make([]int64, len(kept))
	for i, a := range kept {
		sizes[i] = int64(dims[a])
	}
	r := &folding{p: p, inputs: c.Args[:n], inits: c.Args[n:], dims: dims, kept: kept, reduced: reduced, ctx: c.e.ctx}
	parts := make([]*hlo.Literal, n)
	out := r.fold()
	if r.err != nil {
		return nil, r.err
	}
	for i, l := range out {
		s := c.In.Shape()
		if s.IsTuple() {
			s = s.Elem(i)
		}
		stated := s.Type()
		if !s.IsStatic() {
			s = hlo.MakeShape(stated, sizes...)
		}
		from := p.types[p.results[i]]
		if parts[i], err = l.literal(hlo.MakeShape(from, sizes...)); err != nil {
			return nil, err
		}
		if parts[i], err = converted(parts[i], stated); err != nil {
			return nil, err
		}
		if parts[i], err = parts[i].WithShape(s); err != nil {
			return nil, err
		}
	}
	return tupleUnlessOne(c.In.Shape(), parts), nil
}

// literal stores all lanes as an array of shape s.
func (l *lanes) literal(s hlo.Shape) (*hlo.Literal, error) {
	b := make([]byte, s.ByteSize())
	l.store(s.Type(), b)
	return hlo.NewLiteral(s, b)
}

type folding struct {
	p             *program
	inputs, inits []*hlo.Literal
	dims          []int
	kept, reduced []int
	err           error
	ctx           context.Context
}

// fold returns the accumulators, one lane for each result element.
func (r *folding) fold() []lanes {
	outputs, folded := product(picked(r.dims, r.kept)), product(picked(r.dims, r.reduced))
	t := r.inputs[0].Shape().Type()
	if f := recognised(r.p, t); f != nil && len(r.inputs) == 1 {
		in, w := r.inputs[0], t.ByteSize()
		data := permuted(bytesOf(in), r.dims, slices.Concat(r.kept, r.reduced), w)
		return []lanes{f(data, outputs, folded, r.inits[0])}
	}
	return r.steps(outputs, folded)
}

// steps applies the computation to a row of result elements at a time.
func (r *folding) steps(outputs, folded int) []lanes {
	accs := make([]lanes, len(r.inputs))
	data := make([][]byte, len(r.inputs))
	for i, in := range r.inputs {
		t := r.inits[i].Shape().Type()
		accs[i] = makeLanes(t, outputs)
		if outputs > 0 {
			accs[i].splat(t, bytesOf(r.inits[i]))
		}
		data[i] = permuted(bytesOf(in), r.dims, slices.Concat(r.reduced, r.kept), in.Shape().Type().ByteSize())
	}
	f := r.p.frame(min(outputs, tile))
	for o := 0; o < outputs; o += tile {
		k := min(tile, outputs-o)
		f.resize(k)
		for i := range accs {
			acc := accs[i].span(o, k)
			f.param(i).set(&acc)
		}
		for row := range folded {
			for i, in := range r.inputs {
				t := in.Shape().Type()
				at := (row*outputs + o) * t.ByteSize()
				f.param(len(accs)+i).load(t, data[i][at:at+k*t.ByteSize()])
			}
			if r.err = f.run(); r.err == nil {
				r.err = r.ctx.Err()
			}
			if r.err != nil {
				return nil
			}
			f.feedBack(len(accs))
		}
		for i := range accs {
			acc := accs[i].span(o, k)
			acc.set(f.param(i))
		}
	}
	return accs
}

// span is n lanes from at on, sharing memory.
func (l *lanes) span(at, n int) lanes {
	s := lanes{}
	switch {
	case l.f != nil:
		s.f = l.f[at : at+n]
	case l.i != nil:
		s.i = l.i[at : at+n]
	case l.z != nil:
		s.z = l.z[at : at+n]
	}
	return s
}

// feedBack makes the first n results the first n parameters of the next run.
func (f *frame) feedBack(n int) {
	for i := range n {
		if f.p.crossed {
			f.spare = append(f.spare[:i], f.result(i).clone())
		} else {
			f.param(i).set(f.result(i))
		}
	}
	if f.p.crossed {
		for i := range n {
			f.param(i).set(&f.spare[i])
		}
	}
}

func (l *lanes) clone() lanes {
	return lanes{slices.Clone(l.f), slices.Clone(l.i), slices.Clone(l.z)}
}

// fold1 folds rows of n elements of encoded data, one row for each output.
type fold1 func(data []byte, outputs, n int, init *hlo.Literal) lanes

// recognised returns a loop for computations that are a single op on two numbers of the element type. Sums and products of floating
// numbers stay in float64 until the end.
func recognised(p *program, t hlo.PrimitiveType) fold1 {
	if p.binary == hlo.OpInvalid || len(p.types) != 3 {
		return nil
	}
	for _, u := range p.types {
		if u != t {
			return nil
		}
	}
	switch classOf(t) {
	case floats:
		switch p.binary {
		case hlo.OpAdd:
			return foldFloats(t, func(acc float64, v []float64) float64 {
				for _, x := range v {
					acc += x
				}
				return acc
			})
		case hlo.OpMultiply:
			return foldFloats(t, func(acc float64, v []float64) float64 {
				for _, x := range v {
					acc *= x
				}
				return acc
			})
		case hlo.OpMaximum:
			return foldFloats(t, func(acc float64, v []float64) float64 {
				for _, x := range v {
					if !(x < acc) {
						acc = max(acc, x)
					}
				}
				return acc
			})
		case hlo.OpMinimum:
			return foldFloats(t, func(acc float64, v []float64) float64 {
				for _, x := range v {
					if !(x > acc) {
						acc = min(acc, x)
					}
				}
				return acc
			})
		}
	case integers:
		return foldInts(p, t)
	}
	return nil
}

func foldFloats(t hlo.PrimitiveType, row func(acc float64, v []float64) float64) fold1 {
	return func(data []byte, outputs, n int, init *hlo.Literal) lanes {
		out := foldRows(t, data, outputs, n, floatsOf(init)[0], decodeFloats, row)
		roundFloats(out, t)
		return lanes{f: out}
	}
}

// foldRows folds rows of n elements, which it decodes a tile at a time.
func foldRows[T float64 | int64](t hlo.PrimitiveType, data []byte, outputs, n int, start T, decode func([]T, hlo.PrimitiveType, []byte), row func(acc T, v []T) T) []T {
	out := make([]T, outputs)
	buf := make([]T, min(n, tile))
	w := t.ByteSize()
	for o := range out {
		acc := start
		for at := 0; at < n; at += tile {
			k := min(tile, n-at)
			from := (o*n + at) * w
			decode(buf[:k], t, data[from:from+k*w])
			acc = row(acc, buf[:k])
		}
		out[o] = acc
	}
	return out
}

func foldInts(p *program, t hlo.PrimitiveType) fold1 {
	var row func(acc int64, v []int64) int64
	flip := int64(0) // makes unsigned 64-bit numbers compare as signed ones
	if t == hlo.U64 {
		flip = math.MinInt64
	}
	switch op := p.binary; {
	case op == hlo.OpAdd && t != hlo.PRED:
		row = func(acc int64, v []int64) int64 {
			for _, x := range v {
				acc += x
			}
			return acc
		}
	case op == hlo.OpMultiply:
		row = func(acc int64, v []int64) int64 {
			for _, x := range v {
				acc *= x
			}
			return acc
		}
	case op == hlo.OpAnd:
		row = func(acc int64, v []int64) int64 {
			for _, x := range v {
				acc &= x
			}
			return acc
		}
	case op == hlo.OpOr || op == hlo.OpAdd:
		row = func(acc int64, v []int64) int64 {
			for _, x := range v {
				acc |= x
			}
			return acc
		}
	case op == hlo.OpXor:
		row = func(acc int64, v []int64) int64 {
			for _, x := range v {
				acc ^= x
			}
			return acc
		}
	case op == hlo.OpMaximum:
		row = func(acc int64, v []int64) int64 {
			acc ^= flip
			for _, x := range v {
				acc = max(acc, x^flip)
			}
			return acc ^ flip
		}
	case op == hlo.OpMinimum:
		row = func(acc int64, v []int64) int64 {
			acc ^= flip
			for _, x := range v {
				acc = min(acc, x^flip)
			}
			return acc ^ flip
		}
	default:
		return nil
	}
	return func(data []byte, outputs, n int, init *hlo.Literal) lanes {
		out := foldRows(t, data, outputs, n, intsOf(init)[0], decodeInts, row)
		wrapInts(out, t)
		return lanes{i: out}
	}
}
