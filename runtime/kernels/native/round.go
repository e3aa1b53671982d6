package native

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"

	"github.com/gohalo/halo/internal/amd64"
)

// round writes roundings to bf16 in fewer instructions than recipes have, which loops for any processor are made of.
func (e *expansion) round() {
	e.skipMasks()
	if e.wide && cpu.X86.HasAVX512VNNI {
		e.carryByProduct()
	}
}

// splat is the number of a constant of the same 32 bits everywhere.
func (e *expansion) splat(x uint32) int {
	return e.repeat(binary.LittleEndian.AppendUint32(nil, x))
}

// isOf reports whether an instruction is one without mask on a register and a constant.
func (i *instr) isOf(o amd64.VectorOp, constant int) bool {
	return i.kind == onVectors && i.op == o && i.k == 0 && i.y == 0 && i.from.kind == inPool && i.from.index == constant
}

// skipMasks lets what takes only upper halves take them of what has not lost its lower ones yet.
func (e *expansion) skipMasks() {
	upper, definitions := e.splat(0xffff0000), e.definitions()
	last := make([]int, len(e.isMask)) // which instruction has defined a register, counted from 1
	for i := range e.code {
		x := &e.code[i]
		var taken *int
		switch {
		case x.op == amd64.VPSRLD && x.number == 16 && x.k == 0:
			taken = &x.y
		case e.takesUpper(x):
			taken = &x.x
		}
		if taken != nil && last[*taken] > 0 {
			if m := &e.code[last[*taken]-1]; definitions[*taken] == 1 && last[m.x] < last[*taken] && (m.isOf(amd64.VPANDD, upper) || m.isOf(amd64.VPAND, upper)) {
				*taken = m.x
			}
		}
		if x.d != 0 {
			last[x.d] = i + 1
		}
	}
}

// carryByProduct adds just less than half of the last place, and the last bit, in one instruction: as a product of pairs of 16 bits with ones, of which the bit is one half and the
// other summand the other. Recipes test the bit, add the one, and then 1 where the bit is.
func (e *expansion) carryByProduct() {
	bit, less, one, ones := e.splat(1<<16), e.splat(0x7fff), e.splat(1), e.splat(1<<16|1)
	definitions := e.definitions()
	code := make([]instr, 0, len(e.code))
	for i := 0; i < len(e.code); i++ {
		if i+2 < len(e.code) {
			test, add, carry := &e.code[i], &e.code[i+1], &e.code[i+2]
			if test.isOf(amd64.VPTESTMD, bit) && definitions[test.d] == 1 && add.isOf(amd64.VPADDD, less) && add.x == test.x && add.d != add.x &&
				carry.op == amd64.VPADDD && carry.from == (memory{kind: inPool, index: one}) && carry.k == test.d && carry.d == add.d && carry.x == add.d {
				t, bits := e.register(false), e.vectorBits()
				definitions = append(definitions, 2)
				const orAnd = 0xf8 // d | x & y
				code = append(code,
					instr{op: amd64.VMOVUPS, bits: bits, d: t, from: memory{kind: inPool, index: less}},
					instr{op: amd64.VPTERNLOGQ, bits: bits, d: t, x: test.x, from: memory{kind: inPool, index: bit}, number: orAnd, hasNumber: true, reads: true},
					instr{op: amd64.VMOVUPS, bits: bits, d: add.d, y: add.x},
					instr{op: amd64.VPDPWSSD, bits: bits, d: add.d, x: t, from: memory{kind: inPool, index: ones}, reads: true})
				i += 2
				continue
			}
		}
		code = append(code, e.code[i])
	}
	e.code = code
}
