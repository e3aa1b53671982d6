package attrwrite_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/attrwrite"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), attrwrite.Analyzer, "a")
}
