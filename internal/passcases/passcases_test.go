package passcases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/passcases"
)

// edit makes a pass that does something to each instruction of an opcode.
func edit(name string, of hlo.Opcode, do func(ce hlo.CompEdit, in hlo.Instruction) error) *pass.Pass {
	return &pass.Pass{Name: name, Doc: "a pass of this test", Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != of {
					continue
				}
				if err := do(e.Computation(c.ID()), in); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	}}
}

// replace puts another op in the place of an instruction.
func replace(ce hlo.CompEdit, in hlo.Instruction, by hlo.Opcode, operands ...hlo.InstrID) error {
	return ce.ReplaceInstruction(in.ID(), ce.InsertBefore(in.ID(), by, in.Shape(), operands...).ID())
}

// parse knows one pass that is right, and one for each way to be wrong.
func parse() func(string) (*pass.Pipeline, error) {
	runs := 0
	known := map[string]*pass.Pass{}
	for _, p := range []*pass.Pass{
		edit("double", hlo.OpMultiply, func(ce hlo.CompEdit, in hlo.Instruction) error {
			return replace(ce, in, hlo.OpAdd, in.Operand(0), in.Operand(0))
		}),
		edit("spoil", hlo.OpNegate, func(ce hlo.CompEdit, in hlo.Instruction) error {
			return replace(ce, in, hlo.OpNot, in.Operand(0))
		}),
		edit("misshape", hlo.OpNegate, func(ce hlo.CompEdit, in hlo.Instruction) error {
			ce.Instr(in.ID()).SetShape(hlo.MakeShape(hlo.S32, 3))
			return nil
		}),
		edit("fickle", hlo.OpNegate, func(ce hlo.CompEdit, in hlo.Instruction) error {
			runs++
			ce.Instr(in.ID()).SetName(fmt.Sprint("run", runs))
			return nil
		}),
	} {
		known[p.Name] = p
	}
	return func(text string) (*pass.Pipeline, error) {
		p, ok := known[text]
		if !ok {
			return nil, fmt.Errorf("there is no pass %s", text)
		}
		return pass.Of(text, p), nil
	}
}

// TestRun has what is said of cases: nothing, if its .want is empty, else an error with that text.
func TestRun(t *testing.T) {
	for path, a := range archives.All(t, "testdata/*.txtar") {
		wants := map[string]string{}
		for _, f := range a.Files {
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				wants[name+".hlo"] = strings.TrimSpace(string(f.Data))
			}
		}
		for _, f := range a.Files {
			want, ok := wants[f.Name]
			if !ok {
				require.True(t, strings.HasSuffix(f.Name, ".want"), "%s: %s has no .want", path, f.Name)
				continue
			}
			t.Run(f.Name, func(t *testing.T) {
				cases := passcases.Cases(f.Name, f.Data, parse())
				require.Len(t, cases, 1)
				_, err := cases[0].Run(t.Context(), passcases.Options{Parse: parse(), Strict: true})
				if want == "" {
					require.NoError(t, err)
					return
				}
				assert.ErrorContains(t, err, want)
			})
		}
	}
}

// TestCases has what is a case, and where its passes come from.
func TestCases(t *testing.T) {
	const module = "HloModule m\nENTRY e {\n  ROOT x = s32[] parameter(0)\n}\n"
	for _, c := range []struct {
		what, file, data string
		names, pipelines []string
	}{
		{"an archive in the folder of a pass", "cases/double/a.txtar", "-- one.hlo --\n" + module + "-- two.hlo --\n// PASS: spoil\n" + module,
			[]string{"cases/double/a.txtar:one.hlo", "cases/double/a.txtar:two.hlo"}, []string{"double", "spoil"}},
		{"an archive elsewhere", "cases/a.txtar", "-- one.hlo --\n" + module, []string{"cases/a.txtar:one.hlo"}, []string{""}},
		{"a text of two modules, each named for the line that it begins at", "a.hlo", "// PASS: double\n" + module + "// -----\n" + module, []string{"a.hlo", "a.hlo:6"}, []string{"double", "double"}},
		{"a line of lit", "a.hlo", "// RUN: hlo-opt %s --passes=double | FileCheck %s\n" + module, []string{"a.hlo"}, []string{"double"}},
	} {
		var names, pipelines []string
		for _, found := range passcases.Cases(c.file, []byte(c.data), parse()) {
			names, pipelines = append(names, found.Name), append(pipelines, found.Pipeline)
		}
		assert.Equal(t, c.names, names, c.what)
		assert.Equal(t, c.pipelines, pipelines, c.what)
	}
}

// TestUpdated writes CHECK lines that the output matches, in place of those that were there.
func TestUpdated(t *testing.T) {
	text := "// PASS: double\n// CHECK: what is no longer so\nHloModule m\nENTRY e {\n  x = s32[] parameter(0)\n  two = s32[] constant(2)\n  ROOT y = s32[] multiply(x, two)\n}\n"
	c := passcases.Cases("a.hlo", []byte(text), parse())[0]
	output, err := c.Run(t.Context(), passcases.Options{Parse: parse(), NoChecks: true})
	require.NoError(t, err)
	updated := c.Updated(output)
	assert.NotContains(t, updated, "no longer so")
	assert.Contains(t, updated, "// CHECK: ENTRY ")
	_, err = passcases.Cases("a.hlo", []byte(updated), parse())[0].Run(t.Context(), passcases.Options{Parse: parse(), Strict: true})
	assert.NoError(t, err)
}
