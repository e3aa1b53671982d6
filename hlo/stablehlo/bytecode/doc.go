// Package bytecode reads MLIR bytecode into the tree of package mlir: portable artifacts, which hold StableHLO in the dialect VHLO, of
// every version since 0.9.0.
//
//	p, err := bytecode.Decode("model.mlirbc", data)
//
//	file         what
//	reader.go    numbers, strings, sections
//	container.go the sections of a file and their tables
//	entries.go   attributes and types by their numbers, of any dialect
//	builtin.go   attributes and types of the builtin dialect
//	vhlo.go      attributes and types of VHLO
//	ir.go        operations, blocks and regions
//	upgrade.go   operations of VHLO to those of StableHLO; attributes.go lists their attributes
//
// Every length is held against what is left of the file before anything is made of it, and nesting is bounded.
package bytecode
