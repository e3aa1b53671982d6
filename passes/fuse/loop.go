// Package fuse holds the passes that make one kernel of several instructions.
package fuse

import (
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
Broadcasts, iotas and scalar constants are copied into every fusion that uses them, and so are simple instructions that read one array:
recomputing them costs less than memory does. A reduction of several arrays by any computation, as argmax is, takes in what computes them if it folds the last axes. A single instruction is not wrapped.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		f := newFuser(ctx, m, e)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			f.begins(c)
			f.findGroups()
			f.merge()
			var edits []func() error // the computation stays as it is until all fusions are made
			for _, root := range f.roots {
				results := f.results(f.leader(root))
				members := f.size(results)
				if root != f.place(root) || members < 2 && !f.spares(c.MustAt(root)) || !ctx.Spend("fuse") {
					continue // a merged group is made at its place
				}
				edits = append(edits, f.fuse(results), f.release(results))
				ctx.Passed(c.MustAt(root), "computes %d instructions in one loop", members)
				ctx.Count("fusions", 1)
				ctx.Count("instructions", int64(members))
			}
			for _, edit := range edits {
				if err := edit(); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

// fuser works on one computation after the other.
type fuser struct {
	ctx     *pass.Context
	m       hlo.Module
	e       *hlo.Editor
	c       hlo.Computation
	groups  membership
	depth   idmap.Map[hlo.InstrID, int] // of instructions that are copied: the longest chain of them to a user that is not
	roots   []hlo.InstrID               // in the order of their ranks
	members idmap.Map[hlo.InstrID, int]
	dims    idmap.Map[hlo.InstrID, hlo.Shape]   // root → an array of the dimensions of its members
	views   idmap.Map[hlo.InstrID, bool]        // see views.go
	folded  idmap.Map[hlo.InstrID, []hlo.Shape] // root → those of what its members fold a few elements of
	fused   idmap.Map[hlo.InstrID, hlo.InstrID] // root → the fusion, or its part, that stands for it now
	// partners are the roots of merged groups by each of them.
	partners lists
	places   idmap.Map[hlo.InstrID, hlo.InstrID] // of merged groups, by their first root
	windows  *analysis.Windows                   // of chains, which no fusion may narrow
	rank     []uint32                            // place in an order with operands before users, and one; 0: not known yet

	// While a fusion is made: what instructions are inside, NoInstr if they are not; which are; and the operands of those whose copies are being made.
	inside         []hlo.InstrID
	within, copies []hlo.InstrID

	seen marks // of one search at a time

	builder *hlo.ComputationBuilder // of fused computations, one after the other
}

func newFuser(ctx *pass.Context, m hlo.Module, e *hlo.Editor) *fuser {
	return &fuser{ctx: ctx, m: m, e: e}
}

// begins turns to a computation, and forgets all about the one before but the room that it took.
func (f *fuser) begins(c hlo.Computation) {
	*f = fuser{ctx: f.ctx, m: f.m, e: f.e, c: c, groups: f.groups.emptied(), roots: f.roots[:0], rank: f.rank, inside: f.inside, within: f.within, copies: f.copies,
		seen: f.seen, builder: f.builder}
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
	order := f.findOrder()
	for _, in := range slices.Backward(order) {
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
			continue
		}
		if !fusible(in) {
			continue
		}
		roots := f.groupsOfUsers(in)
		if (rolls(in) || picks(in)) && f.intoReduction(roots) {
			roots = nil
		}
		if len(roots) > 1 && !f.mayCopy(in) {
			f.remark(in, "its users are in %d fusions, and computing it in each would cost more than its array", len(roots))
			roots = nil
		}
		if len(roots) == 0 {
			f.begin(in, in.Shape())
			continue
		}
		f.groups.set(in.ID(), roots)
		for _, root := range roots {
			*f.members.At(root)++
		}
	}
	slices.Reverse(f.roots)
}

// findOrder ranks the instructions. They keep program order if operands stand before users there; a pass may have left them otherwise.
func (f *fuser) findOrder() []hlo.Instruction {
	n := int(f.c.IDLimit())
	f.rank = slices.Grow(f.rank[:0], n)[:n]
	clear(f.rank)
	order := slices.AppendSeq(make([]hlo.Instruction, 0, f.c.NumInstructions()), f.c.Instructions())
	if f.number(order) {
		return order
	}
	order = slices.AppendSeq(order[:0], f.c.PostOrder())
	f.number(order)
	return order
}

// number takes the ranks from an order. It reports whether operands stand before users there.
func (f *fuser) number(order []hlo.Instruction) bool {
	sorted := true
	for i, in := range order {
		for k := range in.NumOperands() {
			sorted = sorted && f.rank[in.Operand(k)] > 0
		}
		f.rank[in.ID()] = uint32(i) + 1
	}
	return sorted
}

// precedes reports whether a stands before b in the order that findOrder has found.
func (f *fuser) precedes(a, b hlo.InstrID) bool { return f.rank[a] < f.rank[b] }

// begin makes in the root of a group of instructions with the dimensions of an array.
func (f *fuser) begin(in hlo.Instruction, dims hlo.Shape) {
	f.roots = append(f.roots, in.ID())
	f.groups.begin(in)
	f.members.Set(in.ID(), 1)
	f.dims.Set(in.ID(), dims)
}

// groupsOfUsers are the roots of the fusions that in could be a member of: all of its users are in them.
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
			f.remark(in, "its user %%%s, %v, is not fused", user.Name(), user.Opcode())
			return nil
		}
		for _, g := range groups {
			switch {
			case f.members.Get(g) >= maxMembers:
				f.remark(in, "the fusion of %%%s has %d instructions already", user.Name(), maxMembers)
				return nil
			case !sameButOnes(f.dims.Get(g), in.Shape()) && !f.isFolded(in, g):
				f.remark(in, "the fusion of %%%s runs over other dimensions", user.Name())
				return nil
			case f.windows.Narrows(in.ID(), g):
				f.remark(in, "in the fusion of %%%s it would wait for a done that it does not need, or a start for it", user.Name())
				return nil
			}
		}
		if roots == nil {
			roots = slices.Clip(groups)
			continue
		}
		for _, g := range groups {
			if !slices.Contains(roots, g) {
				roots = append(roots, g)
			}
		}
	}
	return roots
}

