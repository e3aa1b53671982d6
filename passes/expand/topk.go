package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// TopK is the target of the custom call that gives the largest elements of each row and where they were.
const topKTarget = "TopK"

// TopKRewriter makes a custom call of a sort of which only the first elements are read.
var TopKRewriter = &pass.Pass{
	Name: "topk-rewriter",
	Doc: `replace a descending sort whose first elements alone are read by TopK

The sort has one operand, or counts along with it. All its elements are read by slices; the call gives as many elements as they reach. Other dimensions than one before the last are
reshaped and transposed into one.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for _, in := range backward(c) {
				if in.Opcode() != hlo.OpSort || !e.Computation(c.ID()).Has(in.ID()) {
					continue
				}
				if t, ok := findTopK(m, in); ok && ctx.Spend("sort") {
					if err := t.rewrite(e, e.Computation(c.ID())); err != nil {
						return m, err
					}
					ctx.Count("sorts", 1)
				}
			}
		}
		return e.Freeze(), nil
	},
}

// topSort is a sort whose first k elements are read.
type topSort struct {
	sort  hlo.InstrSpec
	id    hlo.InstrID
	x     hlo.Shape
	axis  int
	k     int64
	reads []topRead
}

// topRead is a slice of element part of the sort.
type topRead struct {
	part  int
	slice hlo.InstrSpec
	id    hlo.InstrID
}

func findTopK(m hlo.Module, in hlo.Instruction) (t topSort, ok bool) {
	t = topSort{sort: emit.Again(in), id: in.ID(), x: in.OperandInstr(0).Shape(), axis: int(hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0])}
	if in.NumOperands() > 2 || !t.x.IsStatic() || t.x.Rank() == 0 || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || !descends(m.MustComputation(in.Callee(0))) {
		return t, false
	}
	if in.NumOperands() == 2 {
		count, axis := in.OperandInstr(1), int64(t.axis)
		if count.Opcode() == hlo.OpBroadcast && slices.Equal(hlo.AttrsOf[hlo.BroadcastAttrs](count).Dimensions, []int64{axis}) {
			count, axis = count.OperandInstr(0), 0
		}
		if count.Shape().Type() != hlo.S32 || !counts(count, axis) {
			return t, false
		}
	}
	if t.x.Rank() > 2 && t.axis != t.x.Rank()-1 {
		return t, false
	}
	read := func(part int, v hlo.Instruction) bool {
		for u := range v.Users() {
			if u.Opcode() != hlo.OpSlice {
				return false
			}
			for d, r := range hlo.AttrsOf[hlo.SliceAttrs](u).Slice {
				if d == t.axis {
					t.k = max(t.k, r.Limit)
				}
			}
			t.reads = append(t.reads, topRead{part, emit.Again(u), u.ID()})
		}
		return v.ID() != in.Computation().Root().ID()
	}
	if in.NumOperands() == 1 {
		ok = read(0, in)
	} else {
		ok = in.ID() != in.Computation().Root().ID()
		for u := range in.Users() {
			ok = ok && u.Opcode() == hlo.OpGetTupleElement && read(int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index), u)
		}
	}
	return t, ok && len(t.reads) > 0 && t.k < t.x.Dim(t.axis) && t.k > 0
}

// rewrite calls TopK before the sort, and reads from that.
func (t topSort) rewrite(e *hlo.Editor, c hlo.CompEdit) error {
	at := emit.Before(c, c.At(t.id))
	dims, x := t.x.Dimensions(), t.sort.Operands[0]
	turned := t.x.Rank() == 2 && t.axis == 0
	n, rows := dims[t.axis], int64(1)
	for d, size := range dims {
		if d != t.axis {
			rows *= size
		}
	}
	if turned {
		x = at.Transpose(x, 1, 0)
	}
	given := []int64{t.k}
	if t.x.Rank() > 1 {
		x, given = at.Reshape(x, rows, n), []int64{rows, t.k}
	}
	shape := hlo.MakeTuple(hlo.MakeShape(t.x.Type(), given...).WithDefaultLayout(), hlo.MakeShape(hlo.S32, given...).WithDefaultLayout())
	spec := hlo.InstrSpec{Opcode: hlo.OpCustomCall, Shape: shape, Operands: []hlo.InstrID{x}, Callees: []hlo.CompID{comparator(e, t.x.Type(), hlo.S32, hlo.GT)},
		Attrs: &hlo.CustomCallAttrs{Target: topKTarget, FeatureGroupCount: 1, BatchGroupCount: 1}, Common: emit.HandedOn(t.sort.Common)}
	if !t.sort.Attrs.(*hlo.SortAttrs).IsStable {
		common := hlo.Common{}
		if spec.Common != nil {
			common = *spec.Common
		}
		common.BackendConfig = "{is_stable = false}"
		spec.Common = &common
	}
	call := at.Spec(spec)
	parts := map[int]hlo.InstrID{}
	for _, r := range t.reads {
		v, ok := parts[r.part]
		if !ok {
			v = at.Element(call, r.part)
			full := slices.Clone(dims)
			full[t.axis] = t.k
			if turned {
				v = at.Transpose(v, 1, 0)
			}
			v = at.Reshape(v, full...)
			parts[r.part] = v
		}
		if at.Shape(v).EqualIgnoringLayout(r.slice.Shape) {
			if err := emit.Forward(c, r.id, v); err != nil {
				return err
			}
			continue
		}
		spec := emit.With(r.slice, v)
		if err := emit.Replace(c, r.id, at.Spec(spec)); err != nil {
			return err
		}
	}
	emit.Reorder(c)
	return nil
}

// comparator adds one that orders pairs of keys and values by the keys.
func comparator(e *hlo.Editor, key, value hlo.PrimitiveType, d hlo.Direction) hlo.CompID {
	k, v := hlo.MakeShape(key).WithDefaultLayout(), hlo.MakeShape(value).WithDefaultLayout()
	params := []hlo.Shape{k, k}
	if value != hlo.InvalidType {
		params = append(params, v, v)
	}
	return emit.Computation(e, "compare", params, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		a := &hlo.CompareAttrs{Direction: d}
		if key.IsFloat() {
			a.Type = hlo.CompareTotalOrder
		}
		return at.Op(hlo.OpCompare, a, params[0], params[1])
	})
}

// descends reports whether a comparator puts larger elements of the first operand first, in the total order.
func descends(f hlo.Computation) bool {
	root := f.Root()
	if root.Opcode() == hlo.OpSelect && isTrue(root.OperandInstr(0)) {
		root = root.OperandInstr(1)
	}
	if root.Opcode() != hlo.OpCompare || hlo.AttrsOf[hlo.CompareAttrs](root).Direction != hlo.GT {
		return false
	}
	x, y := root.OperandInstr(0), root.OperandInstr(1)
	if x.Opcode() == hlo.OpParameter && y.Opcode() == hlo.OpParameter {
		total := hlo.AttrsOf[hlo.CompareAttrs](root).Type == hlo.CompareTotalOrder || !x.Shape().Type().IsFloat()
		return total && number(x) == 0 && number(y) == 1
	}
	a, okA := ordered(x)
	b, okB := ordered(y)
	return okA && okB && a == 0 && b == 1
}

func number(in hlo.Instruction) int64 { return hlo.AttrsOf[hlo.ParameterAttrs](in).Number }

func isTrue(in hlo.Instruction) bool {
	for in.Opcode() == hlo.OpBroadcast {
		in = in.OperandInstr(0)
	}
	return in.Opcode() == hlo.OpConstant && in.Shape().Type() == hlo.PRED && len(in.Literal().Bytes()) == 1 && in.Literal().Bytes()[0] == 1
}

// ordered matches the bits of a parameter, turned over where they are negative, so that they are ordered like the numbers: XLA's way to compare floats totally.
func ordered(in hlo.Instruction) (param int64, ok bool) {
	if in.Opcode() != hlo.OpSelect || in.OperandInstr(0).Opcode() != hlo.OpCompare || hlo.AttrsOf[hlo.CompareAttrs](in.OperandInstr(0)).Direction != hlo.LT {
		return 0, false
	}
	bits, back := in.OperandInstr(2), in.OperandInstr(1)
	p, ok := bitsOf(bits, hlo.S32)
	test := in.OperandInstr(0)
	if !ok || test.Operand(0) != bits.ID() || !isInt(test.OperandInstr(1), 0) || back.Opcode() != hlo.OpBitcastConvert || back.OperandInstr(0).Opcode() != hlo.OpSubtract {
		return 0, false
	}
	from := back.OperandInstr(0)
	q, ok := bitsOf(from.OperandInstr(1), hlo.U32)
	return p, ok && p == q && isInt(from.OperandInstr(0), 1<<31-1)
}

// bitsOf matches the bits of an f32 parameter as a type.
func bitsOf(in hlo.Instruction, t hlo.PrimitiveType) (param int64, ok bool) {
	if in.Opcode() != hlo.OpBitcastConvert || in.Shape().Type() != t {
		return 0, false
	}
	x := in.OperandInstr(0)
	if x.Opcode() == hlo.OpConvert && x.OperandInstr(0).Shape().Type() == hlo.BF16 {
		if x.Shape().Type() != hlo.F32 {
			return 0, false
		}
		x = x.OperandInstr(0)
	} else if x.Shape().Type() != hlo.F32 {
		return 0, false
	}
	if x.Opcode() != hlo.OpParameter {
		return 0, false
	}
	return number(x), true
}

func isInt(in hlo.Instruction, v int64) bool {
	for in.Opcode() == hlo.OpConvert && in.OperandInstr(0).Shape().Type().IsInteger() {
		in = in.OperandInstr(0)
	}
	if in.Opcode() != hlo.OpConstant {
		return false
	}
	got, ok := in.Literal().ScalarInt()
	return ok && got == v
}
