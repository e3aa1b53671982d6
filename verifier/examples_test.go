package verifier_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/verifier"
)

// Every rule has an example that breaks it and no other, and that is legal when mended; but for what cannot be broken.
func TestExamples(t *testing.T) {
	count := make(map[string]int)
	for _, r := range verifier.Rules() {
		t.Run(r.ID, func(t *testing.T) {
			text, ok := verifier.Explain(r.ID)
			require.True(t, ok)
			assert.Contains(t, text, r.What)
			e, ok := verifier.ExampleOf(r.ID)
			if r.Kind == verifier.ByConstruction {
				assert.False(t, ok, "what has an example can be broken")
				count[r.Kind.String()]++
				return
			}
			require.True(t, ok, "there is no example")
			cfg := configOf(t, e)
			found, refused := everything(e.Mended, cfg)
			require.NoError(t, refused, e.Mended)
			assert.Empty(t, found, e.Mended)
			if e.Breaks == "" {
				assert.Contains(t, []verifier.Kind{verifier.Permission, verifier.Definition}, r.Kind, "a rule that is checked has something that breaks it")
				count[r.Kind.String()]++
				return
			}
			want := r.ID
			if r.As != "" {
				want = r.As
			}
			switch {
			case e.Route == "":
				if found, refused = everything(e.Breaks, cfg); refused != nil {
					assert.Equal(t, verifier.ByReader == r.Kind || slices.Contains(refusedEarly, r.ID), true, "%s is refused by the reader: %v", r.ID, refused)
					assert.Equal(t, want, refusedBy(refused), "%v", refused)
					count["refused by the reader of text"]++
					return
				}
				count["checked, from text"]++
			case serialFaults[r.ID] != nil:
				m, err := parser.Parse("", e.Breaks)
				require.NoError(t, err)
				_, err = proto.Decode(serialFaults[r.ID](t, proto.Encode(m)))
				var form *proto.FormatError
				require.ErrorAs(t, err, &form)
				assert.Equal(t, want, form.Rule, "%v", form)
				count["refused by the reader of serialized modules"]++
				return
			default:
				edit := edits[r.ID]
				require.NotNil(t, edit, "nothing does what the example says")
				m, err := parser.Parse("", e.Breaks)
				require.NoError(t, err)
				found = verifier.Verify(edited(t, m, edit), cfg)
				count["checked, after an edit"]++
			}
			assert.Equal(t, []string{want}, rulesOf(found), "%s\n%v", e.Breaks, found)
			for _, f := range found {
				assert.Equal(t, r.Severity, f.Severity)
			}
		})
	}
	t.Logf("%d rules: %v", len(verifier.Rules()), count)
	_, ok := verifier.Explain("NOPE-1")
	assert.False(t, ok)
}

// refusedEarly are the rules that the reader of text checks, because it needs what they say to go on, and the verifier again.
var refusedEarly = []string{
	"GEN-01", "GEN-02", "GEN-04", "ELT-18", "SHP-07", "SHP-08", "SHP-15", "SHP-17", "SHP-18", "SHP-20", "SDOT-01", "RED-01", "RED-19", "CND-01",
	"CND-02", "CND-03", "CND-04", "WHL-03", "CC-01", "COLL-01", "CPERM-05", "FUS-09", "ALI-06", "ASYNC-01", "ASYNC-15", "ASYNC-31", "CHAN-02",
}

// everything is all findings, warnings of reader and verifier included.
func everything(text string, cfg verifier.Config) (found verifier.ErrorList, refused error) {
	warn := func(e *parser.Error) {
		found = append(found, &verifier.Error{Rule: e.Rule, Severity: verifier.SeverityWarning, Msg: e.Msg})
	}
	m, err := parser.Config{Strict: cfg.Profile == verifier.XLA, Warn: warn}.Parse("", text)
	if err != nil {
		return nil, err
	}
	return append(found, verifier.Verify(m, cfg)...), nil
}

func configOf(t testing.TB, e verifier.Example) verifier.Config {
	t.Helper()
	cfg := verifier.Config{Profile: e.Profile}
	for _, option := range e.Options {
		name, value, _ := strings.Cut(option, "=")
		i := slices.IndexFunc(verifier.Options(), func(o verifier.Option) bool { return o.Name == name })
		require.GreaterOrEqual(t, i, 0, "option %s", name)
		require.NoError(t, verifier.Options()[i].Set(&cfg, value))
	}
	return cfg
}

