// Package printer writes modules as HLO text.
//
//	printer.Fprint(os.Stdout, m, printer.Config{})      // XLA's default form
//	printer.Fprint(os.Stdout, m, printer.Long)          // with operand shapes and all constants: loses nothing
//	printer.Fprint(os.Stdout, m, printer.Short)         // the short form that parses
//	text, err := printer.Append(nil, m, printer.Config{Sugar: printer.SugarOff})
//
// A [Config] is plain data; its zero value is XLA's default form with asynchronous sugar wherever sugar reads back as the same program.
// [Styles] are the named configurations. Everything is written byte for byte as XLA of August 2026 writes it, but where that text
// could not be read back, or would read back as another module: there the text that does is written.
//
//	file             what
//	config.go        Config and the styles
//	printer.go       entry points; the buffer and its limits
//	module.go        header, order of computations
//	parallel.go      large modules, printed by several workers
//	debug.go         the header's tables: stack frames, recovery of original values, debug attributes
//	computation.go   signature, body, names
//	instruction.go   one instruction: name, shape, opcode, operands
//	attributes.go    own attributes by walking [hlo.AttrFields], then the common ones
//	callees.go       called computations, as names or as whole bodies
//	sugar.go         which asynchronous chains are written as OP-start, OP-update, OP-done
//	literal.go       which constants are written out
//
// Attribute values know their own text (hlo: AppendText); this package decides which are written, and in which order.
//
// Printing is deterministic, never fails on a module that the rest of halo accepts, and does not modify anything. A Config may be
// used by any number of goroutines. Reading is hlo/parser, and binary forms are hlo/proto.
package printer
