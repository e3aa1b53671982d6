// Package source reads programs from files, whatever form they come in.
//
//	m, err := source.Read("step.hlo.pb.gz", data, source.Options{})
//
// [Detect] looks at the content; the name of a file decides only where the content leaves it open, as an empty file does. [Unpack] removes
// compression first. [Read] does both and returns the module.
//
//	file       what
//	kind.go    the table of formats: how to recognise each, and how to read it
//	binary.go  recognising bytes: protocol buffers, flatbuffers of jax.export
//	text.go    recognising text: HLO, StableHLO, host programs, other MLIR
//	unpack.go  compression
//	archive.go the files of zip and tar archives
//	parts.go   texts of several modules
//	read.go    from bytes to a module
//
// To add a format, add its constant and its row in kind.go. A format without a reader is recognised all the same, so that its users learn
// why their file is refused.
package source
