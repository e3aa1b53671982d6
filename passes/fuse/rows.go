package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// RowFusion makes one kernel of reductions along rows and of what is computed from their results for the elements of the rows.
var RowFusion = &pass.Pass{
	Name:  "row-fusion",
	Makes: []pass.Phase{pass.Fused},
	Doc: `make kInput fusions of reductions along rows and the elementwise instructions around them

A softmax, a normalisation, or two sums of the same rows become one fusion: reductions of the last axis by add, maximum or minimum, what is computed from their results
for each row, and what follows from that, repeated along the rows, for each element. Elementwise instructions before the reductions join if all their users do, or if their
results can be results of the fusion as well. The kernel passes over each row as often as reductions follow from each other, while the row is in a cache near the processor.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		f := newFuser(ctx, m, e)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			if c.IsScheduled() {
				continue
			}
			f.begins(c)
			if err := f.fuseRows(); err != nil {
				return m, err
			}
		}
		return e.Freeze(), nil
	},
}

// Limits: rows shorter than this are not worth a kernel of their own, since what its chains fold to is joined row by row, nor are fewer elements; members and results of one fusion.
const (
	leastRow       = 48
	leastNarrowRow = 32 // of elements that are converted, which more passes over memory would do again
	leastRows      = 2048
	maxRowMembers  = 256
	maxRowProducer = 8   // searches for producers whose results are needed elsewhere
	rowReach       = 512 // places in the program's order before and behind the first reduction
)

// band is a set of instructions on the elements of one space and on its rows.
type band struct {
	*fuser
	dims      []int64 // of the elements
	rows, run int64
	seed      hlo.InstrID // the first reduction
	*seating
	members map[hlo.InstrID]bool
	ofRow   map[hlo.InstrID]bool // members that there is one element of for each row
	copies  map[hlo.InstrID]bool // others that are computed with the members and for their other users
	before  int                  // the seat: the place of the instruction behind it
	made    hlo.InstrID          // the fusion, once it is there
}

// fuseRows finds the bands of a computation, each from its first reduction on.
func (f *fuser) fuseRows() error {
	if !f.hasRows() {
		return nil
	}
	f.windows = analysis.FindWindows(f.c)
	seats := newSeating(f.c)
	var edits []func() error // the computation stays as it is until all fusions are made
	for _, in := range seats.order {
		if seats.homes.Get(in.ID()) != nil || !f.foldsLastAxis(in) {
			continue
		}
		b := &band{fuser: f, seed: in.ID(), seating: seats, members: make(map[hlo.InstrID]bool), ofRow: make(map[hlo.InstrID]bool),
			copies: make(map[hlo.InstrID]bool), made: hlo.NoInstr}
		b.dims = in.OperandInstr(0).Shape().Dimensions()
		b.rows = in.Shape().NumElements()
		b.run = in.OperandInstr(0).Shape().NumElements() / b.rows
		b.grow(in)
		b.takeProducers()
		results := b.results()
		if !b.pays() || len(results) == 0 || len(results) > maxResults {
			continue
		}
		at, ok := b.seat(results)
		if !ok {
			f.ctx.Missed(in, "not fused with what is computed from it: there is no place for the fusion in the program's order")
			continue
		}
		if !f.ctx.Spend("fuse") {
			continue
		}
		b.sit(at)
		edits = append(edits, b.fuse(results))
		f.ctx.Passed(in, "computes %d instructions with it, row by row", len(b.members))
		f.ctx.Count("fusions", 1)
		f.ctx.Count("instructions", int64(len(b.members)))
	}
	for _, edit := range edits {
		if err := edit(); err != nil {
			return err
		}
	}
	return nil
}

// hasRows reports whether the computation reduces rows.
func (f *fuser) hasRows() bool {
	if !f.c.Opcodes().Has(hlo.OpReduce) {
		return false
	}
	for in := range f.c.Instructions() {
		if f.foldsLastAxis(in) {
			return true
		}
	}
	return false
}

// foldsLastAxis reports whether in reduces the last axis, and no other one, by an op that kernels fold rows by, from a constant.
func (f *fuser) foldsLastAxis(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduce || in.NumOperands() != 2 || !f.reduces(in) || in.OperandInstr(1).Opcode() != hlo.OpConstant {
		return false
	}
	//halo:allow opswitch those that rows are folded by
	switch f.m.MustComputation(in.Callee(0)).Root().Opcode() {
	case hlo.OpAdd, hlo.OpMaximum, hlo.OpMinimum:
	default:
		return false
	}
	t, s := in.Shape().Type(), in.OperandInstr(0).Shape()
	if t != hlo.F32 && t != hlo.F64 && t != hlo.BF16 && t != hlo.F16 && (!t.IsInteger() || t.Bits() < 32) {
		return false
	}
	axes := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	last := len(s.Dimensions()) - 1
	for last >= 0 && s.Dim(last) == 1 {
		last--
	}
	for i, d := range s.Dimensions() {
		if (d != 1) && slices.Contains(axes, int64(i)) != (i == last) {
			return false
		}
	}
	least := int64(leastRow)
	if isNarrow(t) {
		least = leastNarrowRow
	}
	return last >= 0 && s.Dim(last) >= least && s.NumElements() >= leastRows
}

// grow takes in everything behind the seed that is computed from members alone and arrays that do not depend on members.
func (b *band) grow(seed hlo.Instruction) {
	b.members[seed.ID()], b.ofRow[seed.ID()] = true, true
	tainted := make(map[hlo.InstrID]bool)
	from := b.index.Get(seed.ID()) + 1
	for _, in := range b.order[from:min(from+rowReach, len(b.order))] {
		if len(b.members) >= maxRowMembers {
			return
		}
		uses, isTainted := false, false
		for o := range in.Operands() {
			uses = uses || b.members[o.ID()]
			isTainted = isTainted || tainted[o.ID()]
		}
		for o := range in.ControlPredecessors() {
			isTainted = isTainted || tainted[o] || b.members[o]
		}
		switch joins, ofRow := b.joins(in, uses); {
		case isTainted || uses && !joins:
			tainted[in.ID()] = true
		case joins:
			b.members[in.ID()], b.ofRow[in.ID()] = true, ofRow
		}
	}
}

// joins reports whether in can be computed with the members, some of which it uses or not, and whether it is one of rows then.
func (b *band) joins(in hlo.Instruction, uses bool) (joins, ofRow bool) {
	if b.homes.Get(in.ID()) != nil || b.windows.Narrows(in.ID(), b.seed) || !in.Shape().IsArray() || !in.Shape().IsStatic() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return false, false
	}
	if b.foldsLastAxis(in) {
		x := in.OperandInstr(0)
		return slices.Equal(x.Shape().Dimensions(), b.dims) && (uses && !b.ofRow[x.ID()] || b.readsTheSame(x)), true
	}
	if !uses {
		return false, false
	}
	n := in.Shape().NumElements()
	switch {
	case in.Opcode() == hlo.OpBroadcast && b.members[in.Operand(0)] && b.ofRow[in.Operand(0)]:
		if n == b.rows {
			return true, true
		}
		return b.repeatsRows(in), false
	case n == b.rows && (in.Opcode() == hlo.OpReshape || in.Opcode() == hlo.OpBitcast && analysis.SameBytes(in) && in.Shape().Type() == in.OperandInstr(0).Shape().Type()):
		return b.ofRow[in.Operand(0)], true
	case !fusible(in) || in.Opcode() == hlo.OpSlice || rolls(in) || isComplex(in) || cheap(in):
		return false, false
	case n == b.rows:
		return true, true
	}
	for o := range in.Operands() {
		if b.members[o.ID()] && b.ofRow[o.ID()] {
			return false, false
		}
	}
	return slices.Equal(in.Shape().Dimensions(), b.dims), false
}

// readsTheSame reports whether what is reduced is, or is computed from, an array of the space's size that a member reads.
func (b *band) readsTheSame(x hlo.Instruction) bool {
	for id := range b.members {
		in := b.c.MustAt(id)
		if in.Opcode() == hlo.OpReduce && b.source(in.OperandInstr(0)) == b.source(x) {
			return true
		}
	}
	return false
}

// source is the only array of the space's size from which a value is computed, as far as that is easy to see.
func (b *band) source(x hlo.Instruction) hlo.InstrID {
	for fusible(x) && !b.members[x.ID()] {
		next, found := x, false
		for o := range x.Operands() {
			if cheap(o) || !slices.Equal(o.Shape().Dimensions(), b.dims) {
				continue
			}
			if found && next.ID() != o.ID() {
				return x.ID()
			}
			next, found = o, true
		}
		if !found {
			break
		}
		x = next
	}
	return x.ID()
}

// repeatsRows reports whether a broadcast repeats a value of each row along that row.
func (b *band) repeatsRows(in hlo.Instruction) bool {
	if !slices.Equal(in.Shape().Dimensions(), b.dims) {
		return false
	}
	from := in.OperandInstr(0).Shape()
	at, last := -1, len(b.dims)-1
	for b.dims[last] == 1 {
		last--
	}
	for i, d := range hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions {
		if from.Dim(i) == 1 {
			continue
		}
		if int(d) <= at || int(d) == last || from.Dim(i) != b.dims[d] {
			return false
		}
		at = int(d)
	}
	return from.NumElements() == b.rows
}

// takeProducers takes in elementwise instructions whose users are members, or some of whose are, if that makes no circle.
func (b *band) takeProducers() {
	tries := 0
	for again := true; again; {
		again = false
		for id := range b.membersInOrder() {
			for o := range b.c.MustAt(id).Operands() {
				if len(b.members) >= maxRowMembers || !b.isProducer(o) {
					continue
				}
				inside := true
				for user := range o.Users() {
					inside = inside && b.members[user.ID()]
				}
				if inside = inside && !o.IsRoot(); !inside {
					if b.mayCopy(o) {
						b.copies[o.ID()] = true
						continue
					}
					if tries++; tries > maxRowProducer {
						continue
					}
				}
				b.members[o.ID()] = true
				if !inside && !b.isConvex() {
					delete(b.members, o.ID())
					continue
				}
				again = true
			}
		}
	}
}

func (b *band) membersInOrder() func(yield func(hlo.InstrID) bool) {
	list := make([]hlo.InstrID, 0, len(b.members))
	for id := range b.members {
		list = append(list, id)
	}
	slices.SortFunc(list, func(x, y hlo.InstrID) int { return b.index.Get(x) - b.index.Get(y) })
	return slices.Values(list)
}

// isProducer reports whether an operand of a member is computed for each element, from what is no member.
func (b *band) isProducer(in hlo.Instruction) bool {
	return b.index.Get(in.ID()) >= b.index.Get(b.seed)-rowReach && !b.windows.Narrows(in.ID(), b.seed) && !b.members[in.ID()] && !b.copies[in.ID()] && b.homes.Get(in.ID()) == nil && !cheap(in) && fusible(in) && in.Opcode() != hlo.OpSlice && !rolls(in) && !isComplex(in) &&
		slices.Equal(in.Shape().Dimensions(), b.dims)
}

// isConvex reports whether no member depends on a member through something else.
func (b *band) isConvex() bool {
	tainted := make(map[hlo.InstrID]bool)
	left := len(b.members)
	first := len(b.order)
	for id := range b.members {
		first = min(first, b.index.Get(id))
	}
	for _, in := range b.order[first:] {
		if left == 0 {
			return true
		}
		isMember, isTainted, uses := b.members[in.ID()], false, false
		for o := range in.Operands() {
			isTainted = isTainted || tainted[o.ID()]
			uses = uses || b.members[o.ID()]
		}
		for o := range in.ControlPredecessors() {
			isTainted = isTainted || tainted[o] || b.members[o]
		}
		switch {
		case isMember && isTainted:
			return false
		case isMember:
			left--
		case isTainted || uses:
			tainted[in.ID()] = true
		}
	}
	return true
}

// pays reports whether rows are passed over more than once: there are two reductions, or elements are computed from one.
func (b *band) pays() bool {
	reductions := 0
	for id := range b.members {
		in := b.c.MustAt(id)
		if in.Opcode() == hlo.OpReduce {
			reductions++
		}
		if in.Opcode() == hlo.OpBroadcast && !b.ofRow[id] {
			for user := range in.Users() {
				if b.members[user.ID()] {
					return true
				}
			}
		}
	}
	return reductions > 1
}

// results are the members that somebody else uses. Broadcasts are copied to their users instead.
func (b *band) results() (list []hlo.InstrID) {
	for id := range b.membersInOrder() {
		in := b.c.MustAt(id)
		if in.Opcode() == hlo.OpBroadcast && !b.ofRow[id] {
			for user := range in.Users() {
				if !b.members[user.ID()] && !slices.Contains(list, in.Operand(0)) {
					list = append(list, in.Operand(0))
				}
			}
			if !in.IsRoot() {
				continue
			}
		}
		outside := in.IsRoot()
		for user := range in.Users() {
			outside = outside || !b.members[user.ID()]
		}
		if outside && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}
