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
	files, err := generate()
	require.NoError(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		assert.True(t, string(want) == string(got), "run go generate in runtime/kernels/square: %s differs", name)
	}
}
