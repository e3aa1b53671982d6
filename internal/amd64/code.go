package amd64

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Reg is a general or a vector register, by its number.
type Reg uint8

// The general registers that have names of their own.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
)

// Arg is an operand that may be in memory.
type Arg struct {
	inMemory, indexed, labelled bool
	reg, index                  Reg  // in memory: base and index
	scale                       byte // of the index: its logarithm
	disp                        int32
	label                       Label
}

// R is a register.
func R(r Reg) Arg { return Arg{reg: r} }

// M is memory at disp from a base register.
func M(base Reg, disp int32) Arg { return Arg{inMemory: true, reg: base, disp: disp} }

// MX is memory at disp from the sum of two registers. The index must not be RSP.
func MX(base, index Reg, disp int32) Arg {
	return Arg{inMemory: true, indexed: true, reg: base, index: index, disp: disp}
}

// MS is memory at disp from the sum of a register and another one, which must not be RSP, times 1, 2, 4 or 8.
func MS(base, index Reg, times int, disp int32) Arg {
	return Arg{inMemory: true, indexed: true, reg: base, index: index, scale: byte(bits.TrailingZeros8(uint8(times))), disp: disp}
}

// ML is memory in the code itself, at a label.
func ML(l Label) Arg { return Arg{inMemory: true, labelled: true, label: l} }

// Is reports whether a is register r.
func (a Arg) Is(r Reg) bool { return !a.inMemory && a.reg == r }

// Reg returns the register that a is, if it is one.
func (a Arg) Reg() (Reg, bool) { return a.reg, !a.inMemory }

// Label is a place in the code.
type Label int

// Code is a piece of code under construction. The zero value is empty.
type Code struct {
	bytes  []byte
	labels []int // offsets, -1 before they are known
	jumps  []jump
}

// jump is a place in the code that waits for a label's offset.
type jump struct {
	at   int // of the 32 bits
	to   Label
	more int // bytes of the instruction behind them, from the end of which the distance is counted
}

// Len is the number of bytes up to now.
func (c *Code) Len() int { return len(c.bytes) }

// Grow makes room for n more bytes.
func (c *Code) Grow(n int) { c.bytes = slices.Grow(c.bytes, n) }

// NewLabel is a label whose place is not known yet.
func (c *Code) NewLabel() Label {
	c.labels = append(c.labels, -1)
	return Label(len(c.labels) - 1)
}

// Mark puts a label here.
func (c *Code) Mark(l Label) { c.labels[l] = len(c.bytes) }

// Offset is where a label was marked.
func (c *Code) Offset(l Label) int { return c.labels[l] }

// Bytes finishes the code, which may lie anywhere in memory. Every label in use must have been marked.
func (c *Code) Bytes() []byte {
	for _, j := range c.jumps {
		binary.LittleEndian.PutUint32(c.bytes[j.at:], uint32(c.labels[j.to]-j.at-4-j.more))
	}
	c.jumps = nil
	return c.bytes
}

func (c *Code) byte(b ...byte) { c.bytes = append(c.bytes, b...) }

func (c *Code) imm32(v int32) { c.bytes = binary.LittleEndian.AppendUint32(c.bytes, uint32(v)) }

// modRM writes the operands: a register, or the digit that extends an opcode, and one that may be in memory.
func (c *Code) modRM(reg Reg, a Arg) {
	low := reg & 7 << 3
	switch {
	case !a.inMemory:
		c.byte(byte(0xC0 | low | a.reg&7))
		return
	case a.labelled:
		c.byte(byte(0x05 | low))
		c.jumps = append(c.jumps, jump{at: len(c.bytes), to: a.label})
	case a.indexed:
		c.byte(byte(0x84|low), a.scale<<6|byte(a.index&7<<3|a.reg&7))
	case a.reg&7 == RSP:
		c.byte(byte(0x84|low), 0x24)
	default:
		c.byte(byte(0x80 | low | a.reg&7))
	}
	c.imm32(a.disp)
}

// extension is the fourth bit of each register, as the REX prefix has them: reg, index, base.
func extension(reg Reg, a Arg) byte {
	b := byte(reg>>3<<2 | a.reg>>3)
	if a.indexed {
		b |= byte(a.index >> 3 << 1)
	}
	return b
}
