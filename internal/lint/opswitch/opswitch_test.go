package opswitch_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/opswitch"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), opswitch.Analyzer, "a")
}
