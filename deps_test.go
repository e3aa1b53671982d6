package halo_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/lint/floors"
)

// TestImportsGoDown holds every import of the module to the floors, whatever the build tags: the list is internal/lint/floors/table.go.
func TestImportsGoDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(strings.TrimPrefix(words[0], floors.Module), "/")
		for _, to := range words[1:] {
			to, ours := strings.CutPrefix(to, floors.Module)
			if !ours {
				continue
			}
			if why := floors.Forbidden(from, strings.TrimPrefix(to, "/")); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
	}
}
