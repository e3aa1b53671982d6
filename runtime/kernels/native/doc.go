// Package native makes machine code at run time: of chains of elementwise ops, and of products of small matrices. A chain is one loop over memory, in which a vector of each operand is
// loaded, everything that follows from it is computed in registers, and the results are stored.
//
// A [Builder] takes the chain op by op, by the names of the loops of package vec. The code is put together from those loops' own bodies, which
// package vec has as data ([vec.Recipe]), so it gives the same bits; there is no second description of what an op computes.
//
//	file         what
//	builder.go   Builder: the chain
//	expand.go    recipes, joined to one list of instructions on registers without number
//	truth.go     masks: logic, and masks as integers
//	pair.go      complex numbers: vectors of real and of imaginary parts
//	round.go     roundings to bf16
//	quotient.go  divisions of bf16, by reciprocals
//	shift.go     shifts by constants
//	underflow.go products that avoid denormals, where some were met
//	halves.go    bf16, two vectors at a time
//	share.go     what several recipes compute, once
//	constants.go what stays in registers of the constants
//	assign.go    which register holds what, and when; spills
//	wide.go      several vectors of a row at a time
//	turns.go     which of them take turns in a long body
//	loop.go      loops over rows and over their elements, and what they ask of memory ahead
//	far.go       stores past the caches, of large results
//	emit.go      the loop around it, and constants
//	element.go   Element: one element of a chain among other code; conversion.go
//	code.go      Code: memory that can be executed, and calling it
//	product.go   Product: small products of matrices, which are code of their own
//
// The code runs on the stack of the goroutine that calls it, and nothing of Go's runtime knows it: it makes no calls, is given all the memory it
// touches, and returns after so many vectors that the garbage collector never waits for long ([Code.Most]). Memory is writable while the code is
// written, and executable after, never both.
package native
