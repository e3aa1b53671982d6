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
const inferPrelude = `HloModule m

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

ENTRY main {
`

// splitShapes splits at the commas that are not inside of parentheses.
func splitShapes(s string) []string {
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

func TestInferredShapes(t *testing.T) {
	data, err := os.ReadFile("testdata/infer.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(line, func(t *testing.T) {
			params, rest, _ := strings.Cut(line, " : ")
			i := strings.LastIndex(rest, " -> ")
			instr, want := rest[:i], rest[i+4:]
			instr, stated := strings.CutPrefix(instr, "stated ")
			text := inferPrelude
			for i, s := range splitShapes(params) {
				text += fmt.Sprintf("  p%d = %s parameter(%d)\n", i, s, i)
			}
			m, err := parser.Parse("", text+"  ROOT r = "+instr+"\n}\n")
			require.NoError(t, err)
			in := m.Entry().Root()
			c := hlo.ShapeContext{Op: in.Opcode(), Attrs: in.Attrs(), MixedPrecision: true}
			if stated {
				c.Stated = in.Shape()
			}
			for o := range in.Operands() {
				c.Operands = append(c.Operands, o.Shape())
			}
			for id := range in.Callees() {
				c.Callees = append(c.Callees, m.MustComputation(id).Signature())
			}
			s, err := hlo.InferShape(&c)
			require.NoError(t, err)
			assert.Equal(t, want, string(s.AppendText(nil, false)))
		})
	}
}
