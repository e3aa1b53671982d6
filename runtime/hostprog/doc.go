// Package hostprog is the text of host programs: graphs of kernels, written in
// a subset of MLIR.
//
//	text ──Parse──▶ Program ──Assemble──▶ bef.File
//	  ▲                │  ▲                   │
//	  └────Fprint──────┘  └───Disassemble─────┘
//
// A [Program] is a tree: an [Op] has operands, results, attributes and regions;
// a [Region] has arguments and ops. Functions and modules are ops, as in MLIR.
// An [Attr] is a constant, a [Type] its canonical text.
//
// The grammar proper is participle's (grammar.go). Custom forms, such as
// `tfrt.add.i32 %a, %b`, are rows of tables that parser and printer both walk
// (form.go, ops_*.go). The same rows say what operands, results and attributes
// an op has, for [Verify]; an [OpTable] may be given more of them, so that a
// package of kernels can have its ops checked too.
//
// [Assemble] fixes every order that the file format leaves open, so equal
// programs make equal bytes, and runs the stream analysis (streams.go).
// [Disassemble] is its inverse up to positions and costs, which files do not
// have; [DisassembleExact] makes a text that has those too, and assembles to
// the same bytes (exact.go). [Canonicalize] and [Streams] are what `halo opt`
// offers.
//
// Errors are an [ErrorList] of [Diagnostic]s with position, source line and
// caret. Nothing here runs a program: unknown kernels are the loader's concern.
package hostprog
