package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// apply prepares callee i to be applied to elements. A computation that is not plain scalar code is evaluated element by element.
func (c *Call) apply(i int) (*program, error) {
	id := c.In.Callee(i)
	if p := c.e.applied[id]; p != nil {
		return p, nil
	}
	comp, ok := c.e.m.Computation(id)
	if !ok {
		return nil, fmt.Errorf("callee %d does not exist", i)
	}
	p, err := computationProgram(c.e.m, comp)
	if err != nil {
		if p, err = c.e.interpreted(comp); err != nil {
			return nil, err
		}
	}
	if c.e.applied == nil {
		c.e.applied = make(map[hlo.CompID]*program)
	}
	c.e.applied[id] = p
	return p, nil
}

// takes checks that a program computes on elements of the given arrays and gives so many results.
func (p *program) takes(results int, arrays ...*hlo.Literal) error {
	if len(p.params) != len(arrays) || len(p.results) != results {
		return fmt.Errorf("the computation takes %d values and gives %d, want %d and %d", len(p.params), len(p.results), len(arrays), results)
	}
	for i, a := range arrays {
		if t := p.types[p.params[i]]; classOf(t) != classOf(a.Shape().Type()) {
			return fmt.Errorf("the computation takes %v for an element of %v", t, a.Shape())
		}
	}
	return nil
}

// folds checks that a program folds elements of inputs into accumulators of the types of inits.
func (p *program) folds(inits, inputs []*hlo.Literal) error {
	if err := p.takes(len(inits), slices.Concat(inits, inputs)...); err != nil {
		return err
	}
	for i, l := range inits {
		if t := p.types[p.results[i]]; classOf(t) != classOf(l.Shape().Type()) {
			return fmt.Errorf("the computation gives %v for an element of %v", t, l.Shape())
		}
	}
	return nil
}

// interpreted wraps a computation as a program that evaluates it for each element.
func (e *evaluator) interpreted(c hlo.Computation) (*program, error) {
	p := new(program)
	add := func(s hlo.Shape, regs *[]int) error {
		var err error
		for _, leaf := range s.Leaves {
			if !leaf.IsScalar() {
				err = fmt.Errorf("computation %s is applied to elements, but has a value of shape %v", c.Name(), leaf)
				break
			}
			*regs = append(*regs, len(p.types))
			p.types = append(p.types, leaf.Type())
		}
		return err
	}
	for i := range c.NumParameters() {
		if err := add(c.Parameter(i).Shape(), &p.params); err != nil {
			return nil, err
		}
	}
	if err := add(c.Root().Shape(), &p.results); err != nil {
		return nil, err
	}
	p.slow = func(f *frame, n int) error {
		args := make([]*hlo.Literal, c.NumParameters())
		for k := range n {
			leaf := 0
			for i := range args {
				a, err := assemble(c.Parameter(i).Shape(), func(s hlo.Shape) (*hlo.Literal, error) {
					leaf++
					return f.param(leaf-1).element(s, k)
				})
				if err != nil {
					return err
				}
				args[i] = a
			}
			v, err := e.run(c, args)
			if err != nil {
				return err
			}
			for i, l := range leavesOf(v, nil) {
				f.result(i).setElement(k, l)
			}
		}
		return nil
	}
	return p, nil
}

// element is lane k as a literal of scalar shape s.
func (l *lanes) element(s hlo.Shape, k int) (*hlo.Literal, error) {
	b := make([]byte, s.ByteSize())
	one := l.lane(k)
	one.store(s.Type(), b)
	return hlo.NewLiteral(s, b)
}

// setElement sets lane k to a scalar.
func (l *lanes) setElement(k int, v *hlo.Literal) {
	one := l.lane(k)
	one.load(v.Shape().Type(), bytesOf(v))
}

// lane is lane k alone.
func (l *lanes) lane(k int) lanes {
	switch {
	case l.f != nil:
		return lanes{f: l.f[k : k+1]}
	case l.i != nil:
		return lanes{i: l.i[k : k+1]}
	default:
		return lanes{z: l.z[k : k+1]}
	}
}

// assemble makes a literal of shape s out of its leaves, in order.
func assemble(s hlo.Shape, leaf func(hlo.Shape) (*hlo.Literal, error)) (*hlo.Literal, error) {
	if !s.IsTuple() {
		return leaf(s)
	}
	parts := make([]*hlo.Literal, s.NumElems())
	for i := range parts {
		var err error
		if parts[i], err = assemble(s.Elem(i), leaf); err != nil {
			return nil, err
		}
	}
	return hlo.NewTupleLiteral(parts...), nil
}

// leavesOf appends the leaves of l in order.
func leavesOf(l *hlo.Literal, leaves []*hlo.Literal) []*hlo.Literal {
	if !l.Shape().IsTuple() {
		return append(leaves, l)
	}
	for i := range l.NumParts() {
		leaves = leavesOf(l.Part(i), leaves)
	}
	return leaves
}

// tupleUnlessOne is the value of an op of result shape s: its only part, or the tuple of its parts.
func tupleUnlessOne(s hlo.Shape, parts []*hlo.Literal) *hlo.Literal {
	if !s.IsTuple() && len(parts) == 1 {
		return parts[0]
	}
	return hlo.NewTupleLiteral(parts...)
}
