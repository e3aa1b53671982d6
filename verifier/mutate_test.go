package verifier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// What only an edit can break: the reader would not make such modules.
func TestMutatedModules(t *testing.T) {
	const text = `HloModule m

f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] add(x, x)
  z = f32[4] multiply(y, x)
  s = ((f32[4]), f32[4], u32[]) async-start(z), calls=f
  u = ((f32[4]), f32[4], u32[]) async-update(s)
  d = f32[4] async-done(u)
  c = f32[4] fusion(d), kind=kLoop, calls={
    b = f32[4] parameter(0)
    ROOT e = f32[4] abs(b)
  }
  ROOT k = f32[4] copy(c)
}
`
	for _, c := range []struct {
		name, rule string
		mutate     func(e *hlo.Editor, main hlo.CompEdit, id func(string) hlo.InstrID)
	}{
		{"cycle", "STR-08", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("y")).SetOperand(1, id("z"))
		}},
		{"control cycle", "STR-08", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("y")).AddControlPredecessor(id("z"))
		}},
		{"callee of an add", "GEN-01", func(e *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("y")).SetCallees(m.At(id("c")).Callee(0))
		}},
		{"operand count", "GEN-02", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("y")).SetOperands(id("x"))
		}},
		{"layout of another rank", "GEN-04", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("k")).SetShape(hlo.MakeShape(hlo.F32, 4).WithLayout(hlo.DefaultLayout(2)))
		}},
		{"accuracy of a product", "ELT-18", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("z")).SetCommon(&hlo.Common{ResultAccuracy: &hlo.ResultAccuracy{Highest: true}})
		}},
		{"update without operands", "ASYNC-28", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) { m.Instr(id("u")).SetOperands() }},
		{"done without operands", "ASYNC-15", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) { m.Instr(id("d")).SetOperands() }},
		{"two fusions of one computation", "FUS-01", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			in := m.At(id("c"))
			n := m.AddSpec(hlo.InstrSpec{Opcode: hlo.OpFusion, Shape: in.Shape(), Operands: []hlo.InstrID{id("d")}, Attrs: in.Attrs(), Callees: []hlo.CompID{in.Callee(0)}})
			m.SetRoot(n.ID())
		}},
		{"entry is fused", "MOD-02", func(e *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) { e.SetEntry(m.At(id("c")).Callee(0)) }},
		{"recursion", "HALO-RECURSION", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("c")).SetCallees(m.ID())
		}},
		{"no shape", "GEN-06", func(_ *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			m.Instr(id("k")).SetShape(hlo.Shape{})
		}},
		{"scheduled in part", "SCH-02", func(e *hlo.Editor, _ hlo.CompEdit, _ func(string) hlo.InstrID) {
			cfg := *e.Config()
			cfg.IsScheduled = true
			e.SetConfig(&cfg)
		}},
		{"user before operand", "SCH-05", func(e *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			cfg := *e.Config()
			cfg.IsScheduled = true
			e.SetConfig(&cfg)
			for c := range e.Computations() {
				var ids []hlo.InstrID
				for in := range e.View(c).Instructions() {
					ids = append(ids, in.ID())
				}
				if c == m.ID() {
					ids[1], ids[2] = ids[2], ids[1]
				}
				if err := e.Computation(c).SetSchedule(ids); err != nil {
					panic(err)
				}
			}
		}},
		{"parameter numbers", "HALO-PARAMETERS", func(e *hlo.Editor, m hlo.CompEdit, id func(string) hlo.InstrID) {
			f := e.Computation(m.At(id("s")).Callee(0))
			f.Instr(0).SetAttrs(&hlo.ParameterAttrs{Number: 3})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parser.Parse("", text)
			require.NoError(t, err)
			require.NoError(t, verifier.Verify(m, verifier.Config{}).Err())
			e := m.Edit()
			main := e.Computation(m.Entry().ID())
			c.mutate(e, main, func(name string) hlo.InstrID {
				in, ok := m.Entry().ByName(name)
				require.True(t, ok, name)
				return in.ID()
			})
			found := verifier.Verify(e.Freeze(), verifier.Config{})
			assert.True(t, found.HasRule(c.rule), "%v", found)
		})
	}
	assert.Error(t, verifier.Verify(hlo.Module{}, verifier.Config{}).Err())
	assert.Error(t, verifier.Verify(hlo.NewModule("empty").Freeze(), verifier.Config{}).Err())
}

// Two runs say the same: nothing is remembered between them.
func TestVerifyTwice(t *testing.T) {
	e, ok := verifier.ExampleOf("ASYNC-25")
	require.True(t, ok)
	m, err := parser.Parse("x.hlo", e.Breaks)
	require.NoError(t, err)
	first, second := verifier.Verify(m, verifier.Config{}), verifier.Verify(m, verifier.Config{})
	assert.Equal(t, first, second)
	assert.Equal(t, "x.hlo:10:3: error: %s: Async start %s is matched by multiple async done instructions: %d and %e [ASYNC-25]\n"+
		"  chain: %s = async-start (line 10)\n         %d = async-done (line 11)\n         %e = async-done (line 12)\n"+
		"  hint: give each done a start of its own, or use the result of one done twice", first.Err().Error())
}
