package passes_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/directive"
	"github.com/gohalo/halo/passtest"
)

// TestCases runs testdata/passes: text in, CHECK lines on the text that comes out.
func TestCases(t *testing.T) {
	passtest.Run(t, filepath.Join("..", "testdata", "passes"), passes.Parse)
}

// TestEveryPassHasCases keeps a new pass from coming without tests.
func TestEveryPassHasCases(t *testing.T) {
	for _, p := range passes.All() {
		_, err := os.Stat(filepath.Join("..", "testdata", "passes", p.Name))
		assert.NoError(t, err, "pass %s", p.Name)
	}
}

// TestCatalogue holds names, documentation and the order constraints of every standard pipeline.
func TestCatalogue(t *testing.T) {
	pipelines := map[string]*pass.Pipeline{}
	for name, p := range passes.Pipelines {
		parsed, err := passes.Parse(p.Text)
		require.NoError(t, err, name)
		assert.Equal(t, p.Text, parsed.String(), "pipeline %s prints as it is written", name)
		assert.NotEmpty(t, p.Doc)
		pipelines[name] = parsed
	}
	require.NoError(t, pass.Validate(passes.All(), pipelines, passes.Orders))
}

// TestDocumentQuotesTheExample keeps the pass of docs/passes.md equal to the one that runs.
func TestDocumentQuotesTheExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(source), "docs/passes.md, which quotes it.\n")
	code, _, _ = strings.Cut(code, "\nfunc Example_yourOwn")
	document, err := os.ReadFile(filepath.Join("..", "docs", "passes.md"))
	require.NoError(t, err)
	assert.Contains(t, string(document), "```go\n"+strings.TrimSpace(code)+"\n```")
}

var update = flag.Bool("update", false, "write the generated parts of docs/passes.md")

// TestDocumentListsEverything keeps the tables at the end of docs/passes.md equal to the catalogue and to the rules.
func TestDocumentListsEverything(t *testing.T) {
	var b strings.Builder
	b.WriteString("## The passes\n\n| pass | what it does |\n| --- | --- |\n")
	for _, p := range passes.All() {
		title, _, _ := strings.Cut(p.Doc, "\n")
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.Name, cell(title))
	}
	b.WriteString("\n## The pipelines\n\n| pipeline | what it is | passes |\n| --- | --- | --- |\n")
	for name, p := range passes.Pipelines {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", name, cell(p.Doc), p.Text)
	}
	for _, p := range passes.All() {
		rules := p.Rules()
		if len(rules) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## The rules of %s\n\n%d rules. A rule that says what it may change fires only where the policy allows that.\n\n| rule | rewrite |\n| --- | --- |\n", p.Name, len(rules))
		for _, r := range rules {
			fmt.Fprintf(&b, "| %s | %s |\n", r.ID, cell(r.Doc))
		}
	}
	b.WriteString("\n## Directives\n\nWhat programs say to compilers beside what they compute, and who reads it.\n\n| directive | kind | read by | meaning |\n| --- | --- | --- | --- |\n")
	for _, d := range directive.Table {
		readers := "none"
		if len(d.Readers) > 0 {
			readers = "`" + strings.Join(d.Readers, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Kind, readers, cell(d.Doc))
	}
	path := filepath.Join("..", "docs", "passes.md")
	document, err := os.ReadFile(path)
	require.NoError(t, err)
	const mark = "<!-- Everything below is written by go test ./passes -run Document -update. -->\n"
	head, generated, ok := strings.Cut(string(document), mark)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(head+mark+"\n"+b.String()), 0o666))
		return
	}
	if strings.TrimSpace(b.String()) != strings.TrimSpace(generated) {
		t.Error("docs/passes.md is stale: go test ./passes -run Document -update")
	}
}

// cell is text in a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
