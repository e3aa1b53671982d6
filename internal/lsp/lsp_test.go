package lsp_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/lsp"
)

const step = `HloModule step

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  p = f32[4,8]{1,0} parameter(0)
  zero = f32[] constant(0)
  e = f32[4,8]{1,0} exponential(p), metadata={op_name="jit(f)/exp" source_file="/src/f.py" source_line=3}
  r = f32[4]{0} reduce(e, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[4]{0}, f32[4,8]{1,0}) tuple(r, e)
}
`

func TestDiagnostics(t *testing.T) {
	c := connect(t)
	assert.Empty(t, c.open("file:///step.hlo", step))

	found := c.edit("file:///step.hlo", "exponential(p)", "exponental(p)") // the opcode loses a letter
	require.NotEmpty(t, found)
	assert.Equal(t, 11, found[0].Range.Start.Line)
	assert.Contains(t, found[0].Message, "exponential")

	found = c.edit("file:///step.hlo", "exponental(p)", "exponential(p)")
	assert.Empty(t, found, "it is mended")

	found = c.edit("file:///step.hlo", "e = f32[4,8]", "e = f32[4,9]")
	require.NotEmpty(t, found, "the verifier's findings are there too")
	assert.NotEmpty(t, found[0].Code)
	assert.Equal(t, 11, found[0].Range.Start.Line)
}

func TestQuickFix(t *testing.T) {
	c := connect(t)
	uri := "file:///step.hlo"
	c.open(uri, step)
	found := c.edit(uri, "exponential(p)", "exponental(p)")
	require.NotEmpty(t, found)
	var actions []struct {
		Title string
		Edit  struct{ Changes map[string][]lsp.TextEdit }
	}
	c.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": found[0].Range, "context": map[string]any{"diagnostics": found}}, &actions)
	require.NotEmpty(t, actions)
	assert.Equal(t, step, c.applied(uri, actions[0].Edit.Changes[uri]), actions[0].Title)
}

func TestHover(t *testing.T) {
	c := connect(t)
	uri := "file:///step.hlo"
	c.open(uri, step)
	ask := func(text string, n int) string {
		var h struct{ Contents struct{ Value string } }
		c.call("textDocument/hover", c.about(uri, text, n), &h)
		return h.Contents.Value
	}
	e := ask("e, zero", 0)
	for _, want := range []string{"exponential", "f32[4,8]", "2 users", "f.py:3", "jit(f)/exp", "about"} {
		assert.Contains(t, e, want)
	}
	assert.Contains(t, ask("sum", 1), "called from 1 place")
	assert.Contains(t, ask("reduce(", 0), "Operands")
	c.edit(uri, "ROOT t = ", "ROOT t = f32[ ")
	assert.Contains(t, ask("e, zero", 0), "exponential", "while a fault is typed, what was read last still answers")
}

func TestNames(t *testing.T) {
	c := connect(t)
	uri := "file:///step.hlo"
	c.open(uri, step)
	where := func(method, text string, n int) string {
		p := c.about(uri, text, n)
		if method == "references" {
			p["context"] = map[string]any{"includeDeclaration": true}
			var all []lsp.Location
			c.call("textDocument/references", p, &all)
			return lines(all)
		}
		var one lsp.Location
		c.call("textDocument/"+method, p, &one)
		return lines([]lsp.Location{one})
	}
	assert.Equal(t, "12:3", where("definition", "e, zero", 0))
	assert.Equal(t, "12:3 13:24 14:48", where("references", "e = ", 0))
	assert.Equal(t, "3:1", where("definition", "sum\n", 0), "from the call to the computation")
	assert.Equal(t, "3:1 13:59", where("references", "sum", 0), "from the computation to its calls")
	assert.Equal(t, "4:3", where("definition", "a, b", 0))

	rename := func(text string, n int, name string) (string, error) {
		p := c.about(uri, text, n)
		p["newName"] = name
		var e struct{ Changes map[string][]lsp.TextEdit }
		err := c.conn.Call(context.Background(), "textDocument/rename", p, &e)
		return c.applied(uri, e.Changes[uri]), err
	}
	text, err := rename("e, zero", 0, "%exp.1")
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("  e = ", "  exp.1 = ", "(e, zero)", "(exp.1, zero)", "(r, e)", "(r, exp.1)").Replace(step), text)
	_, err = rename("sum", 0, "main")
	assert.ErrorContains(t, err, "main is there already, in line 9")
	_, err = rename("sum", 0, "two words")
	assert.ErrorContains(t, err, "cannot be a name")
}

func TestNamesWithFaults(t *testing.T) {
	c := connect(t)
	uri := "file:///broken.hlo"
	require.NotEmpty(t, c.open(uri, "HloModule m\n\nENTRY main {\n  %p = f32[2]{0} parameter(0)\n  %q = f32[2]{0} nosuchop(%p, %gone)\n  ROOT %r = f32[2]{0} add(%q, %p), control-predecessors={%p}\n"))
	var all []lsp.Location
	c.call("textDocument/references", c.about(uri, "p = ", 0), &all)
	assert.Equal(t, "4:4 5:28 6:32 6:59", lines(all))
}

