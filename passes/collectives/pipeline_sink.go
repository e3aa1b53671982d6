package collectives

import (
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// sunk is what is done behind the loop, for all rounds at once.
type sunk struct {
	tail
	row  hlo.InstrID // the row of the state that a round writes
	rows []int64     // of each round
}

// behind moves collectives, and what is made of them, behind the loop: each round stores what they read into a row of a new part of the state.
func (w *pipelined) behind(ctx *pass.Context, m hlo.Module, while hlo.Instruction, body hlo.Computation) error {
	t := &sunk{tail: tail{in: map[hlo.InstrID]bool{}, updates: map[int]hlo.InstrID{}}}
	n := 0
	for in := range body.PostOrder() {
		if !slices.Contains(w.kinds, in.Opcode()) || !isCollective(in) || in.NumOperands() != 1 || n == w.limit || t.in[in.ID()] || staysInRound(in) {
			continue
		}
		grown := &sunk{tail: tail{in: map[hlo.InstrID]bool{}, updates: map[int]hlo.InstrID{}}, row: t.row, rows: t.rows}
		if !grown.follow(m, while, body, in) || len(grown.updates) == 0 || !w.batches(body, grown) || !ctx.Spend("sink") {
			continue
		}
		ctx.Passed(in, "is exchanged behind the loop, with %d others of the round", n)
		for id := range grown.in {
			t.in[id] = true
		}
		for i, id := range grown.updates {
			t.updates[i] = id
		}
		t.row, t.rows = grown.row, grown.rows
		n++
	}
	if n == 0 {
		return nil
	}
	ctx.Count("collectives", int64(n))
	isUpdate := map[hlo.InstrID]bool{}
	for _, id := range t.updates {
		isUpdate[id] = true
	}
	for in := range body.PostOrder() {
		if t.in[in.ID()] && !isUpdate[in.ID()] {
			t.ops = append(t.ops, in.ID())
		}
	}
	return w.applySunk(body, t)
}

// staysInRound reports whether the program says that a collective is not to be pipelined.
func staysInRound(in hlo.Instruction) bool {
	c := in.Common()
	if c == nil {
		return false
	}
	v, ok := c.FrontendAttributes.Get("is_pipelineable")
	return ok && v == "false"
}

// batches reports whether all of a tail can be done for a batch of rounds, and its updates write every row of their parts once.
func (w *pipelined) batches(body hlo.Computation, t *sunk) bool {
	isUpdate := map[hlo.InstrID]bool{}
	for _, part := range slices.Sorted(maps.Keys(t.updates)) {
		id := t.updates[part]
		update := body.MustAt(id)
		isUpdate[id] = true
		whole, row := update.Shape(), update.OperandInstr(1).Shape()
		if !isElement(stateOf(update.OperandInstr(0))) || !whole.IsStatic() || row.Dim(0) != 1 || !slices.Equal(whole.Dimensions()[1:], row.Dimensions()[1:]) || whole.Dim(0) != w.loop.Trip {
			return false
		}
		rows, ok := w.rows(body, update.OperandInstr(2))
		if !ok || t.rows != nil && !slices.Equal(rows, t.rows) {
			return false
		}
		t.row, t.rows = update.Operand(2), rows
	}
	for id := range t.in {
		if in := body.MustAt(id); !isUpdate[id] && !w.canLift(body, in, t.in) {
			return false
		}
	}
	return true
}

// mostRows bounds the rounds whose rows are computed.
const mostRows = 1 << 16

// rows computes the row that each round writes, and reports whether that is every row once.
func (w *pipelined) rows(body hlo.Computation, index hlo.Instruction) ([]int64, bool) {
	if w.loop.Trip > mostRows {
		return nil, false
	}
	rows := make([]int64, w.loop.Trip)
	seen := make([]bool, w.loop.Trip)
	for k := range rows {
		steps := 256
		v, ok := w.valueIn(body, index, w.loop.First+int64(k)*w.loop.Step, &steps)
		if !ok || v < 0 || v >= w.loop.Trip || seen[v] {
			return nil, false
		}
		rows[k], seen[v] = v, true
	}
	return rows, true
}

// valueIn computes an integer in the round of a counter.
func (w *pipelined) valueIn(body hlo.Computation, in hlo.Instruction, counter int64, steps *int) (int64, bool) {
	if *steps--; *steps < 0 || !in.Shape().IsScalar() || !(in.Shape().Type().IsInteger() || in.Shape().Type() == hlo.PRED) {
		return 0, false
	}
	var v [3]int64
	if isElement(in) {
		i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		init := w.c.At(w.while).OperandInstr(0)
		back := body.Root().OperandInstr(i)
		switch {
		case i == w.loop.Induction:
			return counter, true
		case init.Opcode() == hlo.OpTuple && isElement(back) && hlo.AttrsOf[hlo.TupleElementAttrs](back).Index == int64(i):
			return scalarInt(init.OperandInstr(i))
		}
		return 0, false
	}
	if in.Opcode() == hlo.OpConstant {
		return scalarInt(in)
	}
	if in.NumOperands() > len(v) || in.Shape().Type().IsUnsigned() {
		return 0, false
	}
	for i := range in.NumOperands() {
		var ok bool
		if v[i], ok = w.valueIn(body, in.OperandInstr(i), counter, steps); !ok {
			return 0, false
		}
	}
	//halo:allow opswitch the arithmetic of indices
	switch in.Opcode() {
	case hlo.OpAdd:
		v[0] += v[1]
	case hlo.OpSubtract:
		v[0] -= v[1]
	case hlo.OpMultiply:
		v[0] *= v[1]
	case hlo.OpMinimum:
		v[0] = min(v[0], v[1])
	case hlo.OpMaximum:
		v[0] = max(v[0], v[1])
	case hlo.OpConvert, hlo.OpCopy, hlo.OpReshape:
	case hlo.OpSelect:
		if v[0] != 0 {
			return v[1], true
		}
		return v[2], true
	case hlo.OpCompare:
		holds, ok := related(hlo.AttrsOf[hlo.CompareAttrs](in).Direction, v[0], v[1])
		return holds, ok
	default:
		return 0, false
	}
	limit := int64(1) << (min(in.Shape().Type().Bits(), 62) - 1) // what would wrap around is not followed
	return v[0], in.Shape().Type() != hlo.PRED && v[0] >= -limit && v[0] < limit
}

func related(d hlo.Direction, a, b int64) (int64, bool) {
	var holds bool
	switch d {
	case hlo.LT:
		holds = a < b
	case hlo.LE:
		holds = a <= b
	case hlo.GT:
		holds = a > b
	case hlo.GE:
		holds = a >= b
	case hlo.EQ:
		holds = a == b
	case hlo.NE:
		holds = a != b
	default:
		return 0, false
	}
	if holds {
		return 1, true
	}
	return 0, true
}

func scalarInt(in hlo.Instruction) (int64, bool) {
	if in.Opcode() != hlo.OpConstant || in.Literal() == nil || in.Literal().IsElided() {
		return 0, false
	}
	if in.Shape().Type() == hlo.PRED {
		return int64(in.Literal().Bytes()[0]), true
	}
	return in.Literal().ScalarInt()
}

// invariant reports whether a value is made of constants alone.
func invariant(in hlo.Instruction, depth int) bool {
	if in.Opcode() == hlo.OpConstant || in.Opcode() == hlo.OpIota {
		return in.NumControlPredecessors() == 0
	}
	if in.Opcode() != hlo.OpBroadcast || depth == 0 {
		return false
	}
	return invariant(in.OperandInstr(0), depth-1)
}

// applySunk changes the loop.
//
//  1. The state gets a part for each value that the tail reads, of as many rows as there are rounds; a round writes its row.
//  2. The body hands on the parts that the tail updated as they are.
//  3. Behind the loop the tail is done with all rows.
func (w *pipelined) applySunk(body hlo.Computation, t *sunk) error {
	trip := w.loop.Trip
	for _, id := range t.ops {
		for o := range body.MustAt(id).Operands() {
			if !t.in[o.ID()] && !invariant(o, 8) && !slices.Contains(t.inputs, o.ID()) {
				t.inputs = append(t.inputs, o.ID())
			}
		}
	}
	at := emit.Before(w.c, w.c.At(w.while))
	var init []hlo.InstrID
	for _, id := range t.inputs {
		s := body.MustAt(id).Shape()
		init = append(init, at.Fill(at.Constant(emit.Zero(s.Type())), append([]int64{trip}, s.Dimensions()...)...))
	}
	users, isRoot := slices.Collect(w.c.Users(w.while)), w.c.Root() == w.while
	narrow := w.c.At(w.while).Shape()
	n := narrow.NumElems()
	behind := emit.End(w.c)
	results := emit.Elements(behind, w.while)
	tuple := behind.OpOf(hlo.OpTuple, narrow, nil, results...) // stands for the loop
	emit.Redirect(w.c, users, w.while, tuple)
	if isRoot {
		w.c.SetRoot(tuple)
	}
	loop := emit.Loop{C: w.c, While: w.while, Body: w.body, Cond: w.cond}
	root := w.body.Root()
	operands := slices.Collect(w.body.At(root).OperandIDs())
	for part, id := range t.updates {
		operands[part] = stateOf(body.MustAt(id).OperandInstr(0)).ID()
	}
	w.body.Instr(root).SetOperands(operands...)
	loop.Grow(init, func(at emit.At, parts []hlo.InstrID) []hlo.InstrID {
		var next []hlo.InstrID
		index := w.body.At(t.row).Shape().Type()
		for k, id := range t.inputs {
			s := body.MustAt(id).Shape()
			row := at.Reshape(id, append([]int64{1}, s.Dimensions()...)...)
			if w.marks {
				row = at.OpOf(hlo.OpCustomCall, at.Shape(row), &hlo.CustomCallAttrs{Target: "SunkByPreviousStep", FeatureGroupCount: 1, BatchGroupCount: 1}, row)
			}
			indices := []hlo.InstrID{t.row}
			for range s.Rank() {
				indices = append(indices, at.Int(index, 0))
			}
			next = append(next, at.DynamicUpdateSlice(parts[k], row, indices...))
		}
		return next
	})
	for _, id := range t.updates {
		pass.Release(w.body, id, nil)
	}
	for _, id := range slices.Backward(t.ops) { // Release keeps collectives, and what they read
		if w.body.Has(id) {
			if err := w.body.Remove(id); err != nil {
				return err
			}
		}
	}

	l := &lifting{at: emit.End(w.c), body: body, trip: trip, values: map[hlo.InstrID]hlo.InstrID{}, plain: map[hlo.InstrID]hlo.InstrID{}}
	for k, id := range t.inputs {
		l.values[id] = l.at.Element(w.while, n+k)
	}
	for _, id := range t.ops {
		l.values[id] = l.lift(body.MustAt(id))
	}
	var dead []hlo.InstrID
	for _, part := range slices.Sorted(maps.Keys(t.updates)) {
		id, element := t.updates[part], results[part]
		results[part] = l.at.Reshape(l.whole(body.MustAt(id).OperandInstr(1)), narrow.Elem(part).Dimensions()...)
		if s := narrow.Elem(part); !s.Equal(l.at.Shape(results[part])) {
			w.c.Instr(results[part]).SetShape(s)
		}
		dead = append(dead, element)
	}
	w.c.Instr(tuple).SetOperands(results...)
	for _, id := range dead {
		pass.Release(w.c, id, nil)
	}
	emit.Reorder(w.c)
	return nil
}
