package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Values of dynamic size are literals of the size that they have, so sizes written in a program are bounds there, and the size of a result
// follows from those of the operands. Most ops have it from shape inference on the operands as they are; those here do not.

// sized is the shape of a result that has dynamic dimensions.
func (c *Call) sized() (hlo.Shape, error) {
	s := c.In.Shape()
	switch op := c.In.Opcode(); {
	case op == hlo.OpBroadcast:
		return c.sizedBroadcast(s)
	case op == hlo.OpGather:
		return c.sizedGather()
	case hlo.Info(op).Traits.Has(hlo.TraitElementwise) && s.IsArray() && c.Args[0].Shape().Rank() <= s.Rank():
		return c.sizedElements(s)
	}
	sized, err := c.inferred()
	if err == nil && s.IsArray() && sized.IsArray() {
		sized = sized.WithType(s.Type()) // a product may be wider than its factors
	}
	return sized, err
}

// sizedElements is the shape of an elementwise result.
func (c *Call) sizedElements(s hlo.Shape) (hlo.Shape, error) {
	dims := s.Dimensions()
	if err := c.agree(c.axesInCommon(len(dims), -1)); err != nil {
		return s, err
	}
	for i, a := range c.Args {
		for axis := range dims {
			if a.Shape().Rank() == len(dims) && c.In.OperandInstr(i).Shape().IsDynamicDimension(axis) {
				dims[axis] = a.Shape().Dim(axis)
			}
		}
	}
	return hlo.MakeShape(s.Type(), dims...), nil
}

// operandAxis is an axis of an operand.
type operandAxis struct{ operand, axis int }

// axesInCommon groups the axes, but for one, of the operands of a rank.
func (c *Call) axesInCommon(rank, but int) [][]operandAxis {
	groups := make([][]operandAxis, rank)
	for i, a := range c.Args {
		for axis := range rank {
			if axis != but && a.Shape().Rank() == rank {
				groups[axis] = append(groups[axis], operandAxis{i, axis})
			}
		}
	}
	return groups
}

// agree takes groups of axes that an op goes through together. Where one is dynamic, static ones are cut to its size: what is behind it in
// them has no counterpart.
func (c *Call) agree(groups [][]operandAxis) error {
	args, static := slices.Clone(c.Args), true
	for i := range args {
		static = static && c.In.OperandInstr(i).Shape().IsStatic()
	}
	if static {
		return nil
	}
	for _, g := range groups {
		n := int64(-1)
		for _, m := range g {
			if !c.In.OperandInstr(m.operand).Shape().IsDynamicDimension(m.axis) {
				continue
			}
			now := args[m.operand].Shape().Dim(m.axis)
			if n >= 0 && n != now {
				return fmt.Errorf("operands of sizes %d and %d in dimension %d", n, now, m.axis)
			}
			n = now
		}
		if n < 0 {
			continue
		}
		for _, m := range g {
			of := args[m.operand].Shape()
			switch now := of.Dim(m.axis); {
			case now < n:
				return fmt.Errorf("an operand of shape %v for a size of %d in dimension %d", of, n, m.axis)
			case now > n:
				dims := of.Dimensions()
				dims[m.axis] = n
				cut, err := cutOut(hlo.MakeShape(of.Type(), dims...), ints(dims), place{bytesOf(args[m.operand]), 0, rowMajor(dimsOf(of))})
				if err != nil {
					return err
				}
				args[m.operand] = cut
			}
		}
	}
	c.Args = args
	return nil
}

// sizedBroadcast is the shape of a broadcast: its dynamic dimensions are the operand's.
func (c *Call) sizedBroadcast(s hlo.Shape) (hlo.Shape, error) {
	dims, from := s.Dimensions(), c.Args[0].Shape()
	known := make([]bool, len(dims))
	for i, a := range hlo.AttrsOf[hlo.BroadcastAttrs](c.In).Dimensions {
		if a >= 0 && int(a) < len(dims) && i < from.Rank() && c.In.OperandInstr(0).Shape().IsDynamicDimension(i) {
			dims[a], known[a] = from.Dim(i), true
		}
	}
	for i := range dims {
		if s.IsDynamicDimension(i) && !known[i] {
			return s, fmt.Errorf("broadcast to the dynamic shape %v: the size of dimension %d is not one of the operand's", s, i)
		}
	}
	return hlo.MakeShape(s.Type(), dims...), nil
}

