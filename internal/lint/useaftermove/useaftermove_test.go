package useaftermove_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/useaftermove"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), useaftermove.Analyzer, "a")
}
