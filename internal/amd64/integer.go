package amd64

import "encoding/binary"

// Op is an instruction with a register operand and one that may be in memory. The register is the destination, but for stores.
type Op uint32

// prefixed and escaped are parts of an Op.
const (
	escaped  Op = 1 << 8 // behind 0F
	prefixed Op = 1 << 9 // by 66
	onBytes  Op = 1 << 10
)

// Instructions on 32 or 64 bits.
const (
	ADD    Op = 0x03
	OR     Op = 0x0B
	AND    Op = 0x23
	SUB    Op = 0x2B
	SBB    Op = 0x1B
	XOR    Op = 0x33
	CMP    Op = 0x3B
	MOV    Op = 0x8B
	LEA    Op = 0x8D
	TEST   Op = 0x85
	IMUL   Op = 0xAF | escaped
	MOVSXD Op = 0x63

	MOVZX8  Op = 0xB6 | escaped | onBytes
	MOVZX16 Op = 0xB7 | escaped
	MOVSX8  Op = 0xBE | escaped | onBytes
	MOVSX16 Op = 0xBF | escaped

	STORE8  Op = 0x88 | onBytes
	STORE16 Op = 0x89 | prefixed
	STORE   Op = 0x89
)

// Cond is a condition on flags.
type Cond byte

// Conditions after a comparison: B, BE, A and AE of unsigned numbers and of floats, L, LE, G and GE of signed ones. P is "unordered".
const (
	O Cond = iota
	NO
	B
	AE
	E
	NE
	BE
	A
	S
	NS
	P
	NP
	L
	GE
	LE
	G
)

// CMOV is a move under a condition.
func CMOV(c Cond) Op { return 0x40 | Op(c) | escaped }

// Do writes an instruction on 64 bits, if wide, or else on 32, which clears the upper half of a destination.
func (c *Code) Do(o Op, wide bool, r Reg, a Arg) {
	if o&prefixed != 0 {
		c.byte(0x66)
	}
	c.rex(wide, o&onBytes != 0, r, a)
	if o&escaped != 0 {
		c.byte(0x0F)
	}
	c.byte(byte(o))
	c.modRM(r, a)
}

// rex writes the prefix if it is needed. The low bytes of half of the registers have names only with it.
func (c *Code) rex(wide, always bool, r Reg, a Arg) {
	b := 0x40 | extension(r, a)
	if wide {
		b |= 8
	}
	if always || b != 0x40 {
		c.byte(b)
	}
}

// Digit is an instruction with one operand that may be in memory.
type Digit uint16

// Instructions with one operand: the opcode, and the digit in place of a register.
const (
	NEG  Digit = 0xF703
	DIV  Digit = 0xF706
	IDIV Digit = 0xF707
)

// Do1 writes an instruction with one operand.
func (c *Code) Do1(d Digit, wide bool, a Arg) {
	c.rex(wide, false, Reg(d&7), a)
	c.byte(byte(d >> 8))
	c.modRM(Reg(d&7), a)
}

// Instructions with a number: see [Code.DoImm].
var digits = map[Op]Reg{ADD: 0, OR: 1, AND: 4, SUB: 5, XOR: 6, CMP: 7}

// DoImm writes ADD, OR, AND, SUB, XOR or CMP with a number.
func (c *Code) DoImm(o Op, wide bool, a Arg, v int32) {
	c.rex(wide, false, 0, a)
	c.byte(0x81)
	c.modRM(digits[o], a)
	c.imm32(v)
}

// IMulImm writes r = a·v.
func (c *Code) IMulImm(wide bool, r Reg, a Arg, v int32) {
	c.rex(wide, false, r, a)
	c.byte(0x69)
	c.modRM(r, a)
	c.imm32(v)
}

// MovImm fills a register.
func (c *Code) MovImm(r Reg, v uint64) {
	if v == uint64(uint32(v)) {
		c.rex(false, false, 0, R(r))
		c.byte(0xB8 | byte(r&7))
		c.imm32(int32(v))
		return
	}
	c.rex(true, false, 0, R(r))
	c.byte(0xB8 | byte(r&7))
	c.bytes = binary.LittleEndian.AppendUint64(c.bytes, v)
}

// Shift is a shift by a number.
type Shift Reg

// Shifts.
const (
	SHL Shift = 4
	SHR Shift = 5
	SAR Shift = 7
)

// ShiftImm shifts a register by less than its width.
func (c *Code) ShiftImm(s Shift, wide bool, r Reg, by byte) {
	c.rex(wide, false, 0, R(r))
	c.byte(0xC1)
	c.modRM(Reg(s), R(r))
	c.byte(by)
}

// ShiftBy writes r = a shifted by the low bits of register by, with BMI2.
func (c *Code) ShiftBy(s Shift, wide bool, r Reg, a Arg, by Reg) {
	prefix := map[Shift]byte{SHL: 1, SHR: 3, SAR: 2}[s]
	c.vex(2, prefix, wide, r, by, a)
	c.byte(0xF7)
	c.modRM(r, a)
}

// SetCC makes the low byte of r 1 or 0.
func (c *Code) SetCC(cc Cond, r Reg) {
	c.rex(false, true, 0, R(r))
	c.byte(0x0F, 0x90|byte(cc))
	c.modRM(0, R(r))
}

// CmpByte compares a byte with a number.
func (c *Code) CmpByte(a Arg, v byte) {
	c.rex(false, true, 0, a)
	c.byte(0x80)
	c.modRM(7, a)
	c.byte(v)
}

// SignOf fills RDX with the sign of RAX.
func (c *Code) SignOf(wide bool) {
	c.rex(wide, false, 0, R(0))
	c.byte(0x99)
}

// Jump goes to a label.
func (c *Code) Jump(l Label) {
	c.byte(0xE9)
	c.jumps = append(c.jumps, jump{at: len(c.bytes), to: l})
	c.imm32(0)
}

// JumpIf goes to a label under a condition.
func (c *Code) JumpIf(cc Cond, l Label) {
	c.byte(0x0F, 0x80|byte(cc))
	c.jumps = append(c.jumps, jump{at: len(c.bytes), to: l})
	c.imm32(0)
}

// JumpTo goes to the address in a register.
func (c *Code) JumpTo(r Reg) {
	c.rex(false, false, 0, R(r))
	c.byte(0xFF)
	c.modRM(4, R(r))
}

// Return ends a call.
func (c *Code) Return() { c.byte(0xC3) }
