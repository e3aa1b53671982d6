package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Asynchrony. An async value is a tuple (operands, output, contexts...) in which only the operands are real, and the rest is zeros: what is computed
// is remembered beside it, under its identity, which tuples and loops keep.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpAsyncStart:  asyncStart,
		hlo.OpAsyncUpdate: asyncUpdate,
		hlo.OpAsyncDone:   asyncDone,
		hlo.OpCopyStart:   copyStart,
		hlo.OpCopyDone:    func(c *Call) (*hlo.Literal, error) { return part(c.Args[0], 0) },
	})
}

// chain is an asynchronous computation under way and the operands bound so far, in the order of its parameters.
type chain struct {
	callee   hlo.CompID
	operands []*hlo.Literal
	value    *hlo.Literal
}

func asyncStart(c *Call) (*hlo.Literal, error) {
	if c.In.NumCallees() == 0 {
		return nil, fmt.Errorf("it calls nothing")
	}
	return c.e.pending(c.In.Shape(), &chain{callee: c.In.Callee(0), operands: append([]*hlo.Literal(nil), c.Args...)})
}

// asyncUpdate binds further operands.
func asyncUpdate(c *Call) (*hlo.Literal, error) {
	ch, err := c.chain()
	if err != nil {
		return nil, err
	}
	bound := append(append([]*hlo.Literal(nil), ch.operands...), c.Args[1:]...)
	return c.e.pending(c.In.Shape(), &chain{callee: ch.callee, operands: bound})
}

func asyncDone(c *Call) (*hlo.Literal, error) {
	ch, err := c.chain()
	if err != nil {
		return nil, err
	}
	comp, ok := c.e.m.Computation(ch.callee)
	if !ok || comp.NumParameters() != len(ch.operands) {
		return nil, fmt.Errorf("%d operands are bound, %v takes %d", len(ch.operands), comp, comp.NumParameters())
	}
	return c.e.run(comp, ch.operands)
}

// pending makes the async value of shape s for a chain.
func (e *evaluator) pending(s hlo.Shape, ch *chain) (*hlo.Literal, error) {
	if !s.IsTuple() || s.NumElems() < 2 {
		return nil, fmt.Errorf("async value of shape %v", s)
	}
	parts := make([]*hlo.Literal, s.NumElems())
	for i := range parts[1:] {
		z, err := assemble(s.Elem(i+1), zeroLiteral)
		if err != nil {
			return nil, err
		}
		parts[i+1] = z
	}
	parts[0] = hlo.NewElidedLiteral(s.Elem(0))
	switch operands := s.Elem(0); {
	case operands.IsTuple() && operands.NumElems() == len(ch.operands):
		parts[0] = hlo.NewTupleLiteral(ch.operands...)
	case len(ch.operands) == 1:
		parts[0] = ch.operands[0] // the flat form of a single operand
	}
	v := hlo.NewTupleLiteral(parts...)
	if e.chains == nil {
		e.chains = make(map[*hlo.Literal]*chain)
	}
	ch.value = v
	e.chains[v], e.chains[parts[1]] = ch, ch // the second for tuples of the same parts
	return v, nil
}

// chain is what operand 0 is the value of. A value from outside of this evaluation is followed to its start through the graph.
func (c *Call) chain() (*chain, error) {
	v := c.Args[0]
	if ch := c.e.chains[v]; ch != nil {
		return ch, nil
	}
	if v.NumParts() > 1 {
		if ch := c.e.chains[v.Part(1)]; ch != nil && sameParts(v, ch.value) {
			return ch, nil
		}
	}
	comp, ok := hlo.AsyncCallee(c.e.m, c.In)
	if !ok || v.NumParts() == 0 {
		return nil, fmt.Errorf("the operand is not the value of an async-start")
	}
	ch := &chain{callee: comp.ID()}
	if bound := v.Part(0); bound.Shape().IsTuple() && bound.NumParts() == comp.NumParameters() {
		for i := range bound.NumParts() {
			ch.operands = append(ch.operands, bound.Part(i))
		}
	} else {
		ch.operands = []*hlo.Literal{bound}
	}
	return ch, nil
}

// sameParts reports whether two tuples have the same parts, not only equal ones.
func sameParts(a, b *hlo.Literal) bool {
	for i := range a.NumParts() {
		if i >= b.NumParts() || a.Part(i) != b.Part(i) {
			return false
		}
	}
	return a.NumParts() == b.NumParts()
}

// copyStart is (destination, source, context).
func copyStart(c *Call) (*hlo.Literal, error) {
	s := c.In.Shape()
	if !s.IsTuple() || s.NumElems() < 2 {
		return nil, fmt.Errorf("result of shape %v", s)
	}
	return withContexts(s, c.Args[0], c.Args[0])
}

// withContexts makes a tuple of shape s that begins with parts and goes on with zeros.
func withContexts(s hlo.Shape, parts ...*hlo.Literal) (*hlo.Literal, error) {
	parts = append([]*hlo.Literal(nil), parts...)
	for i := len(parts); i < s.NumElems(); i++ {
		z, err := assemble(s.Elem(i), zeroLiteral)
		if err != nil {
			return nil, err
		}
		parts = append(parts, z)
	}
	return hlo.NewTupleLiteral(parts...), nil
}

// zeroLiteral is an array of zeros.
func zeroLiteral(s hlo.Shape) (*hlo.Literal, error) {
	if s.IsArray() && s.IsStatic() {
		return hlo.NewLiteral(s, make([]byte, s.ByteSize()))
	}
	if s.IsToken() {
		return hlo.NewLiteral(s, nil)
	}
	return hlo.NewElidedLiteral(s), nil
}

// part is element i of a tuple.
func part(l *hlo.Literal, i int) (*hlo.Literal, error) {
	if i >= l.NumParts() {
		return nil, fmt.Errorf("operand of shape %v has no element %d", l.Shape(), i)
	}
	return l.Part(i), nil
}
