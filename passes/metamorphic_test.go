package passes_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestMetamorphic: a program that is made clumsier without changing what it means still means the same after every pipeline, and the
// pipelines that simplify take the clumsiness back.
func TestMetamorphic(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }
	plain, clumsy := 0, 0
	for seed := range seeds {
		m, err := hlotest.Random(uint64(seed), 20)
		require.NoError(t, err)
		ref := shadow.NewReference(m, shadow.Config{})
		worse := disguise(m, rand.New(rand.NewPCG(uint64(seed), 1)))
		require.NoError(t, check(worse), "seed %d\n%s", seed, printer.String(worse))
		for name := range passes.Pipelines {
			after := run(t, &pass.Runner{Check: check}, name, worse)
			require.NoError(t, ref.Compare(context.Background(), after), "%s, seed %d\nbefore:\n%s\nafter:\n%s", name, seed, printer.String(worse), printer.String(after))
		}
		plain += run(t, nil, "O2", m).NumInstructions()
		clumsy += run(t, nil, "O2", worse).NumInstructions()
	}
	t.Logf("%d instructions after O2, %d of the disguised programs", plain, clumsy)
	assert.LessOrEqual(t, clumsy, plain+plain/10, "what was added is taken away again")
}

// disguises put something in front of an operand x of a user that is x again.
var disguises = []func(c hlo.CompEdit, before hlo.InstrID, x hlo.Instruction) (hlo.InstrID, bool){
	func(c hlo.CompEdit, before hlo.InstrID, x hlo.Instruction) (hlo.InstrID, bool) { // -(-x)
		switch x.Shape().Type() {
		case hlo.F32, hlo.F64, hlo.S32, hlo.S64:
			n := c.InsertBefore(before, hlo.OpNegate, x.Shape(), x.ID()).ID()
			return c.InsertBefore(before, hlo.OpNegate, x.Shape(), n).ID(), true
		}
		return 0, false
	},
	func(c hlo.CompEdit, before hlo.InstrID, x hlo.Instruction) (hlo.InstrID, bool) { // into one axis and back
		flat := c.InsertBefore(before, hlo.OpReshape, hlo.MakeShape(x.Shape().Type(), x.Shape().NumElements()), x.ID()).ID()
		return c.InsertBefore(before, hlo.OpReshape, x.Shape(), flat).ID(), true
	},
	func(c hlo.CompEdit, before hlo.InstrID, x hlo.Instruction) (hlo.InstrID, bool) { // select(true, x, x)
		yes, err := hlo.NewLiteral(hlo.MakeShape(hlo.PRED), []byte{1})
		if err != nil {
			return 0, false
		}
		k := c.InsertSpecBefore(before, hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: yes.Shape(), Attrs: &hlo.ConstantAttrs{Literal: yes}}).ID()
		return c.InsertBefore(before, hlo.OpSelect, x.Shape(), k, x.ID(), x.ID()).ID(), true
	},
	func(c hlo.CompEdit, before hlo.InstrID, x hlo.Instruction) (hlo.InstrID, bool) { // to a wider type and back
		wider, ok := map[hlo.PrimitiveType]hlo.PrimitiveType{hlo.F32: hlo.F64, hlo.S32: hlo.S64, hlo.BF16: hlo.F32}[x.Shape().Type()]
		if !ok {
			return 0, false
		}
		w := c.InsertBefore(before, hlo.OpConvert, x.Shape().WithType(wider), x.ID()).ID()
		return c.InsertBefore(before, hlo.OpConvert, x.Shape(), w).ID(), true
	},
	func(c hlo.CompEdit, before hlo.InstrID, x hlo.Instruction) (hlo.InstrID, bool) { // an element of a tuple
		pair := hlo.MakeTuple(x.Shape(), x.Shape())
		tuple := c.InsertBefore(before, hlo.OpTuple, pair, x.ID(), x.ID()).ID()
		return c.InsertSpecBefore(before, hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: x.Shape(), Operands: []hlo.InstrID{tuple},
			Attrs: &hlo.TupleElementAttrs{Index: 1}}).ID(), true
	},
}

// disguise makes a module clumsier: it hides operands, exchanges those of commutative ops, and moves the entry into a computation that a new
// entry calls.
func disguise(m hlo.Module, rng *rand.Rand) hlo.Module {
	e := m.Edit()
	entry := m.Entry()
	if m.Config().IsScheduled { // it would have to say where what is new runs
		cfg := *m.Config()
		cfg.IsScheduled = false
		e.SetConfig(&cfg)
		for c := range m.Computations() {
			e.Computation(c.ID()).ClearSchedule()
		}
	}
	c := e.Computation(entry.ID())
	for in := range entry.Instructions() {
		for i := range in.NumOperands() {
			x := in.OperandInstr(i)
			if s := x.Shape(); !s.IsArray() || !s.IsStatic() || rng.IntN(3) > 0 {
				continue
			}
			if id, ok := disguises[rng.IntN(len(disguises))](c, in.ID(), x); ok {
				operands := make([]hlo.InstrID, in.NumOperands())
				for k := range operands {
					operands[k] = c.At(in.ID()).Operand(k)
				}
				operands[i] = id
				c.Instr(in.ID()).SetOperands(operands...)
			}
		}
		if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCommutative) && in.NumOperands() == 2 && rng.IntN(2) == 0 {
			c.Instr(in.ID()).SetOperands(c.At(in.ID()).Operand(1), c.At(in.ID()).Operand(0))
		}
	}
	b := e.NewComputation("outer")
	var args []hlo.InstrID
	for i := range entry.NumParameters() {
		p := entry.Parameter(i)
		args = append(args, b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: p.Name(), Shape: p.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(i)}}))
	}
	call := b.Append(hlo.InstrSpec{Opcode: hlo.OpCall, Shape: entry.Root().Shape(), Operands: args, Callees: []hlo.CompID{entry.ID()}})
	e.SetEntry(b.Finish(call))
	return e.Freeze()
}
