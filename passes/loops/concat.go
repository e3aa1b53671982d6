package loops

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const concatDoc = `carry arrays that the body of a loop concatenates as one array

Parts of the state that the body concatenates, and whose next values are computed in the same way, become one part: the concatenation moves in front of the loop, the ops on each become one op on
all, and slices behind the loop take the parts out. What the next values read, other parts of the state included, must be equally parallel: elementwise ops, broadcasts, reductions,
reshapes by dimensions of size 1, slices that divide one array, or one value for all.`

var concatParams = []pass.Param{{Name: "min-operand-count-to-optimize", Doc: "look at concatenations of so many arrays or more; 4"}}

// NewConcatMotion makes the pass while-loop-concat-code-motion.
func NewConcatMotion(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(concatParams[0].Name); err != nil {
		return nil, err
	}
	least, err := o.Int(concatParams[0].Name, 4)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "while-loop-concat-code-motion", Doc: concatDoc, Options: o, Params: concatParams, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			for in := range c.PostOrder() {
				if in.Opcode() != hlo.OpWhile || in.Callee(0) == in.Callee(1) {
					continue
				}
				g := &grouping{ctx: ctx, e: e, m: m, c: e.Computation(c.ID()), while: in.ID(), groups: map[string]form{}, member: map[int]string{}}
				if g.find(in, max(least, 2)) {
					if err := g.apply(); err != nil {
						return m, err
					}
				}
			}
		}
		return e.Freeze(), nil
	}}, nil
}

// form says how arrays are put together: along a dimension of theirs, or along a new one.
type form struct {
	axis int
	new  bool
}

// of is the dimensions of n arrays put together.
func (f form) of(dims []int64, n int) []int64 {
	if f.new {
		return slices.Insert(slices.Clone(dims), f.axis, int64(n))
	}
	whole := slices.Clone(dims)
	whole[f.axis] *= int64(n)
	return whole
}

// grouping is the work on one loop.
type grouping struct {
	ctx   *pass.Context
	e     *hlo.Editor
	m     hlo.Module
	c     hlo.CompEdit
	while hlo.InstrID
	looseState

	groups  map[string]form // of instructions that become one
	member  map[int]string  // the group of a part of the state
	parts   map[string][]int
	concats []hlo.InstrID
}

func vector(ids []hlo.InstrID) string { return fmt.Sprint(ids) }

// find looks for concatenations to move; it changes nothing.
func (g *grouping) find(while hlo.Instruction, least int) bool {
	g.parts = map[string][]int{}
	var ok bool
	if g.looseState, ok = looseStateOf(g.e, g.m, while); !ok {
		return false
	}
	for i, reads := range g.inCond {
		if reads {
			g.member[i] = "condition" // these stay as they are
		}
	}
	for in := range g.body.PostOrder() {
		if in.Opcode() != hlo.OpConcatenate || in.NumOperands() < least || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
			continue
		}
		undo := *g
		undo.groups, undo.member, undo.parts = clone(g.groups), clone(g.member), clone(g.parts)
		axis := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
		before := len(g.parts)
		if !g.group(slices.Collect(in.OperandIDs()), form{axis: axis}, 0) || len(g.parts) == before && !g.divides(slices.Collect(in.OperandIDs()), form{axis: axis}) || !g.ctx.Spend("concatenate") {
			*g = undo
			continue
		}
		g.concats = append(g.concats, in.ID())
	}
	return len(g.parts) > 0 && len(g.concats) > 0
}

func clone[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// mostParallel bounds how far back instructions are compared.
const mostParallel = 64

// group reports whether instructions of the body can become one of all their arrays, and notes what has to become one with them.
func (g *grouping) group(ids []hlo.InstrID, f form, depth int) bool {
	if same(ids) || g.divides(ids, f) {
		return g.body.MustAt(ids[0]).Shape().IsStatic()
	}
	name := vector(ids)
	if known, ok := g.groups[name]; ok {
		return known == f
	}
	first := g.body.MustAt(ids[0])
	if depth > mostParallel || !first.Shape().IsArray() || !first.Shape().IsStatic() || !f.new && f.axis >= first.Shape().Rank() {
		return false
	}
	for _, id := range ids {
		in := g.body.MustAt(id)
		if in.Opcode() != first.Opcode() || !in.Shape().EqualIgnoringLayout(first.Shape()) || in.NumOperands() != first.NumOperands() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
			return false
		}
	}
	g.groups[name] = f
	if first.Opcode() == hlo.OpGetTupleElement {
		return g.groupState(ids, f, depth)
	}
	for _, id := range ids[1:] {
		in := g.body.MustAt(id)
		if !hlo.EqualAttrs(in.Attrs(), first.Attrs()) || in.NumCallees() != first.NumCallees() || in.NumCallees() > 0 && in.Callee(0) != first.Callee(0) {
			return false
		}
	}
	for n := range first.NumOperands() {
		from, ok := formOfOperand(first, n, f)
		if !ok {
			return false
		}
		operands := make([]hlo.InstrID, len(ids))
		for i, id := range ids {
			operands[i] = g.body.MustAt(id).Operand(n)
		}
		if from.axis < 0 { // one value for all
			if !same(operands) {
				return false
			}
			continue
		}
		if !g.group(operands, from, depth+1) {
			return false
		}
	}
	return true
}

