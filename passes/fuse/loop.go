// Package fuse holds the passes that make one kernel of several instructions.
package fuse

import (
	"iter"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
)

// loopFusion makes one loop of elementwise instructions, and of what a reduction reduces.
var loopFusion = &pass.Pass{
	Name:  "fusion",
	Makes: []pass.Phase{pass.Fused},
	Doc: `make kLoop fusions of elementwise instructions of the same dimensions, and kInput fusions of reductions

An elementwise instruction joins the fusion of its users if they are all in one, and so does a slice, whose elements the loop then reads where
they are, an array that is rotated: a concatenation of the last and the first part of another, and a gather of elements, which the loop loads where it needs them. Reshapes by dimensions of size 1,
slices and transposes behind them, and the concatenation of columns to index vectors come with their users. A reduction by one op takes in what computes its operand.
One that folds a few elements into each result is written out in the loop of its users, with what computes them.
Arrays that are concatenated are computed in their places, and a loop that goes on with the concatenation computes that part by part.
Broadcasts, iotas and scalar constants are copied into every fusion that uses them, and so are simple instructions that read one array:
recomputing them costs less than memory does. A reduction of several arrays by any computation, as argmax is, takes in what computes them if it folds the last axes, or rows of very few elements. A single instruction is not wrapped, but for a rotation, which reads its array then.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		f := newFuser(ctx, m, e)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			f.begins(c)
			f.findGroups()
			f.merge()
			for i, root := range f.roots {
				if i%hlo.NodesAhead == 0 {
					c.Ahead(f.roots[i:min(i+hlo.NodesAhead, len(f.roots))])
				}
				results := f.results(f.leader(root))
				members := f.size(results)
				if root != f.place(root) || members < 2 && !f.spares(c.MustAt(root)) || f.onlyJoins(c.MustAt(root)) || !ctx.Spend("fuse") {
					continue // a merged group is made at its place
				}
				f.fuse(results)
				ctx.Passed(c.MustAt(root), "computes %d instructions in one loop", members)
				ctx.Count("fusions", 1)
				ctx.Count("instructions", int64(members))
			}
			if err := f.install(); err != nil {
				return m, err
			}
		}
		return e.Freeze(), nil
	},
}

// fuser works on one computation after the other.
type fuser struct {
	ctx    *pass.Context
	m      hlo.Module
	e      *hlo.Editor
	c      hlo.Computation
	groups membership
	depth  idmap.Map[hlo.InstrID, int] // of instructions that are copied: the longest chain of them to a user that is not
	roots  []hlo.InstrID               // in the order of their ranks
	begun  groupList
	views  idmap.Map[hlo.InstrID, bool]        // see views.go
	parts  idmap.Map[hlo.InstrID, joinedPart]  // of members that only a part of a joined array needs: see join.go
	folded idmap.Map[hlo.InstrID, []hlo.Shape] // root → those of what its members fold a few elements of
	fused  idmap.Map[hlo.InstrID, hlo.InstrID] // of rows: root → the fusion, or its part, that stands for it now
	// partners are the roots of merged groups by each of them.
	partners lists
	places   idmap.Map[hlo.InstrID, hlo.InstrID] // of merged groups, by their first root
	windows  *analysis.Windows                   // of chains, which no fusion may narrow
	sequence []hlo.InstrID                       // operands before users
	rank     []uint32                            // place in the sequence, and one; 0: not known yet

	bodies bodyMaker
	made   fusionList
	room   searchRoom
}

// groupList is the groups that have begun.
type groupList struct {
	number []uint32 // by id: of a root, its place in all, and one; nothing, as long as none has begun
	all    pile[loopGroup]
}

// loopGroup is what instructions have in common that become one loop.
type loopGroup struct {
	dims    hlo.Shape // an array of the dimensions of the members
	members int
	pieces  int // into which joined arrays cut the loop; 0: there are none
}

// of is the group with a root; the zero group if none has it.
func (l *groupList) of(root hlo.InstrID) loopGroup {
	if int(root) < len(l.number) && l.number[root] > 0 {
		return *l.all.at(l.number[root] - 1)
	}
	return loopGroup{}
}

func (l *groupList) begin(root hlo.Instruction, dims hlo.Shape) {
	if len(l.number) == 0 {
		n := int(root.Computation().IDLimit())
		l.number = slices.Grow(l.number, n)[:n]
		clear(l.number)
	}
	l.number[root.ID()] = l.all.add(loopGroup{dims: dims, members: 1}) + 1
}

// emptied is an empty list in the room of l.
func (l *groupList) emptied() groupList { return groupList{number: l.number[:0], all: l.all.emptied()} }

// joins counts a member of the group with a root.
func (l *groupList) joins(root hlo.InstrID) *loopGroup {
	g := l.all.at(l.number[root] - 1)
	g.members++
	return g
}

// pile is a list that does not move when it grows: of a long one, each move would need as much memory again.
type pile[T any] struct {
	pieces [][]T
	n      uint32
}

const ofPiece = 256

func (p *pile[T]) at(i uint32) *T { return &p.pieces[i/ofPiece][i%ofPiece] }

// add puts v at the end, and returns its place.
func (p *pile[T]) add(v T) uint32 {
	k := p.n / ofPiece
	if int(k) == len(p.pieces) {
		p.pieces = append(p.pieces, nil)
	}
	piece := &p.pieces[k]
	switch i := int(p.n % ofPiece); {
	case i < len(*piece):
		(*piece)[i] = v
	case i == 0:
		n := ofPiece
		if k == 0 {
			n = 8 // most lists are short
		}
		*piece = append(make([]T, 0, n), v)
	default:
		*piece = append(*piece, v)
	}
	p.n++
	return p.n - 1
}

// emptied is an empty list in the room of p.
func (p *pile[T]) emptied() pile[T] { return pile[T]{pieces: p.pieces} }

// searchRoom is what one search at a time needs, used again by the next.
type searchRoom struct {
	seen                             marks
	todo, roots, all, outside, reads []hlo.InstrID
}

func newFuser(ctx *pass.Context, m hlo.Module, e *hlo.Editor) *fuser {
	return &fuser{ctx: ctx, m: m, e: e}
}

// begins turns to a computation, and forgets all about the one before but the room that it took.
func (f *fuser) begins(c hlo.Computation) {
	*f = fuser{ctx: f.ctx, m: f.m, e: f.e, c: c, groups: f.groups.emptied(), roots: f.roots[:0], begun: f.begun.emptied(), sequence: f.sequence, rank: f.rank,
		bodies: f.bodies, made: f.made.emptied(), room: f.room}
}

// now is what an instruction of the version before has become.
func (f *fuser) now(id hlo.InstrID) hlo.InstrID {
	if to, ok := f.fused.Lookup(id); ok {
		return to
	}
	return id
}

// findGroups goes backwards, so that users have their group before operands ask for it. An instruction joins only if all its users are
// members, so no path can leave a group and come back.
func (f *fuser) findGroups() {
	f.windows = analysis.FindWindows(f.c)
	f.findOrder()
	for _, id := range slices.Backward(f.sequence) {
		in := f.c.MustAt(id)
		if f.reduces(in) {
			if f.joinsFolding(in) {
				continue
			}
			f.begin(in, in.OperandInstr(0).Shape())
			continue
		}
		if roots, ok := f.servesRolls(in); ok {
			f.groups.set(in.ID(), roots)
			continue
		}
		if roots, ok := f.servesAsView(in); ok {
			f.groups.set(in.ID(), roots)
			f.views.Set(in.ID(), true)
			f.noteParts(in, roots)
			continue
		}
		if joins(in) {
			f.joinsArrays(in)
			continue
		}
		if stacks(in) {
			f.begin(in, in.OperandInstr(0).Shape())
			continue
		}
		if !fusible(in) {
			continue
		}
		roots := f.groupsOfUsers(in)
		if (rolls(in) || picks(in)) && f.intoReduction(roots) {
			roots = nil
		}
		if rolls(in) && !f.cuts(roots, 2) {
			roots = nil
		}
		if len(roots) > 1 && !f.mayCopy(in) {
			if f.tells(in) {
				f.ctx.Missed(in, "not fused into its users: its users are in %d fusions, and computing it in each would cost more than its array", len(roots))
			}
			roots = nil
		}
		if len(roots) == 0 {
			f.begin(in, in.Shape())
			continue
		}
		f.groups.set(in.ID(), roots)
		f.noteParts(in, roots)
		for _, root := range roots {
			f.begun.joins(root)
		}
	}
	slices.Reverse(f.roots)
}

// findOrder ranks the instructions. They keep program order if operands stand before users there; a pass may have left them otherwise.
func (f *fuser) findOrder() {
	n := int(f.c.IDLimit())
	f.rank = slices.Grow(f.rank[:0], n)[:n]
	clear(f.rank)
	f.sequence = slices.Grow(f.sequence[:0], f.c.NumInstructions())
	if !f.number(f.c.Instructions()) {
		f.sequence = f.sequence[:0]
		f.number(f.c.PostOrder())
	}
}

// number takes the ranks from an order. It reports whether operands stand before users there.
func (f *fuser) number(order iter.Seq[hlo.Instruction]) bool {
	sorted := true
	for in := range order {
		for k := range in.NumOperands() {
			sorted = sorted && f.rank[in.Operand(k)] > 0
		}
		f.sequence = append(f.sequence, in.ID())
		f.rank[in.ID()] = uint32(len(f.sequence))
	}
	return sorted
}

// precedes reports whether a stands before b in the order that findOrder has found.
func (f *fuser) precedes(a, b hlo.InstrID) bool { return f.rank[a] < f.rank[b] }

// begin makes in the root of a group of instructions with the dimensions of an array.
func (f *fuser) begin(in hlo.Instruction, dims hlo.Shape) {
	f.roots = append(f.roots, in.ID())
	f.groups.begin(in)
	f.begun.begin(in, dims)
}

// groupsOfUsers are the roots of the fusions that in could be a member of: all of its users are in them. The list holds until the next one is asked for.
func (f *fuser) groupsOfUsers(in hlo.Instruction) []hlo.InstrID {
	if in.IsRoot() {
		return nil
	}
	var roots []hlo.InstrID // most are members of one fusion: then it is that of a user, where it is
	for user := range in.Users() {
		if f.reduces(user) && isInit(user, in.ID()) || isTable(user, in.ID()) {
			return nil
		}
		groups := f.groups.of(user.ID())
		if len(groups) == 0 {
			if f.tells(in) {
				f.ctx.Missed(in, "not fused into its users: its user %%%s, %v, is not fused", user.Name(), user.Opcode())
			}
			return nil
		}
		for _, g := range groups {
			switch {
			case f.begun.of(g).members >= maxMembers:
				if f.tells(in) {
					f.ctx.Missed(in, "not fused into its users: the fusion of %%%s has %d instructions already", user.Name(), maxMembers)
				}
				return nil
			case !f.fits(in, g) && !f.isFolded(in, g):
				if f.tells(in) {
					f.ctx.Missed(in, "not fused into its users: the fusion of %%%s runs over other dimensions", user.Name())
				}
				return nil
			case f.windows.Narrows(in.ID(), g):
				if f.tells(in) {
					f.ctx.Missed(in, "not fused into its users: in the fusion of %%%s it would wait for a done that it does not need, or a start for it", user.Name())
				}
				return nil
			}
		}
		if roots == nil {
			roots = groups
			continue
		}
		roots = f.room.unite(roots, groups)
	}
	return roots
}

// unite adds the roots of groups to a list of the membership's or of its own.
func (r *searchRoom) unite(roots, groups []hlo.InstrID) []hlo.InstrID {
	for _, g := range groups {
		if slices.Contains(roots, g) {
			continue
		}
		if len(roots) == 0 || len(r.roots) == 0 || &roots[0] != &r.roots[0] {
			r.roots = append(r.roots[:0], roots...)
		}
		r.roots = append(r.roots, g)
		roots = r.roots
	}
	return roots
}

// tells reports whether what keeps an instruction out of the fusions of its users is to be said.
func (f *fuser) tells(in hlo.Instruction) bool { return f.ctx.Remarks() && !cheap(in) }

// maxMembers bounds a fusion: more values than this do not fit the nearest cache anyway.
const maxMembers = 512

// fusible reports whether in computes element by element, or picks elements, with plain attributes and no orders to keep.
func fusible(in hlo.Instruction) bool {
	if picks(in) {
		return true
	}
	if !in.IsElementwise() && in.Opcode() != hlo.OpSlice && !rolls(in) || !in.Shape().IsArray() || !in.Shape().IsStatic() ||
		in.Shape().NumElements() == 0 || in.Opcode() == hlo.OpStochasticConvert || in.Opcode() == hlo.OpReducePrecision ||
		in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || isComplex(in) && !fusibleComplex(in) {
		return false
	}
	for o := range in.Operands() {
		if o.Shape().Rank() != in.Shape().Rank() {
			return false // select and clamp with scalars next to arrays
		}
	}
	return true
}

// isComplex reports whether in computes with complex numbers.
func isComplex(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if o.Shape().Type().IsComplex() {
			return true
		}
	}
	return in.Shape().Type().IsComplex()
}

// fusibleComplex reports whether loops compute an op on complex numbers; the evaluator has the others.
func fusibleComplex(in hlo.Instruction) bool {
	//halo:allow opswitch the loops that the fused kernels have
	switch in.Opcode() {
	case hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply, hlo.OpNegate, hlo.OpSelect, hlo.OpComplex, hlo.OpReal, hlo.OpImag, hlo.OpAbs, hlo.OpSlice:
		return true
	case hlo.OpCompare:
		return hlo.AttrsOf[hlo.CompareAttrs](in).Direction == hlo.EQ || hlo.AttrsOf[hlo.CompareAttrs](in).Direction == hlo.NE
	}
	return false
}

// cheap reports whether in is better computed again than read from memory.
func cheap(in hlo.Instruction) bool {
	switch in.Opcode() {
	case hlo.OpConstant:
		return in.Shape().IsScalar()
	case hlo.OpBroadcast, hlo.OpIota:
		return in.Shape().IsStatic() && (in.Opcode() == hlo.OpBroadcast || !in.Shape().Type().IsComplex())
	case hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply:
		return in.Shape().IsStatic() && counts(in, 4)
	}
	return false
}

// counts reports whether in is a number that grows evenly with the index, made of positions and constants by so few instructions: loops need no array for it.
func counts(in hlo.Instruction, most int) bool {
	if !in.Shape().Type().IsInteger() {
		return false
	}
	switch in.Opcode() {
	case hlo.OpIota:
		return true
	case hlo.OpBroadcast:
		x := in.OperandInstr(0)
		return x.Opcode() == hlo.OpConstant && x.Shape().IsScalar()
	case hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply:
		return most > 0 && counts(in.OperandInstr(0), most-1) && counts(in.OperandInstr(1), most-1)
	}
	return false
}

// current is the operands of a fusion as they are now: those that were roots of fusions themselves have been replaced, and the session knows by
// what.
func (f *fuser) current(operands []hlo.InstrID) []hlo.InstrID {
	now := make([]hlo.InstrID, len(operands))
	for i, id := range operands {
		now[i] = f.now(id)
	}
	return now
}
