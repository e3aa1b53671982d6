package main

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// hostRunFlags are the flags of halo run that host programs have.
type hostRunFlags struct {
	Functions      []string `help:"Host programs: run only these functions, in this order."`
	InitFunction   string   `help:"Host programs: run this function first." placeholder:"NAME"`
	Queue          string   `help:"Host programs: work queue: single, multi, multi:N or multi:N:M." default:"single"`
	HostAllocator  string   `help:"Host programs: leak-check, heap, profile or budget:BYTES." default:"leak-check"`
	PrintErrorCode bool     `help:"Host programs: print the codes of error results."`
	Trace          string   `help:"Trace to standard output (text) or to a Chrome trace (FILE.json)." placeholder:"text|FILE.json"`
	TraceLevel     string   `help:"How much to trace: default, verbose or debug." default:"default" enum:"default,verbose,debug"`
	Strict         bool     `help:"Host programs: every kernel waits for all its arguments."`
}

// isHostProgram tells a BEF file of a host program from one of an HLO program, which has metadata about its entry.
func isHostProgram(data []byte) bool {
	f, err := bef.Decode(data, bef.DecodeOptions{})
	return err == nil && f.Extension(runtime.SectionMetadata) == nil
}

func (c *hostRunFlags) run(ctx context.Context, e *env, in *input) error {
	return fmt.Errorf("%s: error: running host programs is not supported yet", in.name)
}
