package rulecheck

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/verifier"
)

// surrounding makes other programs around one on which a rule fires. There the rule may fire or not, but the program must mean the same.
type surrounding struct {
	name string
	make func(hlo.Module) []hlo.Module
	cfg  verifier.Config
}

var surroundings = []surrounding{
	{"where every value is a result too", one(everyValue), verifier.Config{}},
	{"where something waits for each value, and each value for something", one(everyOrder), verifier.Config{}},
	{"where every value is sharded", one(everySharding), verifier.Config{}},
	{"where operands come out of a tuple, and the result goes into one", one(everyTuple), verifier.Config{}},
	{"where operands wait for a token, and every value goes to the host", one(everyToken), verifier.Config{}},
	{"where calls with side effects make the operands and take the values", one(everyEffect), verifier.Config{}},
	{"where chains in flight make the operands and take the values", one(everyChain), verifier.Config{}},
	{"in a computation that is called", inside(called), verifier.Config{}},
	{"in a computation that a chain runs", inside(awaited), verifier.Config{}},
	{"in a fused computation", inside(fused), verifier.Config{}},
	{"in mixed precision", otherWidths, verifier.Config{MixedPrecision: true}},
}

// one is a surrounding that makes one program of each.
func one(make func(*around)) func(hlo.Module) []hlo.Module {
	return func(m hlo.Module) []hlo.Module {
		a := newAround(m)
		make(a)
		return []hlo.Module{a.freeze()}
	}
}

// around is the entry computation of a program that is being surrounded.
type around struct {
	e    *hlo.Editor
	c    hlo.CompEdit
	root hlo.Instruction
	// params and values are those of the program, operands first: values are computed, the root last.
	params, values []hlo.Instruction
}

func newAround(m hlo.Module) *around {
	a := &around{e: m.Edit(), root: m.Entry().Root()}
	a.c = a.e.Computation(m.Entry().ID())
	for in := range m.Entry().PostOrder() {
		switch {
		case in.Opcode() == hlo.OpParameter:
			a.params = append(a.params, in)
		default:
			a.values = append(a.values, in)
		}
	}
	return a
}

// freeze is the program, whose result may have another shape than before.
func (a *around) freeze() hlo.Module {
	cfg := *a.e.Config()
	cfg.EntryLayout = nil
	a.e.SetConfig(&cfg)
	return a.e.Freeze()
}

// instead puts a value in the place of an operand, for those who use it in the program.
func (a *around) instead(of hlo.Instruction, value hlo.InstrID) {
	for _, user := range append(a.values, a.params...) {
		for i := range user.NumOperands() {
			if user.Operand(i) == of.ID() {
				a.c.Edit(user).SetOperand(i, value)
			}
		}
	}
	if of.IsRoot() {
		a.c.SetRoot(value)
	}
}

// returns adds to the result.
func (a *around) returns(more ...hlo.InstrID) {
	ids := append([]hlo.InstrID{a.c.Root()}, more...)
	shapes := make([]hlo.Shape, len(ids))
	for i, id := range ids {
		shapes[i] = a.c.At(id).Shape()
	}
	a.c.SetRoot(a.c.Add(hlo.OpTuple, hlo.MakeTuple(shapes...), ids...).ID())
}

// everyValue returns all that is computed.
func everyValue(a *around) {
	var ids []hlo.InstrID
	for _, in := range a.values {
		if !in.IsRoot() && in.Shape().IsArray() {
			ids = append(ids, in.ID())
		}
	}
	a.returns(ids...)
}

// everyOrder puts a call with side effects before and after each value.
func everyOrder(a *around) {
	for _, in := range a.values {
		effect := func(when string) hlo.InstrID {
			return a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpCustomCall, Name: when + in.Name(), Shape: hlo.MakeTuple(),
				Attrs: &hlo.CustomCallAttrs{Target: "__xla_internal_call_marker_before", HasSideEffect: true}}).ID()
		}
		before, after := effect(beforeIt), effect(afterIt)
		a.c.Edit(in).AddControlPredecessor(before)
		a.c.Instr(after).AddControlPredecessor(in.ID())
	}
}

const beforeIt, afterIt = "before_", "after_"

// everySharding gives all values a sharding.
func everySharding(a *around) {
	for _, in := range append(a.values, a.params...) {
		if in.Shape().IsArray() {
			a.c.Edit(in).SetAttr(hlo.KeySharding, &hlo.Sharding{Kind: hlo.ShardingReplicated})
		}
	}
}

// everyTuple takes the operands out of one parameter, and returns a tuple in a tuple.
func everyTuple(a *around) {
	if n := len(a.params); n > 0 {
		shapes := make([]hlo.Shape, n)
		for _, p := range a.params {
			number, _ := p.ParameterNumber()
			shapes[number] = p.Shape()
		}
		whole := a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "all", Shape: hlo.MakeTuple(shapes...), Attrs: &hlo.ParameterAttrs{Number: int64(n)}})
		for _, p := range a.params {
			number, _ := p.ParameterNumber()
			part := a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: p.Shape(), Operands: []hlo.InstrID{whole.ID()},
				Attrs: &hlo.TupleElementAttrs{Index: number}})
			a.instead(p, part.ID())
		}
		for range n {
			if err := a.c.RemoveParameter(0); err != nil {
				panic(err) // all that used it uses the tuple
			}
		}
	}
	a.returns()
	a.returns()
}

