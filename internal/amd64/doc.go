// Package amd64 encodes instructions of the processors that Go calls amd64, for programs that are made at run time. It knows the few forms
// that package runtime/scalar needs: integers in general registers, and floats, one at a time, in vector registers by the three-operand
// forms that came with AVX.
//
//	file       what
//	code.go    Code: bytes, labels and jumps; Arg, the operand that may be in memory
//	integer.go instructions on general registers
//	float.go   instructions on vector registers
//	vector.go  instructions on lanes; vectorops.go their table
//
// Every instruction is one method call, named as in the manuals in tables of opcodes; nothing chooses or improves. The tests hold the
// encodings against those of Go's own assembler.
package amd64
