package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// turnRules undo what is written for the last axis and applied along another one by moving axes there and back, as `jnp.unpackbits` and `jax.vmap` do.
var turnRules = []*pass.RewriteRule{
	{ID: "E43", Doc: "transpose of what is computed from transposes → computed from other transposes, on CPUs, if these move fewer elements", Root: []hlo.Opcode{hlo.OpTranspose},
		RewriteAt: func(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
			x := in.OperandInstr(0)
			if !static(in, x) || !oneUse(x) || in.Shape().NumElements() == 0 {
				return no()
			}
			t := turning{s, maxTurned}
			e, moved := t.turn(x, axes(in), true)
			if !valid(e) || moved >= in.Shape().NumElements() {
				return no()
			}
			return e, true
		}},
}

// maxTurned is how many instructions are looked at for one transpose.
const maxTurned = 64

// turning looks for a cheaper way to have an array with its axes in another order.
type turning struct {
	s    pass.Site
	left int // instructions that may be looked at
}

// turn is x with its axes in the order perm, and how many elements transposes move more for it than now; what is under x has no other readers if sole.
func (t *turning) turn(x hlo.Instruction, perm []int64, sole bool) (pass.Expr, int64) {
	if slices.IsSorted(perm) {
		return pass.Use(x), 0
	}
	sole = sole && oneUse(x)
	if t.left--; t.left >= 0 && isPlainArray(x) {
		if e, moved, ok := t.inside(x, perm, sole); ok && valid(e) && moved < x.Shape().NumElements() {
			return e, moved
		}
	}
	return transposed(pass.Use(x), perm...), x.Shape().NumElements()
}

// isPlainArray reports an array of fixed size of which nothing is said that a copy of the instruction might not keep to.
func isPlainArray(x hlo.Instruction) bool {
	c := x.Common()
	return static(x) && x.NumControlPredecessors()+x.NumControlSuccessors() == 0 && (c == nil || c.Sharding == nil && c.ResultAccuracy == nil)
}

// inside turns what x is computed from. A transpose or a broadcast that others read, too, is made once more; anything else would be computed twice.
func (t *turning) inside(x hlo.Instruction, perm []int64, sole bool) (e pass.Expr, moved int64, ok bool) {
	//halo:allow opswitch each of them turns in its own way
	switch x.Opcode() {
	case hlo.OpTranspose:
		whole := permuted(axes(x), perm)
		if e = transposed(pass.Use(x.OperandInstr(0)), whole...); !slices.IsSorted(whole) {
			moved = x.Shape().NumElements()
		}
		if sole {
			moved -= x.Shape().NumElements()
		}
		return e, moved, true
	case hlo.OpBroadcast:
		return t.broadcast(x, perm, sole)
	}
	traits := hlo.Info(x.Opcode()).Traits
	switch {
	case !sole:
		return e, 0, false
	case is(x, hlo.OpReshape):
		return t.reshape(x, perm)
	case is(x, hlo.OpReduce):
		return t.reduce(x, perm)
	case !x.IsElementwise() || traits.Has(hlo.TraitRandom) || traits.Has(hlo.TraitSideEffect) || x.NumCallees() > 0:
		return e, 0, false
	}
	operands := make([]pass.Expr, x.NumOperands())
	for i := range operands {
		o := x.OperandInstr(i)
		if operands[i] = pass.Use(o); o.Shape().Rank() == len(perm) { // or a scalar, of select and clamp
			more := int64(0)
			operands[i], more = t.turn(o, perm, true)
			moved += more
		}
	}
	return shaped(x.Opcode(), turnedShape(x, perm), x.Attrs(), operands...), moved, true
}

// broadcast turns the operand if its axes do not stay in order.
func (t *turning) broadcast(x hlo.Instruction, perm []int64, sole bool) (e pass.Expr, moved int64, ok bool) {
	var order, at []int64 // the axes of the operand in the order of the result, and where they are there
	for i, a := range perm {
		if k := slices.Index(broadcastAxes(x), a); k >= 0 {
			order, at = append(order, int64(k)), append(at, int64(i))
		}
	}
	e, moved = t.turn(x.OperandInstr(0), order, sole)
	return shaped(hlo.OpBroadcast, turnedShape(x, perm), &hlo.BroadcastAttrs{Dimensions: at}, e), moved, true
}

// reshape turns the operand where the axes that a reshape splits or joins stay together.
func (t *turning) reshape(x hlo.Instruction, perm []int64) (e pass.Expr, moved int64, ok bool) {
	y := x.OperandInstr(0)
	from, to := groups(y.Shape().Dimensions(), x.Shape().Dimensions())
	var under []int64
	for i := 0; i < len(perm); {
		g := slices.IndexFunc(to, func(r [2]int64) bool { return r[0] == perm[i] })
		if g < 0 {
			return e, 0, false
		}
		for a := to[g][0]; a < to[g][1]; a++ {
			if i == len(perm) || perm[i] != a {
				return e, 0, false
			}
			i++
		}
		for a := from[g][0]; a < from[g][1]; a++ {
			under = append(under, a)
		}
	}
	e, moved = t.turn(y, under, true)
	return reshaped(e, permuted(x.Shape().Dimensions(), perm)...), moved, true
}

// groups cuts the dimensions of a reshape's operand and result into as many ranges of axes with as many elements each.
func groups(from, to []int64) (f, t [][2]int64) {
	for i, k := 0, 0; i < len(from) && k < len(to); {
		f, t = append(f, [2]int64{int64(i), 0}), append(t, [2]int64{int64(k), 0})
		a, b := from[i], to[k]
		for i, k = i+1, k+1; a != b; {
			if a < b {
				a *= from[i]
				i++
			} else {
				b *= to[k]
				k++
			}
		}
		f[len(f)-1][1], t[len(t)-1][1] = int64(i), int64(k)
	}
	if n := len(f); n > 0 { // axes of size 1 are left
		f[n-1][1], t[n-1][1] = int64(len(from)), int64(len(to))
	}
	return f, t
}

// reduce turns the operand, with the axes that go wherever that is cheapest. The order of what is folded may change.
func (t *turning) reduce(x hlo.Instruction, perm []int64) (e pass.Expr, moved int64, ok bool) {
	if x.NumOperands() != 2 {
		return e, 0, false
	}
	if by, known := combinerOf(t.s, x); !known || !by.associative() {
		return e, 0, false
	}
	y, gone := x.OperandInstr(0), axes(x)
	var kept []int64
	for i := range int64(y.Shape().Rank()) {
		if !slices.Contains(gone, i) {
			kept = append(kept, i)
		}
	}
	kept = permuted(kept, perm)
	for at := range len(kept) + 1 {
		v, more := t.turn(y, slices.Insert(slices.Clone(kept), at, gone...), true)
		if !ok || more < moved {
			places := axisRange(at + len(gone))[at:]
			e, moved, ok = reduced(x, v, pass.Use(x.OperandInstr(1)), places), more, true
		}
	}
	return e, moved, ok
}

// permuted lists what stands at the places that perm says.
func permuted(of, perm []int64) []int64 {
	r := make([]int64, len(perm))
	for i, p := range perm {
		r[i] = of[p]
	}
	return r
}

func turnedShape(x hlo.Instruction, perm []int64) hlo.Shape {
	return array(x.Shape().Type(), permuted(x.Shape().Dimensions(), perm)...)
}
