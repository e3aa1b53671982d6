package layout

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ReshapeDecomposer writes reshapes as what they do in memory.
var ReshapeDecomposer = &pass.Pass{
	Name: "reshape-decomposer",
	Doc: `write reshapes as bitcasts, with copies where elements move

	nothing moves                             bitcast
	a layout of the operand is as if          bitcast(copy(x))
	a layout of the result is as if           copy(bitcast(x))
	neither                                   copy(bitcast(copy(x))), through row-major layouts

Arrays with dynamic sizes, or with tiles, stay.`,
	About: []hlo.Opcode{hlo.OpReshape},
	Lent:  true,
	Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		for in := range pass.EachOf(c, hlo.OpReshape) {
			x, s := in.OperandInstr(0).Shape().WithDefaultLayout(), in.Shape().WithDefaultLayout()
			from, okFrom := orderOf(x)
			to, okTo := orderOf(s)
			if !okFrom || !okTo || !sameMemory(x, s) || !ctx.Spend("reshape") {
				continue
			}
			ctx.Count("reshapes", 1)
			at, id := emit.Before(c, in), in.ID()
			v := in.Operand(0)
			if a, b := x.Dimensions(), s.Dimensions(); !reshapesInPlace(a, from, b, to) {
				if aligned, ok := alignedTo(b, to, a); ok {
					from = aligned
				} else if aligned, ok := alignedTo(a, from, b); ok {
					to = aligned
				} else {
					from, to = order(axesOf(x)), order(axesOf(s))
				}
			}
			v = inLayout(at, v, inOrder(x, from))
			v = at.OpOf(hlo.OpBitcast, inOrder(s, to), nil, v)
			if err := emit.Replace(c, id, inLayout(at, v, s)); err != nil {
				return err
			}
		}
		return nil
	},
}

// sameMemory reports whether two arrays differ in their layouts by the order of axes alone.
func sameMemory(a, b hlo.Shape) bool {
	l, _ := a.Layout()
	k, _ := b.Layout()
	return l.MemorySpace == k.MemorySpace && l.ElementSizeInBits == k.ElementSizeInBits
}

// inLayout is a value in the layout of a shape.
func inLayout(at emit.At, v hlo.InstrID, s hlo.Shape) hlo.InstrID {
	if at.Shape(v).WithDefaultLayout().Equal(s) {
		return v
	}
	return at.OpOf(hlo.OpCopy, s, nil, v)
}

// inOrder is a shape with its axes in another order in memory.
func inOrder(s hlo.Shape, o order) hlo.Shape {
	l, _ := s.Layout()
	own := *l
	own.MinorToMajor = slices.Clone(o)
	slices.Reverse(own.MinorToMajor)
	return s.WithLayout(&own)
}

// alignedTo is the order of an array of dims b in which nothing moves when an array of dims a in order p is reshaped to it; false if there is none. Axes of
// size 1 lie outside.
func alignedTo(a []int64, p order, b []int64) (order, bool) {
	if slices.Contains(a, 0) {
		return nil, false
	}
	groups := commonGroups(a, b)
	of := make([]int, len(a)) // the group of each axis
	for k, g := range groups {
		for _, axis := range g.a {
			of[axis] = k
		}
	}
	var q order
	for axis, d := range b {
		if d == 1 {
			q = append(q, int64(axis))
		}
	}
	own := slices.DeleteFunc(slices.Clone(p), func(axis int64) bool { return a[axis] == 1 })
	for len(own) > 0 {
		g := groups[of[own[0]]]
		if len(g.a) > len(own) || !slices.Equal(g.a, []int64(own[:len(g.a)])) {
			return nil, false
		}
		q, own = append(q, g.b...), own[len(g.a):]
	}
	return q, true
}

// group are axes of two arrays that have the same elements: one becomes the other in a reshape.
type group struct{ a, b []int64 }

// commonGroups are the smallest such groups of dims a and b, in order, without axes of size 1.
func commonGroups(a, b []int64) (groups []group) {
	var g group
	n, m := int64(1), int64(1) // elements of the group so far
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && (n <= m || j == len(b)) {
			if a[i] != 1 {
				g.a = append(g.a, int64(i))
			}
			n *= a[i]
			i++
		} else {
			if b[j] != 1 {
				g.b = append(g.b, int64(j))
			}
			m *= b[j]
			j++
		}
		if n == m && len(g.a) > 0 {
			groups, g, n, m = append(groups, g), group{}, 1, 1
		}
	}
	return groups
}