// remark says what keeps an instruction out of the fusions of its users.
func (f *fuser) remark(in hlo.Instruction, format string, args ...any) {
	if !cheap(in) && f.ctx.Remarks() {
		f.ctx.Missed(in, "not fused into its users: "+format, args...)
	}
}

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
	case hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply, hlo.OpNegate, hlo.OpSelect, hlo.OpComplex, hlo.OpReal, hlo.OpImag, hlo.OpAbs:
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

// fuse puts the members of a group, or of merged groups with these roots, into a computation of their own. What it returns puts the fusion into their
// place.
func (f *fuser) fuse(roots []hlo.InstrID) func() error {
	const name = "fused_computation"
	if f.builder == nil {
		f.builder = f.e.NewComputation(name)
	} else {
		f.builder.Next(name)
	}
	b := f.builder
	b.SetExecutionThread(f.c.ExecutionThread())
	if len(f.inside) < int(f.c.IDLimit()) {
		f.inside = slices.Repeat([]hlo.InstrID{hlo.NoInstr}, int(f.c.IDLimit()))
	}
	defer f.forgetInside()
	var operands []hlo.InstrID
	param := func(in hlo.Instruction) hlo.InstrID {
		id := b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param_" + in.Name(), Shape: in.Shape(),
			Attrs: &hlo.ParameterAttrs{Number: int64(len(operands))}})
		operands = append(operands, in.ID())
		return id
	}
	var copyIn func(id hlo.InstrID) hlo.InstrID
	copyIn = func(id hlo.InstrID) hlo.InstrID {
		if to := f.inside[id]; to != hlo.NoInstr {
			return to
		}
		in := f.c.MustAt(id)
		var to hlo.InstrID
		if isMember(f.groups.of(id), roots) || cheap(in) {
			spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Callees: slices.Collect(in.Callees()),
				Common: in.Common(), Position: in.Position()}
			turns, from := rolls(in), len(f.copies)
			for i := range in.NumOperands() {
				if !turns {
					f.copies = append(f.copies, copyIn(in.Operand(i)))
					continue
				}
				o := in.OperandInstr(i)
				f.copies = append(f.copies, b.Append(hlo.InstrSpec{Opcode: o.Opcode(), Name: o.Name(), Shape: o.Shape(), Attrs: o.Attrs(),
					Operands: []hlo.InstrID{copyIn(o.Operand(0))}, Common: o.Common(), Position: o.Position()}))
			}
			spec.Operands = f.copies[from:]
			to = b.AppendSpec(&spec)
			f.copies = f.copies[:from]
		} else {
			to = param(in)
		}
		f.inside[id] = to
		f.within = append(f.within, id)
		return to
	}
	for _, root := range roots {
		copyIn(root)
	}
	place := f.place(roots[0])
	if roots = f.neededOutside(roots); len(roots) > 1 {
		return f.fuseTuple(b, place, roots, operands)
	}
	root := roots[0]
	in := f.c.MustAt(root)
	kind := hlo.FusionLoop
	if f.reduces(in) {
		kind = hlo.FusionInput
	}
	spec := hlo.InstrSpec{Opcode: hlo.OpFusion, Name: in.Name() + "_fusion", Shape: in.Shape(),
		Attrs: &hlo.FusionAttrs{Kind: kind}, Callees: []hlo.CompID{b.Finish(f.inside[root])}, Common: in.Common(), Position: in.Position()}
	return func() error {
		ce := f.e.Computation(f.c.ID())
		spec.Operands = f.current(operands)
		f.fused.Set(root, ce.InsertSpecBefore(place, spec).ID())
		return ce.ReplaceInstruction(root, f.fused.Get(root))
	}
}

// forgetInside ends the making of a fusion.
func (f *fuser) forgetInside() {
	for _, id := range f.within {
		f.inside[id] = hlo.NoInstr
	}
	f.within = f.within[:0]
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
