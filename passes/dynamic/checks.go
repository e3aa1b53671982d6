package dynamic

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Conditions on sizes, op by op. Each is what the evaluator asks of the sizes that it meets, or more.

// writeCheckedly writes an instruction under the conditions of its op.
func (b *body) writeCheckedly(in hlo.Instruction) {
	if in.Opcode() == hlo.OpParameter {
		return
	}
	r := b.flow.rowFor(in)
	if r.boundary || r.rewrite == nil || r.check == nil || !r.check(b, in) || !r.rewrite(b, in) {
		if b.err == nil {
			b.ctx.Missed(in, "the program is left to the evaluator: there are no conditions under which %v of this kind has a static form", in.Opcode())
			b.err = errLeft
		}
		return
	}
	if v := b.of[in.ID()]; v == nil || !v.isKnown() {
		b.err = errLeft
	}
}

// isKnown reports whether all dynamic dimensions of all arrays have sizes.
func (v *value) isKnown() bool {
	if v.shape.IsStatic() {
		return true
	}
	if v.shape.IsTuple() {
		return v.parts != nil && !slices.ContainsFunc(v.parts, func(p *value) bool { return !p.isKnown() })
	}
	for d := range v.shape.Rank() {
		if v.shape.IsDynamicDimension(d) && (v.data == hlo.NoInstr || v.sizes[d] == hlo.NoInstr) {
			return false
		}
	}
	return true
}

func always(*body, hlo.Instruction) bool { return true }

// condition adds one.
func (b *body) condition(d hlo.Direction, x, y hlo.InstrID) {
	b.conditions = append(b.conditions, b.at.Compare(d, x, y))
}

// equal asks that two sizes be equal.
func (b *body) equal(x, y hlo.InstrID) {
	if !b.sameNumber(x, y) {
		b.condition(hlo.EQ, x, y)
	}
}

// least asks that a size be at least so many.
func (b *body) least(n hlo.InstrID, k int64) { b.condition(hlo.GE, n, b.number(k)) }

// within asks that a number, of 32 bits or more and with a sign, be a size of a dimension.
func (b *body) within(n hlo.InstrID, bound int64) bool {
	t := b.at.Shape(n).Type()
	if !t.IsInteger() || !t.IsSigned() || t.Bits() < 32 {
		return false
	}
	if l := b.c.At(n).Literal(); l != nil {
		known, ok := l.ScalarInt()
		return ok && known >= 0 && known <= bound
	}
	b.condition(hlo.GE, n, b.at.Int(t, 0))
	b.condition(hlo.LE, n, b.at.Int(t, bound))
	return true
}

// meet asks that dimensions that are gone through together be of one size. Those that are static are as large as the bounds of the others, and cut.
type meet struct {
	bound int64
	size  hlo.InstrID
}

// with adds a dimension of a value, and reports whether its bound is that of the others.
func (m *meet) with(b *body, v *value, d int) bool {
	if m.bound < 0 {
		m.bound = v.shape.Dim(d)
	}
	if v.shape.Dim(d) != m.bound {
		return false
	}
	switch n := v.sizes[d]; {
	case n == hlo.NoInstr:
	case m.size == hlo.NoInstr:
		m.size = n
	default:
		b.equal(m.size, n)
	}
	return true
}

// is reports whether a dimension of a result is as it should be: dynamic if one of those that meet is.
func (m *meet) is(s hlo.Shape, d int) bool {
	return s.Dim(d) == m.bound && s.IsDynamicDimension(d) == (m.size != hlo.NoInstr)
}

func newMeet() *meet { return &meet{-1, hlo.NoInstr} }

// same reports whether dimension e of a result is that of an operand.
func same(v *value, d int, s hlo.Shape, e int) bool {
	return v.shape.Dim(d) == s.Dim(e) && (v.sizes[d] != hlo.NoInstr) == s.IsDynamicDimension(e)
}

// together asks of operands, but for scalars, that all dimensions but one agree with each other and with the result.
func (b *body) together(values []*value, s hlo.Shape, but int) bool {
	for d := range s.Rank() {
		if d == but {
			continue
		}
		m := newMeet()
		for _, v := range values {
			if !m.with(b, v, d) {
				return false
			}
		}
		if !m.is(s, d) {
			return false
		}
	}
	return true
}

func checkElementwise(b *body, in hlo.Instruction) bool {
	if !in.Shape().IsArray() {
		return false
	}
	var values []*value
	for i, o := range slices.Collect(in.Operands()) {
		switch s := o.Shape(); {
		case !s.IsArray():
			return false
		case s.Rank() == in.Shape().Rank():
			values = append(values, b.operand(i))
		case !s.IsScalar():
			return false
		}
	}
	return b.together(values, in.Shape(), -1)
}

func checkSame(b *body, in hlo.Instruction) bool {
	return in.Shape().Rank() == in.OperandInstr(0).Shape().Rank() && b.together([]*value{b.operand(0)}, in.Shape(), -1)
}

