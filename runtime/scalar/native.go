package scalar

import (
	"runtime"
	"unsafe"
)

// native is a program in the processor's own instructions. What an instruction of the interpreter does, a few of the processor's do, on the
// same file of registers, of which the most used ones are kept in the processor's while the code runs. At every instruction of the
// program the code can be entered and left, so what it cannot do, which is to call Go, is done in between.
//
// The code runs on the stack of the goroutine that calls it, and nothing of Go's runtime knows it: it makes no calls, touches no Go pointers
// but those it is given, and comes back after so many branches that the garbage collector never waits for long.
type native struct {
	memory  []byte // mapped, executable
	entries []int32
	rounds  int64 // branches back until the code returns
}

// mostInstructions is about how many instructions run before the code returns: a tenth of a millisecond of work.
const mostInstructions = 1 << 18

// callsPerReturn is how many calls of loops are made before runNative returns.
const callsPerReturn = 256

// runNative is Run by the code.
func (p *Program) runNative(s *State) bool {
	defer runtime.KeepAlive(p) // or its memory would be given back
	n, r, places := p.native, unsafe.Pointer(unsafe.SliceData(s.registers)), unsafe.Pointer(unsafe.SliceData(s.places))
	at := s.at / instrSize
	for range callsPerReturn {
		at = int(enter(unsafe.Pointer(&n.memory[0]), unsafe.Pointer(&n.memory[n.entries[at]]), r, places, n.rounds))
		in := &p.code[at]
		switch in.op {
		case opEnd:
			return true
		case opCall:
			p.loops[in.m](1, unsafe.Add(r, in.d), unsafe.Add(r, in.a), unsafe.Add(r, in.b), unsafe.Add(r, in.c))
			at++
		default:
			s.at = at * instrSize
			return false
		}
	}
	s.at = at * instrSize
	return false
}