// everyToken makes the operands wait for one, and gives each value to the host, one after the other.
func everyToken(a *around) {
	if len(a.values) == 0 {
		return
	}
	token := a.c.InsertBefore(a.values[0].ID(), hlo.OpAfterAll, hlo.MakeToken()).ID()
	for _, p := range a.params {
		a.instead(p, a.c.InsertBefore(a.values[0].ID(), hlo.OpAddDependency, p.Shape(), p.ID(), token).ID())
	}
	for _, in := range a.values {
		if in.Shape().IsArray() {
			token = a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpOutfeed, Shape: hlo.MakeToken(), Operands: []hlo.InstrID{in.ID(), token},
				Attrs: &hlo.OutfeedAttrs{Shape: in.Shape()}}).ID()
		}
	}
	a.returns(token)
}

// everyEffect lets calls with side effects make the operands and take the values. They hand on their operand.
func everyEffect(a *around) {
	effect := func(in hlo.Instruction) hlo.InstrID {
		return a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpCustomCall, Shape: in.Shape(), Operands: []hlo.InstrID{in.ID()}, Common: &hlo.Common{BackendConfig: "0"},
			Attrs: &hlo.CustomCallAttrs{Target: hlo.TargetSleep, HasSideEffect: true}}).ID()
	}
	for _, p := range a.params {
		a.instead(p, effect(p))
	}
	for _, in := range a.values {
		if in.Shape().IsArray() {
			effect(in)
		}
	}
}

// everyChain lets chains make the operands, and start with the values.
func everyChain(a *around) {
	flight := func(in hlo.Instruction) hlo.InstrID {
		b := a.e.Builder("in_flight")
		f, err := b.Finish(b.Op(hlo.OpReverse, &hlo.DimensionsAttrs{}, b.Parameter("x", in.Shape())))
		if err != nil {
			return in.ID()
		}
		start := a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpAsyncStart, Operands: []hlo.InstrID{in.ID()}, Callees: []hlo.CompID{f},
			Shape: hlo.MakeTuple(hlo.MakeTuple(in.Shape()), in.Shape(), hlo.MakeShape(hlo.U32)), Attrs: &hlo.AsyncStartAttrs{ExecutionThread: hlo.MainThread}})
		return a.c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpAsyncDone, Shape: in.Shape(), Operands: []hlo.InstrID{start.ID()}, Callees: []hlo.CompID{f}}).ID()
	}
	for _, p := range a.params {
		a.instead(p, flight(p))
	}
	var ids []hlo.InstrID
	for _, in := range a.values {
		if in.Shape().IsArray() {
			ids = append(ids, flight(in))
		}
	}
	a.returns(ids...)
}

// inside is a surrounding in which the whole program is a computation that another one uses.
func inside(use func(b *hlo.Builder, f hlo.CompID, operands ...hlo.Value) hlo.Value) func(hlo.Module) []hlo.Module {
	return func(m hlo.Module) []hlo.Module {
		a := newAround(m)
		b := a.e.Builder("around")
		var operands []hlo.Value
		for i := range m.Entry().NumParameters() {
			operands = append(operands, b.Parameter(m.Entry().Parameter(i).Name(), m.Entry().Parameter(i).Shape()))
		}
		id, err := b.Finish(use(b, m.Entry().ID(), operands...))
		if err != nil {
			return nil
		}
		a.e.SetEntry(id)
		return []hlo.Module{a.freeze()}
	}
}

func called(b *hlo.Builder, f hlo.CompID, operands ...hlo.Value) hlo.Value {
	return b.Call(f, operands...)
}

func awaited(b *hlo.Builder, f hlo.CompID, operands ...hlo.Value) hlo.Value {
	return b.AsyncDone(b.AsyncStart(f, "parallel", operands...))
}

func fused(b *hlo.Builder, f hlo.CompID, operands ...hlo.Value) hlo.Value {
	return b.Fusion(hlo.FusionLoop, f, operands...)
}

// otherWidths are the programs in which one value, or one parameter, has another floating type: wider, or narrower.
func otherWidths(m hlo.Module) (all []hlo.Module) {
	for in := range m.Entry().PostOrder() {
		t := in.Shape().Type()
		if !in.Shape().IsArray() || !t.IsFloat() || in.Opcode() == hlo.OpConstant {
			continue
		}
		for _, other := range []hlo.PrimitiveType{hlo.BF16, hlo.F32, hlo.F16, hlo.F64} {
			if other.Bits() == t.Bits() {
				continue
			}
			a := newAround(m)
			a.c.Edit(in).SetShape(in.Shape().WithType(other))
			if mixed := a.freeze(); verifier.Verify(mixed, verifier.Config{}).Err() != nil { // else it is an instance of its own: of convert, say
				all = append(all, mixed)
			}
		}
	}
	return all
}