func checkSetSize(b *body, in hlo.Instruction) bool {
	v, s, d := b.operand(0), in.Shape(), int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
	if !b.together([]*value{v}, s, d) || s.Dim(d) != v.shape.Dim(d) {
		return false
	}
	n := b.operand(1).data
	if s.IsDynamicDimension(d) {
		return b.within(n, s.Dim(d))
	}
	l := b.c.At(n).Literal()
	if l == nil {
		return false
	}
	known, ok := l.ScalarInt()
	return ok && known == s.Dim(d)
}

func checkBroadcast(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	for i, d := range hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions {
		if !same(v, i, in.Shape(), int(d)) {
			return false
		}
	}
	return true
}

func checkTranspose(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	for i, d := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		if !same(v, int(d), in.Shape(), i) {
			return false
		}
	}
	return true
}

func checkConcatenate(b *body, in hlo.Instruction) bool {
	axis, s := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]), in.Shape()
	var values []*value
	bound, some := int64(0), false
	for i, o := range slices.Collect(in.Operands()) {
		if o.Shape().Type() != s.Type() {
			return false
		}
		v := b.operand(i)
		values = append(values, v)
		bound, some = bound+v.shape.Dim(axis), some || v.sizes[axis] != hlo.NoInstr
	}
	return bound == s.Dim(axis) && some == s.IsDynamicDimension(axis) && b.together(values, s, axis)
}

func checkPad(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	for d, p := range hlo.AttrsOf[hlo.PadAttrs](in).Padding {
		if p.Low < 0 || p.High < 0 || p.Interior < 0 || (v.sizes[d] != hlo.NoInstr) != in.Shape().IsDynamicDimension(d) {
			return false
		}
	}
	return true
}

// checkSlice: a slice of static size is there whole.
func checkSlice(b *body, in hlo.Instruction) bool {
	v := b.operand(0)
	for d, r := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		switch dynamic := in.Shape().IsDynamicDimension(d); {
		case v.sizes[d] == hlo.NoInstr && dynamic:
			return false
		case v.sizes[d] != hlo.NoInstr && !dynamic:
			b.least(v.sizes[d], r.Limit)
		}
	}
	return true
}

// product is the number of elements of some dimensions.
func (b *body) product(v *value, dims []int) hlo.InstrID {
	known, n := int64(1), hlo.NoInstr
	for _, d := range dims {
		switch {
		case v.sizes[d] == hlo.NoInstr:
			known *= v.shape.Dim(d)
		case n == hlo.NoInstr:
			n = v.sizes[d]
		default:
			n = b.at.Binary(hlo.OpMultiply, n, v.sizes[d])
		}
	}
	if n == hlo.NoInstr {
		return b.number(known)
	}
	return b.times(n, known)
}

// checkReshape: each group of dimensions of the result holds the elements of its group of the operand.
func checkReshape(b *body, in hlo.Instruction) bool {
	v, s := b.operand(0), in.Shape()
	groups, ok := grouped(v.shape, s)
	if !ok || v.shape.NumElements() == 0 || v.shape.NumElements() > math.MaxInt32 || s.NumElements() > math.MaxInt32 {
		return false
	}
	for _, g := range groups {
		at, rest, ok := g.dynamicOf(s)
		if !ok {
			return false
		}
		sized := v.masked(g.from...)
		switch n := hlo.NoInstr; {
		case at >= 0 && (!sized || rest == 0):
			return false
		case !sized:
		case at < 0:
			b.equal(b.product(v, g.from), b.number(rest))
		default:
			n = b.product(v, g.from)
			if rest > 1 {
				b.condition(hlo.EQ, b.at.Binary(hlo.OpRemainder, n, b.number(rest)), b.number(0))
			}
			b.condition(hlo.LE, b.over(n, rest), b.number(s.Dim(at)))
		}
	}
	return true
}

func checkDynamicReshape(b *body, in hlo.Instruction) bool {
	v, s := b.operand(0), in.Shape()
	if v.shape.NumElements() > math.MaxInt32 || s.NumElements() > math.MaxInt32 {
		return false
	}
	to := array(s, hlo.NoInstr, noSizes(s.Rank()))
	for d := range s.Rank() {
		n := b.operand(d + 1).data
		if !b.within(n, s.Dim(d)) {
			return false
		}
		if n = b.at.Convert(n, hlo.S32); s.IsDynamicDimension(d) {
			to.sizes[d] = n
		} else {
			b.equal(n, b.number(s.Dim(d)))
		}
	}
	b.equal(b.product(v, axesOf(v.shape)), b.product(to, axesOf(s)))
	return true
}

// axesOf lists all dimensions.
func axesOf(s hlo.Shape) []int {
	dims := make([]int, s.Rank())
	for d := range dims {
		dims[d] = d
	}
	return dims
}
