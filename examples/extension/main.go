// Command acme is halo with a pass, a pipeline, a rule of the verifier and a kernel of its own.
//
//	go run . opt --passes=double-to-add testdata/acme/scale.hlo
//	go run . run --fill=ones --print testdata/acme/scale.hlo
//	go run . list-passes
package main

import "github.com/gohalo/halo/halocmd"

func main() { halocmd.Main(extension) }