func TestOutlineFoldsAndColours(t *testing.T) {
	c := connect(t)
	uri := "file:///step.hlo"
	c.open(uri, step)
	document := map[string]any{"textDocument": map[string]any{"uri": uri}}
	var symbols []struct {
		Name, Detail string
		Children     []struct{ Name, Detail string }
	}
	c.call("textDocument/documentSymbol", document, &symbols)
	require.Len(t, symbols, 3) // the module and two computations
	assert.Equal(t, "main", symbols[2].Name)
	assert.Len(t, symbols[2].Children, 5)
	assert.Equal(t, "reduce f32[4]{0}", symbols[2].Children[3].Detail)
	var folds []struct{ StartLine, EndLine int }
	c.call("textDocument/foldingRange", document, &folds)
	require.Len(t, folds, 2)
	assert.Equal(t, 8, folds[1].StartLine)
	var colours struct{ Data []uint32 }
	c.call("textDocument/semanticTokens/full", document, &colours)
	require.Zero(t, len(colours.Data)%5)
	assert.Equal(t, []uint32{0, 0, 9, 3, 0, 0, 10, 4, 10, 1}, colours.Data[:10], "HloModule is a keyword, step a declared name")
	var some struct{ Data []uint32 }
	c.call("textDocument/semanticTokens/range", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": map[string]any{
		"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 1, "character": 0}}}, &some)
	assert.Equal(t, colours.Data[:10], some.Data)
}

func TestFormat(t *testing.T) {
	c := connect(t)
	format := func(uri string) (string, error) {
		var edits []lsp.TextEdit
		err := c.conn.Call(context.Background(), "textDocument/formatting", map[string]any{"textDocument": map[string]any{"uri": uri}}, &edits)
		return c.applied(uri, edits), err
	}
	c.open("file:///f.hlo", "HloModule m\nENTRY main { %p = f32[2]{0} parameter(0)\nROOT %n = f32[2]{0} negate( %p ) }\n")
	text, err := format("file:///f.hlo")
	require.NoError(t, err)
	assert.Contains(t, text, "\n  ROOT %n = f32[2]{0} negate(%p)\n}")

	c.open("file:///c.hlo", "HloModule m\n// kept\nENTRY main {\n  ROOT p = f32[2]{0} parameter(0)\n}\n")
	_, err = format("file:///c.hlo")
	assert.ErrorContains(t, err, "comments")

	c.open("file:///f.mlir", "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n%0 = stablehlo.exponential %a : tensor<4xf32>\n      return %0 : tensor<4xf32>\n  }\n")
	text, err = format("file:///f.mlir")
	require.NoError(t, err)
	assert.Equal(t, "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.exponential %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n", text)
}

func TestStableHLO(t *testing.T) {
	c := connect(t)
	uri := "file:///f.mlir"
	found := c.open(uri, "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.exponental %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n")
	require.NotEmpty(t, found)
	assert.Equal(t, 1, found[0].Range.Start.Line)
	assert.Empty(t, c.edit(uri, "exponental", "exponential"))
	var all []lsp.Location
	c.call("textDocument/references", c.about(uri, "0 = ", 0), &all)
	assert.Equal(t, "2:4 3:11", lines(all))
	var h struct{ Contents struct{ Value string } }
	c.call("textDocument/hover", c.about(uri, "exponential", 0), &h)
	assert.Contains(t, h.Contents.Value, "**exponential**")
}

func TestRules(t *testing.T) {
	c := connect(t)
	uri := "file:///mine.rules"
	assert.Empty(t, c.open(uri, "M01 (add x (negate y)) => (subtract x y) if integer(x) -- a negation less\n"))
	var all []lsp.Location
	c.call("textDocument/references", c.about(uri, "x ", 0), &all)
	assert.Equal(t, "1:10 1:37 1:53", lines(all))
	var h struct{ Contents struct{ Value string } }
	c.call("textDocument/hover", c.about(uri, "integer", 0), &h)
	assert.Contains(t, h.Contents.Value, "the elements are integers")
	found := c.edit(uri, "subtract", "subtrakt")
	require.NotEmpty(t, found)
	assert.Equal(t, 0, found[0].Range.Start.Line)
}

// TestPositions counts as the protocol does, in UTF-16: the sign in the comment has two units and four bytes.
func TestPositions(t *testing.T) {
	c := connect(t)
	uri := "file:///u.hlo"
	c.open(uri, "HloModule m\n\nENTRY main {\n  /* 𝄞 */ p = f32[2]{0} parameter(0)\n  ROOT n = f32[2]{0} negate(p)\n}\n")
	var one lsp.Location
	c.call("textDocument/definition", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 4, "character": 28}}, &one)
	assert.Equal(t, lsp.Range{Start: lsp.Position{Line: 3, Character: 11}, End: lsp.Position{Line: 3, Character: 12}}, one.Range)
}

// TestLargest logs what the largest text of the corpus takes.
func TestLargest(t *testing.T) {
	data, err := os.ReadFile("../../../shared/corpus/hlo/tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo")
	if err != nil {
		t.Skip("there is no corpus beside the repository")
	}
	c := connect(t)
	uri := "file:///mixtral.hlo"
	begin := time.Now()
	assert.Empty(t, c.open(uri, string(data)))
	opened := time.Since(begin)
	begin = time.Now()
	assert.NotEmpty(t, c.edit(uri, "%dot.168 = bf16", "%dot.168 = bf17"))
	typed := time.Since(begin)
	begin = time.Now()
	assert.Empty(t, c.edit(uri, "%dot.168 = bf17", "%dot.168 = bf16"))
	mended := time.Since(begin)
	begin = time.Now()
	var all []lsp.Location
	c.call("textDocument/references", c.about(uri, "%param.14", 0), &all)
	assert.NotEmpty(t, all)
	t.Logf("first diagnostics after %v, after a keystroke that breaks the text %v, that mends it %v; references after %v", opened, typed, mended, time.Since(begin))
}
