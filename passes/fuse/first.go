package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// FirstFusion makes one kernel of a sort and the slices that read its first elements.
var FirstFusion = &pass.Pass{
	Name:  "partial-sort-fusion",
	Makes: []pass.Phase{pass.Fused},
	Doc: `make fusions of sorts of which only first elements are read and the slices that read them

The kernel of such a fusion finds the first elements of each row without sorting the rest, in the same order. The sort is along the last dimension, by a comparison of elements
of one operand, and slices read at most an eighth of it. Counts along the rows are computed in the fusion.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			if c.IsScheduled() {
				continue
			}
			ce := e.Computation(c.ID())
			for in := range pass.EachOf(ce, hlo.OpSort) {
				f, ok := findFirsts(m, in)
				if !ok || !ctx.Spend("fuse") {
					continue
				}
				if err := f.fuse(ce); err != nil {
					return m, err
				}
				ctx.Count("fusions", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// Limits of the pass: rows shorter than this are sorted as quickly, and so are those of which more than one in firstShare elements is read.
const (
	leastFirst = 64
	firstShare = 8
)

// firsts is a sort and what reads its first elements.
type firsts struct {
	sort  hlo.InstrSpec
	name  string
	id    hlo.InstrID
	reads []firstRead
	args  []firstArg // the operands
}

// firstRead is a slice of element part of a sort.
type firstRead struct {
	part  int
	slice hlo.InstrSpec
	id    hlo.InstrID
}

// firstArg is an operand: an array, or counts that are computed anew.
type firstArg struct {
	shape  hlo.Shape
	counts []hlo.InstrSpec // an iota and what repeats it; or nil
}

func findFirsts(m hlo.Module, in hlo.Instruction) (f firsts, ok bool) {
	f = firsts{sort: emit.Again(in), name: in.Name(), id: in.ID()}
	shape := in.OperandInstr(0).Shape()
	axis := int(hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0])
	if !shape.IsStatic() || axis != shape.Rank()-1 || shape.Dim(axis) < leastFirst || in.IsRoot() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 ||
		!comparesOne(m.MustComputation(in.Callee(0))) {
		return f, false
	}
	read := func(part int, v hlo.Instruction) bool {
		for u := range v.Users() {
			if u.Opcode() != hlo.OpSlice || u.NumControlPredecessors()+u.NumControlSuccessors() > 0 {
				return false
			}
			for d, r := range hlo.AttrsOf[hlo.SliceAttrs](u).Slice {
				whole := r.Start == 0 && r.Limit == shape.Dim(d)
				if r.Stride != 1 || d != axis && !whole || d == axis && r.Limit*firstShare > shape.Dim(d) {
					return false
				}
			}
			f.reads = append(f.reads, firstRead{part, emit.Again(u), u.ID()})
		}
		return !v.IsRoot()
	}
	if in.NumOperands() == 1 {
		ok = read(0, in)
	} else {
		ok = true
		for u := range in.Users() {
			ok = ok && u.Opcode() == hlo.OpGetTupleElement && u.NumControlPredecessors()+u.NumControlSuccessors() == 0 && read(int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index), u)
		}
	}
	if !ok || len(f.reads) == 0 || len(f.reads) > maxResults {
		return f, false
	}
	for o := range in.Operands() {
		f.args = append(f.args, firstArg{o.Shape(), countsAlong(o, int64(axis))})
	}
	return f, true
}

// comparesOne reports whether a comparator compares the elements of one operand, of at most 32 bits, as they are.
func comparesOne(c hlo.Computation) bool {
	root := c.Root()
	if root.Opcode() != hlo.OpCompare {
		return false
	}
	d := hlo.AttrsOf[hlo.CompareAttrs](root).Direction
	x, isX := root.OperandInstr(0).ParameterNumber()
	y, isY := root.OperandInstr(1).ParameterNumber()
	t := root.OperandInstr(0).Shape().Type()
	return isX && isY && x/2 == y/2 && x != y && (d == hlo.LT || d == hlo.GT) && !t.IsComplex() && t.Bits() >= 8 && t.Bits() <= 32 && (!t.IsFloat() || t.Bits() >= 16)
}

// countsAlong is the instructions that make counts of s32 along an axis, or nil.
func countsAlong(in hlo.Instruction, axis int64) []hlo.InstrSpec {
	var repeat []hlo.InstrSpec
	if in.Opcode() == hlo.OpBroadcast && slices.Equal(hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions, []int64{axis}) {
		repeat = []hlo.InstrSpec{emit.Again(in)}
		in, axis = in.OperandInstr(0), 0
	}
	if in.Opcode() != hlo.OpIota || in.Shape().Type() != hlo.S32 || hlo.AttrsOf[hlo.IotaAttrs](in).Dimension != axis {
		return nil
	}
	return append([]hlo.InstrSpec{emit.Again(in)}, repeat...)
}

// fuse puts the fusion where the sort is.
func (f firsts) fuse(c hlo.CompEdit) error {
	at := emit.Before(c, c.At(f.id))
	var outside []hlo.InstrID
	var shapes []hlo.Shape
	for i, a := range f.args {
		if a.counts == nil {
			outside, shapes = append(outside, f.sort.Operands[i]), append(shapes, a.shape)
		}
	}
	callee := emit.Computation(c.Editor(), "fused_first", shapes, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		var operands []hlo.InstrID
		for _, a := range f.args {
			if a.counts == nil {
				operands, params = append(operands, params[0]), params[1:]
				continue
			}
			v := at.Spec(emit.With(a.counts[0]))
			for _, s := range a.counts[1:] {
				v = at.Spec(emit.With(s, v))
			}
			operands = append(operands, v)
		}
		sorted := at.Spec(emit.With(f.sort, operands...))
		parts := make([]hlo.InstrID, len(f.reads))
		for i, r := range f.reads {
			v := sorted
			if len(f.args) > 1 {
				v = at.Element(sorted, r.part)
			}
			parts[i] = at.Spec(emit.With(r.slice, v))
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return at.Tuple(parts...)
	})
	shape := f.reads[0].slice.Shape
	if len(f.reads) > 1 {
		var all []hlo.Shape
		for _, r := range f.reads {
			all = append(all, r.slice.Shape)
		}
		shape = hlo.MakeTuple(all...)
	}
	fusion := at.Spec(hlo.InstrSpec{Opcode: hlo.OpFusion, Name: f.name + "_fusion", Shape: shape, Operands: outside, Attrs: &hlo.FusionAttrs{Kind: hlo.FusionCustom},
		Callees: []hlo.CompID{callee}, Common: emit.HandedOn(f.sort.Common), Position: f.sort.Position})
	for i, r := range f.reads {
		v := fusion
		if len(f.reads) > 1 {
			v = at.Element(fusion, i)
		}
		if err := emit.Forward(c, r.id, v); err != nil {
			return err
		}
	}
	return nil
}
