package amd64

import "fmt"

// Vector is an instruction on the lanes of vector registers: 16, or 32 in the form of AVX-512. D is the result, and X and Y
// are operands, the last of which may be in memory. So may D, of instructions that move, and of those that make elements narrower.
type Vector struct {
	Op VectorOp
	// Wide asks for the form of AVX-512, which has masks and registers of 512 bits.
	Wide bool
	// Bits are those of the widest register: 128, 256 or 512.
	Bits int
	D    Arg
	X    Reg
	Y    Arg
	// Mask says which lanes of D to write, if it is not 0; Zero clears the others, which else stay. Of a blend it is the register from which it
	// has its choice.
	Mask Reg
	Zero bool
	// Broadcast says that Y is an element in memory, which all lanes read; only the form of AVX-512 can.
	Broadcast bool
	// Number is the constant that some instructions end with.
	Number    uint8
	HasNumber bool
}

// storing is how VMOVQ goes to memory: not only its opcode differs.
var storing = vectorForm{opcodes: 1, prefix: 1, opcode: 0xD6, wide: 1}

// broadcasting is VBROADCASTSD without AVX-512, which is told to be narrow.
var broadcasting = vectorForm{opcodes: 2, prefix: 1, opcode: 0x19, shape: rm}

// Vector writes a vector instruction.
func (c *Code) Vector(v *Vector) {
	f := &vectorForms[v.Op]
	r, beside, other, opcode := v.D.reg, v.X, v.Y, f.opcode
	switch f.shape {
	case mr:
		r, beside, other = v.Y.reg, 0, v.D
	case rm:
		beside = 0
		if v.D.inMemory {
			r, other, opcode = v.Y.reg, v.D, f.more
			if v.Op == VMOVQ {
				f = &storing
			}
		}
	case vmi:
		r, beside = Reg(f.more), v.D.reg
	}
	if v.Wide {
		c.evex(f, v, r, beside, other)
	} else {
		if v.Op == VBROADCASTSD {
			f = &broadcasting
		}
		c.vexLong(f, v.Bits == 256, r, beside, other)
	}
	c.byte(opcode)
	c.modRM(r, other)
	before := len(c.bytes)
	switch {
	case f.shape == is4:
		c.byte(byte(v.Mask << 4))
	case v.HasNumber:
		c.byte(v.Number)
	}
	if other.labelled {
		c.jumps[len(c.jumps)-1].more = len(c.bytes) - before
	}
}

// vexLong is vex for registers of 256 bits, if long.
func (c *Code) vexLong(f *vectorForm, long bool, r, beside Reg, a Arg) {
	c.vex(f.opcodes, f.prefix, f.wide == 1, r, beside, a)
	if long {
		c.bytes[len(c.bytes)-1] |= 4
	}
}

// evex writes the prefix of AVX-512. The fifth bit of a register takes the place of the index's fourth.
func (c *Code) evex(f *vectorForm, v *Vector, r, beside Reg, a Arg) {
	low := a
	if !a.inMemory {
		low.reg &= 15
	}
	first := ^(extension(r&15, low) << 5) & 0xE0
	if r&16 != 0 {
		first &^= 0x10
	} else {
		first |= 0x10
	}
	if !a.inMemory && a.reg&16 != 0 {
		first &^= 0x40
	}
	second := ^byte(beside)&15<<3 | 4 | f.prefix | f.wide<<7
	third := map[int]byte{128: 0, 256: 1, 512: 2}[v.Bits]<<5 | byte(v.Mask)
	if beside&16 == 0 {
		third |= 8
	}
	if v.Zero {
		third |= 0x80
	}
	if v.Broadcast {
		third |= 0x10
	}
	c.byte(0x62, first|f.opcodes, second, third)
}

// VectorOpNamed is the instruction of a name.
func VectorOpNamed(name string) (VectorOp, bool) {
	for i := range vectorForms {
		if vectorForms[i].name == name {
			return VectorOp(i), true
		}
	}
	return 0, false
}

func (o VectorOp) String() string {
	if int(o) < len(vectorForms) {
		return vectorForms[o].name
	}
	return fmt.Sprintf("VectorOp(%d)", o)
}

// MaskOp is an instruction on mask registers of 64 bits.
type MaskOp byte