// editing is a module under an edit, whose entry computation has the instructions.
type editing struct {
	t    testing.TB
	m    hlo.Module
	e    *hlo.Editor
	main hlo.CompEdit
}

func edited(t testing.TB, m hlo.Module, edit func(editing)) hlo.Module {
	e := m.Edit()
	edit(editing{t, m, e, e.Computation(m.Entry().ID())})
	return e.Freeze()
}

// instr is an instruction of the entry computation.
func (x editing) instr(name string) hlo.InstrEdit { return x.in(x.main, name) }

func (x editing) in(c hlo.CompEdit, name string) hlo.InstrEdit {
	in, ok := c.View().ByName(name)
	require.True(x.t, ok, name)
	return c.Instr(in.ID())
}

func (x editing) id(name string) hlo.InstrID { return x.instr(name).ID() }

func (x editing) computation(name string) hlo.CompEdit {
	for c := range x.m.Computations() {
		if c.Name() == name {
			return x.e.Computation(c.ID())
		}
	}
	x.t.Fatalf("no computation %s", name)
	return hlo.CompEdit{}
}

func (x editing) config(change func(*hlo.ModuleConfig)) {
	cfg := *x.e.Config()
	change(&cfg)
	x.e.SetConfig(&cfg)
}

func shape(text string) hlo.Shape {
	s, err := parser.ParseShape(text)
	if err != nil {
		panic(err)
	}
	return s
}

// edits do what the examples say where text cannot.
var edits = map[string]func(editing){
	"MOD-01": func(x editing) { x.e.SetName("") },
	"MOD-02": func(x editing) { x.e.SetEntry(x.main.At(x.id("r")).Callee(0)) },
	"STR-03": func(x editing) { x.e.AddComputation("empty") },
	"STR-08": func(x editing) { x.instr("y").SetOperand(1, x.id("z")) },
	"HALO-RECURSION": func(x editing) {
		f := x.computation("f")
		x.in(f, "b").SetCallees(f.ID())
	},
	"HALO-PARAMETERS": func(x editing) { x.instr("y").SetAttrs(&hlo.ParameterAttrs{Number: 3}) },
	"CST-01":          func(x editing) { x.instr("c").SetAttrs(&hlo.ConstantAttrs{}) },
	"CST-02": func(x editing) {
		m, err := parser.Parse("", "HloModule m\n\nENTRY e {\n  ROOT c = f32[3] constant({1, 2, 3})\n}\n")
		require.NoError(x.t, err)
		x.instr("c").SetAttrs(m.Entry().Root().Attrs())
	},
	"RNG-06": func(x editing) { x.instr("r").SetAttrs(&hlo.RngAttrs{}) },
	"FUS-01": func(x editing) { x.instr("g").SetCallees(x.main.At(x.id("f")).Callee(0)) },
	"TOK-02": func(x editing) { x.instr("r").SetShape(shape("(f32[3])")) },
	"SHD-01": func(x editing) {
		x.instr("x").SetCommon(&hlo.Common{Sharding: &hlo.Sharding{Kind: hlo.ShardingReplicated}})
	},
	"ENT-01": func(x editing) {
		x.config(func(c *hlo.ModuleConfig) {
			p := hlo.MakeShape(hlo.F32, 2, 2).WithLayout(hlo.DefaultLayout(1))
			c.EntryLayout = &hlo.ProgramShape{Parameters: []hlo.Shape{p}, Result: c.EntryLayout.Result}
		})
	},
	"ASYNC-08": func(x editing) { x.in(x.computation("step"), "v").SetOperands() },
	"ASYNC-28": func(x editing) { x.cutFromStart("u") },
	"ASYNC-29": func(x editing) { x.cutFromStart("d") },
	"PAIR-09":  func(x editing) { x.instr("s").SetShape(shape("(f32[4], token[])")) },
	"PAIR-10":  func(x editing) { x.instr("d").SetShape(shape("f32[4]")) },
	"CHAN-06":  func(x editing) { x.instr("d").SetOperands(x.id("s"), x.id("t")) },
	"SCH-01":   func(x editing) { x.computation("add").ClearSchedule() },
	"SCH-02":   func(x editing) { x.main.ClearSchedule() },
	"SCH-05":   func(x editing) { x.schedule("x", "z", "y") },
	"SCH-06":   func(x editing) { x.schedule("x", "z", "y") },
	"SHP-21": func(x editing) {
		r := x.instr("r")
		a := hlo.AttrsOf[hlo.ScatterAttrs](x.main.At(r.ID()))
		a.ScatterDimsToOperandDims = []int64{2}
		r.SetAttrs(&a)
	},
}