// groupState makes parts of the state one, with what the body makes of them.
func (g *grouping) groupState(ids []hlo.InstrID, f form, depth int) bool {
	var parts []int
	var next []hlo.InstrID
	for _, id := range ids {
		in := g.body.MustAt(id)
		i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		if s := in.Shape(); in.OperandInstr(0).Opcode() != hlo.OpParameter || g.member[i] != "" || !s.Equal(s.WithoutLayout().WithDefaultLayout()) {
			return false
		}
		g.member[i] = vector(ids)
		parts, next = append(parts, i), append(next, g.body.Root().Operand(i))
	}
	g.parts[vector(ids)] = parts
	return g.group(next, f, depth+1)
}

func same(ids []hlo.InstrID) bool {
	for _, id := range ids {
		if id != ids[0] {
			return false
		}
	}
	return true
}

// divides reports whether instructions are the slices of one array, in order and of the same size.
func (g *grouping) divides(ids []hlo.InstrID, f form) bool {
	if f.new {
		return false
	}
	var whole hlo.InstrID
	for k, id := range ids {
		in := g.body.MustAt(id)
		if in.Opcode() != hlo.OpSlice || k > 0 && in.Operand(0) != whole {
			return false
		}
		whole = in.Operand(0)
		from := in.OperandInstr(0).Shape()
		for d, r := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
			n := from.Dim(d)
			if d != f.axis {
				if r.Start != 0 || r.Limit != n || r.Stride != 1 {
					return false
				}
			} else if size := n / int64(len(ids)); size*int64(len(ids)) != n || r.Start != int64(k)*size || r.Limit != r.Start+size || r.Stride != 1 {
				return false
			}
		}
	}
	return true
}

// formOfOperand is how operand n of an instruction must be put together for its result to be; axis -1: it must be one value for all.
func formOfOperand(in hlo.Instruction, n int, f form) (form, bool) {
	o := in.OperandInstr(n).Shape()
	switch {
	case in.IsElementwise() || in.Opcode() == hlo.OpCopy:
		if o.Rank() != in.Shape().Rank() || in.Opcode() == hlo.OpStochasticConvert {
			return form{axis: -1}, o.Rank() == 0
		}
		return f, true
	case in.Opcode() == hlo.OpReshape:
		return formBeforeReshape(in.Shape().Dimensions(), o.Dimensions(), f)
	case in.Opcode() == hlo.OpBroadcast:
		return formBeforeBroadcast(hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions, f)
	case in.Opcode() == hlo.OpReduce && in.NumOperands() == 2:
		if n == 1 {
			return form{axis: -1}, true
		}
		return formBeforeReduce(o.Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions, f)
	}
	return f, false
}

// formBeforeReshape follows reshapes that add or drop the dimension along which arrays are put together, of size 1.
func formBeforeReshape(to, from []int64, f form) (form, bool) {
	switch {
	case !f.new && to[f.axis] == 1 && slices.Equal(from, slices.Delete(slices.Clone(to), f.axis, f.axis+1)):
		return form{f.axis, true}, true
	case f.new && f.axis < len(from) && from[f.axis] == 1 && slices.Equal(to, slices.Delete(slices.Clone(from), f.axis, f.axis+1)):
		return form{f.axis, false}, true
	}
	return f, slices.Equal(to, from)
}

// formBeforeBroadcast follows broadcasts that keep the dimension, or do not know of a new one.
func formBeforeBroadcast(axes []int64, f form) (form, bool) {
	if !slices.IsSorted(axes) {
		return f, false
	}
	if !f.new {
		i := slices.Index(axes, int64(f.axis))
		return form{i, false}, i >= 0
	}
	i := 0
	for i < len(axes) && int(axes[i]) < f.axis {
		i++
	}
	return form{i, true}, true
}

// formBeforeReduce follows reductions over other dimensions, or over the dimension of size 1 along which arrays are put together.
func formBeforeReduce(dims, over []int64, f form) (form, bool) {
	kept := 0
	for d := range dims {
		reduced := slices.Contains(over, int64(d))
		switch {
		case f.new && reduced && dims[d] == 1 && kept == f.axis:
			return form{d, false}, true
		case !f.new && !reduced && kept == f.axis:
			return form{d, false}, true
		}
		if !reduced {
			kept++
		}
	}
	return f, false
}
