package amd64

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// encodings are instructions as GNU's disassembler reads them.
var encodings = []struct {
	text  string
	write func(c *Code)
	bytes string
}{
	{"add rax,rcx", func(c *Code) { c.Do(ADD, true, RAX, R(RCX)) }, "4803c1"},
	{"sub r15d,r8d", func(c *Code) { c.Do(SUB, false, 15, R(8)) }, "452bf8"},
	{"sbb rax,rax", func(c *Code) { c.Do(SBB, true, RAX, R(RAX)) }, "481bc0"},
	{"mov r9d,DWORD PTR [rdi+0x8]", func(c *Code) { c.Do(MOV, false, 9, M(RDI, 8)) }, "448b8f08000000"},
	{"mov rax,QWORD PTR [r12+0x8]", func(c *Code) { c.Do(MOV, true, RAX, M(12, 8)) }, "498b842408000000"},
	{"mov rax,QWORD PTR [rdx+r9*1-0x4]", func(c *Code) { c.Do(MOV, true, RAX, MX(RDX, 9, -4)) }, "4a8b840afcffffff"},
	{"mov BYTE PTR [rdx+r8*1+0x4],sil", func(c *Code) { c.Do(STORE8, false, RSI, MX(RDX, 8, 4)) }, "4288b40204000000"},
	{"mov WORD PTR [rdx+0x4],r15w", func(c *Code) { c.Do(STORE16, false, 15, M(RDX, 4)) }, "664489ba04000000"},
	{"mov QWORD PTR [r13+0x4],r15", func(c *Code) { c.Do(STORE, true, 15, M(13, 4)) }, "4d89bd04000000"},
	{"movzx ebx,sil", func(c *Code) { c.Do(MOVZX8, false, RBX, R(RSI)) }, "400fb6de"},
	{"movsx rbx,BYTE PTR [rdi+0x10]", func(c *Code) { c.Do(MOVSX8, true, RBX, M(RDI, 16)) }, "480fbe9f10000000"},
	{"movsx r10,r11w", func(c *Code) { c.Do(MOVSX16, true, 10, R(11)) }, "4d0fbfd3"},
	{"movsxd r10,r11d", func(c *Code) { c.Do(MOVSXD, true, 10, R(11)) }, "4d63d3"},
	{"imul r10,QWORD PTR [rdi+0x18]", func(c *Code) { c.Do(IMUL, true, 10, M(RDI, 24)) }, "4c0faf9718000000"},
	{"lea rdx,[rdx+rax*1+0x40]", func(c *Code) { c.Do(LEA, true, RDX, MX(RDX, RAX, 64)) }, "488d940240000000"},
	{"test eax,eax", func(c *Code) { c.Do(TEST, false, RAX, R(RAX)) }, "85c0"},
	{"cmovg rax,QWORD PTR [rdi+0x8]", func(c *Code) { c.Do(CMOV(G), true, RAX, M(RDI, 8)) }, "480f4f8708000000"},
	{"cmovb r12d,r13d", func(c *Code) { c.Do(CMOV(B), false, 12, R(13)) }, "450f42e5"},
	{"neg r8", func(c *Code) { c.Do1(NEG, true, R(8)) }, "49f7d8"},
	{"idiv DWORD PTR [rdi+0x8]", func(c *Code) { c.Do1(IDIV, false, M(RDI, 8)) }, "f7bf08000000"},
	{"div rbx", func(c *Code) { c.Do1(DIV, true, R(RBX)) }, "48f7f3"},
	{"cmp r9,0xffffffffffffffff", func(c *Code) { c.DoImm(CMP, true, R(9), -1) }, "4981f9ffffffff"},
	{"and DWORD PTR [rdi+0x8],0xff", func(c *Code) { c.DoImm(AND, false, M(RDI, 8), 255) }, "81a708000000ff000000"},
	{"imul rax,r10,0xc", func(c *Code) { c.IMulImm(true, RAX, R(10), 12) }, "4969c20c000000"},
	{"mov r9d,0x7", func(c *Code) { c.MovImm(9, 7) }, "41b907000000"},
	{"movabs r9,0x8000000000000000", func(c *Code) { c.MovImm(9, 1<<63) }, "49b90000000000000080"},
	{"sar r10,0x1f", func(c *Code) { c.ShiftImm(SAR, true, 10, 31) }, "49c1fa1f"},
	{"shl edx,0x4", func(c *Code) { c.ShiftImm(SHL, false, RDX, 4) }, "c1e204"},
	{"shlx edx,r9d,eax", func(c *Code) { c.ShiftBy(SHL, false, RDX, R(9), RAX) }, "c4c279f7d1"},
	{"shrx rdx,QWORD PTR [rdi+0x8],rax", func(c *Code) { c.ShiftBy(SHR, true, RDX, M(RDI, 8), RAX) }, "c4e2fbf79708000000"},
	{"sarx r10,r9,r11", func(c *Code) { c.ShiftBy(SAR, true, 10, R(9), 11) }, "c442a2f7d1"},
	{"setle sil", func(c *Code) { c.SetCC(LE, RSI) }, "400f9ec6"},
	{"cmp sil,0x0", func(c *Code) { c.CmpByte(R(RSI), 0) }, "4080fe00"},
	{"rex cmp BYTE PTR [rdi+0x8],0x1", func(c *Code) { c.CmpByte(M(RDI, 8), 1) }, "4080bf0800000001"},
	{"cdq", func(c *Code) { c.SignOf(false) }, "99"},
	{"cqo", func(c *Code) { c.SignOf(true) }, "4899"},
	{"jmp rdx", func(c *Code) { c.JumpTo(RDX) }, "ffe2"},
	{"jmp r10", func(c *Code) { c.JumpTo(10) }, "41ffe2"},
	{"ret", func(c *Code) { c.Return() }, "c3"},
	{"vaddss xmm2,xmm3,xmm4", func(c *Code) { c.Float(VADD, false, 2, 3, R(4)) }, "c4e16258d4"},
	{"vsubsd xmm12,xmm13,xmm14", func(c *Code) { c.Float(VSUB, true, 12, 13, R(14)) }, "c441135ce6"},
	{"vdivss xmm2,xmm13,DWORD PTR [rdi+0x8]", func(c *Code) { c.Float(VDIV, false, 2, 13, M(RDI, 8)) }, "c4e1125e9708000000"},
	{"vsqrtsd xmm2,xmm2,xmm9", func(c *Code) { c.Float(VSQRT, true, 2, 2, R(9)) }, "c4c16b51d1"},
	{"vcvtss2sd xmm2,xmm3,xmm3", func(c *Code) { c.Float(VCVT, false, 2, 3, R(3)) }, "c4e1625ad3"},
	{"vxorps xmm9,xmm9,xmm9", func(c *Code) { c.Bits(VXOR, 9, 9, 9) }, "c4413057c9"},
	{"vandps xmm1,xmm2,xmm10", func(c *Code) { c.Bits(VAND, 1, 2, 10) }, "c4c16854ca"},
	{"vucomiss xmm2,xmm11", func(c *Code) { c.Compare(false, 2, R(11)) }, "c4c1782ed3"},
	{"vucomisd xmm12,QWORD PTR [rdi+0x8]", func(c *Code) { c.Compare(true, 12, M(RDI, 8)) }, "c461792ea708000000"},
	{"vcmpltss xmm0,xmm2,xmm3", func(c *Code) { c.Mask(Less, false, 0, 2, R(3)) }, "c4e16ac2c301"},
	{"vcmpneqsd xmm0,xmm2,QWORD PTR [rdi+0x8]", func(c *Code) { c.Mask(NotEqual, true, 0, 2, M(RDI, 8)) }, "c4e16bc2870800000004"},
	{"vblendvpd xmm2,xmm3,xmm4,xmm0", func(c *Code) { c.Blend(2, 3, 4, 0) }, "c4e3614bd400"},
	{"vblendvps xmm12,xmm13,xmm14,xmm1", func(c *Code) { c.Blend32(12, 13, 14, 1) }, "c443114ae610"},
	{"vcvtsi2ss xmm2,xmm2,r10d", func(c *Code) { c.FromInt(false, false, 2, 2, R(10)) }, "c4c16a2ad2"},
	{"vcvtsi2sd xmm12,xmm12,QWORD PTR [rdi+0x8]", func(c *Code) { c.FromInt(true, true, 12, 12, M(RDI, 8)) }, "c4619b2aa708000000"},
	{"vcvttsd2si rax,xmm0", func(c *Code) { c.ToInt(RAX, R(0)) }, "c4e1fb2cc0"},
	{"vroundss xmm2,xmm13,xmm13,0x9", func(c *Code) { c.Round(false, 2, 13, 1) }, "c4c3110ad509"},
	{"vroundsd xmm12,xmm3,xmm3,0x8", func(c *Code) { c.Round(true, 12, 3, 0) }, "c463610be308"},
	{"vmovss xmm12,DWORD PTR [rdx+r8*1+0x4]", func(c *Code) { c.FLoad(false, 12, MX(RDX, 8, 4)) }, "c4217a10a40204000000"},
	{"vmovsd xmm2,QWORD PTR [rdi+0x8]", func(c *Code) { c.FLoad(true, 2, M(RDI, 8)) }, "c4e17b109708000000"},
	{"vmovsd QWORD PTR [rdi+0x8],xmm12", func(c *Code) { c.FStore(true, 12, M(RDI, 8)) }, "c4617b11a708000000"},
	{"vmovss DWORD PTR [rdx+rax*1+0x8],xmm2", func(c *Code) { c.FStore(false, 2, MX(RDX, RAX, 8)) }, "c4e17a11940208000000"},
	{"vmovaps xmm12,xmm3", func(c *Code) { c.FMove(12, 3) }, "c4617828e3"},
	{"vmovq xmm12,r8", func(c *Code) { c.ToFloat(12, R(8)) }, "c441f96ee0"},
	{"vmovq r8,xmm12", func(c *Code) { c.FromFloat(8, 12) }, "c441f97ee0"},
}

func TestEncodings(t *testing.T) {
	for _, e := range encodings {
		c := &Code{}
		e.write(c)
		assert.Equal(t, e.bytes, hex.EncodeToString(c.Bytes()), e.text)
	}
}

func TestJumps(t *testing.T) {
	c := &Code{}
	back, on := c.NewLabel(), c.NewLabel()
	c.Mark(back)
	c.JumpIf(NE, on)
	c.Jump(back)
	c.Mark(on)
	c.Return()
	require.Equal(t, "0f8505000000e9f5ffffffc3", hex.EncodeToString(c.Bytes()))
	assert.Equal(t, 11, c.Offset(on))
	assert.Equal(t, 12, c.Len())
}
