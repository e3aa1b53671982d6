package passes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
)

// TestCases runs testdata/passes: text in, CHECK lines on the text that comes out.
func TestCases(t *testing.T) {
	hlotest.RunPassCases(t, filepath.Join("..", "testdata", "passes"), passes.Parse)
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
