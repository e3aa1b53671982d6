package hlo_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// Computations that the cases call.
const shapePrelude = `HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}

ge2 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GE
}

step {
  x = f32[3] parameter(0)
  c = f32[3] parameter(1)
  s = f32[3] add(x, c)
  ROOT r = (f32[3], f32[3]) tuple(s, s)
}

dyn {
  ROOT a = f32[<=4] parameter(0)
}

fix {
  ROOT a = f32[4] parameter(0)
}

twice {
  ROOT a = f32[] parameter(0)
}

more {
  a = f32[] parameter(0)
  z = f32[] constant(0)
  ROOT r = pred[] compare(a, z), direction=GT
}

vec {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[1] reshape(a)
}

ENTRY main {
`

// splitShapeList splits at the commas that are not inside of parentheses.
func splitShapeList(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(s[start:]))
}

// shapeCase is a line of testdata/shape_cases.txt.
type shapeCase struct {
	line, instr string
	stated      bool   // the rule sees the written shape
	params      string // shapes of p0, p1, ...
	want        string // the shape; "" when the rule refuses
	rule        string // which it says
	phrase      string
}

func shapeCases(t *testing.T) []shapeCase {
	data, err := os.ReadFile("testdata/shape_cases.txt")
	require.NoError(t, err)
	var cases []shapeCase
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := shapeCase{line: line}
		var rest string
		c.params, rest, _ = strings.Cut(line, " : ")
		if i := strings.LastIndex(rest, " ! "); i >= 0 {
			rest, c.rule = rest[:i], rest[i+3:]
			c.rule, c.phrase, _ = strings.Cut(c.rule, " ")
			c.stated = true
		} else {
			i := strings.LastIndex(rest, " -> ")
			rest, c.want = rest[:i], rest[i+4:]
		}
		instr, stated := strings.CutPrefix(rest, "stated ")
		c.instr, c.stated = instr, c.stated || stated
		cases = append(cases, c)
	}
	return cases
}

// module is the case as a module, whose root is the instruction.
func (c *shapeCase) module() (hlo.Module, error) {
	text := shapePrelude
	for i, s := range splitShapeList(c.params) {
		text += fmt.Sprintf("  p%d = %s parameter(%d)\n", i, s, i)
	}
	return parser.Config{Strict: true}.Parse("", text+"  ROOT r = "+c.instr+"\n}\n")
}

func (c *shapeCase) infer(m hlo.Module) (hlo.Shape, error) {
	in := m.Entry().Root()
	ctx := hlo.ShapeContext{Op: in.Opcode(), Attrs: in.Attrs(), MixedPrecision: true}
	if c.stated {
		ctx.Stated = in.Shape()
	}
	for o := range in.Operands() {
		ctx.Operands = append(ctx.Operands, o.Shape())
	}
	for id := range in.Callees() {
		ctx.Callees = append(ctx.Callees, m.MustComputation(id).Signature())
	}
	return hlo.InferShape(&ctx)
}

// Every op has a case, and so has every rule that its shape rule labels.
func TestShapeCases(t *testing.T) {
	ops, rules := make(map[hlo.Opcode]int), make(map[string]int)
	for _, c := range shapeCases(t) {
		t.Run(c.line, func(t *testing.T) {
			m, err := c.module()
			if err != nil {
				var list parser.ErrorList
				require.ErrorAs(t, err, &list)
				require.NotEmpty(t, c.rule, "%v", err)
				assert.Equal(t, c.rule, list[0].Rule, "%v", err)
				return
			}
			s, err := c.infer(m)
			op := m.Entry().Root().Opcode()
			if c.rule == "" {
				require.NoError(t, err)
				assert.Equal(t, c.want, string(s.AppendText(nil, false)))
				ops[op]++
				return
			}
			if c.rule == "GEN-06" { // the rule gives a shape, which is not the written one
				require.NoError(t, err)
				assert.False(t, s.Compatible(m.Entry().Root().Shape()), "%v", s)
				return
			}
			var e *hlo.ShapeError
			require.ErrorAs(t, err, &e, "inferred %v", s)
			assert.Equal(t, c.rule, e.Rule, "%v", e)
			assert.Contains(t, e.Msg, c.phrase)
			rules[e.Rule]++
		})
	}
	for op := hlo.Opcode(1); int(op) < hlo.NumOpcodes; op++ {
		if op != hlo.OpParameter && op != hlo.OpConstant {
			assert.NotZero(t, ops[op], "no case infers the shape of %v", op)
		}
	}
	t.Logf("%d ops, %d rules", len(ops), len(rules))
}
