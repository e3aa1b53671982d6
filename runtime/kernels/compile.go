package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// compiler turns a piece of HLO into a tile program: whatever an element of the roots needs is computed at that element. Data movement
// becomes the way in which inputs are accessed.
type compiler struct {
	m     hlo.Module
	b     *tile.Builder
	space tile.Space
	leaf  func(in hlo.Instruction) (arg int, ok bool) // instructions that are inputs
	// given defines instructions that are neither inputs nor computed here, or is nil.
	given  func(in hlo.Instruction, at access) (v tile.Value, is, ok bool)
	memo   known[tile.Value]
	counts known[index] // see counted
	budget int
	axis   int // where to split the space, after a failure
	split  int64
	cut    int64 // where to cut it in two, after a failure: see joined
	// lanes says that all is scalars, of which the space has one for each element.
	lanes bool
}

// maxProgram bounds the number of values of a program: recomputation under different accesses may multiply.
const maxProgram = 4096

// compileRoots compiles array instructions of one shape's dimensions, all outputs of one program. Inputs are told by leaf.
func compileRoots(m hlo.Module, roots []hlo.Instruction, leaf func(hlo.Instruction) (int, bool)) (*tile.Program, bool) {
	return compileOver(m, roots[0].Shape().Dimensions(), leaf, func(c *compiler) bool { return c.roots(roots) })
}

// compileOver compiles what define defines over a space of dimensions, some of which may be split.
func compileOver(m hlo.Module, dims []int64, leaf func(hlo.Instruction) (int, bool), define func(c *compiler) bool) (*tile.Program, bool) {
	for range 16 {
		c := &compiler{m: m, space: tile.Space{Dims: dims}, leaf: leaf, budget: maxProgram}
		c.b = tile.NewBuilder(c.space)
		if define(c) {
			return c.b.Build()
		}
		if c.split <= 1 {
			return nil, false
		}
		dims = splitDim(dims, c.axis, c.split)
	}
	return nil, false
}

// compileResult compiles the value of an instruction, in type t, for a visitor; rows is as for [tile.Builder.Result]. The visitor sees the elements in the order
// of axes, from major to minor, or in row-major order if that is nil.
func compileResult(m hlo.Module, in hlo.Instruction, t hlo.PrimitiveType, axes []int, rows int, leaf func(hlo.Instruction) (int, bool)) (*tile.Program, bool) {
	return compileShown(m, in, axes, rows, leaf, func(c *compiler, v tile.Value) (tile.Value, bool) { return c.b.Convert(t, v) })
}

// compileMoved is compileResult for narrow floats that are elements of an input: as they are in memory, for widening them would make signalling NaNs quiet.
func compileMoved(m hlo.Module, in hlo.Instruction, axes []int, rows int, leaf func(hlo.Instruction) (int, bool)) (*tile.Program, bool) {
	return compileShown(m, in, axes, rows, leaf, func(c *compiler, v tile.Value) (tile.Value, bool) { return v, c.b.Raw(v) })
}

func compileShown(m hlo.Module, in hlo.Instruction, axes []int, rows int, leaf func(hlo.Instruction) (int, bool), as func(c *compiler, v tile.Value) (tile.Value, bool)) (*tile.Program, bool) {
	dims := slices.Clone(in.Shape().Dimensions())
	for k, axis := range axes {
		dims[k] = in.Shape().Dim(axis)
	}
	return compileOver(m, dims, leaf, func(c *compiler) bool {
		at, ok := c.start(dims)
		if !ok {
			return false
		}
		ordered := slices.Clone(at)
		for k, axis := range axes {
			ordered[axis] = at[k]
		}
		v, ok := c.value(in, ordered)
		if !ok || c.b.Type(v) != in.Shape().Type() {
			return false
		}
		if v, ok = as(c, v); !ok {
			return false
		}
		c.b.Result(v, rows)
		return true
	})
}

func splitDim(dims []int64, axis int, by int64) []int64 {
	r := append([]int64{}, dims[:axis]...)
	r = append(r, dims[axis]/by, by)
	return append(r, dims[axis+1:]...)
}

func (c *compiler) roots(roots []hlo.Instruction) bool {
	for i, root := range roots {
		at, ok := c.start(root.Shape().Dimensions())
		if !ok {
			return false
		}
		v, ok := c.value(root, at)
		if !ok || c.b.Type(v) != root.Shape().Type() {
			return false
		}
		c.b.Store(i, v)
	}
	return true
}

// start is the access at the points of the space to an array of dimensions with as many elements.
func (c *compiler) start(dims []int64) (at access, ok bool) {
	at, axis, split, ok := identity(c.space).reshaped(c.space, c.space.Dims, dims)
	if !ok {
		c.axis, c.split = axis, split
	}
	return at, ok
}

// value defines the value of an instruction at an access.
func (c *compiler) value(in hlo.Instruction, at access) (tile.Value, bool) {
	if v, ok := c.memo.find(in.ID(), at); ok {
		return v, true
	}
	if c.budget--; c.budget < 0 || !in.Shape().IsArray() {
		return 0, false
	}
	v, ok := c.define(in, at)
	if ok {
		c.memo.add(in.ID(), at, v)
	}
	return v, ok
}

