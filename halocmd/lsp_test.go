package halocmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLSP talks to the command as an editor does; what it answers is tested in internal/lsp.
func TestLSP(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	var out, errs strings.Builder
	code := Run([]string{"lsp", "--stdio"}, strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ask), ask)), &out, &errs)
	assert.Equal(t, 0, code, errs.String())
	assert.Contains(t, out.String(), `"hoverProvider":true`)
}
