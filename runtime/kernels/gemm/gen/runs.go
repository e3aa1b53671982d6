package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// runs builds a function that cuts rows into panels of two vectors of columns. A row is read from front to back, while memory is asked for rows ahead: their
// pages are others, so that the processor does not foresee them.
func (g generator) runs(name string, vector int) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k, panels int, src *byte, stride int, dst *byte, panel int)")
	g.Doc(fmt.Sprintf("%s copies k rows of panels times %d bytes, stride bytes apart, to panels that are panel bytes apart.", name, 2*vector))
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, src, stride, dst, panel := load("k"), load("src"), load("stride"), load("dst"), load("panel")
	v := vectors{g, element{name: "float32", size: 4}, vector}
	from, ahead, to, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Label("row")
	g.MOVQ(src, from)
	g.LEAQ(operand.Mem{Base: src, Index: stride, Scale: runsAhead}, ahead)
	g.MOVQ(dst, to)
	g.Load(g.Param("panels"), left)
	g.Label("panel")
	x, y := v.register(), v.register()
	v.load(operand.Mem{Base: from}, x)
	v.load(operand.Mem{Base: from, Disp: vector}, y)
	g.PREFETCHT0(operand.Mem{Base: ahead})
	if vector == 64 {
		g.PREFETCHT0(operand.Mem{Base: ahead, Disp: vector})
	}
	v.load(x, operand.Mem{Base: to})
	v.load(y, operand.Mem{Base: to, Disp: vector})
	g.ADDQ(operand.U32(uint32(2*vector)), from)
	g.ADDQ(operand.U32(uint32(2*vector)), ahead)
	g.ADDQ(panel, to)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))
	g.ADDQ(stride, src)
	g.ADDQ(operand.U32(uint32(2*vector)), dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}

// runsAhead is how many rows ahead memory is asked for.
const runsAhead = 4

// runsOfBF16 builds a function that cuts rows of bf16 into panels of f32 of up to 32 columns. Masks say how many columns a panel has, and of how many
// there is something in memory; the others become zeros.
func (g generator) runsOfBF16(name string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k, panels int, src *byte, stride, step int, dst *byte, panel, line int, has, wants uint32)")
	g.Doc(fmt.Sprintf("%s writes k rows, stride bytes apart, as f32 to panels: to each, step bytes of them, to lines that are line bytes apart.", name),
		"Panels are panel bytes apart. The bits of wants are the columns of a line, those of has the ones that are read; the others are 0.")
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, src, stride, step, dst, panel, line := load("k"), load("src"), load("stride"), load("step"), load("dst"), load("panel"), load("line")
	has0, has1 := g.halves("has")
	wants0, wants1 := g.halves("wants")
	from, ahead, to, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Label("row")
	g.MOVQ(src, from)
	g.LEAQ(operand.Mem{Base: src, Index: stride, Scale: runsAhead}, ahead)
	g.MOVQ(dst, to)
	g.Load(g.Param("panels"), left)
	g.Label("panel")
	x, y := g.ZMM(), g.ZMM()
	g.VPMOVZXWD_Z(operand.Mem{Base: from}, has0, x)
	g.VPMOVZXWD_Z(operand.Mem{Base: from, Disp: 32}, has1, y)
	g.PREFETCHT0(operand.Mem{Base: ahead})
	g.VPSLLD(operand.U8(16), x, x)
	g.VPSLLD(operand.U8(16), y, y)
	g.VMOVUPS(x, wants0, operand.Mem{Base: to})
	g.VMOVUPS(y, wants1, operand.Mem{Base: to, Disp: 64})
	g.ADDQ(step, from)
	g.ADDQ(step, ahead)
	g.ADDQ(panel, to)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))
	g.ADDQ(stride, src)
	g.ADDQ(line, dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}

// runsOfBF16Exactly builds a function like that of runsOfBF16, for panels of so many columns, which are all in memory: a line is written by what of vectors it takes.
// Memory is asked for where lines go, too: they are far from one another, and stores wait for each.
func (g generator) runsOfBF16Exactly(name string, columns int) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k, panels int, src *byte, stride int, dst *byte, panel int)")
	g.Doc(fmt.Sprintf("%s writes k rows of panels times %d bf16, stride bytes apart, as f32 to panels that are panel bytes apart.", name, columns))
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, src, stride, dst, panel := load("k"), load("src"), load("stride"), load("dst"), load("panel")
	from, ahead, to, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Label("row")
	g.MOVQ(src, from)
	g.LEAQ(operand.Mem{Base: src, Index: stride, Scale: runsAhead}, ahead)
	g.MOVQ(dst, to)
	g.Load(g.Param("panels"), left)
	g.Label("panel")
	g.PREFETCHT0(operand.Mem{Base: ahead})
	g.PREFETCHT0(operand.Mem{Base: to, Disp: runsAhead * 4 * columns})
	for at := 0; at < columns; {
		n := min(8, 1<<(bits.Len(uint(columns-at))-1))
		x := g.YMM()
		codes, numbers := operand.Mem{Base: from, Disp: 2 * at}, operand.Mem{Base: to, Disp: 4 * at}
		switch n {
		case 8:
			g.VPMOVZXWD(codes, x)
			g.VPSLLD(operand.U8(16), x, x)
			g.VMOVDQU(x, numbers)
		case 4:
			g.VPMOVZXWD(codes, x.AsX())
			g.VPSLLD(operand.U8(16), x.AsX(), x.AsX())
			g.VMOVDQU(x.AsX(), numbers)
		default:
			g.VMOVD(codes, x.AsX())
			g.VPMOVZXWD(x.AsX(), x.AsX())
			g.VPSLLD(operand.U8(16), x.AsX(), x.AsX())
			g.VMOVQ(x.AsX(), numbers)
		}
		at += n
	}
	g.ADDQ(operand.U8(uint8(2*columns)), from)
	g.ADDQ(operand.U8(uint8(2*columns)), ahead)
	g.ADDQ(panel, to)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))
	g.ADDQ(stride, src)
	g.ADDQ(operand.U8(uint8(4*columns)), dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}

// rowsAhead is how many rows ahead memory is asked for: multiplying as many takes about as long as the last cache.
const rowsAhead = 16