func (c *compiler) define(in hlo.Instruction, at access) (tile.Value, bool) {
	t := in.Shape().Type()
	if arg, ok := c.leaf(in); ok {
		return c.input(arg, in.Shape(), at)
	}
	if c.given != nil {
		if v, is, ok := c.given(in, at); is {
			return v, ok
		}
	}
	if in.IsElementwise() && in.NumOperands() > 0 {
		if x, ok := c.counted(in, at); ok {
			return c.series(t, x)
		}
	}
	if in.Opcode() == hlo.OpCompare {
		if v, ok := c.comparedCounts(in, at); ok {
			return v, true
		}
	}
	//halo:allow opswitch each of these is compiled in its own way; the rest is movement, or one instruction
	switch in.Opcode() {
	case hlo.OpParameter:
		return 0, false
	case hlo.OpConstant:
		l := in.Literal()
		if l == nil || l.IsElided() || !tile.Supports(t) || !(l.Shape().IsScalar() || l.IsSplat()) || l.Shape().NumElements() == 0 {
			return 0, false
		}
		return c.b.Constant(t, l.Bytes()), true
	case hlo.OpIota:
		if !tile.Supports(t) {
			return 0, false
		}
		if at.turns() {
			return 0, false
		}
		x := at[hlo.AttrsOf[hlo.IotaAttrs](in).Dimension]
		return c.b.Iota(t, tile.View{Base: x.offset, Strides: x.factors})
	case hlo.OpCopy:
		if in.OperandInstr(0).Shape().Type() != t {
			return c.op(in, at)
		}
	case hlo.OpBitcast:
		if !sameOrder(in) {
			return 0, false
		}
	case hlo.OpFusion, hlo.OpCall, hlo.OpMap:
		return 0, false
	case hlo.OpConcatenate:
		return c.joined(in, at)
	case hlo.OpGather:
		return c.picked(in, at)
	case hlo.OpReduce:
		v, ok := c.folded(in, at)
		if !ok {
			return 0, false
		}
		return v[0], true
	case hlo.OpOr:
		if x, by, ok := rotation(in); ok {
			v, ok := c.value(x, at)
			if !ok {
				return 0, false
			}
			return c.b.Rotate(v, by), true
		}
	}
	if a, axis, split, ok := at.through(c.space, in); ok {
		return c.value(in.OperandInstr(0), a)
	} else if split > 1 {
		c.axis, c.split = axis, split
		return 0, false
	}
	return c.op(in, at)
}

// rotation reports whether in is x shifted left by a constant or x shifted right by the rest of its width, which is x rotated left.
func rotation(in hlo.Instruction) (x hlo.Instruction, by int, ok bool) {
	left, right := in.OperandInstr(0), in.OperandInstr(1)
	if left.Opcode() != hlo.OpShiftLeft {
		left, right = right, left
	}
	width := in.Shape().Type().Bits()
	if left.Opcode() != hlo.OpShiftLeft || right.Opcode() != hlo.OpShiftRightLogical || left.Operand(0) != right.Operand(0) || width != 32 && width != 64 {
		return x, 0, false
	}
	l, ok := constantAmount(left.OperandInstr(1))
	r, ok2 := constantAmount(right.OperandInstr(1))
	if !ok || !ok2 || l == 0 || r == 0 || l+r != width {
		return x, 0, false
	}
	return left.OperandInstr(0), l, true
}

// constantAmount is the one small integer of a constant, or of a constant that is repeated.
func constantAmount(in hlo.Instruction) (int, bool) {
	if in.Opcode() == hlo.OpBroadcast {
		in = in.OperandInstr(0)
	}
	l := in.Literal()
	if l == nil || l.IsElided() || !l.Shape().IsScalar() || !in.Shape().Type().IsInteger() {
		return 0, false
	}
	n := 0
	for i, b := range l.Bytes() {
		if i > 0 && b != 0 {
			return 0, false
		}
		n |= int(b) << (8 * min(i, 1))
	}
	return n, true
}

func (c *compiler) input(arg int, s hlo.Shape, at access) (tile.Value, bool) {
	if !tile.Supports(s.Type()) {
		return 0, false
	}
	if c.lanes {
		return c.b.Input(arg, s.Type(), tile.View{Strides: []int64{1}}), true
	}
	return c.b.Input(arg, s.Type(), at.view(c.space, s.Dimensions())), true
}

// op compiles an elementwise op.
func (c *compiler) op(in hlo.Instruction, at access) (tile.Value, bool) {
	if !in.IsElementwise() || in.NumOperands() == 0 {
		return 0, false
	}
	args := make([]tile.Value, in.NumOperands())
	for i := range args {
		o := in.OperandInstr(i)
		a := at
		if o.Shape().Rank() == 0 {
			a = nil // select and clamp repeat scalars
		} else if o.Shape().Rank() != in.Shape().Rank() {
			return 0, false
		}
		v, ok := c.value(o, a)
		if !ok {
			return 0, false
		}
		args[i] = v
	}
	return c.b.Op(in, args...)
}

// compileLanes compiles a computation on scalars for n of each of its parameters at once. Parameter i is input i; leaf i of the result is
// output i.
func compileLanes(m hlo.Module, comp hlo.Computation, n int) (*tile.Program, bool) {
	for _, id := range comp.Parameters() {
		if p, ok := comp.At(id); !ok || !p.Shape().IsScalar() {
			return nil, false
		}
	}
	roots, ok := fusionRoots(comp)
	if !ok || !roots[0].Shape().IsScalar() {
		return nil, false
	}
	space := tile.Space{Dims: []int64{int64(n)}}
	c := &compiler{m: m, space: space, b: tile.NewBuilder(space), budget: maxProgram, lanes: true}
	c.leaf = arrayParameters
	for i, root := range roots {
		v, ok := c.value(root, nil)
		if !ok || c.b.Type(v) != root.Shape().Type() {
			return nil, false
		}
		c.b.Store(i, v)
	}
	return c.b.Build()
}
