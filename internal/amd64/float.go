package amd64

// FOp is an instruction on one float in vector registers, or on a whole register.
type FOp uint16

// Instructions on floats of 32 bits; those of 64 bits are told by the argument double.
const (
	VADD  FOp = 0x58
	VMUL  FOp = 0x59
	VSUB  FOp = 0x5C
	VMIN  FOp = 0x5D
	VDIV  FOp = 0x5E
	VMAX  FOp = 0x5F
	VSQRT FOp = 0x51
	VCVT  FOp = 0x5A // to the other of the two types
)

// Whole registers of 128 bits.
const (
	VAND FOp = 0x54
	VOR  FOp = 0x56
	VXOR FOp = 0x57
)

// scalarPrefix is the prefix of instructions on one float.
func scalarPrefix(double bool) byte {
	if double {
		return 3
	}
	return 2
}

// vex writes the prefix in its long form: map of opcodes, prefix it stands for (1: 66, 2: F3, 3: F2), the operand beside r and a.
func (c *Code) vex(opcodes, prefix byte, wide bool, r, v Reg, a Arg) {
	x := extension(r, a)
	first := opcodes | ^(x<<5)&0xE0
	second := ^byte(v)&15<<3 | prefix
	if wide {
		second |= 0x80
	}
	c.byte(0xC4, first, second)
}

func (c *Code) vector(prefix byte, wide bool, opcode byte, d, x Reg, y Arg) {
	c.vex(1, prefix, wide, d, x, y)
	c.byte(opcode)
	c.modRM(d, y)
}

// Float writes d = x op y on one float. VSQRT and VCVT compute from y, and x is where the rest of d comes from.
func (c *Code) Float(o FOp, double bool, d, x Reg, y Arg) {
	c.vector(scalarPrefix(double), false, byte(o), d, x, y)
}

// Bits writes d = x op y on whole registers: VAND, VOR, VXOR.
func (c *Code) Bits(o FOp, d, x Reg, y Reg) { c.vector(0, false, byte(o), d, x, R(y)) }

// Compare sets the flags for x against y: B, E, A, or P with B and E if one is NaN.
func (c *Code) Compare(double bool, x Reg, y Arg) {
	prefix := byte(0)
	if double {
		prefix = 1
	}
	c.vector(prefix, false, 0x2E, x, 0, y)
}

// Relation is between two floats. Only NotEqual holds for NaN.
type Relation byte

// Relations.
const (
	Equal       Relation = 0
	Less        Relation = 1
	LessOrEqual Relation = 2
	NotEqual    Relation = 4
)

// Mask fills the float in d with ones if the relation holds between x and y, else with zeros.
func (c *Code) Mask(r Relation, double bool, d, x Reg, y Arg) {
	c.Float(0xC2, double, d, x, y)
	c.byte(byte(r))
}

// Blend takes y where mask has its sign bit, of each 64 bits, else x.
func (c *Code) Blend(d, x Reg, y, mask Reg) {
	c.vex(3, 1, false, d, x, R(y))
	c.byte(0x4B)
	c.modRM(d, R(y))
	c.byte(byte(mask << 4))
}

// Blend32 takes y where mask has its sign bit, of each 32 bits, else x.
func (c *Code) Blend32(d, x Reg, y, mask Reg) {
	c.vex(3, 1, false, d, x, R(y))
	c.byte(0x4A)
	c.modRM(d, R(y))
	c.byte(byte(mask << 4))
}

// FromInt writes d = the integer a, of 64 bits if wide, as a float; the rest of d comes from x.
func (c *Code) FromInt(double, wide bool, d, x Reg, a Arg) {
	c.vector(scalarPrefix(double), wide, 0x2A, d, x, a)
}

// ToInt truncates a double to 64 bits.
func (c *Code) ToInt(d Reg, a Arg) { c.vector(3, true, 0x2C, d, 0, a) }

// Round writes d = x as an integer: to even (0), down (1), up (2) or toward zero (3).
func (c *Code) Round(double bool, d, x Reg, how byte) {
	opcode := byte(0x0A)
	if double {
		opcode = 0x0B
	}
	c.vex(3, 1, false, d, x, R(x))
	c.byte(opcode)
	c.modRM(d, R(x))
	c.byte(how | 8) // without a flag for what is lost
}

// FLoad reads a float; the rest of d is zero.
func (c *Code) FLoad(double bool, d Reg, a Arg) { c.vector(scalarPrefix(double), false, 0x10, d, 0, a) }

// FStore writes a float to memory.
func (c *Code) FStore(double bool, x Reg, a Arg) {
	c.vector(scalarPrefix(double), false, 0x11, x, 0, a)
}

// FMove copies a whole register.
func (c *Code) FMove(d, x Reg) { c.vector(0, false, 0x28, d, 0, R(x)) }

// ToFloat copies the 64 bits of a general register, or memory, to a vector register.
func (c *Code) ToFloat(d Reg, a Arg) { c.vector(1, true, 0x6E, d, 0, a) }

// FromFloat copies 64 bits of a vector register to a general register.
func (c *Code) FromFloat(d Reg, x Reg) { c.vector(1, true, 0x7E, x, 0, R(d)) }
