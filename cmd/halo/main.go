// Command halo reads, checks, transforms, lowers and runs HLO programs.
//
//	halo fmt model.hlo            parse and print
//	halo verify model.hlo         every finding, each with its rule
//	halo opt -O2 model.hlo        run passes
//	halo lower model.hlo          HLO → BEF
//	halo run model.hlo            run it
//	halo compare model.hlo        run it in two ways and find the first value that departs
//
// Results go to standard output, diagnostics to standard error. Exit status: 0 fine, 1 the input is at fault, 2 wrong usage, 3 a bug
// in halo.
package main

import "github.com/gohalo/halo/halocmd"

func main() { halocmd.Main() }