// Instructions on masks.
const (
	KAND  MaskOp = 0x41
	KOR   MaskOp = 0x45
	KXNOR MaskOp = 0x46
	KXOR  MaskOp = 0x47
)

// Masks writes d = x op y.
func (c *Code) Masks(o MaskOp, d, x, y Reg) {
	c.vex(1, 0, true, d, x, R(y))
	c.bytes[len(c.bytes)-1] |= 4
	c.byte(byte(o))
	c.modRM(d, R(y))
}

// MaskNot writes d = not x.
func (c *Code) MaskNot(d, x Reg) {
	c.vex(1, 0, true, d, 0, R(x))
	c.byte(0x44)
	c.modRM(d, R(x))
}

// MaskMove copies a mask from a register or memory.
func (c *Code) MaskMove(d Reg, a Arg) {
	c.vex(1, 0, true, d, 0, a)
	c.byte(0x90)
	c.modRM(d, a)
}

// MaskStore copies a mask to memory.
func (c *Code) MaskStore(x Reg, to Arg) {
	c.vex(1, 0, true, x, 0, to)
	c.byte(0x91)
	c.modRM(x, to)
}

// ZeroUpper clears the upper parts of all vector registers, without which other code would be slow.
func (c *Code) ZeroUpper() { c.byte(0xC5, 0xF8, 0x77) }

// Align fills the code with zeros up to a multiple of n bytes.
func (c *Code) Align(n int) {
	for len(c.bytes)%n != 0 {
		c.byte(0)
	}
}

// Data puts bytes here.
func (c *Code) Data(b ...byte) { c.byte(b...) }

// Accumulates reports whether the instruction reads what D holds.
func (o VectorOp) Accumulates() bool {
	return o >= VFMADD213PS && o <= VFNMADD231PD || o == VPERMT2PS || o == VPDPWSSD
}

// Broadcasts is the size of the element that Y may be with Broadcast, or 0: of instructions that take constants from memory.
func (o VectorOp) Broadcasts() int {
	switch o {
	case VADDPS, VMULPS, VSUBPS, VMINPS, VDIVPS, VMAXPS, VCMPPS, VBLENDMPS, VFMADD213PS, VFMADD231PS, VFNMADD231PS, VSCALEFPS,
		VPADDD, VPSUBD, VPANDD, VPORD, VPXORD, VPCMPD, VPCMPUD, VPMAXSD, VPMAXUD, VPMINSD, VPMINUD, VPMULLD, VPSLLVD, VPSRLVD, VPSRAVD, VPROLVD, VPTESTMD:
		return 4
	case VADDPD, VMULPD, VSUBPD, VMINPD, VDIVPD, VMAXPD, VCMPPD, VBLENDMPD, VFMADD213PD, VFMADD231PD, VFMSUB231PD, VFNMADD231PD, VSCALEFPD,
		VPADDQ, VPSUBQ, VPANDQ, VPORQ, VPXORQ, VPCMPQ, VPCMPUQ, VPMAXSQ, VPMAXUQ, VPMINSQ, VPMINUQ, VPMULLQ, VPSLLVQ, VPSRLVQ, VPSRAVQ, VPROLVQ, VPTERNLOGQ:
		return 8
	}
	return 0
}

// Blends reports whether the instruction has a mask to choose by, not one that says what to write.
func (o VectorOp) Blends() bool { return o >= VBLENDVPS && o <= VPBLENDMW }

// Moves reports whether the instruction copies a register or memory as it is.
func (o VectorOp) Moves() bool { return o >= VMOVAPS && o <= VMOVDQU64 }

// Pad fills the code up to a multiple of n bytes with instructions that do nothing.
func (c *Code) Pad(n int) {
	for len(c.bytes)%n != 0 {
		c.byte(0x90)
	}
}

// StoreFence lets stores past the caches be seen before those that follow.
func (c *Code) StoreFence() { c.byte(0x0F, 0xAE, 0xF8) }

// Prefetch asks for memory to be brought near, to be written if store is set.
func (c *Code) Prefetch(a Arg, store bool) {
	c.rex(false, false, 1, a)
	if store {
		c.byte(0x0F, 0x0D)
	} else {
		c.byte(0x0F, 0x18)
	}
	c.modRM(1, a)
}
