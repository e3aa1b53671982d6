package halocmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadAhead has the arrays read before anybody asks for them, once.
func TestReadAhead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.npz")
	c := &runCmd{Inputs: file}
	c.readAhead()
	_, want := c.given()
	require.ErrorIs(t, want, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := c.files()
	assert.Equal(t, want, err, "it is what reading ahead has found")
}
