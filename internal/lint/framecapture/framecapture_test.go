package framecapture_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/framecapture"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), framecapture.Analyzer, "a")
}