// sizedBitcast is the shape of a bitcast of an array of shape from to one of shape s: where axes are dynamic, those of both are the same in the
// order of their layouts.
func (c *Call) sizedBitcast(from, s hlo.Shape) (hlo.Shape, error) {
	if s.IsStatic() {
		return s, nil
	}
	now, dims := c.Args[0].Shape(), s.Dimensions()
	a, b := majorToMinor(from), majorToMinor(s)
	if !slices.Equal(picked(dimsOf(from), a), picked(ints(dims), b)) || from.Type().Bits() != s.Type().Bits() {
		return s, fmt.Errorf("bitcast of %v to %v, of another form", from, s)
	}
	for i := range a {
		dims[b[i]] = now.Dim(a[i])
	}
	return hlo.MakeShape(s.Type(), dims...), nil
}

// block is the sizes of a block of operand 0: an axis of dynamic size that the block takes whole is as large as it is.
func (c *Call) block(sizes []int64) []int {
	of, now := c.In.OperandInstr(0).Shape(), c.Args[0].Shape()
	block := ints(sizes)
	if of.Rank() != len(block) || now.Rank() != len(block) {
		return block
	}
	for i, n := range sizes {
		if of.IsDynamicDimension(i) && n == of.Dim(i) {
			block[i] = int(now.Dim(i))
		}
	}
	return block
}

// sizedGather is the shape of a gather.
func (c *Call) sizedGather() (hlo.Shape, error) {
	a := hlo.AttrsOf[hlo.GatherAttrs](c.In)
	a.SliceSizes = nil
	for _, n := range c.block(hlo.AttrsOf[hlo.GatherAttrs](c.In).SliceSizes) {
		a.SliceSizes = append(a.SliceSizes, int64(n))
	}
	return c.inferredWith(&a)
}

// sizedReshape is the shape of a reshape of l to s. The shapes without their static axes of size one are split into the smallest groups of axes that
// hold as many elements by the sizes written; in each group one axis of the result can have a size that is not written.
func (c *Call) sizedReshape(l, s hlo.Shape) (hlo.Shape, error) {
	from, dims := c.In.OperandInstr(0).Shape(), s.Dimensions()
	source, target := longAxes(from), longAxes(s)
	for i, j := 0, 0; i < len(source) || j < len(target); {
		first := j
		p, q, now := int64(1), int64(1), int64(1)
		take := func() { p, now, i = p*from.Dim(source[i]), now*l.Dim(source[i]), i+1 }
		give := func() { q, j = q*s.Dim(target[j]), j+1 }
		if i < len(source) {
			take()
		}
		if j < len(target) {
			give()
		}
		for p != q {
			switch {
			case i < len(source) && (p < q || j == len(target)):
				take()
			case j < len(target):
				give()
			default:
				return s, fmt.Errorf("reshape of %v to %v", from, s)
			}
		}
		if err := fillGroup(s, dims, target[first:j], now); err != nil {
			return s, fmt.Errorf("reshape of %v, of the sizes of %v: %w", from, l, err)
		}
	}
	return hlo.MakeShape(s.Type(), dims...), nil
}

// longAxes lists the axes but for the static ones of size one.
func longAxes(s hlo.Shape) (axes []int) {
	for i := range s.Rank() {
		if s.Dim(i) != 1 || s.IsDynamicDimension(i) {
			axes = append(axes, i)
		}
	}
	return axes
}

// fillGroup finds the size of the dynamic axis among some axes of a reshape, which hold n elements.
func fillGroup(s hlo.Shape, dims []int64, axes []int, n int64) error {
	rest, at := int64(1), -1
	for _, a := range axes {
		switch {
		case !s.IsDynamicDimension(a):
			rest *= dims[a]
		case at >= 0:
			return fmt.Errorf("axes %d and %d of %v are both dynamic", at, a, s)
		default:
			at = a
		}
	}
	switch {
	case at < 0 && rest == n:
		return nil
	case at < 0 || rest == 0 || n%rest != 0 || n/rest > dims[at]:
		return fmt.Errorf("%d elements do not fill %v", n, s)
	}
	dims[at] = n / rest
	return nil
}
