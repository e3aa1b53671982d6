package graph_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/graph"
	"github.com/gohalo/halo/internal/hlotest"
)

const program = `HloModule m

body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[4] tanh(v), metadata={op_name="a \"quoted\" <name>"}
  ROOT t = (s32[], f32[4]) tuple(j, w)
}

cond {
  q = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(q), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(k, n), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[4]) tuple(z, x)
  l = (s32[], f32[4]) while(s), condition=cond, body=body
  r = f32[4] get-tuple-element(l), index=1
  y = f32[4] negate(x), control-predecessors={r}
  ROOT u = f32[4] subtract(r, y)
}
`

func parse(t testing.TB, text string) hlo.Module {
	m, err := parser.Parse("m.hlo", text)
	require.NoError(t, err)
	return m
}

func dot(t testing.TB, m hlo.Module, cfg graph.Config) string {
	var b bytes.Buffer
	require.NoError(t, graph.Dot(&b, m, cfg))
	return b.String()
}

func page(t testing.TB, m hlo.Module, cfg graph.Config) string {
	var b bytes.Buffer
	require.NoError(t, graph.HTML(&b, m, cfg))
	return b.String()
}

func TestDot(t *testing.T) {
	text := dot(t, parse(t, program), graph.Config{})
	for _, want := range []string{
		`digraph "m" {`, `label="ENTRY main"`, `label="body"`, `label="cond"`,
		`label="%one\n1 s32[]"`, `label="%v\n#1 f32[4]"`, `label="%y\nnegate f32[4]"`,
		`[style=dotted]`, `[headlabel="1"]`, `[style=dashed, lhead=cluster_`, `penwidth=3`, `op_name=\"a \\\"quoted\\\" <name>\"`,
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, `style="filled,dashed"`, "everything is drawn")
	assert.Equal(t, 3, strings.Count(text, "subgraph"))
	assert.Equal(t, 18, strings.Count(text, "fillcolor="))
}

func TestAround(t *testing.T) {
	m := parse(t, program)
	text := dot(t, m, graph.Config{Around: "%r", Distance: 1})
	for _, name := range []string{"%r", "%l", "%y", "%u"} {
		assert.Contains(t, text, `label="`+name+`\n`)
	}
	assert.Equal(t, 4, strings.Count(text, "fillcolor="))
	assert.Contains(t, text, "(4 of 7 instructions)")
	assert.Equal(t, 2, strings.Count(text, `style="filled,dashed"`), "x and s are behind y and l")
	assert.Equal(t, 1, strings.Count(dot(t, m, graph.Config{Around: "r"}), "fillcolor="))
	for _, draw := range []func(io.Writer, hlo.Module, graph.Config) error{graph.Dot, graph.HTML} {
		assert.ErrorContains(t, draw(io.Discard, m, graph.Config{Around: "nobody"}), "there is no instruction %nobody")
	}
}

// TestLargeComputationsAreCut: of many instructions those nearest to the root are drawn.
func TestLargeComputationsAreCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("ENTRY main {\n  x0 = f32[] parameter(0)\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  x%d = f32[] negate(x%d)\n", i+1, i)
	}
	b.WriteString("}\n")
	m := parse(t, "HloModule m\n"+b.String())
	assert.Equal(t, 400, strings.Count(dot(t, m, graph.Config{}), "fillcolor="))
	text := dot(t, m, graph.Config{MaxNodes: 3})
	assert.Contains(t, text, `label="ENTRY main (3 of 1001 instructions)"`)
	for _, name := range []string{"x1000", "x999", "x998"} {
		assert.Contains(t, text, `label="%`+name+`\n`)
	}
}

// TestPageIsWellFormed: what is drawn of any module is a page that a strict reader takes, with every instruction once and every link to a place.
func TestPageIsWellFormed(t *testing.T) {
	modules := []hlo.Module{parse(t, program)}
	for seed := range uint64(40) {
		m, err := hlotest.Random(seed, 30)
		require.NoError(t, err)
		modules = append(modules, m)
	}
	for _, m := range modules {
		text := page(t, m, graph.Config{})
		n := 0
		for c := range m.Computations() {
			n += c.NumInstructions()
		}
		assert.Equal(t, n, strings.Count(text, "<title>%")+strings.Count(text, "<title>ROOT %"), m.Name())
		body := text[strings.Index(text, "<svg"):strings.Index(text, "<script")]
		d := xml.NewDecoder(strings.NewReader("<all>" + body + "</all>"))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err, m.Name())
		}
		for _, part := range strings.Split(text, `href="#`)[1:] {
			to, _, _ := strings.Cut(part, `"`)
			assert.Contains(t, text, `id="`+to+`"`)
		}
		assert.Equal(t, text, page(t, m, graph.Config{}), "the same every time")
	}
}
