// Package hlo is the intermediate representation of halo: modules of computations of instructions, as XLA's HLO defines them.
//
// Everything here is a value. A [Module], once obtained, never changes under anybody's hands; an [Editor] makes a new version
// that shares whatever was not touched with the old one. "Did it change?" is m2 != m.
//
//	type          what it is                                         written by
//	Module        computations, the entry, header attributes         Editor, Builder, hlo/parser, hlo/proto
//	Computation   instructions in program order, a root, parameters  CompEdit, ComputationBuilder
//	Instruction   opcode, shape, operand ids, attributes             InstrEdit
//	Shape         array, tuple, buffer, token or opaque              constructors; immutable
//	Literal       constant data of a shape                           constructors; immutable
//	OpInfo        one row of the op table: all that is true of an op  this package only
//
// Operands and called computations are ids, not pointers, so replacing an instruction copies that instruction and never its users.
//
// # Words
//
// The words are XLA's. An axis is an index into the dimensions of an array; a dimension is a size. Rank is the number of
// dimensions. A layout says how the elements are laid out in memory, minor to major: the first axis named varies fastest. A leaf
// is an array (or token) inside a possibly nested tuple. A callee is a computation that an instruction calls.
//
// # The op table
//
// [Info] answers with the row of an opcode: arity, attributes, roles of called computations, traits and the shape rule. Parser,
// printer, verifier, passes and lowering ask the row; none of them lists opcodes. Adding an op is one row here, and one function
// on each floor that needs to know what the op does (hlo/eval).
//
// # Contract
//
// Slices inside values that accessors return by value (attribute structs, [Layout]) are shared with the value and must not be
// written. All values are safe for concurrent use by any number of goroutines; editors belong to one goroutine.
//
// This package neither reads nor prints modules: hlo/parser, hlo/proto and printer do.
package hlo
