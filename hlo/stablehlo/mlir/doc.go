// Package mlir is the tree that StableHLO programs are read into, whatever form they come in, and the reader of MLIR text.
//
//	m, err := mlir.Parse("model.mlir", text)
//	for op := range m.Ops { ... }
//
//	type      what it is
//	Module    the operations at the top of a file
//	Op        name, operands, attributes, regions, results and a location; operations of all dialects look alike
//	Value     a result of an operation or an argument of a block
//	Region    a list of blocks; all that StableHLO needs is one
//	Type      tensors, scalars, tuples, tokens, futures, functions; interned, so == compares
//	Attr      constants that belong to an operation
//	Location  where an operation comes from
//
// Nothing here knows the meaning of an operation. [Parse] reads the generic form of any of them; the pretty forms of the dialects that
// are read are rows of a table (forms.go), written in a small language (form.go), beside a few that need code.
package mlir
