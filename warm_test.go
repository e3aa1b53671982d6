package halo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWarm compiles the program that Warm compiles, which reports nothing.
func TestWarm(t *testing.T) { require.NoError(t, warm()) }
