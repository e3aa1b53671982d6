// Package scalar runs programs over a few numbers: loops that count and search, bodies of a scan, and whatever else computes on values so
// small that calling a kernel for each op would be most of the work.
//
// A [Builder] takes such a program as a graph: constants, ops, loads from and stores to arrays, loops and branches. [Builder.Build]
// turns it into a [Program], flat code over a file of 64-bit registers, and [Program.Run] interprets that with one dispatch for each
// instruction and no calls. On processors that it knows, where the system lets programs run what they write, the code is translated
// instruction by instruction, and the interpreter is what the translation is tested against.
//
//	file          what
//	builder.go    Builder, Value: the graph; what is constant or known already is not computed twice
//	fold.go       what is known when the program is built
//	control.go    loops and branches of the graph
//	named.go      ops by name and type, as they are called elsewhere: "add.s32"
//	name.go       types and names
//	complex.go    complex numbers
//	op.go         the instructions and what is true of them; roles.go: what they take registers for
//	live.go       what of the graph is needed, and which ops become one instruction
//	masks.go      choices between floats, by masks
//	order.go      in which order a region computes
//	layout.go     the graph as a line of instructions on virtual registers
//	registers.go  ranges, coalescing, registers
//	bank.go       which register is free when
//	copies.go     copies that happen at once, in an order
//	program.go    Program, State
//	run.go        the interpreter
//	values.go     what instructions of the interpreter share
//	native.go     the same in the instructions of the processor: pins_amd64.go says what is in its registers, translate_*.go write them, in two
//	              translations: the second is for denormals
//	print.go      listings; opnames.go has the names
//	site.go       how a kernel of the runtime writes its part
//
// A register holds the bits of one element as memory would, at its low end; what is above is undefined. So a register is as good as an
// address: a loop of another package over one element can be called on registers (see [Loop]), and conversions between integers of
// the same width cost nothing. Integers narrower than 32 bits are extended where their upper bits matter.
//
// Results are those of the reference evaluator to the bit: division by zero, amounts of shifts, NaN and signed zeros are as HLO says, and
// products and sums of floats are rounded each, also where one instruction does both.
package scalar
