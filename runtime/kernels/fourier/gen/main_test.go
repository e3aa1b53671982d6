package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFresh compares what is checked in with what go generate would write.
func TestFresh(t *testing.T) {
	assembly, declarations, err := generate()
	require.NoError(t, err)
	for name, want := range map[string][]byte{"gen_pass_amd64.s": assembly, "gen_pass_amd64.go": declarations} {
		got, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "run go generate in runtime/kernels/fourier")
	}
}
