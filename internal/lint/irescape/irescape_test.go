package irescape_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/irescape"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), irescape.Analyzer, "a")
}
