package passtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passtest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// double writes x + x for x · 2.
var double = &pass.Pass{
	Name: "double",
	Doc:  "x · 2 → x + x, for scalar integers",
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpMultiply || in.OperandInstr(1).Literal() == nil {
					continue
				}
				if two, ok := in.OperandInstr(1).Literal().ScalarInt(); !ok || two != 2 {
					continue
				}
				ce := e.Computation(c.ID())
				sum := ce.InsertBefore(in.ID(), hlo.OpAdd, in.Shape(), in.Operand(0), in.Operand(0))
				if err := ce.ReplaceInstruction(in.ID(), sum.ID()); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

func parse(text string) (*pass.Pipeline, error) {
	if text != double.Name {
		return nil, fmt.Errorf("there is no pass %s", text)
	}
	return pass.Of(text, double), nil
}

func TestRun(t *testing.T) { passtest.Run(t, "testdata", parse) }

// TestRunFails has a process of its own for each folder of cases that must fail, and holds its output to what go test should show.
func TestRunFails(t *testing.T) {
	if dir := os.Getenv("PASSTEST_DIR"); dir != "" {
		passtest.Run(t, dir, parse)
		return
	}
	for dir, want := range map[string]string{
		"testdata/wrong":   `(?s)--- FAIL: TestRunFails/double/wrong/wrong.hlo.*wrong.hlo:5:13: error: CHECK: expected string not found in output`,
		"testdata/nowhere": `there are no cases testdata/nowhere/PASS/\*\.txtar`,
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRunFails$")
		cmd.Env = append(os.Environ(), "PASSTEST_DIR="+dir)
		out, err := cmd.CombinedOutput()
		assert.Error(t, err, dir)
		assert.Regexp(t, want, string(out))
		assert.NotContains(t, string(out), "right.hlo")
	}
}

func module(t *testing.T, text string) hlo.Module {
	m, err := parser.Parse("m.hlo", text)
	require.NoError(t, err)
	return m
}

const product = `HloModule m
ENTRY e {
  x = s32[] parameter(0)
  two = s32[] constant(2)
  ROOT y = s32[] multiply(x, two)
}`

func TestApply(t *testing.T) {
	after := passtest.Apply(t, pass.Of("double", double), module(t, product), verifier.Config{})
	checks := "// CHECK-NOT: multiply\n// CHECK: add(%x, %x)\n"
	assert.NoError(t, passtest.CheckLines("checks", []byte(checks), "output", []byte(printer.String(after))))
	assert.ErrorContains(t, passtest.CheckLines("checks", []byte(checks), "output", []byte(product)), "checks:2:11: error: CHECK: expected string not found in output")
}

// TestSameResults compares x · 2 with other programs.
func TestSameResults(t *testing.T) {
	program := func(root string) hlo.Module {
		return module(t, "HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  two = f32[] constant(2)\n  half = f32[] constant(0.5)\n  third = f32[] constant(3)\n  "+
			"ninth = f32[] constant(0.333333343)\n  ROOT y = f32[] "+root+"\n}")
	}
	same := func(a, b string, class pass.FP) error {
		return passtest.SameResults(t.Context(), program(a), program(b), class)
	}
	assert.NoError(t, same("multiply(x, two)", "add(x, x)", pass.Exact))
	assert.NoError(t, same("multiply(x, half)", "divide(x, two)", pass.Exact))
	assert.Error(t, same("multiply(x, two)", "multiply(x, x)", pass.Exact))
	assert.Error(t, same("multiply(x, ninth)", "divide(x, third)", pass.Exact))
	assert.NoError(t, same("multiply(x, ninth)", "divide(x, third)", pass.Rounding))
	assert.NoError(t, same(`custom-call(x), custom_call_target="nobody.knows"`, "add(x, x)", pass.Exact), "nothing to compare with")
}
