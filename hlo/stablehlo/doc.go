// Package stablehlo turns StableHLO programs into HLO, the way XLA's own converter does.
//
//	p, err := mlir.Parse(file, text)      // or bytecode.Decode, or export.Open
//	m, err := stablehlo.Convert(p, stablehlo.Options{})
//
// Each operation is one row of a table and one function (table.go). Operations of CHLO that HLO does not have are expanded as XLA expands
// them (chlo.go; the longer ones are data). Programs with dynamic shapes are refined first, given the shapes of the arguments (refine.go).
//
// The converter's other steps are done here too, so that the result is the module that XLA would get: unused operations are dropped,
// equal constants are one, constants are copied into the control flow that uses them (canon.go).
package stablehlo
