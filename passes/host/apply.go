package host

import (
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// applying writes into a session what a flow has found out.
type applying struct {
	*flow
	e *hlo.Editor
}

func (a *applying) apply() error {
	for _, n := range a.order {
		c := a.e.Computation(n.comp)
		s := a.at(n).Shape()
		for _, key := range slices.Sorted(maps.Keys(a.host[n])) {
			s = withSpace(s, a.host[n][key], hostSpace)
		}
		c.Instr(n.in).SetShape(s)
		if a.computes[n] {
			c.Instr(n.in).SetCommon(onHost(c.At(n.in).Common()))
		}
	}
	for _, s := range a.allocated {
		a.replaceByBuffer(s)
	}
	for _, n := range sorted(a.slices) {
		if err := a.makeDynamic(n); err != nil {
			return err
		}
	}
	a.joinEdges()
	for _, n := range sorted(a.copies) {
		a.makeCopy(n)
	}
	for _, n := range sorted(a.forwards) {
		if !a.forwards[n] || a.copies[n] {
			continue
		}
		if a.carried(n) {
			a.makeCopy(n)
			continue
		}
		c := a.e.Computation(n.comp)
		if err := c.ReplaceInstruction(n.in, c.At(n.in).Operand(0)); err != nil {
			return err
		}
	}
	return nil
}

// sorted lists the nodes that are set, in an order that does not depend on chance.
func sorted(set map[node]bool) []node {
	return slices.SortedFunc(maps.Keys(set), func(a, b node) int {
		if a.comp != b.comp {
			return int(a.comp) - int(b.comp)
		}
		return int(a.in) - int(b.in)
	})
}

// withSpace is a shape with one part in a memory space.
func withSpace(s hlo.Shape, index hlo.ShapeIndex, space int64) hlo.Shape {
	if len(index) > 0 {
		elems := s.Elems()
		elems[index[0]] = withSpace(elems[index[0]], index[1:], space)
		return hlo.MakeTuple(elems...)
	}
	l, ok := s.WithDefaultLayout().Layout()
	if !s.IsArray() || !ok {
		return s
	}
	own := *l
	own.MemorySpace = space
	return s.WithLayout(&own)
}

// onHost is the common attributes of what runs on the host.
func onHost(c *hlo.Common) *hlo.Common {
	const key = "_xla_compute_type"
	own := hlo.Common{}
	if c != nil {
		own = *c
	}
	entries := []hlo.FrontendAttribute{{Key: key, Value: "host"}}
	if own.FrontendAttributes != nil {
		for _, e := range own.FrontendAttributes.Entries {
			if e.Key != key {
				entries = append(entries, e)
			}
		}
	}
	own.FrontendAttributes = &hlo.FrontendAttributes{Entries: entries}
	return &own
}

// replaceByBuffer makes an operand a buffer on the host.
func (a *applying) replaceByBuffer(s slot) {
	c := a.e.Computation(s.user.comp)
	user := c.At(s.user.in)
	was := user.OperandInstr(s.n)
	shape, id := withSpace(was.Shape(), nil, hostSpace), was.ID()
	made := emit.Before(c, user).OpOf(hlo.OpCustomCall, shape, &hlo.CustomCallAttrs{Target: buffer, FeatureGroupCount: 1, BatchGroupCount: 1})
	c.Instr(s.user.in).SetOperand(s.n, made)
	for c.Has(id) && c.UserCount(id) == 0 && (isCall(c.At(id), buffer) || isCall(c.At(id), toHost) || c.At(id).Opcode() == hlo.OpCopy) && c.Root() != id {
		next := hlo.NoInstr
		if c.At(id).NumOperands() > 0 {
			next = c.At(id).Operand(0)
		}
		delete(a.copies, node{s.user.comp, id})
		delete(a.forwards, node{s.user.comp, id})
		if c.Remove(id) != nil || next == hlo.NoInstr {
			return
		}
		id = next
	}
	pass.Release(c, id, nil)
}

// makeDynamic makes a slice read from the memory of the host.
func (a *applying) makeDynamic(n node) error {
	c := a.e.Computation(n.comp)
	in := c.At(n.in)
	at := emit.Before(c, in)
	x, s := in.Operand(0), in.Shape()
	var starts []hlo.InstrID
	for _, d := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		starts = append(starts, at.Int(hlo.S32, d.Start))
	}
	made := at.OpOf(hlo.OpDynamicSlice, s, &hlo.DynamicSliceAttrs{Sizes: s.Dimensions()}, append([]hlo.InstrID{x}, starts...)...)
	return c.ReplaceInstruction(n.in, made)
}

