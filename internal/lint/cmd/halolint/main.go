// Command halolint runs the analyzers of internal/lint: halolint ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gohalo/halo/internal/lint/framecapture"
	"github.com/gohalo/halo/internal/lint/irescape"
	"github.com/gohalo/halo/internal/lint/opswitch"
	"github.com/gohalo/halo/internal/lint/useaftermove"
)

func main() {
	multichecker.Main(useaftermove.Analyzer, framecapture.Analyzer, irescape.Analyzer, opswitch.Analyzer)
}
