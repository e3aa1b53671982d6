package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// multiplyQuads adds the products of four signed bytes of x, which may be one element in memory, with four bytes of y without a sign. The instruction is one that avo does not know.
func (g generator) multiplyQuads(x operand.Op, y, sum reg.VecVirtual) {
	i := &ir.Instruction{Opcode: "VPDPBUSD", Operands: []operand.Op{x, y, sum}, Inputs: []operand.Op{x, y, sum}, Outputs: []operand.Op{sum}, ISA: []string{"AVX512_VNNI"}}
	if _, isElement := x.(operand.Mem); isElement {
		i.Suffixes = []string{"BCST"}
	}
	g.Instruction(i)
}

// begin sets sums to what the first lines of both panels say, added; of the right one, where there is one only.
func (m *micro) begin(b []reg.VecVirtual, k reg.Register) {
	for i, y := range b {
		m.load(operand.Mem{Base: m.b, Disp: i * m.width}, y)
	}
	m.ADDQ(m.line(), m.b)
	for r, sums := range m.sums {
		for i, y := range b {
			if m.kind == inPlace {
				m.VMOVDQA32(y, sums[i])
			} else {
				m.VPADDD_BCST(operand.Mem{Base: m.a, Disp: r * m.size}, y, sums[i])
			}
		}
	}
	if m.kind == inPlace {
		return
	}
	m.ADDQ(operand.U32(uint32(len(m.sums)*m.size)), m.a)
	m.DECQ(k)
}

// quadsOfRuns builds a function that makes panels of up to 32 columns from rows of bytes: of each column, four neighbours become an element. Masks say how many columns a panel
// has, and of how many there is something in memory; the others become zeros.
func (g generator) quadsOfRuns(name string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k, panels int, src *byte, stride, step int, dst *int32, panel, line int, has, wants uint32)")
	g.Doc(fmt.Sprintf("%s writes four times k rows, stride bytes apart, as k lines of quads to panels: to each, step bytes of them, to lines that are line bytes apart.", name),
		"Panels are panel bytes apart. The bits of wants are the columns of a line, those of has the ones that are read; the others are 0.")
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, src, stride, dst := load("k"), load("src"), load("stride"), load("dst")
	has0, has1 := g.halves("has")
	wants0, wants1 := g.halves("wants")
	step, panel := load("step"), load("panel")
	from, third, to, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Label("quad")
	g.MOVQ(src, from)
	g.MOVQ(dst, to)
	g.Load(g.Param("panels"), left)
	g.Label("panel")
	g.LEAQ(operand.Mem{Base: from, Index: stride, Scale: 2}, third)
	rows := []operand.Mem{{Base: from}, {Base: from, Index: stride, Scale: 1}, {Base: third}, {Base: third, Index: stride, Scale: 1}}
	for half, has := range []reg.Register{has0, has1} {
		quad := g.ZMM()
		for i, at := range rows {
			x := g.ZMM()
			g.VPMOVZXBD_Z(at.Offset(16*half), has, x)
			if i == 0 {
				quad = x
				continue
			}
			g.VPSLLD(operand.U8(uint8(8*i)), x, x)
			g.VPORD(x, quad, quad)
		}
		g.VMOVDQU32(quad, []reg.Register{wants0, wants1}[half], operand.Mem{Base: to, Disp: 64 * half})
	}
	g.ADDQ(step, from)
	g.ADDQ(panel, to)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))
	g.LEAQ(operand.Mem{Base: src, Index: stride, Scale: 4}, src)
	line := load("line")
	g.ADDQ(line, dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("quad"))
	g.VZEROUPPER()
	g.RET()
}

// halves loads two masks of 16 bits.
func (g generator) halves(param string) (low, high reg.Register) {
	bits := g.Load(g.Param(param), g.GP32())
	low, high = g.K(), g.K()
	g.KMOVW(bits, low)
	g.SHRL(operand.U8(16), bits)
	g.KMOVW(bits, high)
	return low, high
}

// signs builds a function that gives the bytes of a panel a sign, or takes it away, and adds them up.
func (g generator) signs(name string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k int, panel *int32, line int, flip, view, wants uint32, sums *int32)")
	g.Doc(fmt.Sprintf("%s flips bits of the quads of a panel, and sets sums to the sums of bytes in each column, without a sign, as they are if the bits of view are flipped too.", name),
		"Lines are line bytes apart; the bits of wants are the columns of a line.")
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, panel, line, sums := load("k"), load("panel"), load("line"), load("sums")
	splat := func(x reg.Register) reg.VecVirtual {
		v := g.ZMM()
		g.VPBROADCASTD(x, v)
		return v
	}
	flip, view := splat(g.Load(g.Param("flip"), g.GP32())), splat(g.Load(g.Param("view"), g.GP32()))
	one := g.GP32()
	g.MOVL(operand.U32(0x01010101), one)
	ones := splat(one)
	low, high := g.halves("wants")
	wants := []reg.Register{low, high}
	total := []reg.VecVirtual{g.ZMM(), g.ZMM()}
	for _, s := range total {
		g.VPXORD(s, s, s)
	}
	g.Label("line")
	for half, s := range total {
		at := operand.Mem{Base: panel, Disp: 64 * half}
		x := g.ZMM()
		g.VMOVDQU32_Z(at, wants[half], x)
		g.VPXORD(flip, x, x)
		g.VMOVDQU32(x, wants[half], at)
		g.VPXORD(view, x, x)
		g.multiplyQuads(ones, x, s)
	}
	g.ADDQ(line, panel)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("line"))
	for half, s := range total {
		g.VMOVDQU32(s, wants[half], operand.Mem{Base: sums, Disp: 64 * half})
	}
	g.VZEROUPPER()
	g.RET()
}
