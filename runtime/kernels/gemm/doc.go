// Package gemm multiplies matrices that have been packed into panels.
//
// The left matrix is packed into panels of MR rows, the right one into panels of NR columns, each panel k by k, so that the inner loop
// reads both from front to back. MR and NR belong to the [Kernel], which [For] picks for the element type and the processor. Rows and columns that do not fill a
// panel are padded with zeros.
//
//	file       what
//	gemm.go    Kernel, Block: the loops over panels
//	micro.go   the inner loop in Go
//	micro_*.go the inner loop in assembly, which gen writes
//	pack.go    packing from memory with arbitrary offsets
//	farrows.go whether rows that lie far apart are read in place
//	runs_*.go  packing of runs in assembly
//	vector*.go products of a matrix and a vector, of complex numbers by their parts
//	lines*.go  products of many small matrices
//	narrow*.go packing of bf16, which becomes f32 by the way
//	quads*.go  bytes, of which packing makes elements of four
package gemm