// cutFromStart takes a step's operand away, and ends %s in another way.
func (x editing) cutFromStart(name string) {
	x.instr(name).SetOperands()
	x.main.Add(hlo.OpAsyncDone, x.main.At(x.id("d")).Shape(), x.id("s"))
}

func (x editing) schedule(names ...string) {
	var ids []hlo.InstrID
	for _, name := range names {
		ids = append(ids, x.id(name))
	}
	require.NoError(x.t, x.main.SetSchedule(ids))
}

// serialFaults do so for what only a serialized module can say.
var serialFaults = map[string]func(testing.TB, []byte) []byte{
	"STR-01": func(t testing.TB, data []byte) []byte {
		return inInstruction(t, data, "main", "r", func(in *message) { in.setIDs(calledIDs, 99) })
	},
	"STR-02": func(t testing.TB, data []byte) []byte {
		m := decode(t, data)
		m.fields = append(m.fields, m.find(t, computations, "main"))
		return m.encode()
	},
	"STR-04": func(t testing.TB, data []byte) []byte { return twice(t, data, "main", "x") },
	"STR-05": func(t testing.TB, data []byte) []byte {
		return inInstruction(t, data, "main", "r", func(in *message) { in.setIDs(operandIDs, 1<<40) })
	},
	"STR-07": func(t testing.TB, data []byte) []byte { return operandFrom(t, data, "add") },
	"FUS-05": func(t testing.TB, data []byte) []byte { return twice(t, data, "same", "same.r") },
	"FUS-08": func(t testing.TB, data []byte) []byte { return operandFrom(t, data, "same") },
	"SCH-03": func(t testing.TB, data []byte) []byte {
		return inSequence(t, data, func(ids []uint64) []uint64 { return append(ids, ids[0]) })
	},
	"SCH-04": func(t testing.TB, data []byte) []byte {
		return inSequence(t, data, func(ids []uint64) []uint64 { return ids[1:] })
	},
}

// The field numbers of XLA's messages that the faults are in.
const (
	nameField                            = 1 // of computations and instructions
	computations                         = 3 // HloModuleProto
	instructions                         = 2 // HloComputationProto
	instructionID, operandIDs, calledIDs = 35, 36, 38
	schedule, sequences, value, sequence = 7, 1, 2, 1
)

func inInstruction(t testing.TB, data []byte, comp, instr string, change func(*message)) []byte {
	m := decode(t, data)
	m.within(t, computations, comp, func(c *message) { c.within(t, instructions, instr, change) })
	return m.encode()
}

// twice lists an instruction of a computation twice.
func twice(t testing.TB, data []byte, comp, instr string) []byte {
	m := decode(t, data)
	m.within(t, computations, comp, func(c *message) { c.fields = append(c.fields, c.find(t, instructions, instr)) })
	return m.encode()
}

// operandFrom gives %r of the entry an operand from another computation.
func operandFrom(t testing.TB, data []byte, other string) []byte {
	const id = 77 // ids are unique in their computation only, so the first parameter of the other gets one that the entry has not
	m := decode(t, data)
	m.within(t, computations, other, func(c *message) {
		var old uint64
		c.within(t, instructions, other+".a", func(in *message) { old = in.setID(id) })
		for i, f := range c.fields {
			if f.num == instructions {
				in := decode(t, f.bytes())
				in.setIDs(operandIDs, replaced(in.ids(operandIDs), old, id)...)
				c.fields[i].raw = protowire.AppendBytes(nil, in.encode())
			}
		}
	})
	m.within(t, computations, "main", func(c *message) {
		c.within(t, instructions, "r", func(in *message) { in.setIDs(operandIDs, id) })
	})
	return m.encode()
}

func replaced(ids []uint64, old, id uint64) []uint64 {
	for i := range ids {
		if ids[i] == old {
			ids[i] = id
		}
	}
	return ids
}

func inSequence(t testing.TB, data []byte, change func([]uint64) []uint64) []byte {
	m := decode(t, data)
	m.within(t, schedule, "", func(s *message) {
		s.within(t, sequences, "", func(entry *message) {
			entry.within(t, value, "", func(v *message) { v.setIDs(sequence, change(v.ids(sequence))...) })
		})
	})
	return m.encode()
}
