package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// scan steps a computation along an axis: slices of the inputs and the carries in, slices of the outputs and the carries out.
// The operands are the inputs, then the initial carries; the results are the stacked outputs, then the last carries.
func scan(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.ScanAttrs](c.In)
	carries := int(a.NumCarries)
	inputs := len(c.Args) - carries
	callee, ok := c.e.m.Computation(c.In.Callee(0))
	if !ok || inputs < 0 || callee.NumParameters() != len(c.Args) {
		return nil, fmt.Errorf("the computation does not take %d values", len(c.Args))
	}
	var results []hlo.Shape
	if s := c.In.Shape(); s.IsTuple() {
		results = s.Elems()
	} else {
		results = []hlo.Shape{s}
	}
	outputs := len(results) - carries
	if outputs < 0 || len(a.Dimensions) != 1 || a.Dimensions[0] < 0 {
		return nil, fmt.Errorf("%d results for %d carries along %v", len(results), carries, a.Dimensions)
	}
	axis := int(a.Dimensions[0])
	n := 0
	switch {
	case inputs > 0 && axis < c.Args[0].Shape().Rank():
		n = int(c.Args[0].Shape().Dim(axis))
	case outputs > 0 && axis < results[0].Rank():
		n = int(results[0].Dim(axis))
	}
	stacked := make([][]byte, outputs)
	for i := range stacked {
		if axis >= results[i].Rank() || int(results[i].Dim(axis)) != n {
			return nil, fmt.Errorf("result %d of shape %v for %d steps", i, results[i], n)
		}
		if err := c.affordable(results[i]); err != nil {
			return nil, err
		}
		stacked[i] = make([]byte, results[i].ByteSize())
	}
	args := append([]*hlo.Literal(nil), c.Args...)
	for t := range n {
		if a.IsReverse {
			t = n - 1 - t
		}
		for i := range inputs {
			slice, err := sliceAt(c.Args[i], axis, t, callee.Parameter(i).Shape())
			if err != nil {
				return nil, err
			}
			args[i] = slice
		}
		v, err := c.e.run(callee, args)
		if err != nil {
			return nil, err
		}
		step := []*hlo.Literal{v}
		if v.Shape().IsTuple() {
			step = step[:0]
			for i := range v.NumParts() {
				step = append(step, v.Part(i))
			}
		}
		if len(step) != len(results) {
			return nil, fmt.Errorf("the computation gives %d values, want %d", len(step), len(results))
		}
		for i := range outputs {
			dims := dimsOf(results[i])
			strides := rowMajor(dims)
			dims[axis] = 1
			if s := step[i].Shape(); s.Type() != results[i].Type() || s.NumElements() != int64(product(dims)) {
				return nil, fmt.Errorf("the computation gives %v for result %d of shape %v", s, i, results[i])
			}
			flat := rowMajor(dims)
			moveBlock(place{stacked[i], t * strides[axis], strides}, place{bytesOf(step[i]), 0, flat}, dims, results[i].Type().ByteSize())
		}
		copy(args[inputs:], step[outputs:])
	}
	parts := make([]*hlo.Literal, 0, len(results))
	for i, b := range stacked {
		l, err := hlo.NewLiteral(results[i], b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, l)
	}
	return tupleUnlessOne(c.In.Shape(), append(parts, args[inputs:]...)), nil
}

// sliceAt is the slice of l at index t of an axis, as an array of shape s: with or without the axis.
func sliceAt(l *hlo.Literal, axis, t int, s hlo.Shape) (*hlo.Literal, error) {
	dims := dimsOf(l.Shape())
	strides := rowMajor(dims)
	if axis < 0 || axis >= len(dims) || t >= dims[axis] {
		return nil, fmt.Errorf("index %d of dimension %d of %v", t, axis, l.Shape())
	}
	dims[axis] = 1
	w := l.Shape().Type().ByteSize()
	out := make([]byte, product(dims)*w)
	moveBlock(place{out, 0, rowMajor(dims)}, place{bytesOf(l), t * strides[axis], strides}, dims, w)
	return hlo.NewLiteral(s, out)
}
