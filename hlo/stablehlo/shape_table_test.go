package stablehlo

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSizeOps: every operation of shapes is in a program of testdata.
func TestSizeOps(t *testing.T) {
	text, err := os.ReadFile("testdata/shape.txtar")
	require.NoError(t, err)
	for name := range sizeOps {
		require.Regexp(t, regexp.MustCompile(regexp.QuoteMeta(name)+`\b`), string(text))
	}
	for i := range predicates {
		require.Contains(t, string(text), "arith.cmpi "+predicates[i].name+",")
	}
}
