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
//
// There are two translations, each of which is made when a run first needs it: a program may never reach a loop. Products and quotients of denormal float32 cost a processor about a hundred cycles each; where the last piece
// of a run met denormals the next one goes through [native.gentle], which computes them in float64 and rounds once to the same bits.
type native struct {
	plain, gentle func() machineCode
	rounds        int64 // branches back until the code returns
}

// machineCode is a translation of a program.
type machineCode struct {
	memory  []byte  // mapped, executable; nil if the system does not let its users run what they write
	entries []int32 // of the program's instructions
}

// metDenormals are the flags of floating point for a denormal operand and for a result too small to be exact.
const metDenormals = 1<<1 | 1<<4

// mostInstructions is about how many instructions run before the code returns: a tenth of a millisecond of work.
const mostInstructions = 1 << 18

// callsPerReturn is how many calls of loops are made before runNative returns.
const callsPerReturn = 256

// runNative is Run by the code.
func (p *Program) runNative(s *State) bool {
	defer runtime.KeepAlive(p) // or its memory would be given back
	n, r, places := p.native, unsafe.Pointer(unsafe.SliceData(s.registers)), unsafe.Pointer(unsafe.SliceData(s.places))
	plain := n.plain()
	at := s.at / instrSize
	for range callsPerReturn {
		code := &plain
		if s.denormals {
			gentle := n.gentle()
			code = &gentle
		}
		next, raised := enter(unsafe.Pointer(&code.memory[0]), unsafe.Pointer(&code.memory[code.entries[at]]), r, places, n.rounds)
		s.denormals = raised&metDenormals != 0
		at = int(next)
		in := &p.code[at]
		switch in.op {
		case opEnd:
			return true
		case opCall, opInline:
			p.loops[in.m].loop(1, unsafe.Add(r, in.d), unsafe.Add(r, in.a), unsafe.Add(r, in.b), unsafe.Add(r, in.c))
			at++
		default:
			s.at = at * instrSize
			return false
		}
	}
	s.at = at * instrSize
	return false
}
