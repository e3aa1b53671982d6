package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/asmgen"
)

// TestFresh compares what is checked in with what go generate would write.
func TestFresh(t *testing.T) { require.NoError(t, asmgen.Stale("..", generate)) }
