// Package tile runs elementwise programs over arrays, a tile of elements at a time, so that intermediate values stay in the nearest
// cache.
//
// A [Builder] takes the program value by value: inputs seen through views, constants, iotas, elementwise ops. [Builder.Build] lays it out
// as a [Program]: straight code over registers, each of which holds one tile. Programs are immutable and allocate nothing when they run,
// once their frames are warm.
//
//	file        what
//	program.go  Program: execution; frame.go: what one goroutine needs for it
//	bring.go    tiles of inputs into registers
//	builder.go  Builder: values, rounding
//	place.go    which registers hold them
//	space.go    Space, View: which element of an input an element of the result reads
//	gather.go   loading through a view
//	scatter.go  storing through a view
//	columns.go  loading most columns of short rows at once
//	pick.go     loading elements at computed offsets
//	choice.go   comparing and choosing values, without instructions
//	stages.go   programs that do, stage by stage
//	ops.go      which loop computes an op; the other files hold the loops in Go
//	vector.go   which loop of package vec replaces it
//	native.go   running the machine code that replaces the steps; nativewriter.go makes it, parts.go that of complex numbers
//	calls.go    programs as calls of loops; codecalls.go as one of machine code
//	single.go   programs of one op
//	byconstant.go quotients and remainders by constants
//	codes.go    programs that need no more of narrow floats than their codes
//
// A register of type f16, bf16 or an 8-bit float holds float32 numbers that the type can represent: every op computes in float32 and
// rounds once. Other types are held as they are in memory. Integers narrower than a byte are not supported.
package tile
