// Command halolint runs the analyzers of internal/lint, by itself or for the vet command, which remembers what it has seen:
//
//	go run ./internal/lint/cmd/halolint -test=false ./...
//	go build -o halolint ./internal/lint/cmd/halolint && go vet -vettool=./halolint ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gohalo/halo/internal/lint/attrwrite"
	"github.com/gohalo/halo/internal/lint/floors"
	"github.com/gohalo/halo/internal/lint/framecapture"
	"github.com/gohalo/halo/internal/lint/irescape"
	"github.com/gohalo/halo/internal/lint/opswitch"
	"github.com/gohalo/halo/internal/lint/useaftermove"
)

func main() {
	multichecker.Main(attrwrite.Analyzer, useaftermove.Analyzer, framecapture.Analyzer, irescape.Analyzer, opswitch.Analyzer, floors.Analyzer)
}
