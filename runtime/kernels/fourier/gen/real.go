package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// halves builds the function that makes of the transform of n pairs of real numbers that of the 2n numbers: see Real. It works from both ends towards the
// middle; elements 0 and n of the source are the same.
func (g *passes) halves() {
	name := fmt.Sprintf("halvesf%dx%d", 8*g.size, 8*g.width)
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(n int, dst, src, twiddles, constants *byte)")
	g.Doc(fmt.Sprintf("%s separates n/2+1 pairs of elements from both ends of the source, on vectors of %d bits of float%d.", name, 8*g.width, 8*g.size))
	g.Pragma("noescape")
	n := g.Load(g.Param("n"), g.GP64())
	dst, src := g.Load(g.Param("dst"), g.GP64()), g.Load(g.Param("src"), g.GP64())
	tw, constants := g.Load(g.Param("twiddles"), g.GP64()), g.Load(g.Param("constants"), g.GP64())
	g.ones = g.register()
	g.broadcast(operand.Mem{Base: constants}, g.ones)
	half := g.register()
	g.broadcast(operand.Mem{Base: constants, Disp: g.size}, half)
	back := g.GP64() // from an element to its partner
	g.MOVQ(n, back)
	shift := operand.U8(5)
	if g.width == 64 {
		shift = 6
	}
	g.SHLQ(shift, back)
	g.SHRQ(operand.U8(1), n)
	g.INCQ(n)
	g.Label("pair")
	a, b := g.register(), g.register()
	g.load(operand.Mem{Base: src}, a)
	g.load(operand.Mem{Base: src, Index: back, Scale: 1}, b)
	even, odd := g.copy(a), a
	g.minusI(even, b) // a plus and minus the conjugate of b
	g.plusI(odd, b)
	g.scale(half, even)
	g.twiddle(odd, tw, 0)
	g.load(g.add(even, odd), operand.Mem{Base: dst})
	conjugate := g.zero()
	g.minusI(conjugate, g.sub(even, odd))
	g.load(conjugate, operand.Mem{Base: dst, Index: back, Scale: 1})
	g.ADDQ(operand.U32(uint32(g.width)), src)
	g.ADDQ(operand.U32(uint32(g.width)), dst)
	g.ADDQ(operand.U32(uint32(2*g.size)), tw)
	g.SUBQ(operand.U32(uint32(2*g.width)), back)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("pair"))
	g.VZEROUPPER()
	g.RET()
}
