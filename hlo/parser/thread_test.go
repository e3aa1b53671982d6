package parser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// TestStartsWithinAsynchronousComputations: several starts in a computation that runs on another thread are all moved there.
func TestStartsWithinAsynchronousComputations(t *testing.T) {
	_, err := parser.Parse("m.hlo", `HloModule m

inner {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) negate-start(p)
  b = ((f32[4]), f32[4], u32[]) negate-start(p)
  d = f32[4] negate-done(s)
  e = f32[4] negate-done(b)
  ROOT r = f32[4] add(d, e)
}, execution_thread="side"

ENTRY main {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(x), calls=inner
  ROOT d = f32[4] async-done(s)
}
`)
	require.NoError(t, err)
}