// makeCopy makes an annotation a copy. What it copies to the host, it copies there.
func (a *applying) makeCopy(n node) {
	c := a.e.Computation(n.comp)
	var attrs hlo.OpAttrs
	if f := hlo.Info(hlo.OpCopy).NewAttrs; f != nil {
		attrs = f()
	}
	c.Instr(n.in).SetOpcode(hlo.OpCopy).SetAttrs(attrs)
}

// carried reports whether an annotation in the body of a loop is of a value from the round before. Without a copy it would have to be
// written to the host before this round makes its own.
func (a *applying) carried(n node) bool {
	in := a.at(n)
	if !isCall(in, toHost) || a.isHost(in, nil) {
		return false
	}
	from := in.OperandInstr(0)
	if from.Opcode() != hlo.OpGetTupleElement || from.OperandInstr(0).Opcode() != hlo.OpParameter {
		return false
	}
	return slices.ContainsFunc(a.callers(n.comp), func(caller hlo.Instruction) bool {
		return caller.Opcode() == hlo.OpWhile && caller.Callee(0) == n.comp
	})
}

// joinEdges copies to the host what is not there where one value of several may go on and another is there: the first and the next values of
// loop states, arguments of calls and branches, and results of branches. The result of the program is copied back where its layout does not say S(5).
func (a *applying) joinEdges() {
	for c := range a.m.Computations() {
		for in := range c.Instructions() {
			switch in.Opcode() {
			case hlo.OpWhile:
				a.join(in, in.OperandInstr(0))
				a.join(in, a.m.MustComputation(in.Callee(0)).Root())
			case hlo.OpCall:
				for i, o := range slices.Collect(in.Operands()) {
					a.join(a.m.MustComputation(in.Callee(0)).Parameter(i), o)
				}
			case hlo.OpConditional:
				for i, id := range slices.Collect(in.Callees()) {
					a.join(a.m.MustComputation(id).Parameter(0), in.OperandInstr(i+1))
					a.join(in, a.m.MustComputation(id).Root())
				}
			}
		}
	}
	layout := a.m.Config().EntryLayout
	root := a.m.Entry().Root()
	for _, key := range slices.Sorted(maps.Keys(a.host[nodeOf(root)])) {
		if index := a.host[nodeOf(root)][key]; layout == nil || !isHostShape(layout.Result, index) {
			a.copyPart(root, index, 0)
		}
	}
}

// join copies the parts of from that are not on the host and that to has there. What only hands a value on is left to what it hands on.
func (a *applying) join(to, from hlo.Instruction) {
	for _, key := range slices.Sorted(maps.Keys(a.host[nodeOf(to)])) {
		if index := a.host[nodeOf(to)][key]; !a.isHost(from, index) && !a.becomesBuffer(from, index) {
			a.copyPart(from, index, hostSpace)
		}
	}
}

// becomesBuffer reports whether a part of a tuple becomes a buffer on the host.
func (a *applying) becomesBuffer(in hlo.Instruction, index hlo.ShapeIndex) bool {
	return in.Opcode() == hlo.OpTuple && len(index) == 1 && a.allocate[slot{nodeOf(in), int(index[0])}]
}

// copyPart puts a value with one part copied to a memory space in the place of a tuple's operand, or of a root or operand that is no tuple.
func (a *applying) copyPart(in hlo.Instruction, index hlo.ShapeIndex, space int64) {
	c := a.e.Computation(in.Computation().ID())
	if in.Opcode() == hlo.OpTuple && len(index) > 0 {
		tuple := c.At(in.ID())
		part := emit.Before(c, tuple)
		made := a.copied(part, tuple.Operand(int(index[0])), index[1:], space)
		c.Instr(in.ID()).SetOperand(int(index[0]), made)
		c.Instr(in.ID()).SetShape(withSpace(c.At(in.ID()).Shape(), index, space))
		return
	}
	users := slices.Collect(c.Users(in.ID()))
	at := emit.End(c)
	made := a.copied(at, in.ID(), index, space)
	if c.Root() == in.ID() {
		c.SetRoot(made)
	} else {
		for _, u := range users {
			if o := c.At(u).Opcode(); hlo.Info(o).Traits.Has(hlo.TraitControl) {
				operands := slices.Collect(c.At(u).OperandIDs())
				for i := range operands {
					if operands[i] == in.ID() {
						operands[i] = made
					}
				}
				c.Instr(u).SetOperands(operands...)
			}
		}
	}
	emit.Reorder(c)
}

// copied is a value with one part copied to a memory space.
func (a *applying) copied(at emit.At, id hlo.InstrID, index hlo.ShapeIndex, space int64) hlo.InstrID {
	s := at.Shape(id)
	if len(index) == 0 {
		return at.OpOf(hlo.OpCopy, withSpace(s, nil, space), nil, id)
	}
	parts := emit.Elements(at, id)
	parts[index[0]] = a.copied(at, parts[index[0]], index[1:], space)
	return at.Tuple(parts...)
}
