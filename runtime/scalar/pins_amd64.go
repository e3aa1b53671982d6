package scalar

import (
	"sort"

	"github.com/gohalo/halo/internal/amd64"
)

// Registers of the processor, while native code runs. RAX, RDX, X0 and X1 are for what an instruction needs on its way.
const (
	regFile   = amd64.RDI // the program's registers
	regPlaces = amd64.RSI // the arrays' addresses
	regRounds = amd64.Reg(11)
)

var (
	intPins   = []amd64.Reg{amd64.RBX, amd64.RCX, 8, 9, 10, 12, 13, 15}
	floatPins = []amd64.Reg{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
)

// pin is where a register of the program is while code runs.
type pin struct {
	role role // roleInt or roleFloat; roleNone is in memory
	reg  amd64.Reg
}

// choosePins gives the registers of the processor to those of the program that are used most, where a use in a loop counts ten times.
func choosePins(p *Program) []pin {
	type use struct {
		slot, whole, float, weight int
	}
	uses := make([]use, p.registers)
	depth := loopDepths(p)
	for i := range p.code {
		in, weight := &p.code[i], 1
		for range min(depth[i], 5) {
			weight *= 10
		}
		count := func(r role, at uint16) {
			if r == roleNone {
				return
			}
			u := &uses[at/8]
			switch r {
			case roleInt:
				u.whole += weight
			case roleFloat:
				u.float += weight
			}
			u.weight += weight
		}
		r := rolesOf[in.op]
		count(r.d, in.d)
		count(r.a, in.a)
		count(r.b, in.b)
		count(r.c, in.c)
		count(r.e, in.e)
		count(r.m, uint16(in.m))
	}
	for i := range uses {
		uses[i].slot = i
		if i < len(p.constants) {
			uses[i].weight /= 4 // an operand in the instruction, or in memory, is as good
		}
	}
	sort.SliceStable(uses, func(i, j int) bool { return uses[i].weight > uses[j].weight })
	pins := make([]pin, p.registers)
	whole, float := intPins, floatPins
	for _, u := range uses {
		switch {
		case u.weight == 0:
		case u.float > u.whole && len(float) > 0:
			pins[u.slot], float = pin{roleFloat, float[0]}, float[1:]
		case u.float <= u.whole && len(whole) > 0 && (u.slot >= len(p.constants) || !isImmediate(p.constants[u.slot])):
			pins[u.slot], whole = pin{roleInt, whole[0]}, whole[1:]
		}
	}
	return pins
}

// loopDepths is in how many loops each instruction lies: between a branch back and where it goes.
func loopDepths(p *Program) []int {
	change := make([]int, len(p.code)+1)
	for i := range p.code {
		if in := &p.code[i]; in.op.branches() && int(in.m)/instrSize <= i {
			change[int(in.m)/instrSize]++
			change[i+1]--
		}
	}
	now := 0
	for i := range change {
		now += change[i]
		change[i] = now
	}
	return change
}

// isImmediate reports whether an instruction can hold a number of 64 bits.
func isImmediate(v uint64) bool { return int64(v) == int64(int32(v)) }
